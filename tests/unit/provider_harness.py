"""Drives the provider over gRPC, with the DigitalOcean stand-in as its API and a clock that does not wait."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import grpc
import httpx
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from rehearsal.digitalocean.app import create_app
from rehearsal.digitalocean.bodies import PoolUpdate
from rehearsal.digitalocean.clock import Clock
from rehearsal.digitalocean.cloud import DigitalOcean
from rehearsal.digitalocean.control import ReclaimOrder
from rehearsal.digitalocean.model import Pool
from rehearsal.digitalocean.settings import StandInSettings
from rehearsal.digitalocean.traffic import Failure
from rehearsal.provider import marshal
from rehearsal.provider.api import Body, Reply, Send
from rehearsal.provider.marshal import Props
from rehearsal.provider.provider import Provider
from rehearsal.provider.server import serve
from rehearsal.provider.waiting import Patience

CLUSTER = "digitalocean:index/kubernetesCluster:KubernetesCluster"
NODE_POOL = "digitalocean:index/kubernetesNodePool:KubernetesNodePool"
SPACES_KEY = "digitalocean:index/spacesKey:SpacesKey"

VERSIONS = ("1.37.0-do.0", "1.36.10-do.0", "1.36.3-do.1", "1.36.3-do.0", "1.35.7-do.2")
_ORIGIN = "http://api.test"
_TOKEN = "the-token"

NEVER = 1e9
"""Seconds; no test waits so long."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Props
    """Empty where the request had none."""


class StillClock:
    """Sleeping moves the provider's and the cloud's time and nothing else; `on_sleep` is what happens meanwhile."""

    def __init__(self) -> None:
        self.cloud = Clock(scale=0, start=datetime(2026, 11, 30, tzinfo=UTC))
        self.seconds = 0.0
        self.slept: list[float] = []
        self.on_sleep: Callable[[], None] = lambda: None

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return self.cloud.now()

    def sleep(self, seconds: float, cancelled: threading.Event) -> None:
        del cancelled
        self.slept.append(seconds)
        self.pass_time(seconds)
        self.on_sleep()

    def pass_time(self, seconds: float) -> None:
        self.seconds += seconds
        self.cloud.advance(seconds)


class Api:
    """What a test sees of the stand-in, and does to it."""

    def __init__(self, cloud: DigitalOcean, clock: StillClock) -> None:
        self.cloud = cloud
        self._clock = clock
        self._seen = 0

    def change(self, **settings: object) -> None:
        self.cloud.world.change(**settings)

    def forget_requests(self) -> None:
        rows = self.cloud.requests.rows()
        self._seen = rows[-1].number if rows else 0

    @property
    def requests(self) -> list[Request]:
        return [
            Request(row.method, f"{row.path}?{urlencode(row.query)}" if row.query else row.path, row.body or {})
            for row in self.cloud.requests.rows(since=self._seen)
        ]

    def sent(self, *methods: str) -> list[Request]:
        """The requests so far that change something, or those with the given methods."""
        wanted = methods or ("POST", "PUT", "DELETE")
        return [request for request in self.requests if request.method in wanted]

    def fail_once(self, status: int, message: str) -> None:
        self.cloud.failures.add(Failure(status=status, message=message))

    def clusters(self) -> list[Props]:
        return self.cloud.clusters.all()

    def pool(self, pool_id: str) -> Pool:
        return next(pool for _, pool in self.cloud.world.pools() if pool.id == pool_id)

    def pools(self, cluster_id: str) -> list[Props]:
        return self.cloud.pools.all(cluster_id)

    def scale(self, pool_id: str, count: int) -> None:
        """As the autoscaler does it; the nodes run afterwards."""
        owner = next(cluster.id for cluster, pool in self.cloud.world.pools() if pool.id == pool_id)
        self.cloud.pools.update(owner, pool_id, PoolUpdate(count=count))
        self._clock.pass_time(60)

    def reclaim(self, pool_id: str) -> None:
        self.cloud.control.reclaim(ReclaimOrder(pool=pool_id))

    def lose_clusters(self) -> None:
        for cluster in self.clusters():
            self.cloud.clusters.delete(cluster["id"])


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
        return Live(live.urn, answer.id, marshal.from_struct(answer.inputs), marshal.from_struct(answer.properties))

    def import_(self, token: str, name: str, resource_id: str) -> Live | None:
        urn = self.urn(token, name)
        answer = self.stub.Read(provider_pb2.ReadRequest(id=resource_id, urn=urn))
        if not answer.id:
            return None
        return Live(urn, answer.id, marshal.from_struct(answer.inputs), marshal.from_struct(answer.properties))

    def delete(self, live: Live) -> None:
        self.stub.Delete(
            provider_pb2.DeleteRequest(id=live.id, urn=live.urn, properties=marshal.to_struct(live.outputs))
        )


@dataclass
class World:
    engine: Engine
    api: Api
    clock: StillClock
    cancelled: threading.Event


@contextmanager
def world(environment: Mapping[str, str] | None = None) -> Iterator[World]:
    """A configured provider behind gRPC, its API and its clock."""
    clock = StillClock()
    cancelled = threading.Event()
    cloud = DigitalOcean(StandInSettings(versions=VERSIONS), clock=clock.cloud)
    provider = Provider(
        send=_in_process(cloud),
        patience=Patience(clock, 10, cancelled),
        environment={"DIGITALOCEAN_API_URL": _ORIGIN, "DIGITALOCEAN_TOKEN": _TOKEN, **(environment or {})},
    )
    server, port = serve(provider)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        stub.Configure(provider_pb2.ConfigureRequest())
        yield World(Engine(stub), Api(cloud, clock), clock, cancelled)
    server.stop(None).wait()


def _in_process(cloud: DigitalOcean) -> Send:
    """The stand-in's HTTP side without a socket."""
    transport = httpx.ASGITransport(create_app(cloud, _TOKEN))

    async def answer(request: httpx.Request) -> httpx.Response:
        response = await transport.handle_async_request(request)
        await response.aread()
        return response

    def send(method: str, url: str, headers: Mapping[str, str], body: Body | None) -> Reply:
        response = asyncio.run(answer(httpx.Request(method, url, headers=dict(headers), json=body)))
        return Reply(response.status_code, response.json() if response.content else {}, response.headers)

    return send
