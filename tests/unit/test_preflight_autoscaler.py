"""Rules about the autoscaler, each on both sides of its limit."""

from typing import Any

import pytest

from tests.unit.stacks import CLUSTER_ID, FALLBACK, JOB, SERVICE, SPOT, account, cluster, found, plan, raw

FIXED = {**FALLBACK, "min": 2}
SLEEPING_SPOT = {**SPOT, "min": 0}
SLEEPING_FALLBACK = {**FALLBACK, "min": 0}
BOUNDED = {"fallbackAfter": "3m"}


@pytest.mark.parametrize(("fleet", "severity"), [({}, "warning"), (BOUNDED, "error")])
def test_a_fallback_at_zero_behind_spot_is_warned_about_and_refused_with_a_bound(
    fleet: dict[str, Any], severity: str
) -> None:
    (finding,) = found("fallback-at-zero", raw(SPOT, SLEEPING_FALLBACK, fleet=fleet))
    assert (finding.severity, finding.path) == (severity, "fleets.batch.tiers[1].min")


@pytest.mark.parametrize(
    "tiers", [(SPOT, FALLBACK), (SLEEPING_FALLBACK,), (SLEEPING_FALLBACK, SPOT)], ids=["awake", "alone", "before Spot"]
)
def test_other_tiers_may_be_as_they_are(tiers: tuple[dict[str, Any], ...]) -> None:
    assert found("fallback-at-zero", raw(*tiers)) == []


@pytest.mark.parametrize(("level", "severities"), [(10, ["error"]), (100, ["error"]), (101, [])])
def test_the_level_decides_whether_a_tier_at_zero_is_behind_spot(level: int, severities: list[str]) -> None:
    said = raw({**SLEEPING_FALLBACK, "priority": level}, {**SPOT, "priority": 100}, fleet=BOUNDED)
    findings = found("fallback-at-zero", said)
    assert [(f.severity, f.path) for f in findings] == [(s, "fleets.batch.tiers[0].min") for s in severities]


@pytest.mark.parametrize(
    ("tiers", "warned"),
    [
        ((SPOT, FIXED), True),
        ((SPOT, FIXED, {**FIXED, "name": "second"}), True),
        ((SPOT, FIXED, {**FALLBACK, "name": "second"}), False),
        ((SPOT, SLEEPING_FALLBACK), False),
        ((FIXED, SPOT), False),
        ((FIXED,), False),
        ((SPOT,), False),
    ],
)
def test_a_fallback_that_cannot_grow_is_warned_about(tiers: tuple[dict[str, Any], ...], *, warned: bool) -> None:
    findings = found("fallback-fixed", raw(*tiers))
    assert [(f.severity, f.path) for f in findings] == [("warning", "fleets.batch.tiers")] * warned


def test_a_bound_that_is_refused_for_a_fixed_fallback_is_not_warned_about_as_well() -> None:
    assert found("fallback-fixed", raw(SPOT, FIXED, fleet=BOUNDED)) == []


def test_a_bound_that_only_a_tier_before_spot_could_meet_is_warned_about() -> None:
    said = raw({**FALLBACK, "name": "first"}, SPOT, FIXED, fleet=BOUNDED)
    assert [f.rule for f in plan(said).findings if f.rule.startswith("fallback-")] == ["fallback-fixed"]


@pytest.mark.parametrize(
    ("tiers", "keys"),
    [
        ((SPOT,), {"fleet": BOUNDED}),
        ((SPOT, FIXED), {}),
        ((SLEEPING_SPOT,), {"services": {"api": SERVICE}}),
        ((SPOT,), {"jobs": {"train": JOB}}),
        ((FALLBACK,), {"jobs": {"train": {**JOB, "parallelism": 8}}}),
    ],
    ids=["a bound", "a fixed fallback", "a service that may sleep", "a job on Spot", "a small fleet"],
)
def test_a_tier_that_nobody_can_read_leaves_nothing_to_conclude_from_its_absence(
    tiers: tuple[dict[str, Any], ...], keys: dict[str, Any]
) -> None:
    """The same stack without that tier is told about, so only the unread tier makes the difference."""
    lacking = {"fallback-cannot-grow", "fallback-fixed", "fleet-may-sleep", "service-may-sleep"}
    lacking |= {"on-demand-too-small", "service-on-spot-only"}
    unread = {"name": "unread", "size": "gpu-foo", "min": 1, "max": 2}
    assert {f.rule for f in plan(raw(*tiers, **keys)).findings} & lacking
    assert not {f.rule for f in plan(raw(*tiers, unread, **keys)).findings} & lacking


def test_a_disabled_spot_tier_has_nothing_behind_it() -> None:
    assert found("fallback-at-zero", raw({**SPOT, "enabled": False}, SLEEPING_FALLBACK)) == []


def test_a_fleet_that_may_sleep_is_warned_about() -> None:
    assert [f.severity for f in found("fleet-may-sleep", raw(SLEEPING_SPOT, SLEEPING_FALLBACK))] == ["warning"]


