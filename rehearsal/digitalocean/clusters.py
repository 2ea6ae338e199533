"""Clusters: made in the background by a backend, changed, upgraded, deleted, and their credentials.

Rules: DigitalOcean's OpenAPI text, its Go client and its provider's source (July and August 2026).
"""

import base64
import logging
import math
import secrets
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import yaml

from rehearsal.digitalocean import views
from rehearsal.digitalocean.backend import ClusterBackend
from rehearsal.digitalocean.bodies import ClusterCreate, ClusterSettings, ClusterUpdate, Registry
from rehearsal.digitalocean.clock import after, rfc3339
from rehearsal.digitalocean.errors import ApiRefusedError, unprocessable
from rehearsal.digitalocean.model import Cluster, Token
from rehearsal.digitalocean.pools import Pools, own_tags
from rehearsal.digitalocean.settings import WEEK_SECONDS
from rehearsal.digitalocean.versions import resolve, upgrades
from rehearsal.digitalocean.views import Json
from rehearsal.digitalocean.world import World

Job = Callable[[], None]

_MAINTENANCE = {"day": "any", "start_time": "00:00", "duration": "4h0m0s"}
_KINDS = ("load_balancers", "volumes", "volume_snapshots")
_log = logging.getLogger(__name__)


class Clusters:
    """What the API does with clusters. Every method may raise `ApiRefusedError`.

    `background` runs what takes long without making the caller wait.
    """

    def __init__(self, world: World, pools: Pools, backend: ClusterBackend, background: Callable[[Job], None]) -> None:
        self._world = world
        self._pools = pools
        self._backend = backend
        self._background = background

    def create(self, body: ClusterCreate) -> Json:
        """The new cluster, `provisioning`."""
        with self._world.at_now() as now:
            cluster = self._new(body, now)
            self._world.clusters[cluster.id] = cluster
            try:
                for pool in body.node_pools:
                    self._pools.add(cluster, pool, now)
            except ApiRefusedError:
                del self._world.clusters[cluster.id]
                raise
            answer = views.cluster(self._world, cluster, now)
        if not cluster.failure:
            self._background(lambda: self._make(cluster))
        return answer

    def all(self) -> list[Json]:
        """Every cluster of the account, oldest first."""
        with self._world.at_now() as now:
            return [views.cluster(self._world, cluster, now) for cluster in self._world.clusters.values()]

    def get(self, cluster_id: str) -> Json:
        """One cluster."""
        with self._world.at_now() as now:
            return views.cluster(self._world, self._world.cluster(cluster_id), now)

    def update(self, cluster_id: str, body: ClusterUpdate) -> Json:
        """The changed cluster. High availability cannot be turned off."""
        with self._world.at_now() as now:
            cluster = self._world.cluster(cluster_id)
            if body.ha is False and cluster.ha:
                raise unprocessable("high availability cannot be turned off")
            before = cluster.expanders
            cluster.name = body.name or cluster.name
            cluster.ha = cluster.ha or bool(body.ha)
            _configure(cluster, body)
            cluster.updated_at = now
            answer = views.cluster(self._world, cluster, now)
            changed = cluster.expanders != before and cluster.endpoint is not None
        if changed:
            self._backend.apply_autoscaler(cluster_id, cluster.expanders)
        return answer

    def upgrade(self, cluster_id: str, version: str) -> None:
        """Goes to a newer version, in the time that the settings give it."""
        with self._world.at_now() as now:
            cluster = self._world.cluster(cluster_id)
            wanted = resolve(self._world.settings.versions, version)
            if wanted != cluster.version and wanted not in upgrades(self._world.settings.versions, cluster.version):
                raise unprocessable(f"cannot upgrade from {cluster.version} to {wanted}")
            cluster.upgrade_to = wanted
            cluster.upgraded_at = after(now, self._world.settings.upgrade_seconds)
            cluster.updated_at = now

    def available_upgrades(self, cluster_id: str) -> list[Json]:
        """Versions that this cluster can go to."""
        with self._world.at_now():
            cluster = self._world.cluster(cluster_id)
            slugs = upgrades(self._world.settings.versions, cluster.version)
            return [{"slug": slug, "kubernetes_version": slug.partition("-")[0]} for slug in slugs]

    def delete(self, cluster_id: str, *, with_associated: bool = False) -> None:
        """The cluster goes at once, with pools and tokens; what its workloads made stays unless asked for."""
        with self._world.at_now():
            cluster = self._world.cluster(cluster_id)
            if not with_associated:
                for kind, things in cluster.associated.items():
                    self._world.leftovers += [{"kind": kind, "cluster": cluster.name, **thing} for thing in things]
            del self._world.clusters[cluster_id]
            for token in [token for token, its in self._world.tokens.items() if its.cluster_id == cluster_id]:
                del self._world.tokens[token]
        self._background(lambda: self._backend.delete(cluster_id))

    def associated(self, cluster_id: str) -> Json:
        """What the workloads of a cluster made outside it."""
        with self._world.at_now():
            made = self._world.cluster(cluster_id).associated
            return {kind: list(made.get(kind, [])) for kind in _KINDS}

    def status_messages(self, cluster_id: str) -> Json:
        """Why a cluster is not well."""
        with self._world.at_now():
            cluster = self._world.cluster(cluster_id)
            rows = [{"message": cluster.failure, "timestamp": rfc3339(cluster.updated_at)}] if cluster.failure else []
            return {"messages": rows}

    def set_registry(self, body: Registry, *, enabled: bool) -> None:
        """Lets clusters pull from the account's registry, or no longer."""
        with self._world.at_now():
            for cluster in [self._world.cluster(cluster_id) for cluster_id in body.cluster_uuids]:
                cluster.registry_enabled = enabled

    def credentials(self, cluster_id: str, expiry_seconds: int) -> Json:
        """A new token on every request; 0 asks for seven days."""
        with self._world.at_now() as now:
            cluster = self._world.cluster(cluster_id)
            if cluster.endpoint is None:
                raise ApiRefusedError(412, "the cluster is not ready yet")
            lifetime = min(expiry_seconds or WEEK_SECONDS, self._world.settings.token_seconds_cap)
            expires_at = _whole_second(after(now, lifetime))
            token = f"doks_v1_{secrets.token_hex(32)}"
            self._world.tokens[token] = Token(cluster_id=cluster_id, expires_at=expires_at)
            authority = cluster.endpoint.certificate_authority_pem.encode()
            return {
                "server": cluster.endpoint.server,
                "certificate_authority_data": base64.b64encode(authority).decode(),
                "client_certificate_data": None,
                "client_key_data": None,
                "token": token,
                "expires_at": rfc3339(expires_at),
            }

    def kubeconfig(self, cluster_id: str, expiry_seconds: int) -> str:
        """The same credentials as a file for kubectl."""
        found, cluster = self.credentials(cluster_id, expiry_seconds), self.get(cluster_id)
        name = f"do-{cluster['region']}-{cluster['name']}"
        server = {
            "certificate-authority-data": found["certificate_authority_data"],
            "server": found["server"],
        }
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": name, "cluster": server}],
                "contexts": [{"name": name, "context": {"cluster": name, "user": f"{name}-admin"}}],
                "current-context": name,
                "users": [{"name": f"{name}-admin", "user": {"token": found["token"]}}],
            }
        )

    def _new(self, body: ClusterCreate, now: datetime) -> Cluster:
        settings = self._world.settings
        if body.region not in settings.regions:
            raise unprocessable(f"invalid region: {body.region}")
        version = resolve(settings.versions, body.version)
        if body.vpc_uuid and body.vpc_uuid not in self._world.vpcs:
            raise unprocessable(f"invalid VPC: {body.vpc_uuid}")
        cluster = Cluster(
            id=str(uuid.uuid4()),
            name=body.name,
            region=body.region,
            version=version,
            tags=[],
            vpc_uuid=body.vpc_uuid or self._world.default_vpc(body.region, now).id,
            cluster_subnet=body.cluster_subnet or "10.108.0.0/16",
            service_subnet=body.service_subnet or "10.109.0.0/19",
            ha=views.minor_version(version) >= (1, 36) if body.ha is None else body.ha,
            auto_upgrade=False,
            surge_upgrade=False,
            maintenance_policy=dict(_MAINTENANCE),
            autoscaler={},
            blocks={
                "control_plane_firewall": None,
                "sso": None,
                "isolated_workers": bool(body.isolated_workers),
                "worker_subnet_uuid": body.worker_subnet_uuid or "",
            },
            created_at=now,
            updated_at=now,
            runs_at=after(now, settings.cluster_boot_seconds),
            failure=settings.cluster_failure,
        )
        _configure(cluster, body)
        return cluster

    def _make(self, cluster: Cluster) -> None:
        """Runs in the background. A cluster that was deleted meanwhile is ended again."""
        try:
            endpoint = self._backend.create(cluster.id, cluster.name, cluster.region, cluster.version)
        except Exception as error:
            _log.warning("cluster %s could not be made", cluster.id, exc_info=True)
            with self._world.at_now() as now:
                cluster.failure, cluster.updated_at = str(error) or type(error).__name__, now
            return
        with self._world.at_now():
            wanted = cluster.id in self._world.clusters
            if wanted:
                cluster.endpoint = endpoint
            expanders = cluster.expanders
        if wanted:
            self._backend.apply_autoscaler(cluster.id, expanders)
        else:
            self._backend.delete(cluster.id)


