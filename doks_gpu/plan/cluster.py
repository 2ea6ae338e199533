"""The cluster that the settings ask for, as plain values."""

from dataclasses import dataclass

from doks_gpu.plan import names, tags, versions
from doks_gpu.plan.facts import AttachedEndpoint, Facts
from doks_gpu.settings import Settings, go_duration

EXPANDERS = ("priority", "random")
"""`least_waste` is spelt in two ways by DigitalOcean's own material (read 2026-11-30), so it is not used."""
CREATE_TIMEOUT = "60m"
"""DOKS gives up after 30 minutes; so does the provider unless told otherwise."""


@dataclass(frozen=True, kw_only=True)
class MaintenanceSpec:
    day: str
    start: str
    """UTC, `04:00`."""


@dataclass(frozen=True, kw_only=True)
class AutoscalerSpec:
    """DOKS's own autoscaler: what it lets us set."""

    expanders: tuple[str, ...]
    scale_down_utilization: float
    scale_down_unneeded: str
    """Go duration, as the API shows it (`10m0s`)."""


@dataclass(frozen=True, kw_only=True)
class CpuPoolSpec:
    """The inline pool. Its size replaces the whole cluster when it changes."""

    name: str
    size: str
    min: int
    max: int
    autoscaled: bool
    count: int | None
    """Only for a fixed size."""


@dataclass(frozen=True, kw_only=True)
class ClusterSpec:
    """A cluster to make, or (`attached_id`) one to read and leave alone."""

    attached_id: str | None
    attached_endpoint: AttachedEndpoint | None
    """None for a cluster of ours, and without an account."""
    name: str
    region: str
    version: str
    """Full slug where the account's versions are known, else the prefix that was given."""
    ignore_version: bool
    """DOKS upgrades by itself, or a prefix was given: a lower version in the program would replace the
    cluster."""
    auto_upgrade: bool
    high_availability: bool | None
    """None: DOKS decides."""
    protect: bool
    destroy_associated_resources: bool
    vpc: str | None
    cluster_subnet: str | None
    service_subnet: str | None
    maintenance: MaintenanceSpec | None
    autoscaler: AutoscalerSpec
    cpu_pool: CpuPoolSpec
    tags: tuple[str, ...]
    create_timeout: str


def cluster_spec(settings: Settings, facts: Facts | None, *, project: str, stack: str) -> ClusterSpec:
    """Derives the cluster. Raises `RefusedError` when project and stack do not fit into a tag."""
    wanted = settings.cluster
    return ClusterSpec(
        attached_id=wanted.id,
        attached_endpoint=facts.attached if facts and wanted.id else None,
        name=_name(settings, facts, project=project, stack=stack),
        region=settings.region,
        version=versions.resolve(wanted.version, facts.versions if facts else ()),
        ignore_version=wanted.auto_upgrade or wanted.version_is_prefix,
        auto_upgrade=wanted.auto_upgrade,
        high_availability=wanted.high_availability,
        protect=wanted.protect,
        destroy_associated_resources=wanted.destroy_associated_resources,
        vpc=wanted.vpc,
        cluster_subnet=wanted.cluster_subnet,
        service_subnet=wanted.service_subnet,
        maintenance=_maintenance(settings),
        autoscaler=AutoscalerSpec(
            expanders=EXPANDERS,
            scale_down_utilization=wanted.scale_down.utilization,
            scale_down_unneeded=go_duration(wanted.scale_down.unneeded),
        ),
        cpu_pool=_cpu_pool(settings),
        tags=tags.cluster_tags(project, stack),
        create_timeout=CREATE_TIMEOUT,
    )


def _maintenance(settings: Settings) -> MaintenanceSpec | None:
    window = settings.cluster.maintenance
    return MaintenanceSpec(day=window.day, start=window.start) if window else None


def _name(settings: Settings, facts: Facts | None, *, project: str, stack: str) -> str:
    live = {cluster.id: cluster.name for cluster in facts.clusters} if facts else {}
    attached = live.get(settings.cluster.id or "")
    return attached or settings.cluster.name or names.cluster_name(project, stack)


def _cpu_pool(settings: Settings) -> CpuPoolSpec:
    pool = settings.cluster.cpu_pool
    fixed = pool.min == pool.max
    return CpuPoolSpec(
        name=names.CPU_POOL,
        size=pool.size,
        min=pool.min,
        max=pool.max,
        autoscaled=not fixed,
        count=pool.min if fixed else None,
    )
