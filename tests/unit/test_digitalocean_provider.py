"""The two stand-ins together: the provider's requests are understood, and what it waits for happens.

The provider's sleeps move the stand-in's clock, so half an hour of waiting takes no time.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from rehearsal.digitalocean import ReclaimOrder, StockOut
from rehearsal.provider.api import Body, Reply
from rehearsal.provider.marshal import Props
from rehearsal.provider.provider import Provider
from rehearsal.provider.server import serve
from rehearsal.provider.waiting import Patience
from tests.unit.digitalocean_harness import H200, SPOT, START, TOKEN, Account, Http, account
from tests.unit.provider_harness import CLUSTER, NODE_POOL, SPACES_KEY, Engine, Live

ORIGIN = "http://api.test"
CLUSTER_PROGRAM: Props = {
    "name": "doks-gpu-dev",
    "region": "atl1",
    "version": "1.36.3-do.0",
    "tags": ["doks-gpu"],
    "clusterAutoscalerConfigurations": [{"expanders": ["priority", "random"]}],
    "nodePool": {"name": "cpu", "size": "s-4vcpu-8gb", "autoScale": True, "minNodes": 2, "maxNodes": 4},
}


class SharedClock:
    """The provider's sleep is the stand-in's time."""

    def __init__(self, of: Account) -> None:
        self._clock = of.cloud.world.clock

    def monotonic(self) -> float:
        return (self._clock.now() - START).total_seconds()

    def now(self) -> datetime:
        return self._clock.now()

    def sleep(self, seconds: float, cancelled: threading.Event) -> None:
        del cancelled
        self._clock.advance(seconds)


@dataclass
class Rehearsed:
    """A provider and the account that it works on."""

    engine: Engine
    account: Account

    def cluster(self) -> Live:
        return self.engine.create(CLUSTER, "doks-gpu-dev", CLUSTER_PROGRAM)

    def pool(self, cluster: Live, **changes: Any) -> Live:
        return self.engine.create(NODE_POOL, "batch-spot", pool_program(cluster, **changes))

    def refreshed(self, live: Live) -> Live:
        found = self.engine.refresh(live)
        assert found is not None
        return found


def pool_program(cluster: Live, **changes: Any) -> Props:
    """A Spot pool as the program declares it, without a count."""
    taint = {"key": "workload", "value": "gpu-batch", "effect": "NoSchedule"}
    return {
        "clusterId": cluster.id,
        "size": SPOT,
        "autoScale": True,
        "minNodes": 1,
        "maxNodes": 2,
        "labels": {"workload": "gpu-batch"},
        "taints": [taint],
        "tags": ["doks-gpu"],
        **changes,
    }


@contextmanager
def rehearsed(**settings: Any) -> Iterator[Rehearsed]:
    it = account(cluster_boot_seconds=240, node_boot_seconds=90, **settings)
    http = Http(it)

    def send(method: str, url: str, headers: Mapping[str, str], body: Body | None) -> Reply:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        answer = http.request(method, path, headers=dict(headers), json=body)
        return Reply(answer.status_code, answer.json() if answer.content else {}, answer.headers)

    environment = {"DIGITALOCEAN_API_URL": ORIGIN, "DIGITALOCEAN_TOKEN": TOKEN}
    provider = Provider(send=send, patience=Patience(SharedClock(it), 10, threading.Event()), environment=environment)
    server, port = serve(provider)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        stub = provider_pb2_grpc.ResourceProviderStub(channel)
        stub.Configure(provider_pb2.ConfigureRequest())
        yield Rehearsed(Engine(stub), it)
    server.stop(None).wait()


def test_a_stack_comes_up_and_nothing_is_left_to_change() -> None:
    with rehearsed() as it:
        cluster = it.cluster()
        pool = it.pool(cluster)
        plans = [
            it.engine.plan(it.refreshed(cluster), CLUSTER_PROGRAM),
            it.engine.plan(it.refreshed(pool), pool_program(cluster)),
        ]
    assert [plan.changes for plan in plans] == [{}, {}]
    assert cluster.outputs["status"] == "running"
    assert [node["status"] for node in pool.outputs["nodes"]] == ["running"]


def test_a_stack_goes_and_leaves_nothing() -> None:
    with rehearsed(pool_delete_seconds=60) as it:
        cluster = it.cluster()
        pool = it.pool(cluster)
        key = it.engine.create(SPACES_KEY, "checkpoints", {"name": "checkpoints"})
        for live in (key, pool, cluster):
            it.engine.delete(live)
        assert it.account.cloud.control.is_empty()


def test_a_scale_up_of_the_autoscaler_is_no_change() -> None:
    with rehearsed() as it:
        cluster = it.cluster()
        pool = it.pool(cluster)
        it.account.put(cluster.id, pool.id, count=2)
        plan = it.engine.plan(it.refreshed(pool), pool_program(cluster))
    assert plan.changes == {}


def test_a_label_edit_after_a_refresh_keeps_the_live_count() -> None:
    with rehearsed() as it:
        cluster = it.cluster()
        pool = it.pool(cluster)
        it.account.put(cluster.id, pool.id, count=2)
        changed = pool_program(cluster, labels={"workload": "gpu-batch", "new": "label"})
        it.engine.update(it.refreshed(pool), changed)
        assert it.account.get(cluster.id, pool.id)["count"] == 2


def test_a_label_edit_without_a_refresh_loses_a_node() -> None:
    with rehearsed() as it:
        cluster = it.cluster()
        pool = it.pool(cluster)
        it.account.put(cluster.id, pool.id, count=2)
        it.engine.update(pool, pool_program(cluster, labels={"workload": "gpu-batch", "new": "label"}))
        assert it.account.get(cluster.id, pool.id)["count"] == 1


def test_a_reclaimed_pool_is_gone_after_a_refresh() -> None:
    with rehearsed() as it:
        cluster = it.cluster()
        pool = it.pool(cluster)
        it.account.cloud.control.reclaim(ReclaimOrder(pool=pool.id))
        assert it.engine.refresh(pool) is None


def test_a_higher_maximum_is_an_update_on_demand_and_refused_for_spot() -> None:
    with rehearsed() as it:
        cluster = it.cluster()
        fallback = it.pool(cluster, size=H200)
        spot = it.pool(cluster)
        updated = it.engine.update(fallback, pool_program(cluster, size=H200, maxNodes=3))
        with pytest.raises(grpc.RpcError, match="cannot be raised"):
            it.engine.update(spot, pool_program(cluster, maxNodes=3))
    assert updated.outputs["maxNodes"] == 3


def test_a_pool_without_hardware_times_out_and_lives_on() -> None:
    with rehearsed(stock_outs=[StockOut(size=SPOT, kind="never_boots")]) as it:
        cluster = it.cluster()
        with pytest.raises(grpc.RpcError, match="all nodes of the node pool to run"):
            it.pool(cluster)
        left = [row["size"] for row in it.account.cloud.pools.all(cluster.id)]
    assert left == ["s-4vcpu-8gb", SPOT]


def test_a_cluster_that_ends_in_error_fails_with_its_message() -> None:
    with (
        rehearsed(cluster_failure="no capacity for the control plane") as it,
        pytest.raises(grpc.RpcError, match="no capacity for the control plane"),
    ):
        it.cluster()
