"""What carries the stack's tags and is in no state: it lives and bills, and nothing would ever delete it.

The provider keeps a pool in the state only after its nodes are ready, so a creation that times out or is killed leaves
one behind (provider-observations, "creation that times out or is killed"). A cluster is no different.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from doks_gpu import catalog
from doks_gpu.plan import rates
from doks_gpu.plan.facts import Facts, LiveCluster, LivePool


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
    """What it costs now. A pool: nodes × the price at creation, None where the tag does not say. A cluster: its CPU
    pool and its control plane, without the GPU pools, which have rows of their own."""
    failed: bool = False
    """DOKS gave it up: it can be deleted, not adopted."""

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
            nodes=sum(cluster.other_nodes.values()),
            fleet="",
            tier="",
            usd_per_hour=_cluster_price(cluster, facts),
            failed=cluster.state == "error",
        )
        for cluster in facts.clusters
        if cluster.id not in known_ids and cluster.ours
    ]
    pools = [_pool(pool, regions) for pool in facts.pools if pool.id not in known_ids]
    return (*clusters, *pools)


def _cluster_price(cluster: LiveCluster, facts: Facts) -> Decimal | None:
    total = catalog.HIGH_AVAILABILITY.usd_per_hour if cluster.highly_available else Decimal(0)
    for size, nodes in cluster.other_nodes.items():
        price = rates.cpu_price(size, None, facts).usd_per_hour
        if price is None:
            return None
        total += price * nodes
    return total


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
