"""The priority map: a text that the autoscaler reads as meant."""

import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from doks_gpu.errors import DoksGpuError
from doks_gpu.plan import priorities
from tests.unit.stacks import uuid

LEVELS = {"batch-spot": 100, "batch-fallback": 50, "inference-amd": 100}
IDS = {"batch-spot": uuid(1), "batch-fallback": uuid(2), "inference-amd": uuid(3)}
STARTER = "1:\n  - .*            # starter content\n"
POOL_IDS = st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.uuids().map(str), min_size=1, max_size=12)


def test_the_text_is_exactly_this() -> None:
    assert priorities.text(LEVELS, IDS) == (
        f'100:\n  - "^{uuid(1)}$"\n  - "^{uuid(3)}$"\n50:\n  - "^{uuid(2)}$"\n1:\n  - ".*"\n'
    )


@given(POOL_IDS, st.data())
def test_every_id_matches_its_own_level_and_no_other(ids: dict[str, str], data: st.DataObject) -> None:
    levels = {pool: data.draw(st.sampled_from(priorities.LEVELS)) for pool in ids}
    read = yaml.safe_load(priorities.text(levels, ids))
    for pool, identity in ids.items():
        matching = [level for level, rules in read.items() if level > 1 and any(re.search(r, identity) for r in rules)]
        assert matching == [levels[pool]]


@given(POOL_IDS)
def test_keys_are_integers_and_values_lists_of_strings(ids: dict[str, str]) -> None:
    read = yaml.safe_load(priorities.text(dict.fromkeys(ids, 100), ids))
    assert {type(level) for level in read} == {int}
    assert all(isinstance(rule, str) for rules in read.values() for rule in rules)


@given(POOL_IDS)
def test_everybody_else_is_on_the_lowest_level(ids: dict[str, str]) -> None:
    read = yaml.safe_load(priorities.text(dict.fromkeys(ids, 3), ids))
    assert min(read) == 1
    assert read[1] == [".*"]


def test_the_order_of_the_pools_does_not_matter() -> None:
    assert priorities.text(LEVELS, IDS) == priorities.text(LEVELS, dict(reversed(IDS.items())))


def test_a_pool_that_does_not_exist_has_no_line() -> None:
    assert uuid(1) not in priorities.text(LEVELS, {"batch-fallback": uuid(2)})


def test_no_pool_at_all_gives_the_starter_text() -> None:
    assert priorities.text(LEVELS, {}) == '1:\n  - ".*"\n'


@pytest.mark.parametrize("identity", ["", "None", "YOUR_SPOT_POOL_ID", "batch-spot", f"{uuid(1)}\n", f" {uuid(1)}"])
def test_an_id_that_is_no_uuid_is_refused(identity: str) -> None:
    with pytest.raises(DoksGpuError, match="not a UUID"):
        priorities.text(LEVELS, {"batch-spot": identity})


def test_one_id_for_two_pools_is_refused() -> None:
    with pytest.raises(DoksGpuError, match="same id"):
        priorities.text(LEVELS, {"batch-spot": uuid(1), "batch-fallback": uuid(1)})


@pytest.mark.parametrize("levels", [{}, {"batch-spot": 1}])
def test_a_pool_without_a_level_of_its_own_is_refused(levels: dict[str, int]) -> None:
    with pytest.raises(DoksGpuError, match="no level above 1"):
        priorities.text(levels, {"batch-spot": uuid(1)})


def test_ranks_have_levels_that_fall() -> None:
    assert [priorities.level(rank, None) for rank in range(6)] == [100, 50, 25, 12, 6, 3]


def test_a_tier_may_choose_its_level() -> None:
    assert priorities.level(0, 7) == 7


def test_a_replaced_pool_gets_its_new_id() -> None:
    assert priorities.merge({"a": uuid(2)}, {"a": uuid(1)}) == {"a": uuid(2)}


@pytest.mark.parametrize("made", [{}, {"a": ""}])
def test_a_tier_whose_replacement_failed_keeps_its_line(made: dict[str, str]) -> None:
    assert priorities.merge(made, {"a": uuid(1)}) == {"a": uuid(1)}


@pytest.mark.parametrize(
    "content", [STARTER, '1:\n- ".*"\n', priorities.text(LEVELS, IDS), priorities.text(LEVELS, IDS).upper()]
)
def test_the_starter_and_our_own_text_are_taken_over(content: str) -> None:
    assert priorities.is_starter_or_ours(content)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "# nothing",
        "{}",
        "1: .*",
        "100:\n  - my-pool-.*\n1:\n  - .*\n",
        f"100:\n  - {uuid(1)}\n1:\n  - .*\n",
        f'100:\n  - "^{uuid(1)}$"\n',
        f'high:\n  - "^{uuid(1)}$"\n1:\n  - .*\n',
        "1:\n  - .*\n  - extra\n",
        "1: [.*\n",
        "- .*",
    ],
)
def test_what_somebody_else_wrote_is_left_alone(content: str) -> None:
    assert not priorities.is_starter_or_ours(content)
