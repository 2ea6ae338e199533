"""What a stack costs: per hour at its minimum and maximum, while a pool is replaced, and per month when idle.

Everything that bills from the moment of `up` is in it: GPU pools, the CPU pool, a highly available control
plane, Prometheus's volume, the Spaces subscription. Traffic and load balancers are not: nothing here makes
any.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal

from doks_gpu import catalog
from doks_gpu.plan import names, rates, versions
from doks_gpu.plan.facts import Facts
from doks_gpu.plan.pools import PoolSpec, UnreadableTier
from doks_gpu.settings import Settings

HIGH_AVAILABILITY_BY_DEFAULT = (1, 36)
"""From this version DOKS turns the highly available control plane on unless told otherwise (API reference,
2026-08)."""

DECIMALS = (2, 4, 6, 8)
"""How precisely an amount is told: cents, unless they hide a difference."""

Kind = Literal["gpu-pool", "cpu-pool", "control-plane", "volume", "bucket"]


@dataclass(frozen=True, kw_only=True)
class Charge:
    """One line of the bill."""

    name: str
    kind: Kind
    min: int
    """Units at least: nodes, or 1."""
    max: int
    price: rates.Price
    """Of one unit."""

    @property
    def usd_min(self) -> Decimal:
        """Per hour at the minimum; an unknown price adds nothing here and is an error of the preflight."""
        return self.min * (self.price.usd_per_hour or Decimal(0))

    @property
    def usd_max(self) -> Decimal:
        """Per hour at the maximum."""
        return self.max * (self.price.usd_per_hour or Decimal(0))


@dataclass(frozen=True, kw_only=True)
class Hourly:
    """US dollars per hour."""

    min: Decimal
    max: Decimal
    peak: Decimal
    """While the dearest pool is replaced: the old and the new one at their maximum, everything else too."""


@dataclass(frozen=True, kw_only=True)
class WorkPrice:
    """What one unit of work costs on a pool, to compare the tiers of a fleet."""

    pool: str
    usd: Decimal | None
    """Per GPU-hour, divided by `relativeSpeed`."""


@dataclass(frozen=True, kw_only=True)
class StackPricing:
    """All figures of a stack."""

    charges: tuple[Charge, ...]
    hourly: Hourly
    idle_per_month: Decimal
    """US dollars for 730 hours with everything at its minimum."""
    dearest_pool: str | None
    """The pool whose replacement makes the peak."""
    work: tuple[WorkPrice, ...]
    unknown: tuple[str, ...]
    """Names of what has no price: charges, and the pools of tiers whose size nobody can read."""
    complete: bool
    """Every price is known. Otherwise each sum is only the least that the stack costs."""

    def output(self) -> dict[str, str]:
        """The stack output `hourlyUsd`: texts with cents."""
        hourly = self.hourly
        return {"min": cents(hourly.min), "max": cents(hourly.max), "peak": cents(hourly.peak)}


def cents(usd: Decimal) -> str:
    """Dollars with two decimals, half a cent up."""
    return f"{_rounded(usd, 2):f}"


def _rounded(usd: Decimal, places: int) -> Decimal:
    return usd.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def told_apart(one: Decimal, other: Decimal) -> tuple[str, str]:
    """Two different amounts with as many decimals as it takes to see the difference, two at least."""
    for places in DECIMALS:
        shown = f"{_rounded(one, places):f}", f"{_rounded(other, places):f}"
        if one == other or shown[0] != shown[1]:
            return shown
    return f"{one:f}", f"{other:f}"


def stack_pricing(
    settings: Settings, pools: Sequence[PoolSpec], unreadable: Sequence[UnreadableTier], facts: Facts | None
) -> StackPricing:
    """Prices everything that the plan makes. `unreadable` are the tiers that have no pool to price."""
    charges = (*map(_pool_charge, pools), *_other_charges(settings, facts))
    unknown = (
        *(charge.name for charge in charges if charge.price.usd_per_hour is None),
        *(names.pool_name(tier.fleet, tier.tier) for tier in unreadable),
    )
    dearest = max(pools, key=lambda pool: _pool_charge(pool).usd_max, default=None)
    most = sum((charge.usd_max for charge in charges), Decimal(0))
    least = sum((charge.usd_min for charge in charges), Decimal(0))
    return StackPricing(
        charges=charges,
        hourly=Hourly(min=least, max=most, peak=most + (_pool_charge(dearest).usd_max if dearest else Decimal(0))),
        idle_per_month=least * catalog.HOURS_PER_MONTH,
        dearest_pool=dearest.name if dearest else None,
        work=tuple(map(_work_price, pools)),
        unknown=unknown,
        complete=not unknown,
    )


def usd_per_work(pool: PoolSpec) -> Decimal | None:
    """Price of one GPU-hour, divided by the tier's speed; None when the price is unknown."""
    price = pool.price.usd_per_hour
    return None if price is None else price / pool.gpus / pool.relative_speed


def _work_price(pool: PoolSpec) -> WorkPrice:
    usd = usd_per_work(pool)
    return WorkPrice(pool=pool.name, usd=None if usd is None else usd.quantize(Decimal("0.0001")))


def has_high_availability(settings: Settings) -> bool:
    """Whether the control plane bills: asked for, or left to a DOKS version that turns it on by itself."""
    wanted = settings.cluster
    if wanted.id is not None:
        return False
    if wanted.high_availability is None:
        return versions.is_at_least(wanted.version, *HIGH_AVAILABILITY_BY_DEFAULT)
    return wanted.high_availability


def _pool_charge(pool: PoolSpec) -> Charge:
    return Charge(name=pool.name, kind="gpu-pool", min=pool.min, max=pool.max, price=pool.price)


def _other_charges(settings: Settings, facts: Facts | None) -> Iterator[Charge]:
    if settings.cluster.id is None:
        pool = settings.cluster.cpu_pool
        price = rates.cpu_price(pool.size, pool.usd_per_hour, facts)
        yield Charge(name=names.CPU_POOL, kind="cpu-pool", min=pool.min, max=pool.max, price=price)
    if has_high_availability(settings):
        yield _one("high availability", "control-plane", rates.listed(catalog.HIGH_AVAILABILITY))
    if settings.monitoring.enabled:
        size = settings.monitoring.storage_gib
        yield _one(f"Prometheus volume ({size} GiB)", "volume", rates.listed(catalog.VOLUME_GIB, units=size))
    if settings.checkpoints.enabled:
        yield _one("Spaces subscription", "bucket", rates.listed(catalog.SPACES))


def _one(name: str, kind: Kind, price: rates.Price) -> Charge:
    return Charge(name=name, kind=kind, min=1, max=1, price=price)
