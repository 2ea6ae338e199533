"""Rules about cluster, version, region and pools, each on both sides of its limit."""

from typing import Any

import pytest

from tests.unit.stacks import (
    CLUSTER_ID,
    CPU_POOL,
    FALLBACK,
    JOB,
    SERVICE,
    SPOT,
    account,
    cluster,
    found,
    plan,
    raw,
    size,
)

OFF = {"enabled": False}
UNKNOWN = {**SPOT, "size": "gpu-r200-huge-spot", "usdPerHour": 9}
MANAGED = {"autoUpgrade": False}


def managed(version: str) -> dict[str, Any]:
    return raw(cluster={"version": version, "autoUpgrade": False})


def running(version: str) -> Any:
    return account(clusters=(cluster(version=version),))


def test_a_stack_without_any_pool_is_refused() -> None:
    assert [f.severity for f in found("no-pools", raw({**SPOT, **OFF}))] == ["error"]


def test_one_pool_is_enough() -> None:
    assert found("no-pools", raw({**SPOT, **OFF}, FALLBACK)) == []


def test_a_tier_that_cannot_be_read_is_not_taken_for_no_pool() -> None:
    assert found("no-pools", raw(UNKNOWN)) == []


def test_a_fleet_without_a_pool_is_warned_about() -> None:
    (finding,) = found("fleet-disabled", raw({**SPOT, **OFF}))
    assert (finding.severity, finding.path) == ("warning", "fleets.batch.tiers")


@pytest.mark.parametrize("work", [{"services": {"api": SERVICE}}, {"jobs": {"api": JOB}}])
def test_work_on_a_fleet_without_a_pool_is_refused(work: dict[str, Any]) -> None:
    (finding,) = found("fleet-disabled", raw({**SPOT, **OFF}, **work))
    assert finding.severity == "error"
    assert "api" in finding.message


def test_a_fleet_with_one_enabled_tier_is_fine() -> None:
    assert found("fleet-disabled", raw({**SPOT, **OFF}, FALLBACK)) == []


def test_a_disabled_tier_is_not_looked_at() -> None:
    assert found("size-unreadable", raw({**UNKNOWN, **OFF}, FALLBACK)) == []


def test_a_size_that_nobody_can_read_is_refused() -> None:
    (finding,) = found("size-unreadable", raw(UNKNOWN))
    assert (finding.severity, finding.path) == ("error", "fleets.batch.tiers[0].size")


def test_a_size_that_its_slug_explains_is_read() -> None:
    assert found("size-unreadable", raw({**SPOT, "size": "gpu-r200x1-288gb-spot"})) == []


def test_a_size_outside_docks_own_list_is_refused() -> None:
    facts = account(doks_sizes=frozenset({"gpu-h200x1-141gb", "s-4vcpu-8gb"}))
    (finding,) = found("size-not-in-doks", raw(), facts)
    assert (finding.severity, finding.path) == ("error", "fleets.batch.tiers[0].size")


def test_the_cpu_size_is_compared_with_docks_list_too() -> None:
    (finding,) = found("size-not-in-doks", raw(cluster={"cpuPool": {**CPU_POOL, "size": "c-4"}}), account())
    assert finding.path == "cluster.cpuPool.size"


def test_the_cpu_size_of_an_attached_cluster_is_not() -> None:
    said = raw(cluster={"id": CLUSTER_ID, "cpuPool": {**CPU_POOL, "size": "c-4"}})
    assert found("size-not-in-doks", said, account(clusters=(cluster(),))) == []


@pytest.mark.parametrize("facts", [None, account(), account(doks_sizes=frozenset())])
def test_sizes_that_docks_lists_or_says_nothing_about_pass(facts: Any) -> None:
    assert found("size-not-in-doks", raw(), facts) == []


def test_a_region_that_the_account_cannot_buy_in_is_refused() -> None:
    sizes = {**account().sizes, "gpu-b300x1-288gb-spot": size("8.00", "ric1", "nyc2")}
    (finding,) = found("region-refuses-size", raw(), account(sizes=sizes))
    assert finding.severity == "error"
    assert "nyc2, ric1" in finding.message


def test_the_way_out_names_regions_that_sell_the_whole_fleet() -> None:
    sizes = {"gpu-b300x1-288gb-spot": size("8", "ric1", "nyc2"), "gpu-h200x1-141gb": size("4", "atl1", "nyc2")}
    (finding,) = found("region-refuses-size", raw(), account(sizes=sizes))
    assert finding.way_out == "Regions known to sell every size of fleet batch: nyc2."


