"""The account: everything that lives in it, its settings and its time, behind one lock."""

import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from typing import Any

from rehearsal.digitalocean.clock import Clock, after
from rehearsal.digitalocean.errors import not_found, unprocessable
from rehearsal.digitalocean.model import Cluster, Pool, SpacesKey, Token, Vpc
from rehearsal.digitalocean.settings import StandInSettings
from rehearsal.digitalocean.sizes import Size, default_sizes, size_of


class World:
    """Shared by the services that change it. All of them work inside `at_now`."""

    def __init__(self, settings: StandInSettings | None = None, clock: Clock | None = None) -> None:
        """Raises `ApiRefusedError` for settings about a size that is not on sale."""
        self.clock = clock or Clock()
        self.clusters: dict[str, Cluster] = {}
        self.spaces_keys: dict[str, SpacesKey] = {}
        self.tokens: dict[str, Token] = {}
        self.vpcs: dict[str, Vpc] = {}
        self.leftovers: list[dict[str, str]] = []
        """Volumes and load balancers of clusters that are gone: they stay and bill."""
        self._settings = settings or StandInSettings()
        self._sizes = _on_sale(self._settings)
        self._lock = threading.RLock()
        self._droplets = 5_000_000

    @property
    def settings(self) -> StandInSettings:
        """As they are now; `change` replaces them."""
        return self._settings

    @property
    def sizes(self) -> Mapping[str, Size]:
        """Everything on sale, by slug."""
        return self._sizes

    def change(self, **changes: Any) -> StandInSettings:
        """Sets some of the settings, with immediate effect.

        Raises pydantic's `ValidationError`, and `ApiRefusedError` for settings about a size that is not on sale.
        """
        with self.at_now() as now:
            settings = StandInSettings.model_validate({**dict(self._settings), **changes})
            self._sizes = {**self._sizes, **_on_sale(settings)}
            self._settings = settings
            self._boot_what_waited(now)
            return self._settings

    @contextmanager
    def at_now(self) -> Iterator[datetime]:
        """One instant, with nobody else at work: what is gone by then is gone."""
        with self._lock:
            now = self.clock.now()
            self._take_away_what_is_gone(now)
            yield now

    def cluster(self, cluster_id: str) -> Cluster:
        """Raises `ApiRefusedError` (404)."""
        if cluster_id not in self.clusters:
            raise not_found()
        return self.clusters[cluster_id]

    def pool(self, cluster_id: str, pool_id: str) -> Pool:
        """Raises `ApiRefusedError` (404)."""
        for pool in self.cluster(cluster_id).pools:
            if pool.id == pool_id:
                return pool
        raise not_found()

    def pools(self) -> Iterator[tuple[Cluster, Pool]]:
        """Every pool of the account."""
        for cluster in self.clusters.values():
            for pool in cluster.pools:
                yield cluster, pool

    def price(self, size: str) -> Decimal:
        """What a new node of this size costs now, in US dollars per hour."""
        return self._settings.prices.get(size, self.sizes[size].usd_per_hour)

    def new_droplet_id(self) -> int:
        """Never used before."""
        self._droplets += 1
        return self._droplets

    def default_vpc(self, region: str, now: datetime) -> Vpc:
        """The region's own network; made when it is first asked for."""
        for vpc in self.vpcs.values():
            if vpc.region == region and vpc.default:
                return vpc
        vpc = Vpc(
            id=str(uuid.uuid4()),
            name=f"default-{region}",
            region=region,
            description="",
            ip_range=f"10.{100 + len(self.vpcs) % 150}.0.0/20",
            default=True,
            created_at=now,
        )
        self.vpcs[vpc.id] = vpc
        return vpc

    def _take_away_what_is_gone(self, now: datetime) -> None:
        for cluster in self.clusters.values():
            cluster.pools = [pool for pool in cluster.pools if not (pool.gone_at and pool.gone_at <= now)]
            for pool in cluster.pools:
                pool.nodes = [node for node in pool.nodes if not node.is_gone(now)]
            if cluster.upgraded_at and cluster.upgraded_at <= now:
                cluster.version, cluster.upgraded_at = cluster.upgrade_to, None

    def _boot_what_waited(self, now: datetime) -> None:
        """Stock that came back goes to the pools that still ask for it, oldest first."""
        for cluster, pool in self.pools():
            for node in pool.staying():
                if node.runs_at is None and self.stock_left(pool.size, cluster.region) != 0:
                    node.runs_at = after(now, self._settings.boot_seconds(pool.size))

    def stock_left(self, size: str, region: str) -> int | None:
        """Nodes of a size that can still be had there; None when there is no end to them."""
        rule = self._settings.stock_out(size, region)
        if rule is None:
            return None
        living = sum(
            1
            for cluster, pool in self.pools()
            if pool.size == size and (rule.region is None or cluster.region == region)
            for node in pool.nodes
            if node.runs_at is not None
        )
        return max(0, rule.left - living)


def _on_sale(settings: StandInSettings) -> dict[str, Size]:
    new = [size_of(row.slug, row.vcpus, row.memory_gib, row.usd_per_hour) for row in settings.new_sizes]
    sizes = {**default_sizes(), **{size.slug: size for size in new}}
    unknown = sorted(settings.named_sizes() - sizes.keys())
    if unknown:
        raise unprocessable(f"settings name sizes that are not on sale: {', '.join(unknown)}")
    return sizes
