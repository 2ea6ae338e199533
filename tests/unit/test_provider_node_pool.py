"""The life of a pool through the protocol, beyond the observed rows: counts, waits, imports, cancellation."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty

from rehearsal.provider.marshal import Props
from tests.unit.provider_harness import CLUSTER, NEVER, NODE_POOL, Api, Engine, StillClock, World, world

CPU_POOL: Props = {"name": "cpu", "size": "s-4vcpu-8gb", "nodeCount": 1}


@dataclass
class Scene:
    world: World
    program: Props

    @property
    def engine(self) -> Engine:
        return self.world.engine

    @property
    def api(self) -> Api:
        return self.world.api

    @property
    def clock(self) -> StillClock:
        return self.world.clock

    def body(self, method: str) -> Props:
        return self.api.sent(method)[-1].body


@pytest.fixture
def scene() -> Iterator[Scene]:
    with world() as opened:
        cluster = opened.engine.create(
            CLUSTER, "main", {"name": "m", "region": "atl1", "version": "1.36.3-do.0", "nodePool": CPU_POOL}
        )
        yield Scene(opened, {"clusterId": cluster.id, "size": "gpu-h200x1-141gb", "nodeCount": 2})


def test_a_fixed_pool_sends_its_count_and_zero_bounds_only_on_update(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", scene.program)
    assert set(scene.body("POST")) == {"name", "size", "count"}

    scene.engine.update(pool, {**scene.program, "nodeCount": 3})

    sent = scene.body("PUT")
    assert (sent["count"], sent["auto_scale"], sent["min_nodes"], sent["max_nodes"]) == (3, False, 0, 0)


def test_labels_cannot_be_cleared_and_the_plan_stays_open(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", {**scene.program, "labels": {"a": "b"}})

    updated = scene.engine.update(pool, scene.program)

    assert "labels" not in scene.body("PUT")
    assert scene.engine.plan(updated, scene.program).changes == {"labels": "delete"}


def test_taints_are_cleared(scene: Scene) -> None:
    taint = {"key": "k", "value": "", "effect": "NoSchedule"}
    pool = scene.engine.create(NODE_POOL, "p", {**scene.program, "taints": [taint]})

    updated = scene.engine.update(pool, scene.program)

    assert scene.body("PUT")["taints"] == []
    assert updated.outputs["taints"] == []


def test_tags_that_digitalocean_adds_are_not_seen_and_order_means_nothing(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", {**scene.program, "tags": ["b", "a"]})

    assert pool.outputs["tags"] == ["b", "a"]
    assert scene.engine.plan(pool, {**scene.program, "tags": ["a", "b"]}).action == "nothing"


def test_a_refresh_keeps_the_order_in_which_the_program_wrote_its_tags(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", {**scene.program, "tags": ["b", "a"]})
    scene.api.pool(pool.id).tags.reverse()

    refreshed = scene.engine.refresh(pool)

    assert refreshed is not None
    assert refreshed.inputs["tags"] == ["b", "a"]


def test_a_refresh_takes_over_tags_that_someone_else_changed(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", {**scene.program, "tags": ["b", "a"]})
    scene.api.pool(pool.id).tags.append("c")

    refreshed = scene.engine.refresh(pool)

    assert refreshed is not None
    assert refreshed.inputs["tags"] == ["b", "a", "c"]


def test_a_declared_count_that_is_the_live_one_is_no_change_whatever_was_planned_before(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", scene.program)
    pool.outputs["nodeCount"] = 3

    assert scene.engine.plan(pool, scene.program).action == "nothing"


def test_ignored_tags_are_sent_as_they_are(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", {**scene.program, "tags": ["a"]})

    assert scene.engine.plan(pool, {**scene.program, "tags": ["b"]}, ignore=("tags",)).action == "nothing"


def test_the_creation_waits_until_the_last_node_runs(scene: Scene) -> None:
    scene.api.change(node_boot_seconds=45)
    scene.clock.slept.clear()

    pool = scene.engine.create(NODE_POOL, "p", scene.program)

    assert scene.clock.slept == [10] * 5
    assert [node["status"] for node in pool.outputs["nodes"]] == ["running", "running"]


def test_nodes_that_are_not_listed_yet_are_waited_for(scene: Scene) -> None:
    scene.api.change(listing={"mode": "after", "seconds": 35})
    scene.clock.slept.clear()

    scene.engine.create(NODE_POOL, "p", scene.program)

    assert scene.clock.slept == [10] * 4


@pytest.mark.parametrize(("timeout", "seconds"), [(0, 1800), (600, 600)])
def test_the_wait_ends_after_half_an_hour_or_the_programs_own_limit(
    scene: Scene, timeout: float, seconds: float
) -> None:
    scene.api.change(node_boot_seconds=NEVER)
    before = scene.clock.seconds

    with pytest.raises(grpc.RpcError, match="timeout while waiting for"):
        scene.engine.create(NODE_POOL, "p", scene.program, timeout=timeout)

    assert scene.clock.seconds - before == seconds


def test_a_refused_creation_leaves_nothing_and_says_why(scene: Scene) -> None:
    scene.api.fail_once(422, "Size is not available in this region")

    with pytest.raises(grpc.RpcError, match="422 Size is not available in this region"):
        scene.engine.create(NODE_POOL, "p", scene.program)

    assert len(scene.api.sent("POST")) == 2


def test_a_pool_that_vanishes_during_its_update_is_an_error(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", scene.program)
    scene.clock.on_sleep = lambda: scene.api.reclaim(pool.id)

    with pytest.raises(grpc.RpcError, match=r"Error trying to read nodepool state: GET .* 404"):
        scene.engine.update(pool, {**scene.program, "labels": {"a": "b"}})


def test_an_update_waits_for_nodes_that_are_draining(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", scene.program)
    scene.api.change(node_drain_seconds=25)
    node = scene.api.pool(pool.id).nodes[0].id
    scene.api.cloud.pools.delete_node(scene.program["clusterId"], pool.id, node, replace=True)
    scene.clock.slept.clear()

    scene.engine.update(pool, {**scene.program, "labels": {"a": "b"}})

    assert scene.clock.slept == [10] * 3


def test_an_import_finds_the_cluster_by_the_pool_id(scene: Scene) -> None:
    made = scene.engine.create(NODE_POOL, "p", scene.program)

    imported = scene.engine.import_(NODE_POOL, "p", made.id)

    assert imported is not None
    assert imported.inputs["clusterId"] == scene.program["clusterId"]
    assert scene.engine.plan(imported, {**scene.program, "name": made.inputs["name"]}).action == "nothing"


def test_an_imported_pool_is_renamed_by_a_program_that_gives_no_name(scene: Scene) -> None:
    made = scene.engine.create(NODE_POOL, "p", scene.program)
    imported = scene.engine.import_(NODE_POOL, "p", made.id)

    assert imported is not None
    assert scene.engine.plan(imported, scene.program).changes == {"name": "update"}


def test_an_import_of_nothing_says_so(scene: Scene) -> None:
    with pytest.raises(grpc.RpcError, match="Did not find the cluster owning the node pool missing"):
        scene.engine.import_(NODE_POOL, "p", "missing")


def test_the_deletion_waits_until_the_pool_is_gone(scene: Scene) -> None:
    pool = scene.engine.create(NODE_POOL, "p", scene.program)
    scene.api.forget_requests()

    scene.engine.delete(pool)

    assert [request.method for request in scene.api.requests] == ["DELETE", "GET"]


def test_a_cancellation_reaches_a_wait_that_is_under_way(scene: Scene) -> None:
    scene.api.change(node_boot_seconds=NEVER)
    waiting = threading.Event()
    scene.clock.on_sleep = waiting.set
    outcome: list[str] = []

    def create() -> None:
        with pytest.raises(grpc.RpcError) as caught:
            scene.engine.create(NODE_POOL, "p", scene.program, timeout=1e9)
        outcome.append(str(caught.value.details()))

    thread = threading.Thread(target=create)
    thread.start()
    assert waiting.wait(10)
    scene.engine.stub.Cancel(Empty())
    thread.join(10)

    assert "the operation was cancelled" in outcome[0]
