"""The GPU pools as the program registers them."""

import pytest

from tests.graph.conftest import Build

POOLS = ("batch-spot", "batch-fallback", "inference-amd")


@pytest.mark.parametrize("pool", POOLS)
def test_an_autoscaled_pool_leaves_its_count_to_the_autoscaler(build: Build, pool: str) -> None:
    assert "nodeCount" not in build().inputs(pool), "a sent count would undo the autoscaler"


def test_a_fixed_pool_sends_its_count(build: Build) -> None:
    graph = build("fleets.batch.tiers[0].min=2", "fleets.batch.tiers[0].max=2")
    assert graph.inputs("batch-spot")["nodeCount"] == 2


@pytest.mark.parametrize("pool", POOLS)
def test_a_pool_is_named_by_the_engine(build: Build, pool: str) -> None:
    assert "name" not in build().inputs(pool), "a fixed name would collide when a pool is replaced"


def test_a_spot_pool_is_replaced_when_its_ceiling_changes(build: Build) -> None:
    assert build().options("batch-spot")["replaceOnChanges"] == ["maxNodes", "nodeCount"]


def test_an_on_demand_pool_changes_its_ceiling_in_place(build: Build) -> None:
    assert "replaceOnChanges" not in build().options("batch-fallback")


@pytest.mark.parametrize("pool", POOLS)
def test_no_pool_depends_on_another(build: Build, pool: str) -> None:
    assert build().resources[pool]["dependencies"] == ["cluster"]


@pytest.mark.parametrize("pool", POOLS)
def test_a_pools_creation_may_take_long(build: Build, pool: str) -> None:
    assert build().options(pool)["customTimeouts"] == {"create": "90m"}


def test_a_raised_generation_replaces_the_pool(build: Build) -> None:
    before = build().options("batch-spot")["replacementTrigger"]
    after = build("fleets.batch.tiers[0].generation=2").options("batch-spot")["replacementTrigger"]
    assert before != after


@pytest.mark.parametrize(("pool", "capacity"), [("batch-spot", "spot"), ("batch-fallback", "on-demand")])
def test_a_pools_label_says_its_capacity_type(build: Build, pool: str, capacity: str) -> None:
    assert build().inputs(pool)["labels"] == {"workload": "gpu-batch", "doks-gpu/capacity-type": capacity}


def test_a_pool_keeps_other_workloads_away(build: Build) -> None:
    expected = [{"key": "workload", "value": "gpu-batch", "effect": "NoSchedule"}]
    assert build().inputs("batch-spot")["taints"] == expected


def test_tags_are_set_once_and_never_compared(build: Build) -> None:
    assert build().options("batch-spot")["ignoreChanges"] == ["tags"]


def test_a_disabled_tier_has_no_pool(build: Build) -> None:
    assert "batch-spot" not in build("fleets.batch.tiers[0].enabled=false").resources


def test_a_pool_remembers_its_price_in_a_tag(build: Build) -> None:
    assert "doks-gpu:usd-per-hour:8_00" in build().inputs("batch-spot")["tags"]
