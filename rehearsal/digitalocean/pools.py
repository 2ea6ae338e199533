"""Node pools and their nodes: made, changed, deleted.

Rules: DigitalOcean's OpenAPI text and its provider's source (August 2026); what is not known is a setting.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from rehearsal.digitalocean import capacity, nodes, views
from rehearsal.digitalocean.bodies import PoolCreate, PoolUpdate
from rehearsal.digitalocean.clock import after
from rehearsal.digitalocean.errors import ApiRefusedError, not_found, unprocessable
from rehearsal.digitalocean.model import Cluster, Node, Pool
from rehearsal.digitalocean.template import template
from rehearsal.digitalocean.views import Json
from rehearsal.digitalocean.world import World


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How many nodes a pool has, and may have."""

    count: int
    auto_scale: bool
    min_nodes: int
    max_nodes: int

    @property
    def highest(self) -> int:
        """What its count can come to without another request of its owner."""
        return self.max_nodes if self.auto_scale else self.count

    def settled(self) -> "Scale":
        """With autoscaling, a count outside min and max becomes min. Raises 422 for impossible limits."""
        if not self.auto_scale:
            return self
        if self.max_nodes < 1:
            raise unprocessable("max_nodes must be at least 1 when auto_scale is on")
        if self.min_nodes > self.max_nodes:
            raise unprocessable(f"min_nodes ({self.min_nodes}) is greater than max_nodes ({self.max_nodes})")
        inside = self.min_nodes <= self.count <= self.max_nodes
        return Scale(
            count=self.count if inside else self.min_nodes,
            auto_scale=True,
            min_nodes=self.min_nodes,
            max_nodes=self.max_nodes,
        )


