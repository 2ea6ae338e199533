"""A stand-in whose time stands still, and the bodies that its tests send."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
from fastapi import FastAPI

from rehearsal.digitalocean import Clock, ClusterBackend, DigitalOcean, StandInSettings
from rehearsal.digitalocean.app import create_app
from rehearsal.digitalocean.bodies import ClusterCreate, PoolCreate, PoolUpdate

START = datetime(2026, 11, 30, 12, tzinfo=UTC)
TOKEN = "token-of-the-test"
CPU = "s-4vcpu-8gb"
SPOT = "gpu-b300x1-288gb-spot"
H200 = "gpu-h200x1-141gb"
MI300 = "gpu-mi300x1-192gb"

Json = dict[str, Any]

CPU_POOL: Json = {"name": "cpu", "size": CPU, "auto_scale": True, "min_nodes": 2, "max_nodes": 4}
SPOT_POOL: Json = {"name": "batch-spot", "size": SPOT, "auto_scale": True, "min_nodes": 1, "max_nodes": 3}
CLUSTER: Json = {"name": "dev", "region": "atl1", "version": "1.36", "node_pools": [CPU_POOL]}


@dataclass
class Account:
    """The account as its owner and as its user see it."""

    cloud: DigitalOcean

    def cluster(self, **changes: Any) -> str:
        """The id of a new cluster."""
        made = self.cloud.clusters.create(ClusterCreate.model_validate({**CLUSTER, **changes}))
        return str(made["id"])

    def pool(self, cluster_id: str, **changes: Any) -> str:
        """The id of a new pool, a Spot pool unless asked for otherwise."""
        made = self.cloud.pools.create(cluster_id, PoolCreate.model_validate({**SPOT_POOL, **changes}))
        return str(made["id"])

    def put(self, cluster_id: str, pool_id: str, **body: Any) -> Json:
        return self.cloud.pools.update(cluster_id, pool_id, PoolUpdate.model_validate(body))

    def get(self, cluster_id: str, pool_id: str) -> Json:
        return self.cloud.pools.get(cluster_id, pool_id)

    def states(self, cluster_id: str, pool_id: str) -> list[str]:
        """States of the nodes that the pool lists."""
        return [node["status"]["state"] for node in self.get(cluster_id, pool_id)["nodes"]]

    def wait(self, seconds: float) -> None:
        """Lets time pass."""
        self.cloud.world.clock.advance(seconds)

    def exists(self, cluster_id: str, pool_id: str) -> bool:
        return pool_id in [pool["id"] for pool in self.cloud.pools.all(cluster_id)]


def account(backend: ClusterBackend | None = None, **settings: Any) -> Account:
    """A new account in which nothing lives."""
    return Account(DigitalOcean(StandInSettings.model_validate(settings), backend=backend, clock=Clock(0, START)))


class Http:
    """The account over HTTP, without a port."""

    def __init__(self, of: Account, token: str = TOKEN) -> None:
        self._app: FastAPI = create_app(of.cloud, TOKEN)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def request(self, method: str, path: str, **named: Any) -> httpx.Response:
        """One request with its answer; `named` as httpx takes it."""
        return asyncio.run(self._request(method, path, named))

    def get(self, path: str, **named: Any) -> httpx.Response:
        return self.request("GET", path, **named)

    def post(self, path: str, **named: Any) -> httpx.Response:
        return self.request("POST", path, **named)

    def put(self, path: str, **named: Any) -> httpx.Response:
        return self.request("PUT", path, **named)

    def patch(self, path: str, **named: Any) -> httpx.Response:
        return self.request("PATCH", path, **named)

    def delete(self, path: str, **named: Any) -> httpx.Response:
        return self.request("DELETE", path, **named)

    async def _request(self, method: str, path: str, named: dict[str, Any]) -> httpx.Response:
        headers = self._headers | named.pop("headers", {})
        transport = httpx.ASGITransport(self._app)
        options: dict[str, Any] = {"base_url": "http://api.test", "trust_env": False}
        async with httpx.AsyncClient(transport=transport, headers=headers, **options) as client:
            return await client.request(method, path, **named)
