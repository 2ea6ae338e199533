"""Drives the provider stand-in over gRPC, against a recording API and a clock that does not wait."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from rehearsal.provider import marshal
from rehearsal.provider.api import Body, Reply
from rehearsal.provider.marshal import Props
from rehearsal.provider.provider import Provider
from rehearsal.provider.server import serve
from rehearsal.provider.waiting import Patience

CLUSTER = "digitalocean:index/kubernetesCluster:KubernetesCluster"
NODE_POOL = "digitalocean:index/kubernetesNodePool:KubernetesNodePool"
SPACES_KEY = "digitalocean:index/spacesKey:SpacesKey"
ORIGIN = "http://api.test"


@dataclass
class Request:
    method: str
    path: str
    body: Body | None
    headers: Mapping[str, str] = field(default_factory=dict)


class StillClock:
    """Sleeping moves the time and nothing else; `on_sleep` is what happens meanwhile."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []
        self.on_sleep: Callable[[], None] = lambda: None

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime(2026, 11, 30, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def sleep(self, seconds: float, cancelled: threading.Event) -> None:
        del cancelled
        self.slept.append(seconds)
        self.seconds += seconds
        self.on_sleep()


class RecordingApi:
    """The few behaviours of DigitalOcean that the provider sees."""

    def __init__(self, clock: StillClock) -> None:
        self.clock = clock
        self.requests: list[Request] = []
        self.clusters: dict[str, Body] = {}
        self.keys: dict[str, Body] = {}
        self.failures: list[Reply] = []
        self.boots = True
        self.cluster_state = "running"
        self.token_lives = timedelta(days=7)
        self._numbers = 0
        self._lock = threading.Lock()
        self._routes: list[tuple[str, str, Callable[..., Reply]]] = [
            ("POST", r"/v2/kubernetes/clusters", self._create_cluster),
            ("GET", r"/v2/kubernetes/clusters\?.*", self._list_clusters),
            ("GET", r"/v2/kubernetes/clusters/([^/]+)", self._get_cluster),
            ("PUT", r"/v2/kubernetes/clusters/([^/]+)", self._update_cluster),
            ("DELETE", r"/v2/kubernetes/clusters/([^/]+)", self._delete_cluster),
            ("POST", r"/v2/kubernetes/clusters/([^/]+)/upgrade", self._upgrade),
            ("GET", r"/v2/kubernetes/clusters/([^/]+)/credentials\?.*", self._credentials),
            ("GET", r"/v2/kubernetes/clusters/([^/]+)/destroy_with_associated_resources", self._nothing),
            (
                "DELETE",
                r"/v2/kubernetes/clusters/([^/]+)/destroy_with_associated_resources/dangerous",
                self._delete_cluster,
            ),
            ("POST", r"/v2/kubernetes/clusters/([^/]+)/node_pools", self._create_pool),
            ("GET", r"/v2/kubernetes/clusters/([^/]+)/node_pools/([^/]+)", self._get_pool),
            ("PUT", r"/v2/kubernetes/clusters/([^/]+)/node_pools/([^/]+)", self._update_pool),
            ("DELETE", r"/v2/kubernetes/clusters/([^/]+)/node_pools/([^/]+)", self._delete_pool),
            ("GET", r"/v2/kubernetes/options", self._options),
            ("POST", r"/v2/kubernetes/registry", self._nothing),
            ("POST", r"/v2/spaces/keys", self._create_key),
            ("GET", r"/v2/spaces/keys/([^/]+)", self._get_key),
            ("PUT", r"/v2/spaces/keys/([^/]+)", self._update_key),
            ("DELETE", r"/v2/spaces/keys/([^/]+)", self._delete_key),
        ]

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: Body | None) -> Reply:
        path = url.removeprefix(ORIGIN)
        with self._lock:
            self.requests.append(Request(method, path, json.loads(json.dumps(body)), dict(headers)))
            if self.failures:
                return self.failures.pop(0)
            for verb, pattern, handle in self._routes:
                found = re.fullmatch(pattern, path)
                if verb == method and found:
                    return json_copy(handle(*found.groups(), *([] if body is None else [body])))
        return Reply(404, {"id": "not_found", "message": f"no route for {method} {path}"})

    def sent(self, *methods: str) -> list[Request]:
        """The requests so far that change something, or those with the given methods."""
        return [
            request for request in self.requests if request.method in (methods or ("POST", "PUT", "DELETE"))
        ]

    def pool(self, pool_id: str) -> Body:
        return next(
            pool
            for cluster in self.clusters.values()
            for pool in cluster["node_pools"]
            if pool["id"] == pool_id
        )

    def scale(self, pool_id: str, count: int) -> None:
        pool = self.pool(pool_id)
        pool["count"] = count
        del pool["nodes"][count:]
        while len(pool["nodes"]) < count:
            pool["nodes"].append(self._node())

    def reclaim(self, pool_id: str) -> None:
        for cluster in self.clusters.values():
            cluster["node_pools"] = [pool for pool in cluster["node_pools"] if pool["id"] != pool_id]

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    def _node(self) -> Body:
        number = self._number()
        state = "running" if self.boots else "provisioning"
        return {
            "id": f"node-{number}",
            "name": f"n{number}",
            "status": {"state": state},
            "droplet_id": str(number),
        }

    def _new_pool(self, body: Body) -> Body:
        pool = {
            "count": 0,
            "tags": [],
            "labels": None,
            "auto_scale": False,
            "min_nodes": 0,
            "max_nodes": 0,
            **body,
            "id": f"pool-{self._number()}",
            "nodes": [],
            "taints": [
                {key.lower(): value for key, value in taint.items()} for taint in body.get("taints", [])
            ],
        }
        pool["tags"] = ["k8s", "k8s:worker", *pool["tags"]]
        count = pool["count"] or pool["min_nodes"]
        pool["count"] = count
        pool["nodes"] = [self._node() for _ in range(count)]
        return pool

    def _create_cluster(self, body: Body) -> Reply:
        cluster_id = f"cluster-{self._number()}"
        cluster = {
            "ha": False,
            "vpc_uuid": "vpc-1",
            "cluster_subnet": "10.1.0.0/16",
            "service_subnet": "10.2.0.0/16",
            "ipv4": "192.0.2.1",
            "endpoint": "https://192.0.2.1",
            "tags": [],
            "registry_enabled": False,
            "created_at": "2026-11-30T00:00:00Z",
            "updated_at": "2026-11-30T00:00:00Z",
            **body,
            "id": cluster_id,
            "status": {"state": self.cluster_state, "message": "no capacity for the control plane"},
            "node_pools": [self._new_pool(pool) for pool in body["node_pools"]],
        }
        cluster["maintenance_policy"] = {
            "day": "any",
            "start_time": "00:00",
            **{k: v for k, v in (body["maintenance_policy"] or {}).items() if v},
            "duration": "4h0m0s",
        }
        cluster["tags"] = ["k8s", f"k8s:{cluster_id}", *cluster["tags"]]
        self.clusters[cluster_id] = cluster
        return Reply(201, {"kubernetes_cluster": cluster})

    def _list_clusters(self) -> Reply:
        found = list(self.clusters.values())
        return Reply(200, {"kubernetes_clusters": found, "meta": {"total": len(found)}})

    def _get_cluster(self, cluster_id: str) -> Reply:
        if cluster_id not in self.clusters:
            return _missing()
        return Reply(200, {"kubernetes_cluster": self.clusters[cluster_id]})

    def _update_cluster(self, cluster_id: str, body: Body) -> Reply:
        if cluster_id not in self.clusters:
            return _missing()
        known = {
            key: value for key, value in body.items() if value is not None and value != {"enabled": None}
        }
        if "tags" in known:
            known["tags"] = ["k8s", f"k8s:{cluster_id}", *known["tags"]]
        policy = {**self.clusters[cluster_id]["maintenance_policy"], **known.pop("maintenance_policy", {})}
        self.clusters[cluster_id] |= {**known, "maintenance_policy": policy}
        return Reply(202, {"kubernetes_cluster": self.clusters[cluster_id]})

    def _delete_cluster(self, cluster_id: str) -> Reply:
        return _missing() if self.clusters.pop(cluster_id, None) is None else Reply(204)

    def _upgrade(self, cluster_id: str, body: Body) -> Reply:
        self.clusters[cluster_id]["version"] = body["version"]
        return Reply(202)

    def _credentials(self, cluster_id: str) -> Reply:
        return Reply(
            200,
            {
                "server": f"https://{cluster_id}.test",
                "certificate_authority_data": "Y2E=",
                "token": f"token-{self._number()}",
                "expires_at": (self.clock.now() + self.token_lives).isoformat().replace("+00:00", "Z"),
            },
        )

    def _nothing(self, *_: object) -> Reply:
        return Reply(200, {})

    def _create_pool(self, cluster_id: str, body: Body) -> Reply:
        pool = self._new_pool(body)
        self.clusters[cluster_id]["node_pools"].append(pool)
        return Reply(201, {"node_pool": pool})

    def _find(self, cluster_id: str, pool_id: str) -> Body | None:
        pools = self.clusters.get(cluster_id, {}).get("node_pools", [])
        return next((pool for pool in pools if pool["id"] == pool_id), None)

    def _get_pool(self, cluster_id: str, pool_id: str) -> Reply:
        pool = self._find(cluster_id, pool_id)
        return _missing() if pool is None else Reply(200, {"node_pool": pool})

    def _update_pool(self, cluster_id: str, pool_id: str, body: Body) -> Reply:
        pool = self._find(cluster_id, pool_id)
        if pool is None:
            return _missing()
        count = body.get("count")
        pool |= {key: value for key, value in body.items() if key not in ("count", "taints")}
        pool["taints"] = [{k.lower(): v for k, v in taint.items()} for taint in body.get("taints", [])]
        if count is not None:
            self.scale(pool_id, count)
        return Reply(202, {"node_pool": pool})

    def _delete_pool(self, cluster_id: str, pool_id: str) -> Reply:
        if self._find(cluster_id, pool_id) is None:
            return _missing()
        self.reclaim(pool_id)
        return Reply(204)

    def _options(self) -> Reply:
        slugs = ["1.36.3-do.1", "1.36.3-do.0", "1.35.7-do.2"]
        return Reply(
            200, {"options": {"versions": [{"slug": slug} for slug in slugs], "regions": [], "sizes": []}}
        )

    def _create_key(self, body: Body) -> Reply:
        access = f"DO00{self._number()}"
        self.keys[access] = {**body, "access_key": access, "created_at": "2026-11-30T00:00:00Z"}
        return Reply(201, {"key": {**self.keys[access], "secret_key": "spaces-secret"}})

    def _get_key(self, access: str) -> Reply:
        return Reply(200, {"key": self.keys[access]}) if access in self.keys else _missing()

    def _update_key(self, access: str, body: Body) -> Reply:
        self.keys[access] |= body
        return Reply(200, {"key": self.keys[access]})

    def _delete_key(self, access: str) -> Reply:
        return _missing() if self.keys.pop(access, None) is None else Reply(204)


