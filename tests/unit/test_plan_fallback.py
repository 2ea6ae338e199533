"""How long the fallback takes, by the way in which Spot fails."""

from datetime import timedelta
from typing import Any

import pytest

from doks_gpu.plan.fallback import FleetFallback, never_words
from doks_gpu.plan.stack import as_dict
from tests.unit.stacks import FALLBACK, SPOT, plan, raw

FIXED = {**FALLBACK, "min": 2}
SLEEPING = {**FALLBACK, "name": "sleeping", "min": 0}
SECOND_SPOT = {"name": "spot-2", "size": "gpu-b300x1-288gb-lc-spot", "min": 1, "max": 2}


def fallback(*tiers: dict[str, Any], **fleet: Any) -> FleetFallback:
    (found,) = plan(raw(*tiers, fleet=fleet)).fallback
    return found


def seconds(found: FleetFallback) -> dict[str, tuple[float, float]]:
    return {way.way: (way.soonest.total_seconds(), way.latest.total_seconds()) for way in found.ways}


def test_a_refusal_costs_one_loop_and_a_ceiling_none() -> None:
    found = seconds(fallback(SPOT, FALLBACK))
    assert found["refused"] == (40, 40)
    assert found["at-ceiling"] == (30, 30)


def test_a_node_that_never_boots_costs_the_provision_timeout() -> None:
    assert seconds(fallback(SPOT, FALLBACK))["never-booted"] == (930, 930)


def test_room_under_the_ceiling_multiplies_the_timeout() -> None:
    assert seconds(fallback({**SPOT, "max": 4}, FALLBACK))["never-booted"] == (930, 30 + 3 * 900)


def test_a_second_spot_tier_adds_its_own_times() -> None:
    found = seconds(fallback(SPOT, SECOND_SPOT, FALLBACK))
    assert found["refused"] == (50, 50)
    assert found["never-booted"] == (1830, 1830)


def test_a_fixed_spot_pool_is_never_asked() -> None:
    assert seconds(fallback({**SPOT, "min": 2}, FALLBACK)) == {"at-ceiling": (30, 30)}


def test_fallback_after_bounds_the_long_wait_and_leaves_the_short_ones() -> None:
    found = fallback({**SPOT, "max": 4}, FALLBACK, fallbackAfter="3m")
    assert found.bound == timedelta(seconds=280)
    assert seconds(found) == {"refused": (40, 40), "at-ceiling": (30, 30), "never-booted": (280, 280)}


@pytest.mark.parametrize(
    ("tiers", "why"),
    [
        ([FALLBACK], None),
        ([SLEEPING], "at-zero"),
        ([FIXED], "fixed"),
        ([FIXED, SLEEPING], "at-zero"),
        ([FIXED, SLEEPING, {**FALLBACK, "name": "third"}], None),
    ],
    ids=["grows from a live node", "sleeps", "fixed", "what can grow sleeps", "the last one grows"],
)
def test_a_fallback_that_sleeps_or_cannot_grow_says_why_it_may_never_come(
    tiers: list[dict[str, Any]], why: str | None
) -> None:
    found = fallback(SPOT, *tiers)
    assert (found.why_never, found.may_never_come) == (why, why is not None)


def test_a_fallback_that_is_never_asked_for_has_no_times() -> None:
    assert fallback(SPOT, FIXED).ways == ()


@pytest.mark.parametrize(
    ("tier", "said"),
    [(FIXED, "No on-demand capacity is ever added to fleet batch"), (SLEEPING, "a GPU pool at zero never wakes")],
)
def test_the_sentence_names_the_pools_and_the_reason(tier: dict[str, Any], said: str) -> None:
    words = never_words(fallback(SPOT, tier))
    assert words
    assert said in words
    assert f"(batch-{tier['name']})" in words


def test_there_is_no_sentence_for_a_fallback_that_comes() -> None:
    assert never_words(fallback(SPOT, FALLBACK)) is None


def test_the_json_form_has_the_reason() -> None:
    (told,) = as_dict(plan(raw(SPOT, FIXED)))["fallback"]
    assert (told["whyNever"], told["mayNeverCome"]) == ("fixed", True)


def test_a_fixed_pool_between_two_spot_tiers_ends_no_wait() -> None:
    fixed = {**FIXED, "name": "fixed"}
    assert fallback(SPOT, fixed, SECOND_SPOT, FALLBACK).ways == fallback(SPOT, SECOND_SPOT, FALLBACK).ways


@pytest.mark.parametrize("unreadable", [{**SPOT, "size": "gpu-foo-spot"}, {**FALLBACK, "size": "gpu-foo"}])
def test_nothing_is_said_about_a_fleet_with_a_tier_that_nobody_can_read(unreadable: dict[str, Any]) -> None:
    assert plan(raw(SPOT, FIXED, {**unreadable, "name": "new"})).fallback == ()


@pytest.mark.parametrize("tiers", [(SPOT,), (FALLBACK,), (FALLBACK, SPOT)], ids=["Spot", "on-demand", "Spot last"])
def test_a_fleet_with_nothing_behind_spot_has_no_fallback(tiers: tuple[dict[str, Any], ...]) -> None:
    assert plan(raw(*tiers)).fallback == ()


def test_the_levels_decide_what_is_behind_spot() -> None:
    found = fallback({**FALLBACK, "priority": 10}, {**SPOT, "priority": 20})
    assert (found.spot_pools, found.on_demand_pools) == (("batch-spot",), ("batch-fallback",))


def test_on_a_tie_spot_counts_as_asked_first() -> None:
    assert fallback({**FALLBACK, "priority": 20}, {**SPOT, "priority": 20}).spot_pools == ("batch-spot",)
