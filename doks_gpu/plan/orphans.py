"""What carries the stack's tags and is in no state: it lives and bills, and nothing would ever delete it.

The provider keeps a pool in the state only after its nodes are ready, so a creation that times out or is killed leaves
one behind (provider-observations, "creation that times out or is killed"). A cluster is no different.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from doks_gpu.plan.facts import Facts, LivePool


@dataclass(frozen=True, kw_only=True)
class Orphan:
    """One thing to adopt or delete."""

    kind: Literal["cluster", "pool"]
    id: str
    name: str
    cluster_id: str
    region: str
    size: str
    nodes: int
    fleet: str
    tier: str
    usd_per_hour: Decimal | None
    """What it costs now: nodes × the price at creation. None where the tag does not say."""

    @property
    def resource_name(self) -> str:
        """The program's name for it; empty for a cluster."""
        return f"{self.fleet}-{self.tier}" if self.kind == "pool" else ""


def find_orphans(facts: Facts, known_ids: Collection[str]) -> tuple[Orphan, ...]:
    """`known_ids` are the ids in the state. Pools inside an orphaned cluster are named too: they go with it."""
    regions = {cluster.id: cluster.region for cluster in facts.clusters}
    clusters = [
        Orphan(
            kind="cluster",
            id=cluster.id,
            name=cluster.name,
            cluster_id=cluster.id,
            region=cluster.region,
            size="",
            nodes=0,
            fleet="",
            tier="",
            usd_per_hour=None,
        )
        for cluster in facts.clusters
        if cluster.id not in known_ids and cluster.ours
    ]
    pools = [_pool(pool, regions) for pool in facts.pools if pool.id not in known_ids]
    return (*clusters, *pools)


def _pool(pool: LivePool, regions: Mapping[str, str]) -> Orphan:
    return Orphan(
        kind="pool",
        id=pool.id,
        name=pool.name,
        cluster_id=pool.cluster_id,
        region=regions.get(pool.cluster_id, ""),
        size=pool.size,
        nodes=pool.count,
        fleet=pool.fleet,
        tier=pool.tier,
        usd_per_hour=None if pool.usd_per_hour is None else pool.usd_per_hour * pool.count,
    )
