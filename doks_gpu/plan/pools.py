"""Fleets to GPU pools: one pool per enabled tier, everything about it as plain values."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from doks_gpu import catalog
from doks_gpu.plan import labels, names, priorities, rates, tags
from doks_gpu.plan.facts import Facts
from doks_gpu.settings import Fleet, Settings, Tier

CREATE_TIMEOUT = "90m"
"""The provider waits 30 minutes for the nodes unless told otherwise; scarce GPUs take longer, and what times
out is an orphan (provider-observations, 2026-11-30)."""

MAKERS: Mapping[str, catalog.Vendor] = {"nvidia": "nvidia", "amd": "amd"}
"""First word of a GPU model in `GET /v2/sizes`."""


@dataclass(frozen=True, kw_only=True)
class Taint:
    key: str
    value: str
    effect: str


@dataclass(frozen=True, kw_only=True)
class PoolSpec:
    """One GPU node pool."""

    name: str
    """`<fleet>-<tier>`, the program's name."""
    fleet: str
    tier: str
    rank: int
    """Place in the fleet's order of preference, from 0; disabled tiers keep theirs."""
    level: int
    """Level in the autoscaler's priority map."""
    size: str
    is_spot: bool
    vendor: catalog.Vendor
    model: str
    gpus: int
    """GPUs of one node."""
    gpu_memory_gib: int
    """Memory of one GPU."""
    min: int
    max: int
    """Most nodes; for a fixed pool the count."""
    autoscaled: bool
    count: int | None
    """Only for a fixed pool: the live count of an autoscaled one belongs to the autoscaler."""
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    tags: tuple[str, ...]
    price: rates.Price
    """What it costs now: a live Spot pool keeps the price of its creation. The tag has the price of a new one."""
    relative_speed: Decimal
    """Work per GPU-hour against the other tiers of the fleet."""
    generation: int
    """Part of the pool's replacement trigger."""
    create_timeout: str

    @property
    def replace_on_ceiling(self) -> bool:
        """Whether `max` (or a fixed count) changes by replacement: DigitalOcean fixes it at a Spot pool's
        creation."""
        return self.is_spot

    @property
    def most_gpus(self) -> int:
        """GPUs of the pool at its maximum."""
        return self.max * self.gpus


@dataclass(frozen=True, kw_only=True)
class UnreadableTier:
    """A tier whose size neither the catalogue nor the account knows and whose slug says nothing: no pool is
    planned."""

    fleet: str
    tier: str
    rank: int
    size: str


def derive_pools(
    settings: Settings, facts: Facts | None, *, project: str, stack: str
) -> tuple[tuple[PoolSpec, ...], tuple[UnreadableTier, ...]]:
    """All pools in the order of the settings, and the tiers that cannot become one.

    Raises `RefusedError` when a name does not fit into a tag.
    """
    pools, unreadable = [], []
    for fleet_name, fleet, rank, tier in enabled_tiers(settings):
        hardware = hardware_of(tier.size, facts)
        if hardware is None:
            unreadable.append(UnreadableTier(fleet=fleet_name, tier=tier.name, rank=rank, size=tier.size))
            continue
        offered = rates.gpu_price(tier.size, tier.usd_per_hour, facts)
        pool_tags = tags.PoolTags(
            project=project,
            stack=stack,
            fleet=fleet_name,
            tier=tier.name,
            generation=tier.generation,
            usd_per_hour=offered.usd_per_hour,
        )
        price = _locked_price(fleet_name, tier, facts) or offered
        pools.append(_pool(fleet_name, fleet, rank, tier, hardware, price, tags.pool_tags(pool_tags)))
    return tuple(pools), tuple(unreadable)


def by_preference(pools: Iterable[PoolSpec]) -> list[PoolSpec]:
    """Pools of one fleet in the order in which the autoscaler asks them: the highest level first.

    A tie is decided at random, so Spot counts as asked first: what may be behind it is looked at.
    """
    return sorted(pools, key=lambda pool: (-pool.level, not pool.is_spot))


def enabled_tiers(settings: Settings) -> Iterator[tuple[str, Fleet, int, Tier]]:
    """Fleet name, fleet, rank and tier of every tier that becomes a pool."""
    for name, fleet in settings.fleets.items():
        for rank, tier in enumerate(fleet.tiers):
            if tier.enabled:
                yield name, fleet, rank, tier


def hardware_of(slug: str, facts: Facts | None) -> catalog.GpuHardware | None:
    """GPUs of one node: from the catalogue, else the account, else the slug itself; None when none of them
    says."""
    if known := catalog.find(slug):
        return known.hardware
    said = facts.sizes.get(slug) if facts else None
    if said and said.gpu_count and said.gpu_model and said.gpu_memory_gib:
        maker, _, model = said.gpu_model.lower().rpartition("_")
        model = catalog.model_name(model)
        return catalog.GpuHardware(
            vendor=MAKERS.get(maker) or catalog.vendor_of(model),
            model=model,
            gpus=said.gpu_count,
            gpu_memory_gib=said.gpu_memory_gib,
        )
    return catalog.parse_size(slug)


def _locked_price(fleet: str, tier: Tier, facts: Facts | None) -> rates.Price | None:
    """Price of the live Spot pool that this tier keeps; None when there is none or it is about to be replaced."""
    if facts is None or tier.usd_per_hour is not None or not catalog.is_spot(tier.size):
        return None
    kept = (fleet, tier.name, tier.size, tier.generation)
    for live in facts.pools:
        same = (live.fleet, live.tier, live.size, live.generation) == kept
        if same and live.usd_per_hour is not None and live.ceiling in (None, tier.max):
            return rates.Price(
                usd_per_hour=live.usd_per_hour,
                origin="live pool",
                read_on=facts.read_on,
                source="the pool's tag: a Spot price holds for the life of its pool",
            )
    return None


def _pool(
    fleet_name: str,
    fleet: Fleet,
    rank: int,
    tier: Tier,
    hardware: catalog.GpuHardware,
    price: rates.Price,
    pool_tags: tuple[str, ...],
) -> PoolSpec:
    spot = catalog.is_spot(tier.size)
    fixed = tier.min == tier.max
    return PoolSpec(
        name=names.pool_name(fleet_name, tier.name),
        fleet=fleet_name,
        tier=tier.name,
        rank=rank,
        level=priorities.level(rank, tier.priority),
        size=tier.size,
        is_spot=spot,
        vendor=hardware.vendor,
        model=hardware.model,
        gpus=hardware.gpus,
        gpu_memory_gib=hardware.gpu_memory_gib,
        min=tier.min,
        max=tier.max,
        autoscaled=not fixed,
        count=tier.max if fixed else None,
        labels={
            labels.WORKLOAD: fleet.workload,
            labels.CAPACITY_TYPE: labels.SPOT if spot else labels.ON_DEMAND,
        },
        taints=(Taint(key=labels.WORKLOAD, value=fleet.workload, effect=labels.NO_SCHEDULE),),
        tags=pool_tags,
        price=price,
        relative_speed=Decimal(str(tier.relative_speed)),
        generation=tier.generation,
        create_timeout=CREATE_TIMEOUT,
    )
