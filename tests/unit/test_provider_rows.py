"""The stand-in's answers, row by row, next to what the real provider was seen to do on 2026-11-30.

The row texts are those of the observations, and none of the DigitalOcean rows is left out. Two belong
to the engine as much as to the provider (`replace_on_changes`, and what follows a refresh); here they are
held to the provider's part: the path it names, the new name, the resource that is gone.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import grpc
import pytest

from rehearsal.provider.marshal import UNKNOWN, Props
from tests.unit.provider_harness import CLUSTER, NEVER, NODE_POOL, Live, World, world

CPU_POOL: Props = {"name": "cpu", "size": "s-4vcpu-8gb", "autoScale": True, "minNodes": 2, "maxNodes": 4}
CLUSTER_PROGRAM: Props = {
    "name": "doks-gpu-dev",
    "region": "atl1",
    "version": "1.36.3-do.0",
    "tags": ["doks-gpu"],
    "nodePool": CPU_POOL,
}
TAINT: Props = {"key": "workload", "value": "gpu-batch", "effect": "NoSchedule"}


@dataclass
class Stack:
    world: World
    cluster: Live
    pool: Live

    @property
    def program(self) -> Props:
        """The pool as the program declares it."""
        return pool_program(self.cluster.id)

    def autoscaler_goes_to(self, count: int) -> None:
        self.world.api.scale(self.pool.id, count)

    def refresh(self) -> None:
        refreshed = self.world.engine.refresh(self.pool)
        assert refreshed is not None
        self.pool = refreshed

    def put_body(self) -> Props:
        """The body of the only PUT since the stack came up."""
        (request,) = self.world.api.sent("PUT")
        return request.body


def pool_program(cluster_id: str) -> Props:
    return {
        "clusterId": cluster_id,
        "size": "gpu-b300x1-288gb-spot",
        "autoScale": True,
        "minNodes": 1,
        "maxNodes": 2,
        "labels": {"workload": "gpu-batch"},
        "taints": [TAINT],
    }


@pytest.fixture
def stack() -> Iterator[Stack]:
    with world() as opened:
        cluster = opened.engine.create(CLUSTER, "main", CLUSTER_PROGRAM)
        pool = opened.engine.create(NODE_POOL, "batch-spot", pool_program(cluster.id))
        yield Stack(opened, cluster, pool)


def nothing_happens(_: Stack) -> None:
    pass


def scaled_and_refreshed(stack: Stack) -> None:
    stack.autoscaler_goes_to(2)
    stack.refresh()


def scaled(stack: Stack) -> None:
    stack.autoscaler_goes_to(2)


def reclaimed(stack: Stack) -> None:
    stack.world.api.reclaim(stack.pool.id)


POOL_PREVIEWS = [
    ("none", {}, nothing_happens, {}),
    ("pool `size`", {"size": "gpu-h200x1-141gb"}, nothing_happens, {"size": "update_replace"}),
    ("pool `max_nodes` 2→3", {"maxNodes": 3}, nothing_happens, {"maxNodes": "update"}),
    ("pool labels", {"labels": {"workload": "other"}}, nothing_happens, {"labels.workload": "update"}),
    ("pool with a fixed `name` given later", {"name": "batch"}, nothing_happens, {"name": "update"}),
    (
        "pool `max_nodes` 2→1, the path that `replace_on_changes` names",
        {"maxNodes": 1},
        nothing_happens,
        {"maxNodes": "update"},
    ),
    ("pool `node_count=1` declared, live count still 1", {"nodeCount": 1}, nothing_happens, {}),
    (
        "the same after the autoscaler went to 2 and a refresh",
        {"nodeCount": 1},
        scaled_and_refreshed,
        {"nodeCount": "update"},
    ),
    ("`node_count` omitted, autoscaler went 1→2, with refresh", {}, scaled_and_refreshed, {}),
    ("`node_count` omitted, autoscaler went 1→2, without refresh", {}, scaled, {}),
    ("pool gone (404), no refresh", {}, reclaimed, {}),
]

CLUSTER_PREVIEWS = [
    ("none", {}, {}),
    ("cluster tag added", {"tags": ["doks-gpu", "second"]}, {"tags[1]": "add", "nodePool.labels": "add"}),
    (
        "inline CPU pool `size`",
        {"nodePool": {**CPU_POOL, "size": "s-8vcpu-16gb"}},
        {"nodePool.size": "update_replace", "nodePool.labels": "add"},
    ),
    (
        "inline CPU pool `max_nodes`",
        {"nodePool": {**CPU_POOL, "maxNodes": 5}},
        {"nodePool.maxNodes": "update", "nodePool.labels": "add"},
    ),
    (
        "cluster `version` lower than in state",
        {"version": "1.35.7-do.2"},
        {"version": "update_replace", "nodePool.labels": "add"},
    ),
]


@pytest.mark.parametrize(
    ("edit", "before", "planned"), [row[1:] for row in POOL_PREVIEWS], ids=[row[0] for row in POOL_PREVIEWS]
)
def test_a_pool_preview_plans_what_the_real_provider_planned(
    stack: Stack, edit: Props, before: Callable[[Stack], None], planned: dict[str, str]
) -> None:
    before(stack)

    assert stack.world.engine.plan(stack.pool, {**stack.program, **edit}).changes == planned


@pytest.mark.parametrize(
    ("edit", "planned"), [row[1:] for row in CLUSTER_PREVIEWS], ids=[row[0] for row in CLUSTER_PREVIEWS]
)
def test_a_cluster_preview_plans_what_the_real_provider_planned(
    stack: Stack, edit: Props, planned: dict[str, str]
) -> None:
    assert stack.world.engine.plan(stack.cluster, {**CLUSTER_PROGRAM, **edit}).changes == planned


def test_every_pool_is_replaced_with_its_cluster(stack: Stack) -> None:
    plan = stack.world.engine.plan(stack.pool, {**stack.program, "clusterId": UNKNOWN})

    assert plan.changes == {"clusterId": "update_replace"}


def test_a_pool_gone_is_seen_by_a_refresh_and_made_again_with_a_new_id(stack: Stack) -> None:
    reclaimed(stack)

    assert stack.world.engine.refresh(stack.pool) is None
    assert stack.world.engine.create(NODE_POOL, "batch-spot", stack.program).id != stack.pool.id


def test_a_replacement_by_replace_on_changes_has_a_new_name_and_posts_before_it_deletes(stack: Stack) -> None:
    stack.world.api.forget_requests()

    new = stack.world.engine.create(NODE_POOL, "batch-spot", {**stack.program, "maxNodes": 3})
    stack.world.engine.delete(stack.pool)

    assert new.outputs["name"] != stack.pool.outputs["name"]
    assert new.outputs["name"].startswith("batch-spot-")
    assert [request.method for request in stack.world.api.sent()] == ["POST", "DELETE"]


def test_creating_an_autoscaled_pool_posts_exactly_these_fields_and_waits(stack: Stack) -> None:
    stack.world.api.forget_requests()

    created = stack.world.engine.create(NODE_POOL, "batch-spot", stack.program)

    first, *others = stack.world.api.requests
    assert (first.method, first.path) == ("POST", f"/v2/kubernetes/clusters/{stack.cluster.id}/node_pools")
    assert first.body == {
        "name": created.inputs["name"],
        "size": "gpu-b300x1-288gb-spot",
        "labels": {"workload": "gpu-batch"},
        "taints": [{"Key": "workload", "Value": "gpu-batch", "Effect": "NoSchedule"}],
        "auto_scale": True,
        "min_nodes": 1,
        "max_nodes": 2,
    }
    assert {request.method for request in others} == {"GET"}
    assert stack.world.clock.slept[-1] == 10


@pytest.mark.parametrize(
    ("before", "count", "nodes"),
    [(scaled, 1, 1), (scaled_and_refreshed, 2, 2)],
    ids=[
        "autoscaler went 1→2, no refresh, a label changes: a node is lost",
        "the same with refresh: nothing lost",
    ],
)
def test_a_label_edit_sends_the_count_of_the_state(
    stack: Stack, before: Callable[[Stack], None], count: int, nodes: int
) -> None:
    before(stack)

    stack.world.engine.update(stack.pool, {**stack.program, "labels": {"workload": "other"}})

    assert stack.put_body()["count"] == count
    assert len(stack.world.api.pool(stack.pool.id).staying()) == nodes


def test_an_inline_cpu_pool_change_is_a_put_without_count(stack: Stack) -> None:
    stack.world.api.scale(stack.cluster.outputs["nodePool"]["id"], 3)

    stack.world.engine.update(stack.cluster, {**CLUSTER_PROGRAM, "nodePool": {**CPU_POOL, "maxNodes": 5}})

    (request,) = stack.world.api.sent("PUT")
    assert request.path.endswith(f"/node_pools/{stack.cluster.outputs['nodePool']['id']}")
    assert request.body == {
        "name": "cpu",
        "auto_scale": True,
        "min_nodes": 2,
        "max_nodes": 5,
        "taints": [],
        "tags": ["terraform:default-node-pool"],
    }


def test_the_stray_add_of_inline_labels_sends_nothing_to_the_pool(stack: Stack) -> None:
    stack.world.engine.update(stack.cluster, {**CLUSTER_PROGRAM, "tags": ["doks-gpu", "second"]})

    (request,) = stack.world.api.sent("PUT")
    assert request.path == f"/v2/kubernetes/clusters/{stack.cluster.id}"


def test_a_label_edit_of_a_pool_that_is_gone_fails_without_a_refresh(stack: Stack) -> None:
    reclaimed(stack)

    with pytest.raises(grpc.RpcError, match="did not exist while updating"):
        stack.world.engine.update(stack.pool, {**stack.program, "labels": {"workload": "other"}})
    assert stack.world.api.sent("PUT")


def test_deleting_a_pool_that_is_gone_fails_without_a_refresh(stack: Stack) -> None:
    reclaimed(stack)

    with pytest.raises(grpc.RpcError, match="Unable to delete node pool"):
        stack.world.engine.delete(stack.pool)


def test_a_pool_creation_that_times_out_leaves_the_pool_alive_and_the_next_one_doubles_it(
    stack: Stack,
) -> None:
    stack.world.api.change(node_boot_seconds=NEVER)

    with pytest.raises(grpc.RpcError, match="timeout while waiting for"):
        stack.world.engine.create(NODE_POOL, "other", stack.program, timeout=60)
    stack.world.api.change(node_boot_seconds=1)
    second = stack.world.engine.create(NODE_POOL, "other", stack.program)

    others = [pool["id"] for pool in stack.world.api.pools(stack.cluster.id) if pool["name"].startswith("other-")]
    assert len(others) == 2
    assert second.id in others


def test_a_pool_creation_that_is_cancelled_leaves_the_pool_alive_and_out_of_the_state(stack: Stack) -> None:
    stack.world.api.change(node_boot_seconds=NEVER)
    stack.world.clock.on_sleep = stack.world.cancelled.set

    with pytest.raises(grpc.RpcError, match="cancelled"):
        stack.world.engine.create(NODE_POOL, "other", stack.program)

    assert len(stack.world.api.pools(stack.cluster.id)) == 3


def test_a_cluster_creation_that_times_out_leaves_the_cluster_alive(stack: Stack) -> None:
    stack.world.api.change(cluster_boot_seconds=NEVER)

    with pytest.raises(grpc.RpcError, match="timeout while waiting for"):
        stack.world.engine.create(CLUSTER, "second", {**CLUSTER_PROGRAM, "name": "second"}, timeout=60)

    assert [cluster["name"] for cluster in stack.world.api.clusters()] == ["doks-gpu-dev", "second"]