def test_a_region_of_the_accounts_list_passes() -> None:
    assert found("region-refuses-size", raw(), account()) == []


def test_a_cpu_size_that_the_region_does_not_sell_is_refused() -> None:
    facts = account(sizes={**account().sizes, "s-4vcpu-8gb": size("0.07", "nyc2")})
    (finding,) = found("region-refuses-size", raw(), facts)
    assert (finding.severity, finding.path) == ("error", "cluster.cpuPool.size")
    assert "nyc2, not in atl1" in finding.message


@pytest.mark.parametrize(
    ("keys", "regions"), [({}, ("atl1", "nyc2")), ({}, ()), ({"cluster": {"id": CLUSTER_ID}}, ("nyc2",))]
)
def test_a_cpu_size_that_is_sold_or_unknown_or_not_ours_passes(keys: dict[str, Any], regions: tuple[str, ...]) -> None:
    facts = account(sizes={**account().sizes, "s-4vcpu-8gb": size("0.07", *regions)})
    assert found("region-refuses-size", raw(**keys), facts) == []


def test_an_empty_list_of_regions_is_unknown_and_not_a_refusal() -> None:
    sizes = {slug: size("8") for slug in account().sizes}
    facts = account(sizes=sizes)
    assert found("region-refuses-size", raw(), facts) == []
    assert [f.severity for f in found("region-unproven", raw(), facts)] == ["warning"]


def test_a_size_that_nobody_has_seen_in_the_region_is_warned_about_with_the_regions_that_have_it() -> None:
    (finding,) = found("region-unproven", raw())
    assert finding.severity == "warning"
    assert "gpu-b300x1-288gb-spot was seen in ric1" in finding.message
    assert "gpu-h200x1-141gb" not in finding.message


def test_no_region_for_the_whole_fleet_is_said() -> None:
    (finding,) = found("region-unproven", raw())
    assert finding.way_out.startswith("No region is known to sell every size of fleet batch")


def test_the_regions_for_the_whole_fleet_are_named() -> None:
    tiers = (FALLBACK, {**FALLBACK, "name": "h100", "size": "gpu-h100x1-80gb"})
    (finding,) = found("region-unproven", raw(*tiers, region="tor1"))
    assert finding.way_out.startswith("Regions known to sell every size of fleet batch: atl1, nyc2.")


def test_a_region_where_all_sizes_were_seen_passes() -> None:
    assert found("region-unproven", raw(FALLBACK)) == []


def test_what_the_account_says_ends_the_doubt() -> None:
    assert found("region-unproven", raw(), account()) == []


def test_a_region_without_docks_is_refused() -> None:
    (finding,) = found("region-not-in-doks", raw(region="ric1"), account())
    assert (finding.severity, finding.path) == ("error", "region")


@pytest.mark.parametrize("facts", [account(), account(doks_regions=frozenset()), None])
def test_a_region_with_docks_or_unknown_passes(facts: Any) -> None:
    assert found("region-not-in-doks", raw(), facts) == []


def test_an_attached_cluster_that_is_not_there_is_refused() -> None:
    (finding,) = found("attached-cluster", raw(cluster={"id": CLUSTER_ID}), account())
    assert (finding.severity, finding.path) == ("error", "cluster.id")


def test_an_attached_cluster_in_another_region_is_refused() -> None:
    facts = account(clusters=(cluster(region="nyc2"),))
    (finding,) = found("attached-cluster", raw(cluster={"id": CLUSTER_ID}), facts)
    assert finding.way_out == "Set region to nyc2."


@pytest.mark.parametrize("facts", [None, account(clusters=(cluster(ours=False),))])
def test_an_attached_cluster_that_is_there_or_unknown_passes(facts: Any) -> None:
    assert found("attached-cluster", raw(cluster={"id": CLUSTER_ID}), facts) == []


@pytest.mark.parametrize("team", ["sales", "RESEARCH"])
def test_the_token_of_another_team_is_refused(team: str) -> None:
    (finding,) = found("team-mismatch", raw(team=team), account())
    assert finding.severity == "error"
    assert "research" in finding.message


def test_a_team_that_the_account_does_not_tell_is_no_match() -> None:
    (finding,) = found("team-mismatch", raw(team="research"), account(team_id=None, team_name=None))
    assert "team without a name (without an id)" in finding.message


@pytest.mark.parametrize("team", ["research", "11111111-2222-4333-8444-555555555555", None])
def test_the_right_team_or_none_passes(team: str | None) -> None:
    assert found("team-mismatch", raw(team=team) if team else raw(), account()) == []


