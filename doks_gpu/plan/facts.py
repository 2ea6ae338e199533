"""What the account itself says: live facts, read once before anything is registered.

The values come from the DigitalOcean API (`doks_gpu.cloud` reads them). Without a token there are none, and every rule
that would need them falls back to the dated catalogue.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, kw_only=True)
class SizeFact:
    """One row of `GET /v2/sizes`. An empty `regions` means unknown, not "nowhere": the API hides regions from accounts
    without GPU quota."""

    usd_per_hour: Decimal
    regions: frozenset[str]
    gpu_count: int | None = None
    gpu_model: str | None = None
    """The API's own word, e.g. `nvidia_h100`."""
    gpu_memory_gib: int | None = None
    """Memory of one GPU, in GiB."""


@dataclass(frozen=True, kw_only=True)
class LivePool:
    """A node pool that carries this stack's tags."""

    id: str
    cluster_id: str
    name: str
    size: str
    fleet: str
    tier: str
    generation: int
    count: int
    usd_per_hour: Decimal | None
    """Price at creation, from the pool's tag: no API shows it later."""
    ceiling: int | None = None
    """`max_nodes`, or the count of a fixed pool; None where it was not read."""


@dataclass(frozen=True, kw_only=True)
class LiveCluster:
    """A cluster that carries this stack's tag, or the one named by `cluster.id`."""

    id: str
    name: str
    region: str
    version: str
    expanders: tuple[str, ...]
    ours: bool = True
    """It carries the stack's tag. False for the attached cluster, which somebody else made."""
    state: str = "running"
    """DOKS's own word: provisioning, running, degraded, error, deleting, …"""
    highly_available: bool = False
    other_nodes: Mapping[str, int] = field(default_factory=dict)
    """Size to number of nodes, in pools without our tags: the CPU pool."""


@dataclass(frozen=True, kw_only=True)
class AttachedEndpoint:
    """Address of the cluster that `cluster.id` names. Pulumi does not read that cluster: a read of the provider is an
    import, which tags the cluster's only pool and refuses one with several."""

    server: str
    certificate_authority: str
    """Base64 of the PEM text, as the API sends it."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """One reading of the account."""

    read_on: date
    sizes: Mapping[str, SizeFact]
    doks_sizes: frozenset[str]
    """Slugs that DOKS itself offers (`GET /v2/kubernetes/options`)."""
    doks_regions: frozenset[str]
    versions: tuple[str, ...]
    """Full slugs, newest first, as the API lists them."""
    droplet_limit: int | None
    team_id: str | None
    team_name: str | None
    clusters: tuple[LiveCluster, ...] = field(default=())
    pools: tuple[LivePool, ...] = field(default=())
    attached: AttachedEndpoint | None = None
