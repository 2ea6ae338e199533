"""Node pools of the stand-in: counts, limits, nodes and their states over time."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rehearsal.digitalocean import NodeListing
from rehearsal.digitalocean.errors import ApiRefusedError
from tests.unit.digitalocean_harness import CPU, H200, MI300, SPOT, Account, account


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        ({"auto_scale": True, "min_nodes": 2, "max_nodes": 3}, 2),
        ({"auto_scale": True, "min_nodes": 0, "max_nodes": 3}, 0),
        ({"auto_scale": True, "min_nodes": 1, "max_nodes": 3, "count": 3}, 3),
        ({"auto_scale": True, "min_nodes": 1, "max_nodes": 3, "count": 4}, 1),
        ({"auto_scale": False, "min_nodes": 0, "max_nodes": 0, "count": 2}, 2),
    ],
)
def test_a_new_pool_starts_at_its_count_or_else_at_its_minimum(asked: dict[str, Any], count: int) -> None:
    it = account()
    cluster = it.cluster()
    pool = it.get(cluster, it.pool(cluster, **asked))
    assert (pool["count"], len(pool["nodes"])) == (count, count)


def test_nodes_run_once_their_boot_time_is_over() -> None:
    it = account(node_boot_seconds=30, node_boot_seconds_by_size={SPOT: 90})
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.wait(89)
    assert it.states(cluster, pool) == ["provisioning"]
    it.wait(1)
    assert it.states(cluster, pool) == ["running"]


def test_the_answer_to_a_count_is_that_count() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    assert it.put(cluster, pool, count=3)["count"] == 3


def test_a_count_above_the_maximum_becomes_the_minimum() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.put(cluster, pool, count=2)
    assert it.put(cluster, pool, count=9)["count"] == 1


def test_a_smaller_count_first_takes_nodes_that_do_not_run() -> None:
    it = account(node_boot_seconds=10)
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.wait(10)
    (old,) = it.get(cluster, pool)["nodes"]
    it.put(cluster, pool, count=3)
    left = it.put(cluster, pool, count=1)["nodes"]
    assert [node["id"] for node in left] == [old["id"]]


def test_a_node_that_leaves_drains_then_is_deleted_then_is_gone() -> None:
    it = account(node_boot_seconds=0, node_drain_seconds=20, node_delete_seconds=10)
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.put(cluster, pool, count=2)
    it.put(cluster, pool, count=1)
    seen = [it.states(cluster, pool)]
    for seconds in (20, 10):
        it.wait(seconds)
        seen.append(it.states(cluster, pool))
    assert seen == [["running", "draining"], ["running", "deleting"], ["running"]]


def test_deleting_a_node_lowers_the_count() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    nodes = it.put(cluster, pool, count=2)["nodes"]
    it.cloud.pools.delete_node(cluster, pool, nodes[0]["id"])
    after = it.get(cluster, pool)
    assert (after["count"], [node["id"] for node in after["nodes"]]) == (1, [nodes[1]["id"]])


def test_replacing_a_node_keeps_the_count_with_another_node() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    (old,) = it.get(cluster, pool)["nodes"]
    it.cloud.pools.delete_node(cluster, pool, old["id"], replace=True)
    (new,) = it.get(cluster, pool)["nodes"]
    assert (it.get(cluster, pool)["count"], new["id"] == old["id"]) == (1, False)


def test_deleting_a_node_without_draining_skips_that_state() -> None:
    it = account(node_drain_seconds=20, node_delete_seconds=10)
    cluster = it.cluster()
    pool = it.pool(cluster)
    (node,) = it.get(cluster, pool)["nodes"]
    it.cloud.pools.delete_node(cluster, pool, node["id"], skip_drain=True)
    assert it.states(cluster, pool) == ["deleting"]


def test_a_deleted_pool_is_found_until_its_deletion_is_over() -> None:
    it = account(pool_delete_seconds=15)
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.cloud.pools.delete(cluster, pool)
    assert it.states(cluster, pool) == ["deleting"]
    it.wait(15)
    assert not it.exists(cluster, pool)


def test_the_default_pool_stays_first() -> None:
    it = account()
    cluster = it.cluster()
    it.pool(cluster, name="a-first-by-name")
    assert [pool["name"] for pool in it.cloud.pools.all(cluster)] == ["cpu", "a-first-by-name"]


def test_tags_of_digitalocean_are_added_and_never_doubled() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster, tags=["k8s", "k8s:worker", "mine", "mine"])
    assert it.get(cluster, pool)["tags"] == ["k8s", f"k8s:{cluster}", "k8s:worker", "mine"]


def test_an_update_leaves_what_it_does_not_name() -> None:
    it = account()
    cluster = it.cluster()
    made = {
        "labels": {"workload": "gpu-batch"},
        "taints": [{"key": "a", "value": "b", "effect": "NoSchedule"}],
        "tags": ["mine"],
    }
    pool = it.pool(cluster, **made)
    before = it.get(cluster, pool)
    it.put(cluster, pool, count=2)
    after = it.get(cluster, pool)
    same = ("name", "labels", "taints", "tags", "min_nodes", "max_nodes", "auto_scale")
    assert {key: after[key] for key in same} == {key: before[key] for key in same}


def test_taints_with_capital_keys_are_understood() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster, taints=[{"Key": "workload", "Value": "x", "Effect": "NoSchedule"}])
    assert it.get(cluster, pool)["taints"] == [{"key": "workload", "value": "x", "effect": "NoSchedule"}]


def test_an_empty_list_of_taints_takes_them_away() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster, taints=[{"key": "a", "value": "", "effect": "NoExecute"}])
    assert it.put(cluster, pool, taints=[])["taints"] == []


@pytest.mark.parametrize(
    ("listing", "at_once", "later"),
    [
        (NodeListing(), ["id"], ["id"]),
        (NodeListing(mode="after", seconds=6), [], ["id"]),
        (NodeListing(mode="without_droplet_id", seconds=6), [""], ["id"]),
        (NodeListing(mode="never"), [], []),
    ],
)
def test_new_nodes_appear_as_the_settings_say(listing: NodeListing, at_once: list[str], later: list[str]) -> None:
    it = account(listing_by_size={SPOT: listing})
    cluster = it.cluster()
    pool = it.pool(cluster)

    def listed() -> list[str]:
        return ["id" if node["droplet_id"] else "" for node in it.get(cluster, pool)["nodes"]]

    first = listed()
    it.wait(6)
    assert (first, listed()) == (at_once, later)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"size": "gpu-nonsense"}, "invalid size: gpu-nonsense"),
        ({"min_nodes": 4}, "min_nodes (4) is greater than max_nodes (3)"),
        ({"max_nodes": 0, "min_nodes": 0}, "max_nodes must be at least 1"),
        ({"size": CPU, "auto_scale": False, "count": 0}, "needs at least one node"),
        ({"name": "cpu"}, "already exists"),
    ],
)
def test_an_impossible_pool_is_refused(asked: dict[str, Any], reason: str) -> None:
    it = account()
    cluster = it.cluster()
    with pytest.raises(ApiRefusedError) as refused:
        it.pool(cluster, **asked)
    assert refused.value.status == 422
    assert reason in refused.value.message


def test_a_pool_keeps_its_name_and_cannot_take_that_of_another() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    assert it.put(cluster, pool, name="batch-spot")["name"] == "batch-spot"
    with pytest.raises(ApiRefusedError, match="already exists"):
        it.put(cluster, pool, name="cpu")


def test_a_second_pool_of_a_name_is_made_where_the_settings_allow_it() -> None:
    it = account(unique_pool_names=False)
    cluster = it.cluster()
    assert it.pool(cluster) != it.pool(cluster)


def test_a_fixed_pool_may_be_empty_when_it_is_a_gpu_pool() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster, size=H200, auto_scale=False, count=0)
    assert it.get(cluster, pool)["count"] == 0


def test_a_fixed_pool_may_be_empty_when_another_fixed_pool_is_not() -> None:
    it = account()
    cluster = it.cluster()
    it.pool(cluster, name="fixed", size=CPU, auto_scale=False, count=1)
    pool = it.pool(cluster, name="empty", size=CPU, auto_scale=False, count=0)
    assert it.get(cluster, pool)["count"] == 0


def test_the_template_is_asked_for_by_the_name_of_the_pool() -> None:
    it = account(spot_node_taints=("spot=true:NoSchedule",))
    cluster = it.cluster()
    it.pool(
        cluster,
        labels={"workload": "gpu-batch"},
        taints=[{"key": "workload", "value": "gpu-batch", "effect": "NoSchedule"}],
    )
    template = it.cloud.pools.template(cluster, "batch-spot")
    assert template["taints"] == [
        "nvidia.com/gpu=:NoSchedule",
        "spot=true:NoSchedule",
        "workload=gpu-batch:NoSchedule",
    ]
    assert template["labels"]["doks.digitalocean.com/capacity-type"] == "spot"
    assert template["labels"]["workload"] == "gpu-batch"
    assert template["gpu"] == {"vendor": "nvidia", "model": "b300", "count": 1}
    assert template["capacity"]["cpu"] == 28
    assert template["allocatable"]["cpu"] == 27


def test_the_template_of_an_amd_pool_has_amds_taint_and_no_spot_label() -> None:
    it = account()
    cluster = it.cluster()
    it.pool(cluster, name="amd", size=MI300)
    template = it.cloud.pools.template(cluster, "amd")
    assert template["taints"] == ["amd.com/gpu=:NoSchedule"]
    assert "doks.digitalocean.com/capacity-type" not in template["labels"]


def _changed(it: Account, cluster: str, pool: str, step: tuple[str, int]) -> None:
    kind, number = step
    if kind == "count":
        it.put(cluster, pool, count=number)
    elif kind == "max":
        it.put(cluster, pool, max_nodes=max(1, number))
    elif kind == "wait":
        it.wait(number)
    else:
        nodes = it.get(cluster, pool)["nodes"]
        if nodes:
            it.cloud.pools.delete_node(cluster, pool, nodes[number % len(nodes)]["id"], replace=kind == "replace")


@given(
    st.lists(st.tuples(st.sampled_from(["count", "max", "wait", "delete", "replace"]), st.integers(0, 12)), max_size=25)
)
def test_whatever_happens_the_nodes_that_stay_are_as_many_as_the_count(steps: list[tuple[str, int]]) -> None:
    it = account(droplet_limit=1000, node_drain_seconds=3, node_delete_seconds=2)
    cluster = it.cluster()
    pool = it.pool(cluster, name="od", size=H200, min_nodes=0, max_nodes=8)
    for step in steps:
        _changed(it, cluster, pool, step)
    it.wait(5)
    seen = it.get(cluster, pool)
    assert len(seen["nodes"]) == seen["count"]