def json_copy(reply: Reply) -> Reply:
    return Reply(reply.status, json.loads(json.dumps(reply.body)), reply.headers)


def _missing() -> Reply:
    return Reply(404, {"id": "not_found", "message": "The resource you requested could not be found."})


@dataclass
class Live:
    """A resource as the engine's state holds it."""

    urn: str
    id: str
    inputs: Props
    outputs: Props


@dataclass(frozen=True)
class Plan:
    """What a preview would say about one resource."""

    changes: dict[str, str]
    """Property path to `add`, `delete`, `update`, with `_replace` where it replaces."""

    @property
    def action(self) -> str:
        if not self.changes:
            return "nothing"
        return "replace" if any(kind.endswith("_replace") for kind in self.changes.values()) else "update"


class Engine:
    """The engine's part of the conversation, one resource at a time."""

    def __init__(self, stub: provider_pb2_grpc.ResourceProviderStub) -> None:
        self.stub = stub
        self._seeds = 0

    def urn(self, token: str, name: str) -> str:
        return f"urn:pulumi:dev::doks-gpu::{token}::{name}"

    def check(self, urn: str, news: Props, olds: Props | None = None, seed: bytes | None = None) -> Any:
        self._seeds += 1
        return self.stub.Check(
            provider_pb2.CheckRequest(
                urn=urn,
                news=marshal.to_struct(news),
                olds=marshal.to_struct(olds or {}),
                randomSeed=seed or str(self._seeds).encode(),
            )
        )

    def checked(self, urn: str, news: Props, olds: Props | None = None) -> Props:
        answer = self.check(urn, news, olds)
        assert not answer.failures, answer.failures
        return marshal.from_struct(answer.inputs)

    def refusals(self, token: str, news: Props) -> dict[str, str]:
        """Property to reason of everything that Check refuses."""
        answer = self.check(self.urn(token, "x"), news)
        return {failure.property: failure.reason for failure in answer.failures}

    def create(self, token: str, name: str, program: Props, timeout: float = 0) -> Live:
        urn = self.urn(token, name)
        inputs = self.checked(urn, program)
        answer = self.stub.Create(
            provider_pb2.CreateRequest(urn=urn, properties=marshal.to_struct(inputs), timeout=timeout)
        )
        return Live(urn, answer.id, inputs, marshal.from_struct(answer.properties))

    def plan(self, live: Live, program: Props, ignore: tuple[str, ...] = ()) -> Plan:
        inputs = self.checked(live.urn, program, live.inputs)
        answer = self.stub.Diff(
            provider_pb2.DiffRequest(
                id=live.id,
                urn=live.urn,
                olds=marshal.to_struct(live.outputs),
                news=marshal.to_struct(inputs),
                old_inputs=marshal.to_struct(live.inputs),
                ignoreChanges=ignore,
            )
        )
        names = provider_pb2.PropertyDiff.Kind.Name
        return Plan({path: names(diff.kind).lower() for path, diff in answer.detailedDiff.items()})

    def update(self, live: Live, program: Props, timeout: float = 0) -> Live:
        inputs = self.checked(live.urn, program, live.inputs)
        answer = self.stub.Update(
            provider_pb2.UpdateRequest(
                id=live.id,
                urn=live.urn,
                olds=marshal.to_struct(live.outputs),
                news=marshal.to_struct(inputs),
                old_inputs=marshal.to_struct(live.inputs),
                timeout=timeout,
            )
        )
        return Live(live.urn, live.id, inputs, marshal.from_struct(answer.properties))

    def refresh(self, live: Live) -> Live | None:
        answer = self.stub.Read(
            provider_pb2.ReadRequest(
                id=live.id,
                urn=live.urn,
                properties=marshal.to_struct(live.outputs),
                inputs=marshal.to_struct(live.inputs),
            )
        )
        if not answer.id:
            return None
        return Live(
            live.urn, answer.id, marshal.from_struct(answer.inputs), marshal.from_struct(answer.properties)
        )

    def import_(self, token: str, name: str, resource_id: str) -> Live | None:
        urn = self.urn(token, name)
        answer = self.stub.Read(provider_pb2.ReadRequest(id=resource_id, urn=urn))
        if not answer.id:
            return None
        return Live(
            urn, answer.id, marshal.from_struct(answer.inputs), marshal.from_struct(answer.properties)
        )

    def delete(self, live: Live) -> None:
        self.stub.Delete(
            provider_pb2.DeleteRequest(id=live.id, urn=live.urn, properties=marshal.to_struct(live.outputs))
        )


@dataclass
class World:
    engine: Engine
    api: RecordingApi
    clock: StillClock
    cancelled: threading.Event


@contextmanager
def world(environment: Mapping[str, str] | None = None) -> Iterator[World]:
    """A configured provider behind gRPC, its API and its clock."""
    clock = StillClock()
    api = RecordingApi(clock)
    cancelled = threading.Event()
    provider = Provider(
        send=api,
        patience=Patience(clock, 10, cancelled),
        environment={"DIGITALOCEAN_API_URL": ORIGIN, "DIGITALOCEAN_TOKEN": "secret", **(environment or {})},
    )
    server, port = serve(provider)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        stub.Configure(provider_pb2.ConfigureRequest())
        yield World(Engine(stub), api, clock, cancelled)
    server.stop(None).wait()
