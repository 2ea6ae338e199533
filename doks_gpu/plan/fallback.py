"""How long a pod waits until the autoscaler asks for on-demand capacity, by the way in which Spot fails.

Rules and times seen with cluster-autoscaler 1.36.1 on 2026-12-01 (autoscaler-observations, sections 0, 4, 5,
6 and 14), with its default flags; DOKS runs a build of its own. The node's boot comes on top of every figure.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import dropwhile, takewhile
from typing import Literal

from doks_gpu.plan.pools import PoolSpec

GPU_POD_WAIT = timedelta(seconds=30)
"""A pending GPU pod is ignored for its first 30 s; compiled in."""
SCAN = timedelta(seconds=10)
"""`scan-interval`: a refused request is followed by the next pool one loop later."""
PROVISION_TIMEOUT = timedelta(minutes=15)
"""`max-node-provision-time`: how long an accepted node may take to become Ready."""
SCRAPE_AND_POLL = timedelta(seconds=60)
"""Prometheus sees the waiting pod (30 s by default), then KEDA asks Prometheus (30 s by default)."""

Way = Literal["refused", "at-ceiling", "never-booted"]


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
    bound: timedelta | None
    """With `fallbackAfter`: the most that any way takes. None: the autoscaler's own rules alone."""
    may_never_come: bool
    """No on-demand tier behind Spot both grows and always has a node: a fixed pool is never raised, and a GPU pool
    at zero never wakes (upstream; DOKS's build is unproven)."""


def fleet_fallback(fleet: str, pools: Sequence[PoolSpec], fallback_after: timedelta | None) -> FleetFallback | None:
    """Derives the times; None for a fleet without a Spot tier, or with nothing behind it.

    A fixed Spot pool is invisible to the autoscaler, so it is never asked and costs no time.
    """
    preferred = sorted(pools, key=lambda pool: -pool.level)
    behind = list(dropwhile(lambda pool: not pool.is_spot, preferred))
    spot = list(takewhile(lambda pool: pool.is_spot, behind))
    on_demand = [pool for pool in behind if not pool.is_spot]
    if not spot or not on_demand:
        return None
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
    bound = fallback_after + SCRAPE_AND_POLL + GPU_POD_WAIT + SCAN if fallback_after else None
    return FleetFallback(
        fleet=fleet,
        spot_pools=tuple(pool.name for pool in spot),
        on_demand_pools=tuple(pool.name for pool in on_demand),
        ways=tuple(_bounded(way, bound) for way in ways),
        bound=bound,
        may_never_come=not any(pool.autoscaled and pool.min > 0 for pool in on_demand),
    )


def _way(way: Way, soonest: timedelta, latest: timedelta) -> WayToFallback:
    return WayToFallback(way=way, soonest=soonest, latest=latest)


def _bounded(way: WayToFallback, bound: timedelta | None) -> WayToFallback:
    if bound is None:
        return way
    return WayToFallback(way=way.way, soonest=min(way.soonest, bound), latest=min(way.latest, bound))