@pytest.mark.parametrize("version", ["1.37", "1.36.9-do.0"])
def test_a_version_that_docks_does_not_offer_is_refused(version: str) -> None:
    (finding,) = found("version-not-offered", raw(cluster={"version": version}), account())
    assert finding.severity == "error"
    assert "1.36.3-do.0" in finding.message


@pytest.mark.parametrize("version", ["1.36", "1.36.1-do.0"])
def test_an_offered_version_passes(version: str) -> None:
    assert found("version-not-offered", raw(cluster={"version": version}), account()) == []


def test_a_running_cluster_may_keep_a_version_that_left_the_list() -> None:
    assert found("version-not-offered", managed("1.33.1-do.0"), running("1.33.1-do.0")) == []
    assert found("version-not-offered", raw(cluster={"version": "1.33"}), running("1.33.1-do.0")) == []


def test_a_running_cluster_cannot_go_to_a_version_that_is_not_offered() -> None:
    assert found("version-not-offered", managed("1.36.9-do.0"), running("1.36.3-do.0"))


def test_going_down_is_refused() -> None:
    (finding,) = found("version-downgrade", managed("1.36.1-do.0"), running("1.36.3-do.0"))
    assert finding.severity == "error"
    assert "replace it and every pool" in finding.message


@pytest.mark.parametrize("version", ["1.36.3-do.0", "1.36.1-do.0"])
def test_staying_or_going_up_is_no_downgrade(version: str) -> None:
    assert found("version-downgrade", managed("1.36.3-do.0"), running(version)) == []


@pytest.mark.parametrize("version", ["1.35", "1.36.1-do.0"])
def test_a_version_that_docks_manages_is_never_a_downgrade(version: str) -> None:
    assert found("version-downgrade", raw(cluster={"version": version}), running("1.36.3-do.0")) == []


def test_the_version_of_an_attached_cluster_is_left_alone() -> None:
    said = raw(cluster={"id": CLUSTER_ID, "version": "1.36.1-do.0", **MANAGED})
    assert found("version-downgrade", said, running("1.36.3-do.0")) == []


def test_a_version_that_docks_manages_may_leave_the_list() -> None:
    assert found("version-not-offered", raw(cluster={"version": "1.33.1-do.0"}), running("1.34.9-do.0")) == []


def test_an_upgrade_past_a_patch_names_the_patch() -> None:
    (finding,) = found("version-step", managed("1.36.3-do.0"), running("1.35.2-do.0"))
    assert finding.severity == "error"
    assert '"1.35.4-do.1"' in finding.way_out


def test_an_upgrade_from_the_newest_patch_passes() -> None:
    assert found("version-step", managed("1.36.3-do.0"), running("1.35.4-do.1")) == []


def test_a_downgrade_has_no_step() -> None:
    assert found("version-step", managed("1.35.4-do.1"), running("1.36.1-do.0")) == []


def test_a_full_version_next_to_automatic_upgrades_is_warned_about() -> None:
    assert [f.severity for f in found("version-ignored", raw(cluster={"version": "1.36.3-do.0"}))] == ["warning"]


@pytest.mark.parametrize("said", [{"version": "1.36"}, {"version": "1.36.3-do.0", **MANAGED}])
def test_a_prefix_or_a_managed_version_is_not(said: dict[str, Any]) -> None:
    assert found("version-ignored", raw(cluster=said)) == []


@pytest.mark.parametrize(("least", "warned"), [(1, True), (2, False)])
def test_one_cpu_node_is_warned_about(least: int, *, warned: bool) -> None:
    assert bool(found("cpu-pool-small", raw(cluster={"cpuPool": {**CPU_POOL, "min": least}}))) is warned


def test_the_cpu_pool_of_an_attached_cluster_is_not_ours() -> None:
    said = raw(cluster={"id": CLUSTER_ID, "cpuPool": {**CPU_POOL, "min": 1}})
    assert found("cpu-pool-small", said) == []


@pytest.mark.parametrize(("most", "told"), [(1, True), (2, False)])
def test_a_fixed_pool_is_told_about(most: int, *, told: bool) -> None:
    findings = found("fixed-pool", raw({**SPOT, "max": most}, FALLBACK))
    assert [f.severity for f in findings] == ["info"] * told


def test_a_plan_without_an_account_says_so() -> None:
    assert [f.severity for f in found("account-not-read", raw())] == ["info"]
    assert found("account-not-read", raw(), account()) == []


def test_an_account_that_sells_everything_leaves_no_error_or_warning_about_the_cluster() -> None:
    rules = {finding.rule for finding in plan(raw(), account()).findings if finding.severity != "info"}
    assert rules == {"spot-dearer"}