@pytest.mark.parametrize("tiers", [(SPOT, SLEEPING_FALLBACK), (SLEEPING_SPOT, FALLBACK)])
def test_one_tier_that_is_awake_is_enough(tiers: tuple[dict[str, Any], ...]) -> None:
    assert found("fleet-may-sleep", raw(*tiers)) == []


@pytest.mark.parametrize(("replicas", "warned"), [(1, True), (0, False)])
def test_a_service_that_needs_a_replica_on_a_sleeping_fleet_is_warned_about(replicas: int, *, warned: bool) -> None:
    services = {"api": {**SERVICE, "replicas": {"min": replicas, "max": 2}}}
    findings = found("service-may-sleep", raw(SLEEPING_FALLBACK, services=services))
    assert [f.path for f in findings] == ["services.api.fleet"] * warned


def test_a_service_on_a_fleet_that_is_awake_passes() -> None:
    assert found("service-may-sleep", raw(FALLBACK, services={"api": SERVICE})) == []


@pytest.mark.parametrize(("most", "warned"), [(2, False), (3, True)])
def test_room_for_more_than_one_node_under_a_spot_ceiling_is_warned_about(most: int, *, warned: bool) -> None:
    findings = found("spot-ceiling-room", raw({**SPOT, "max": most}, FALLBACK))
    assert [f.severity for f in findings] == ["warning"] * warned


def test_the_warning_has_the_minutes_and_the_money() -> None:
    (finding,) = found("spot-ceiling-room", raw({**SPOT, "max": 4}, FALLBACK))
    assert "45 minutes" in finding.message
    assert "24.00 $/hour" in finding.message


def test_an_on_demand_tier_may_have_room() -> None:
    assert found("spot-ceiling-room", raw({**FALLBACK, "max": 9})) == []


@pytest.mark.parametrize("part", ["monitoring", "keda"])
def test_a_bound_without_its_parts_is_refused(part: str) -> None:
    (finding,) = found("fallback-parts", raw(fleet=BOUNDED, **{part: {"enabled": False}}))
    assert finding.severity == "error"
    assert f"{part}.enabled" in finding.message


def test_a_bound_with_its_parts_passes() -> None:
    assert found("fallback-parts", raw(fleet=BOUNDED)) == []


def test_parts_are_not_needed_without_a_bound() -> None:
    assert found("fallback-parts", raw(keda={"enabled": False}, monitoring={"enabled": False})) == []


@pytest.mark.parametrize(
    "tiers", [(SPOT,), (SPOT, {**FALLBACK, "min": 2})], ids=["no on-demand tier", "a fixed on-demand tier"]
)
def test_a_bound_with_nothing_to_ask_for_is_refused(tiers: tuple[dict[str, Any], ...]) -> None:
    assert [f.severity for f in found("fallback-cannot-grow", raw(*tiers, fleet=BOUNDED))] == ["error"]


@pytest.mark.parametrize("fleet", [BOUNDED, {}])
def test_a_bound_with_an_on_demand_tier_that_grows_passes(fleet: dict[str, Any]) -> None:
    assert found("fallback-cannot-grow", raw(SPOT, FALLBACK, fleet=fleet)) == []


@pytest.mark.parametrize(
    ("expanders", "shown"),
    [((), "DOKS's default"), (("random",), "by random:"), (("random", "priority"), "by random, priority:")],
)
def test_an_attached_cluster_that_ignores_priorities_is_refused_with_the_command(
    expanders: tuple[str, ...], shown: str
) -> None:
    facts = account(clusters=(cluster(expanders=expanders, ours=False),))
    (finding,) = found("attached-expander", raw(cluster={"id": CLUSTER_ID}), facts)
    assert finding.severity == "error"
    assert shown in finding.message
    assert f"doctl kubernetes cluster update {CLUSTER_ID} --expanders priority,random" in finding.way_out


@pytest.mark.parametrize("expanders", [("priority",), ("priority", "random")])
def test_an_attached_cluster_that_follows_priorities_passes(expanders: tuple[str, ...]) -> None:
    facts = account(clusters=(cluster(expanders=expanders, ours=False),))
    assert found("attached-expander", raw(cluster={"id": CLUSTER_ID}), facts) == []


def test_a_cluster_of_ours_gets_its_expanders_from_us() -> None:
    assert found("attached-expander", raw(), account(clusters=(cluster(expanders=()),))) == []


@pytest.mark.parametrize(("level", "warned"), [(99, False), (100, True), (101, True)])
def test_a_later_tier_on_the_same_or_a_higher_level_is_warned_about(level: int, *, warned: bool) -> None:
    findings = found("priority-order", raw(SPOT, {**FALLBACK, "priority": level}))
    assert [f.severity for f in findings] == ["warning"] * warned


@pytest.mark.parametrize(("level", "effect"), [(100, "is random"), (101, "fallback goes first")])
def test_the_effect_of_the_levels_is_told(level: int, effect: str) -> None:
    (finding,) = found("priority-order", raw(SPOT, {**FALLBACK, "priority": level}))
    assert effect in finding.message
