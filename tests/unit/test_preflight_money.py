"""Rules about prices and limits, each on both sides of its limit."""

from typing import Any

import pytest

from tests.unit.stacks import CLUSTER_ID, CPU_POOL, FALLBACK, SPOT, account, found, raw, size

FREE: dict[str, Any] = {
    "cluster": {"highAvailability": False, "cpuPool": {**CPU_POOL, "usdPerHour": "0.10"}},
    "monitoring": {"enabled": False},
}
"""Besides the GPU pools there are 4 CPU nodes of 0.10 $ at the most."""
NEW = {**SPOT, "size": "gpu-r200x1-288gb-spot"}


def limited(*tiers: dict[str, Any], **limits: Any) -> dict[str, Any]:
    return raw(*tiers, **FREE, limits={"usdPerHour": 1000} | limits)


def test_an_unknown_price_is_refused() -> None:
    (finding,) = found("price-unknown", raw(NEW))
    assert (finding.severity, finding.path) == ("error", "fleets.batch.tiers[0].usdPerHour")


def test_an_unknown_price_of_the_cpu_pool_is_refused() -> None:
    (finding,) = found("price-unknown", raw(cluster={"cpuPool": {**CPU_POOL, "size": "s-96vcpu-1tb"}}))
    assert finding.path == "cluster.cpuPool.usdPerHour"


def test_a_configured_price_is_a_price() -> None:
    assert found("price-unknown", raw({**NEW, "usdPerHour": 9})) == []


def test_a_price_of_the_account_is_a_price() -> None:
    facts = account(sizes={**account().sizes, "gpu-r200x1-288gb-spot": size("9.00", "atl1")})
    assert found("price-unknown", raw(NEW), facts) == []


@pytest.mark.parametrize(("cap", "refused"), [("25.34", False), ("25.33", True)])
def test_the_stack_must_stay_under_its_price_cap(cap: str, *, refused: bool) -> None:
    """2 × 8.00 + 2 × 4.47 + 4 × 0.10 = 25.34."""
    findings = found("price-cap", limited(SPOT, FALLBACK, usdPerHour=cap))
    assert [f.severity for f in findings] == ["error"] * refused


def test_the_refusal_shows_a_price_that_is_above_the_cap_and_not_rounded_to_it() -> None:
    (finding,) = found("price-cap", limited({**SPOT, "usdPerHour": "8.0023"}, FALLBACK, usdPerHour="25.34"))
    assert "costs 25.3446 $/hour; the cap is 25.34." in finding.message


def test_the_peak_shows_a_price_that_is_above_the_cap_and_not_rounded_to_it() -> None:
    said = limited({**SPOT, "usdPerHour": "8.0011"}, FALLBACK, usdPerHour="41.34")
    (finding,) = found("replacement-peak", said)
    assert "can cost 41.3444 $/hour; the cap is 41.34." in finding.message


def test_a_price_over_the_cap_is_at_least_that_while_another_is_unknown() -> None:
    (finding,) = found("price-cap", limited(NEW, FALLBACK, usdPerHour="9"))
    assert "costs at least 9.34 $/hour" in finding.message


@pytest.mark.parametrize(("limit", "refused"), [(13, False), (12, True)])
def test_all_pools_and_what_runs_elsewhere_must_fit_the_droplet_limit(limit: int, *, refused: bool) -> None:
    """2 + 2 GPU nodes, 4 CPU nodes, 5 elsewhere."""
    findings = found("droplet-limit", limited(SPOT, FALLBACK, droplets=limit, runningDroplets=5))
    assert [f.severity for f in findings] == ["error"] * refused


@pytest.mark.parametrize(("limit", "refused"), [(8, False), (7, True)])
def test_the_limit_that_the_account_tells_counts_too(limit: int, *, refused: bool) -> None:
    findings = found("droplet-limit", limited(SPOT, FALLBACK), account(droplet_limit=limit))
    assert [f.severity for f in findings] == ["error"] * refused


def test_the_lower_of_two_limits_counts() -> None:
    (finding,) = found("droplet-limit", limited(SPOT, FALLBACK, droplets=7), account(droplet_limit=50))
    assert "limits.droplets allows 7" in finding.message


def test_the_nodes_of_an_attached_cluster_are_not_ours() -> None:
    said = limited(SPOT, FALLBACK, droplets=4) | {"cluster": {"id": CLUSTER_ID}}
    assert found("droplet-limit", said) == []


