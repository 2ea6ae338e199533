"""Pulumi components, one concept per file."""

from components.batch import GpuBatch, GpuBatchArgs
from components.cluster import GpuCluster, GpuClusterArgs
from components.fleet import GpuFleet, GpuFleetArgs
from components.priorities import ExpanderPriorities, ExpanderPrioritiesArgs

__all__ = [
    "ExpanderPriorities",
    "ExpanderPrioritiesArgs",
    "GpuBatch",
    "GpuBatchArgs",
    "GpuCluster",
    "GpuClusterArgs",
    "GpuFleet",
    "GpuFleetArgs",
]
