"""What only the owner of the stand-in can do or see: reclaims, the bill, the whole state, whose a token is."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from doks_gpu.catalog import HIGH_AVAILABILITY
from rehearsal.digitalocean import views
from rehearsal.digitalocean.clock import after, rfc3339
from rehearsal.digitalocean.errors import not_found
from rehearsal.digitalocean.model import Cluster, Pool, Reclaim
from rehearsal.digitalocean.settings import Strict
from rehearsal.digitalocean.views import Json
from rehearsal.digitalocean.world import World

ADMIN_USER = "doks-admin"
ADMIN_GROUP = "system:masters"


class ReclaimOrder(Strict):
    """DigitalOcean takes a whole pool back. Without notice it is gone at once; what a reclaimed pool looks like until
    then is not known, so it is asked for here."""

    pool: str
    """Id or name."""
    notice_seconds: Annotated[float, Field(ge=0)] = 0
    """The nodes are listed as `draining` for so long."""
    listed_empty_seconds: Annotated[float, Field(ge=0)] = 0
    """After that, how long the pool is still found, with its count and without nodes."""
    refuses_updates: bool = True
    """Whether a PUT on the pool is answered 422 from the notice on."""


class AssociatedThing(Strict):
    """Something that the workloads of a cluster made."""

    kind: Literal["load_balancers", "volumes", "volume_snapshots"]
    name: str


class BillLine(BaseModel):
    """One thing that costs money now."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["cluster", "pool"]
    id: str
    name: str
    region: str
    size: str
    """Empty for a cluster."""
    nodes: int
    """Nodes that live, also those that wait for hardware or are on their way out."""
    usd_per_hour: Decimal
    """Of one node, or of the control plane."""
    offered_usd_per_hour: Decimal
    """What a new one costs now."""
    total_usd_per_hour: Decimal


class Bill(BaseModel):
    """What the account costs per hour, now."""

    model_config = ConfigDict(frozen=True)

    lines: tuple[BillLine, ...]
    total_usd_per_hour: Decimal


class Control:
    """The owner's view. Methods that name a thing raise `ApiRefusedError` (404) when it is not there."""

    def __init__(self, world: World) -> None:
        self._world = world

    def reclaim(self, order: ReclaimOrder) -> Json:
        """Returns when the notice was given, when the nodes go and when the pool goes."""
        with self._world.at_now() as now:
            pool = self._pool(order.pool)
            nodes_gone_at = after(now, order.notice_seconds)
            pool.reclaim = Reclaim(
                noticed_at=now,
                nodes_gone_at=nodes_gone_at,
                pool_gone_at=after(nodes_gone_at, order.listed_empty_seconds),
                refuses_updates=order.refuses_updates,
            )
            pool.gone_at = pool.reclaim.pool_gone_at
            for node in pool.nodes:
                node.leave(now, nodes_gone_at, nodes_gone_at)
            return {"pool_id": pool.id, **_reclaim(pool.reclaim)}

    def associate(self, cluster_id: str, thing: AssociatedThing) -> Json:
        """Gives a cluster a volume or a load balancer."""
        with self._world.at_now():
            cluster = self._world.cluster(cluster_id)
            row = {"id": str(uuid.uuid4()), "name": thing.name}
            cluster.associated.setdefault(thing.kind, []).append(row)
            return dict(row)

    def bill(self) -> Bill:
        """Spot pools at the price of the day they were made, everything else at today's."""
        with self._world.at_now():
            lines = [line for cluster in self._world.clusters.values() for line in self._lines(cluster)]
            total = sum((line.total_usd_per_hour for line in lines), Decimal(0))
            return Bill(lines=tuple(lines), total_usd_per_hour=total)

    def state(self) -> Json:
        """Everything that lives. Networks that DigitalOcean makes by itself and that cost nothing are left out."""
        with self._world.at_now() as now:
            return {
                "now": rfc3339(now),
                "clusters": [self._cluster(cluster, now) for cluster in self._world.clusters.values()],
                "spaces_keys": [views.spaces_key(key) for key in self._world.spaces_keys.values()],
                "vpcs": [views.vpc(vpc) for vpc in self._world.vpcs.values() if not vpc.default],
                "leftovers": [dict(thing) for thing in self._world.leftovers],
            }

    def is_empty(self) -> bool:
        """Whether nothing lives that somebody made."""
        return not any(value for key, value in self.state().items() if key != "now")

    def token_review(self, review: Mapping[str, Any], cluster_id: str | None = None) -> Json:
        """Answers an API server: the token's user, if it is known and has not expired.

        With `cluster_id`, only tokens of that cluster are known.
        """
        spec = review.get("spec")
        token = spec.get("token") if isinstance(spec, Mapping) else None
        with self._world.at_now() as now:
            found = self._world.tokens.get(token) if isinstance(token, str) else None
            valid = found is not None and now < found.expires_at and cluster_id in (None, found.cluster_id)
        user = {"username": ADMIN_USER, "uid": ADMIN_USER, "groups": [ADMIN_GROUP]}
        return {
            "apiVersion": review.get("apiVersion", "authentication.k8s.io/v1"),
            "kind": "TokenReview",
            "status": {"authenticated": True, "user": user} if valid else {"authenticated": False},
        }

    def _pool(self, id_or_name: str) -> Pool:
        for _, pool in self._world.pools():
            if id_or_name in (pool.id, pool.name):
                return pool
        raise not_found()

    def _lines(self, cluster: Cluster) -> list[BillLine]:
        control_plane = HIGH_AVAILABILITY.usd_per_hour if cluster.ha else Decimal(0)
        first = BillLine(
            kind="cluster",
            id=cluster.id,
            name=cluster.name,
            region=cluster.region,
            size="",
            nodes=0,
            usd_per_hour=control_plane,
            offered_usd_per_hour=control_plane,
            total_usd_per_hour=control_plane,
        )
        return [first, *(self._pool_line(cluster, pool) for pool in cluster.pools)]

    def _pool_line(self, cluster: Cluster, pool: Pool) -> BillLine:
        offered = self._world.price(pool.size)
        price = pool.price_at_creation if self._world.sizes[pool.size].is_spot else offered
        return BillLine(
            kind="pool",
            id=pool.id,
            name=pool.name,
            region=cluster.region,
            size=pool.size,
            nodes=len(pool.nodes),
            usd_per_hour=price,
            offered_usd_per_hour=offered,
            total_usd_per_hour=price * len(pool.nodes),
        )

    def _cluster(self, cluster: Cluster, now: datetime) -> Json:
        rows = [
            {
                **views.pool(pool, cluster, now),
                "ceiling": pool.ceiling,
                "usd_per_hour_at_creation": str(pool.price_at_creation),
                "reclaim": _reclaim(pool.reclaim) if pool.reclaim else None,
                "waiting_for_hardware": sum(node.runs_at is None for node in pool.staying()),
            }
            for pool in cluster.pools
        ]
        return {**views.cluster(self._world, cluster, now), "node_pools": rows, "associated": cluster.associated}


def _reclaim(reclaim: Reclaim) -> Json:
    return {
        "noticed_at": rfc3339(reclaim.noticed_at),
        "nodes_gone_at": rfc3339(reclaim.nodes_gone_at),
        "pool_gone_at": rfc3339(reclaim.pool_gone_at),
        "refuses_updates": reclaim.refuses_updates,
    }