class Pools:
    """What the API does with node pools. Every method may raise `ApiRefusedError`."""

    def __init__(self, world: World) -> None:
        self._world = world

    def create(self, cluster_id: str, body: PoolCreate) -> Json:
        """The new pool, its nodes on their way."""
        with self._world.at_now() as now:
            cluster = self._world.cluster(cluster_id)
            pool = self.add(cluster, body, now)
            return views.pool(pool, cluster, now)

    def all(self, cluster_id: str) -> list[Json]:
        """Every pool of a cluster, the default pool first."""
        with self._world.at_now() as now:
            cluster = self._world.cluster(cluster_id)
            return [views.pool(pool, cluster, now) for pool in cluster.pools]

    def get(self, cluster_id: str, pool_id: str) -> Json:
        """One pool."""
        with self._world.at_now() as now:
            pool = self._world.pool(cluster_id, pool_id)
            return views.pool(pool, self._world.cluster(cluster_id), now)

    def template(self, cluster_id: str, pool_name: str) -> Json:
        """What a node of this pool would look like; the pool is asked for by name."""
        with self._world.at_now():
            cluster = self._world.cluster(cluster_id)
            for pool in cluster.pools:
                if pool.name == pool_name:
                    return template(self._world, cluster, pool)
            raise not_found()

    def update(self, cluster_id: str, pool_id: str, body: PoolUpdate) -> Json:
        """The changed pool; new nodes are on their way, nodes too many on theirs."""
        with self._world.at_now() as now:
            cluster, pool = self._world.cluster(cluster_id), self._world.pool(cluster_id, pool_id)
            self._refuse_while_leaving(pool)
            if body.name not in (None, pool.name):
                self._refuse_taken_name(cluster, body.name)
            scale = self._asked(pool, body)
            self._refuse_higher_ceiling(pool, scale)
            self._refuse_too_few(cluster, pool, pool.size, scale)
            more = scale.count - pool.count
            capacity.refuse_growth(self._world, pool.size, cluster.region, more)
            _describe(pool, body)
            pool.count, pool.auto_scale = scale.count, scale.auto_scale
            pool.min_nodes, pool.max_nodes = scale.min_nodes, scale.max_nodes
            if more > 0:
                nodes.grow(self._world, pool, cluster.region, more, now)
            elif more < 0:
                nodes.shrink(self._world, pool, -more, now)
            return views.pool(pool, cluster, now)

    def delete(self, cluster_id: str, pool_id: str) -> None:
        """The pool goes with its nodes; a second deletion while it goes changes nothing."""
        with self._world.at_now() as now:
            pool = self._world.pool(cluster_id, pool_id)
            if pool.deleted_at:
                return
            pool.deleted_at = now
            pool.gone_at = after(now, self._world.settings.pool_delete_seconds)
            for node in pool.nodes:
                node.leave(now, now, pool.gone_at)

    def delete_node(
        self, cluster_id: str, pool_id: str, node_id: str, *, skip_drain: bool = False, replace: bool = False
    ) -> None:
        """Takes a node away and lowers the count, or makes another in its place."""
        with self._world.at_now() as now:
            pool = self._world.pool(cluster_id, pool_id)
            self._refuse_while_leaving(pool)
            node = _node(pool, node_id)
            if node.leaves:
                return
            nodes.send_away(self._world, [node], now, skip_drain=skip_drain)
            if replace:
                nodes.grow(self._world, pool, self._world.cluster(cluster_id).region, 1, now)
            else:
                pool.count -= 1

    def recycle(self, cluster_id: str, pool_id: str, node_ids: list[str]) -> None:
        """Replaces nodes."""
        for node_id in node_ids:
            self.delete_node(cluster_id, pool_id, node_id, replace=True)

    def add(self, cluster: Cluster, body: PoolCreate, now: datetime) -> Pool:
        """Puts a new pool into a cluster; used at its creation too. The caller holds the world's instant."""
        world = self._world
        capacity.refuse_unknown_size(world, body.size, cluster.region)
        self._refuse_taken_name(cluster, body.name)
        scale = Scale(
            count=body.count or 0,
            auto_scale=bool(body.auto_scale),
            min_nodes=body.min_nodes or 0,
            max_nodes=body.max_nodes or 0,
        ).settled()
        self._refuse_too_few(cluster, None, body.size, scale)
        capacity.refuse_growth(world, body.size, cluster.region, scale.count)
        pool = _new_pool(body, scale, world.price(body.size), now)
        nodes.grow(world, pool, cluster.region, scale.count, now)
        cluster.pools.append(pool)
        return pool

    def _asked(self, pool: Pool, body: PoolUpdate) -> Scale:
        def kept(sent: int | None, before: int) -> int:
            return before if sent is None else sent

        return Scale(
            count=kept(body.count, pool.count),
            auto_scale=pool.auto_scale if body.auto_scale is None else body.auto_scale,
            min_nodes=kept(body.min_nodes, pool.min_nodes),
            max_nodes=kept(body.max_nodes, pool.max_nodes),
        ).settled()

    def _refuse_taken_name(self, cluster: Cluster, name: str | None) -> None:
        if self._world.settings.unique_pool_names and any(pool.name == name for pool in cluster.pools):
            raise unprocessable(f"a node pool with the name {name} already exists in this cluster")

    def _refuse_higher_ceiling(self, pool: Pool, asked: Scale) -> None:
        ceiling_holds = self._world.settings.spot_ceiling and self._world.sizes[pool.size].is_spot
        if ceiling_holds and asked.highest > pool.ceiling:
            raise unprocessable(
                f"the maximum of a Spot node pool cannot be raised after its creation "
                f"({pool.ceiling} at creation, {asked.highest} asked for): create a new node pool"
            )

    def _refuse_too_few(self, cluster: Cluster, pool: Pool | None, size: str, asked: Scale) -> None:
        """A fixed pool may be empty only if it is a GPU pool, or another fixed pool has a node."""
        if asked.auto_scale or asked.count or self._world.sizes[size].gpu:
            return
        others = [other for other in cluster.pools if other is not pool]
        if not any(other.count and not other.auto_scale for other in others):
            raise unprocessable("a node pool without autoscaling needs at least one node")

    @staticmethod
    def _refuse_while_leaving(pool: Pool) -> None:
        if pool.deleted_at:
            raise not_found()
        if pool.reclaim and pool.reclaim.refuses_updates:
            raise ApiRefusedError(422, "this node pool is being reclaimed")


def _new_pool(body: PoolCreate, scale: Scale, price: Decimal, now: datetime) -> Pool:
    return Pool(
        id=str(uuid.uuid4()),
        name=body.name,
        size=body.size,
        count=scale.count,
        tags=own_tags(body.tags or []),
        labels=dict(body.labels or {}),
        taints=[taint.taint() for taint in body.taints or []],
        auto_scale=scale.auto_scale,
        min_nodes=scale.min_nodes,
        max_nodes=scale.max_nodes,
        gpu_partition_mode=body.gpu_partition_mode or None,
        created_at=now,
        ceiling=scale.highest,
        price_at_creation=price,
    )


def _describe(pool: Pool, body: PoolUpdate) -> None:
    if body.name is not None:
        pool.name = body.name
    if body.tags is not None:
        pool.tags = own_tags(body.tags)
    if body.labels is not None:
        pool.labels = dict(body.labels)
    if body.taints is not None:
        pool.taints = [taint.taint() for taint in body.taints]


def own_tags(tags: list[str]) -> list[str]:
    """Without those that DigitalOcean adds, each once, in order."""
    return [tag for tag in dict.fromkeys(tags) if tag != "k8s" and not tag.startswith("k8s:")]


def _node(pool: Pool, node_id: str) -> Node:
    for node in pool.nodes:
        if node.id == node_id:
            return node
    raise not_found()
