"""How long a pod waits until the autoscaler asks for on-demand capacity, by the way in which Spot fails.

Rules and times seen with cluster-autoscaler 1.36.1 on 2026-12-01 (autoscaler-observations, sections 0, 4, 5,
6 and 14), with its default flags; DOKS runs a build of its own. The node's boot comes on top of every figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import dropwhile, takewhile
from typing import Literal

from doks_gpu.plan.pools import PoolSpec, by_preference

GPU_POD_WAIT = timedelta(seconds=30)
"""A pending GPU pod is ignored for its first 30 s; compiled in."""
SCAN = timedelta(seconds=10)
"""`scan-interval`: a refused request is followed by the next pool one loop later."""
PROVISION_TIMEOUT = timedelta(minutes=15)
"""`max-node-provision-time`: how long an accepted node may take to become Ready."""
SCRAPE_AND_POLL = timedelta(seconds=60)
"""Prometheus sees the waiting pod (30 s by default), then KEDA asks Prometheus (30 s by default)."""

Way = Literal["refused", "at-ceiling", "never-booted"]
WhyNever = Literal["fixed", "at-zero"]
"""fixed: no on-demand tier behind Spot can grow; at-zero: all that can grow may be without a node."""

WHY_NEVER: Mapping[WhyNever, str] = {
    "fixed": "a pool of a fixed size is invisible to the autoscaler, which never adds a node to it",
    "at-zero": "upstream, a GPU pool at zero never wakes unless a node of it ran for a minute since the autoscaler "
    "started",
}


@dataclass(frozen=True, kw_only=True)
class WayToFallback:
    """One way of failing. `soonest` and `latest` count from the pod's creation to the request for
    on-demand."""

    way: Way
    soonest: timedelta
    latest: timedelta


@dataclass(frozen=True, kw_only=True)
class FleetFallback:
    """Time to fallback of one fleet that has Spot and on-demand tiers."""

    fleet: str
    spot_pools: tuple[str, ...]
    on_demand_pools: tuple[str, ...]
    ways: tuple[WayToFallback, ...]
    """Empty when nothing is ever asked for (`why_never` is `fixed`)."""
    bound: timedelta | None
    """With `fallbackAfter`: the most that any way takes. None: the autoscaler's own rules alone."""
    why_never: WhyNever | None
    """Why the fallback may never come; None where an on-demand tier behind Spot both grows and always has a node."""

    @property
    def may_never_come(self) -> bool:
        return self.why_never is not None


def fleet_fallback(fleet: str, pools: Sequence[PoolSpec], fallback_after: timedelta | None) -> FleetFallback | None:
    """Derives the times; None for a fleet without a Spot tier, or with nothing behind it.

    A fixed pool is invisible to the autoscaler: fixed Spot is never asked and costs no time, and a fixed on-demand
    pool between Spot tiers ends no wait.
    """
    behind = list(dropwhile(lambda pool: not pool.is_spot, by_preference(pools)))
    before_growth = takewhile(lambda pool: pool.is_spot or not pool.autoscaled, behind)
    spot = [pool for pool in before_growth if pool.is_spot]
    on_demand = [pool for pool in behind if not pool.is_spot]
    if not spot or not on_demand:
        return None
    why = _why_never(on_demand)
    bound = fallback_after + SCRAPE_AND_POLL + GPU_POD_WAIT + SCAN if fallback_after else None
    return FleetFallback(
        fleet=fleet,
        spot_pools=tuple(pool.name for pool in spot),
        on_demand_pools=tuple(pool.name for pool in on_demand),
        ways=() if why == "fixed" else tuple(_bounded(way, bound) for way in _ways(spot)),
        bound=bound,
        why_never=why,
    )


def never_words(found: FleetFallback) -> str | None:
    """Why the fallback of a fleet may never come, in one sentence; None when it comes."""
    if found.why_never is None:
        return None
    happens = {
        "fixed": f"No on-demand capacity is ever added to fleet {found.fleet} when Spot fails",
        "at-zero": f"On-demand capacity for fleet {found.fleet} may never come when Spot fails",
    }
    return f"{happens[found.why_never]} ({', '.join(found.on_demand_pools)}): {WHY_NEVER[found.why_never]}."


def _why_never(on_demand: Sequence[PoolSpec]) -> WhyNever | None:
    growing = [pool for pool in on_demand if pool.autoscaled]
    if not growing:
        return "fixed"
    return None if any(pool.min > 0 for pool in growing) else "at-zero"


def _ways(spot: Sequence[PoolSpec]) -> list[WayToFallback]:
    asked = [pool for pool in spot if pool.autoscaled]
    rooms = [pool.max - pool.min for pool in asked]
    ways = [_way("at-ceiling", GPU_POD_WAIT, GPU_POD_WAIT)]
    if asked:
        refused = GPU_POD_WAIT + SCAN * len(asked)
        ways = [
            _way("refused", refused, refused),
            *ways,
            _way(
                "never-booted",
                GPU_POD_WAIT + PROVISION_TIMEOUT * len(asked),
                GPU_POD_WAIT + PROVISION_TIMEOUT * sum(rooms),
            ),
        ]
    return ways


def _way(way: Way, soonest: timedelta, latest: timedelta) -> WayToFallback:
    return WayToFallback(way=way, soonest=soonest, latest=latest)


def _bounded(way: WayToFallback, bound: timedelta | None) -> WayToFallback:
    if bound is None:
        return way
    return WayToFallback(way=way.way, soonest=min(way.soonest, bound), latest=min(way.latest, bound))
