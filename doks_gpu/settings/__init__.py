"""The configuration of a stack: the only schema, and the one way to load it."""

from doks_gpu.settings.addons import Checkpoints, Keda, Monitoring
from doks_gpu.settings.cluster import Cluster, CpuPool, Maintenance, ScaleDown
from doks_gpu.settings.fleets import Fleet, Limits, Tier, Toleration
from doks_gpu.settings.loader import load, raw_from_pulumi_config
from doks_gpu.settings.problems import Problem, SettingsError
from doks_gpu.settings.schema import Settings
from doks_gpu.settings.types import go_duration, parse_duration, parse_quantity
from doks_gpu.settings.workloads import (
    CheckImages,
    Checks,
    Disruption,
    EmptyDir,
    Job,
    Readiness,
    Replicas,
    Resources,
    Scale,
    SecretKey,
    Service,
    Trigger,
    Volume,
    Workload,
)

__all__ = [
    "CheckImages",
    "Checkpoints",
    "Checks",
    "Cluster",
    "CpuPool",
    "Disruption",
    "EmptyDir",
    "Fleet",
    "Job",
    "Keda",
    "Limits",
    "Maintenance",
    "Monitoring",
    "Problem",
    "Readiness",
    "Replicas",
    "Resources",
    "Scale",
    "ScaleDown",
    "SecretKey",
    "Service",
    "Settings",
    "SettingsError",
    "Tier",
    "Toleration",
    "Trigger",
    "Volume",
    "Workload",
    "go_duration",
    "load",
    "parse_duration",
    "parse_quantity",
    "raw_from_pulumi_config",
]