def _configure(cluster: Cluster, body: ClusterSettings) -> None:
    if body.tags is not None:
        cluster.tags = own_tags(body.tags)
    if body.auto_upgrade is not None:
        cluster.auto_upgrade = body.auto_upgrade
    if body.surge_upgrade is not None:
        cluster.surge_upgrade = body.surge_upgrade
    if body.maintenance_policy is not None:
        cluster.maintenance_policy = body.maintenance_policy.over(cluster.maintenance_policy)
    if body.cluster_autoscaler_configuration is not None:
        cluster.autoscaler = body.cluster_autoscaler_configuration.over(cluster.autoscaler)
    cluster.blocks |= _kept_blocks(body)


def _kept_blocks(body: ClusterSettings) -> dict[str, Any]:
    switched: dict[str, Any] = {name: {"enabled": on} for name, on in body.switched().items()}
    firewall = body.control_plane_firewall
    if firewall and firewall.get("enabled") is not None:
        switched["control_plane_firewall"] = firewall
    if body.sso and body.sso.get("enabled") is not None:
        switched["sso"] = body.sso
    return switched


def _whole_second(moment: datetime) -> datetime:
    """The API writes whole seconds: what it says must be what it does."""
    return datetime.fromtimestamp(math.ceil(moment.timestamp()), UTC)
