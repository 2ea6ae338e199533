"""What lives in the stand-in's account. Times of future events are fixed when they are decided; states are worked out
from the clock (`world.py` takes away what is gone)."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from rehearsal.digitalocean.backend import ClusterEndpoint

NodeState = Literal["provisioning", "running", "draining", "deleting"]


@dataclass
class Node:
    """A droplet of a pool."""

    id: str
    name: str
    droplet_id: int
    created_at: datetime
    listed_at: datetime | None
    """None: never in the pool's list."""
    droplet_id_at: datetime
    runs_at: datetime | None
    """None: there is no hardware for it."""
    draining_at: datetime | None = None
    deleting_at: datetime | None = None
    gone_at: datetime | None = None

    @property
    def leaves(self) -> bool:
        """Whether it was told to go: the pool's count does not include it any more."""
        return self.gone_at is not None

    def state(self, now: datetime) -> NodeState:
        """As the API says it."""
        if _reached(self.deleting_at, now):
            return "deleting"
        if _reached(self.draining_at, now):
            return "draining"
        return "running" if _reached(self.runs_at, now) else "provisioning"

    def changed_at(self, now: datetime) -> datetime:
        """The last change of state."""
        moments = (self.created_at, self.runs_at, self.draining_at, self.deleting_at)
        return max(moment for moment in moments if moment and moment <= now)

    def leave(self, draining_at: datetime, deleting_at: datetime, gone_at: datetime) -> None:
        """Decides its end."""
        self.draining_at, self.deleting_at, self.gone_at = draining_at, deleting_at, gone_at

    def is_listed(self, now: datetime) -> bool:
        """Whether its pool shows it."""
        return _reached(self.listed_at, now) and not self.is_gone(now)

    def is_gone(self, now: datetime) -> bool:
        """Whether it left."""
        return _reached(self.gone_at, now)


@dataclass(frozen=True, kw_only=True)
class Taint:
    """A taint of a pool, as the user set it."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, kw_only=True)
class Reclaim:
    """DigitalOcean takes a pool back."""

    noticed_at: datetime
    nodes_gone_at: datetime
    pool_gone_at: datetime
    refuses_updates: bool


@dataclass
class Pool:
    """A node pool. `count` is what the API says; `nodes` also holds those that are on their way out."""

    id: str
    name: str
    size: str
    count: int
    tags: list[str]
    labels: dict[str, str]
    taints: list[Taint]
    auto_scale: bool
    min_nodes: int
    max_nodes: int
    gpu_partition_mode: str | None
    created_at: datetime
    ceiling: int
    """Highest count at creation: what a Spot pool may never pass."""
    price_at_creation: Decimal
    """US dollars per node and hour."""
    nodes: list[Node] = field(default_factory=list)
    reclaim: Reclaim | None = None
    deleted_at: datetime | None = None
    gone_at: datetime | None = None

    def staying(self) -> list[Node]:
        """Nodes that count."""
        return [node for node in self.nodes if not node.leaves]


@dataclass
class Cluster:
    """A DOKS cluster. `blocks` are parts that the stand-in keeps and gives back without acting on them."""

    id: str
    name: str
    region: str
    version: str
    tags: list[str]
    vpc_uuid: str
    cluster_subnet: str
    service_subnet: str
    ha: bool
    auto_upgrade: bool
    surge_upgrade: bool
    maintenance_policy: dict[str, str]
    autoscaler: dict[str, Any]
    """Only what is set."""
    blocks: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    runs_at: datetime
    pools: list[Pool] = field(default_factory=list)
    endpoint: ClusterEndpoint | None = None
    failure: str = ""
    upgrade_to: str = ""
    upgraded_at: datetime | None = None
    registry_enabled: bool = False
    associated: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    @property
    def expanders(self) -> tuple[str, ...]:
        """In order of preference; empty when nobody set them."""
        return tuple(self.autoscaler.get("expanders", ()))

    def state(self, now: datetime) -> str:
        """As the API says it. `deleting` is never said: DigitalOcean's Go client refuses the word."""
        if self.failure:
            return "error"
        if self.endpoint is None or now < self.runs_at:
            return "provisioning"
        return "upgrading" if self.upgraded_at else "running"


@dataclass
class SpacesKey:
    """An access key for buckets."""

    access_key: str
    secret_key: str
    name: str
    grants: list[dict[str, str]]
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Token:
    """A cluster credential."""

    cluster_id: str
    expires_at: datetime


@dataclass
class Vpc:
    """A private network. Each region has a default one, made when it is first needed."""

    id: str
    name: str
    region: str
    description: str
    ip_range: str
    default: bool
    created_at: datetime


def _reached(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and now >= moment