@pytest.mark.parametrize(("quota", "refused"), [(4, False), (3, True)])
def test_gpus_of_a_model_must_fit_its_quota(quota: int, *, refused: bool) -> None:
    other = {**FALLBACK, "name": "more", "max": 2}
    findings = found("gpu-limit", limited(FALLBACK, other, gpus={"h200": quota}))
    assert [(f.severity, f.path) for f in findings] == [("error", "limits.gpus.h200")] * refused


def test_spot_gpus_count_and_every_gpu_of_a_node() -> None:
    eight = {**SPOT, "size": "gpu-b300x8-2304gb-spot"}
    (finding,) = found("gpu-limit", limited(eight, gpus={"b300": 15}))
    assert "16 B300 GPUs (batch-spot: 16)" in finding.message


@pytest.mark.parametrize("word", ["mi300", "mi300x"])
def test_both_spellings_of_an_amd_model_are_understood(word: str) -> None:
    tier = {**SPOT, "size": "gpu-mi300x1-192gb", "max": 3}
    assert found("gpu-limit", limited(tier, gpus={word: 2}))


def test_a_model_that_is_not_named_is_not_limited() -> None:
    assert found("gpu-limit", limited(SPOT, FALLBACK, gpus={"h100": 0})) == []


@pytest.mark.parametrize(("cap", "warned"), [("41.34", False), ("41.33", True), ("25.34", True)])
def test_a_replacement_that_passes_the_price_cap_is_warned_about(cap: str, *, warned: bool) -> None:
    """25.34 and 2 × 8.00 once more."""
    findings = found("replacement-peak", limited(SPOT, FALLBACK, usdPerHour=cap))
    assert [f.severity for f in findings] == ["warning"] * warned


@pytest.mark.parametrize(("limit", "warned"), [(10, False), (9, True), (8, True)])
def test_a_replacement_that_passes_the_droplet_limit_is_warned_about(limit: int, *, warned: bool) -> None:
    findings = found("replacement-peak", limited(SPOT, FALLBACK, droplets=limit))
    assert [f.path for f in findings] == ["limits.droplets"] * warned


@pytest.mark.parametrize(("quota", "warned"), [(4, False), (3, True), (2, True)])
def test_a_replacement_that_passes_a_gpu_quota_is_warned_about(quota: int, *, warned: bool) -> None:
    findings = found("replacement-peak", limited(SPOT, FALLBACK, gpus={"h200": quota}))
    assert [f.path for f in findings] == ["limits.gpus.h200"] * warned


def test_the_warnings_name_the_pool_and_the_figures() -> None:
    said = limited(SPOT, {**FALLBACK, "max": 3}, usdPerHour=30, droplets=9, gpus={"h200": 3})
    money, droplets, gpus = (finding.message for finding in found("replacement-peak", said))
    assert money.startswith(
        "While batch-spot is replaced, old and new pool together can cost 45.81 $/hour; the cap is 30"
    )
    assert droplets.startswith("While batch-fallback is replaced there can be 12 Droplets; limits.droplets allows 9")
    assert gpus.startswith("While batch-fallback is replaced there can be 6 H200 GPUs; the quota is 3")


def test_a_stack_over_its_limits_is_refused_once_and_not_warned_about_as_well() -> None:
    said = limited(SPOT, FALLBACK, usdPerHour=20, droplets=7, gpus={"h200": 1})
    assert found("replacement-peak", said) == []


@pytest.mark.parametrize(("usd", "warned"), [("4.47", False), ("4.48", True)])
def test_spot_that_costs_more_than_a_later_tier_is_warned_about(usd: str, *, warned: bool) -> None:
    findings = found("spot-dearer", raw({**SPOT, "usdPerHour": usd}, FALLBACK))
    assert [f.severity for f in findings] == ["warning"] * warned


def test_the_cheapest_later_tier_is_named() -> None:
    dear = {**FALLBACK, "name": "a-dear", "usdPerHour": 7}
    (finding,) = found("spot-dearer", raw(SPOT, dear, {**FALLBACK, "name": "b-cheap", "usdPerHour": 3}))
    assert "8.00 $ on Spot tier spot and 3.00 $ on tier b-cheap" in finding.message


def test_a_faster_spot_gpu_may_cost_more() -> None:
    assert found("spot-dearer", raw({**SPOT, "relativeSpeed": 2}, FALLBACK)) == []


