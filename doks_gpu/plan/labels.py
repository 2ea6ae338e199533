"""Keys and values of node labels and taints, each with where it comes from."""

from typing import Literal

from doks_gpu.catalog import Vendor

WORKLOAD = "workload"
"""Ours: label and taint of every GPU pool; the one label that a workload selects its fleet by."""
CAPACITY_TYPE = "doks-gpu/capacity-type"
"""Ours: `spot` or `on-demand`. No public source shows that DOKS's own label is always there (read
2026-11-30)."""
SPOT: Literal["spot"] = "spot"
ON_DEMAND: Literal["on-demand"] = "on-demand"

JOB = "doks-gpu/job"
FLEET = "doks-gpu/fleet"
"""Ours, on pods and what makes them."""

DOKS_CAPACITY_TYPE = "doks.digitalocean.com/capacity-type"
"""DOKS's own, for display and for `doctor` alone: no public source has it (read 2026-11-30)."""
DOKS_POOL = "doks.digitalocean.com/node-pool"
"""Name of the pool (DOKS docs, managed elements, edition of 2025-08-25)."""
DOKS_POOL_ID = "doks.digitalocean.com/node-pool-id"
DOKS_GPU_BRAND = "doks.digitalocean.com/gpu-brand"
DOKS_GPU_MODEL = "doks.digitalocean.com/gpu-model"
"""Values are documented for `h100` and `mi300x` only."""
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
"""The size slug (digitalocean-cloud-controller-manager, 2026-08-19): its `-spot` ending shows a Spot node."""

GPU_RESOURCE: dict[Vendor, str] = {"nvidia": "nvidia.com/gpu", "amd": "amd.com/gpu"}
"""Extended resource, and key of the taint (empty value, NoSchedule) that DOKS puts on the vendor's nodes
(DOKS docs)."""

NO_SCHEDULE = "NoSchedule"
HOST = "kubernetes.io/hostname"
NOT_READY = "node.kubernetes.io/not-ready"
UNREACHABLE = "node.kubernetes.io/unreachable"
"""Kubernetes' own label and taints."""
