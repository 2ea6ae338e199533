"""After an `up`: which tiers of the plan are not there."""

from dataclasses import replace
from pathlib import Path

import pytest

from doks_gpu.ops.missing import missing_tiers
from doks_gpu.ops.state import POOL_TYPE, State, StateResource
from doks_gpu.plan.pools import PoolSpec
from doks_gpu.plan.stack import make_plan
from doks_gpu.settings import load
from doks_gpu.stackfile import read_stack_file

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pools() -> tuple[PoolSpec, ...]:
    settings = load(read_stack_file(ROOT / "Pulumi.dev.yaml"))
    return make_plan(settings, None, project="doks-gpu", stack="dev").pools


def row(pool: PoolSpec, **changes: object) -> StateResource:
    outputs = {"size": pool.size, "maxNodes": pool.max, "tags": list(pool.tags), **changes}
    urn = f"urn:pulumi:dev::doks-gpu::{POOL_TYPE}::{pool.name}"
    return StateResource(urn=urn, type=POOL_TYPE, id=f"id-{pool.name}", outputs=outputs, external=False)


def state(*rows: StateResource) -> State:
    return State(resources=rows)


def test_nothing_is_missing_when_every_pool_is_in_the_state(pools: tuple[PoolSpec, ...]) -> None:
    assert missing_tiers(pools, state(*map(row, pools))) == []


def test_a_pool_outside_the_state_is_missing(pools: tuple[PoolSpec, ...]) -> None:
    (line,) = missing_tiers(pools, state(*map(row, pools[1:])))
    assert line.startswith("tier spot of fleet batch (gpu-b300x1-288gb-spot) is not there")


@pytest.mark.parametrize("change", [{"size": "gpu-b300x8-2304gb-spot"}, {"maxNodes": 7}])
def test_a_spot_pool_of_the_old_form_was_not_replaced(pools: tuple[PoolSpec, ...], change: dict[str, object]) -> None:
    (line,) = missing_tiers(pools, state(row(pools[0], **change), *map(row, pools[1:])))
    assert "could not be replaced" in line


def test_a_pool_of_an_older_generation_was_not_replaced(pools: tuple[PoolSpec, ...]) -> None:
    newer = replace(pools[1], generation=pools[1].generation + 1)
    (line,) = missing_tiers([newer], state(row(pools[1])))
    assert "could not be replaced" in line


def test_a_fixed_spot_pool_of_another_size_was_not_replaced(pools: tuple[PoolSpec, ...]) -> None:
    fixed = replace(pools[0], min=3, max=3, autoscaled=False, count=3)
    assert missing_tiers([fixed], state(row(fixed, nodeCount=3, maxNodes=None))) == []
    (line,) = missing_tiers([fixed], state(row(fixed, nodeCount=2, maxNodes=None)))
    assert "could not be replaced" in line


def test_a_pool_without_our_tags_has_no_generation_to_compare(pools: tuple[PoolSpec, ...]) -> None:
    assert missing_tiers([pools[1]], state(row(pools[1], tags=[]))) == []