def test_prices_are_compared_per_gpu() -> None:
    eight = {**FALLBACK, "size": "gpu-h200x8-1128gb"}
    assert found("spot-dearer", raw({**SPOT, "usdPerHour": "4.40"}, eight)) == []


@pytest.mark.parametrize("tiers", [(FALLBACK, SPOT), (SPOT,), (NEW, FALLBACK), (SPOT, {**FALLBACK, "enabled": False})])
def test_nothing_is_compared_with_earlier_unknown_or_disabled_tiers(tiers: tuple[dict[str, Any], ...]) -> None:
    assert found("spot-dearer", raw(*tiers)) == []


def test_a_spot_price_of_the_catalogue_is_told_with_its_date() -> None:
    (finding,) = found("spot-price-dated", raw())
    assert finding.severity == "info"
    assert "2026-10-08" in finding.message


@pytest.mark.parametrize(("tier", "facts"), [({**SPOT, "usdPerHour": 8}, None), (SPOT, account()), (FALLBACK, None)])
def test_other_prices_are_not(tier: dict[str, Any], facts: Any) -> None:
    assert found("spot-price-dated", raw(tier), facts) == []


@pytest.mark.parametrize(
    ("cluster", "told"),
    [({}, True), ({"version": "1.35"}, False), ({"highAvailability": True}, False), ({"id": CLUSTER_ID}, False)],
)
def test_high_availability_that_nobody_asked_for_is_told(cluster: dict[str, Any], *, told: bool) -> None:
    assert bool(found("high-availability-default", raw(cluster=cluster))) is told


def test_the_month_of_high_availability_is_told() -> None:
    (finding,) = found("high-availability-default", raw())
    assert "40.00 $/month" in finding.message


def test_limits_that_are_left_out_are_named() -> None:
    (finding,) = found("limits-not-checked", limited(SPOT, FALLBACK, gpus={"h200": 4}))
    assert finding.severity == "info"
    assert finding.message == "Not checked: limits.droplets, limits.gpus.b300."


def test_limits_that_are_all_there_are_checked() -> None:
    assert found("limits-not-checked", limited(SPOT, FALLBACK, droplets=25, gpus={"h200": 4, "b300": 4})) == []


def test_the_accounts_droplet_limit_is_a_limit() -> None:
    assert found("limits-not-checked", limited(FALLBACK, gpus={"h200": 4}), account()) == []


@pytest.mark.parametrize(
    ("word", "meant"), [("h201", "did you mean h200?"), ("b301", "did you mean b300?"), ("zzz", "known: 4000ada")]
)
def test_a_limit_of_a_model_that_nobody_knows_is_warned_about(word: str, meant: str) -> None:
    (finding,) = found("limit-without-pool", limited(SPOT, FALLBACK, gpus={word: 4}))
    assert (finding.severity, finding.path) == ("warning", f"limits.gpus.{word}")
    assert meant in finding.way_out


@pytest.mark.parametrize("word", ["h200", "h100", "mi300", "mi300x", "b300"])
def test_a_limit_of_a_model_of_the_catalogue_passes(word: str) -> None:
    assert found("limit-without-pool", limited(SPOT, FALLBACK, gpus={word: 4})) == []


def test_a_limit_of_a_pool_that_the_catalogue_does_not_have_passes() -> None:
    assert found("limit-without-pool", limited({**NEW, "usdPerHour": 9}, gpus={"r200": 4})) == []


def test_a_limit_may_be_that_of_a_size_that_nobody_can_read() -> None:
    assert found("limit-without-pool", limited({**SPOT, "size": "gpu-foo"}, gpus={"foo": 4})) == []


def test_two_prices_that_differ_by_less_than_a_cent_are_told_apart() -> None:
    (finding,) = found("spot-dearer", raw({**SPOT, "usdPerHour": "4.4712"}, FALLBACK))
    assert "costs 4.4712 $" in finding.message
    assert "4.4700 $" in finding.message


def test_the_level_decides_which_tier_is_later() -> None:
    cheap_first = raw({**FALLBACK, "priority": 100}, {**SPOT, "priority": 10})
    assert found("spot-dearer", cheap_first) == []
    spot_first = raw({**FALLBACK, "priority": 10}, {**SPOT, "priority": 100})
    assert [f.path for f in found("spot-dearer", spot_first)] == ["fleets.batch.tiers[1].size"]
