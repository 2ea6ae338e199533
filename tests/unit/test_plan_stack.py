"""The plan as a whole."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from doks_gpu.errors import RefusedError
from doks_gpu.plan.stack import as_dict
from tests.unit.stacks import CLUSTER_ID, FALLBACK, SPOT, account, cluster, live_pool, plan, raw, uuid

ROOT = Path(__file__).parents[2]
LATE = pytest.mark.parametrize("facts", [None, account(clusters=(cluster(),), pools=(live_pool(),))])


@LATE
def test_the_plan_is_json(facts: Any) -> None:
    assert json.loads(json.dumps(as_dict(plan(raw(), facts))))["stack"] == "dev"


def test_json_keys_are_camel_case_and_labels_keep_theirs() -> None:
    told = as_dict(plan(raw(fleet={"fallbackAfter": "3m"})))
    assert told["pools"][0]["usdPerHour"] == "8.00"
    assert told["pools"][0]["labels"]["doks-gpu/capacity-type"] == "spot"
    assert told["cluster"]["cpuPool"]["size"] == "s-4vcpu-8gb"
    assert told["fallback"][0]["bound"] == 280
    assert told["levels"] == {"batch-spot": 100, "batch-fallback": 50}
    assert told["limits"] == {"droplets": None, "runningDroplets": 0, "gpus": {}, "usdPerHour": "1000"}


def test_an_unknown_price_is_null_in_json() -> None:
    told = as_dict(plan(raw({**SPOT, "size": "gpu-r200x1-288gb-spot"})))
    assert told["pools"][0]["usdPerHour"] is None


@LATE
def test_the_same_settings_give_the_same_plan(facts: Any) -> None:
    assert plan(raw(), facts) == plan(raw(), facts)


def test_the_pools_of_a_fleet_are_in_order_of_preference() -> None:
    fleets = plan(raw()).pools_by_fleet()
    assert {name: [pool.tier for pool in pools] for name, pools in fleets.items()} == {"batch": ["spot", "fallback"]}


def test_an_error_refuses_the_stack_and_names_every_reason_at_once() -> None:
    bad = raw(SPOT, FALLBACK, fleet={"memoryGib": 200, "fallbackAfter": "3m"}, keda={"enabled": False})
    with pytest.raises(RefusedError) as refusal:
        plan(bad).refuse_errors()
    assert "memory-too-small" in str(refusal.value)
    assert "fallback-parts" in str(refusal.value)
    assert refusal.value.exit_code == 2


def test_warnings_refuse_nothing() -> None:
    warned = plan(raw(SPOT, {**FALLBACK, "min": 0}))
    assert [finding.severity for finding in warned.findings if finding.rule == "fallback-at-zero"] == ["warning"]
    warned.refuse_errors()


def test_errors_come_first() -> None:
    order = [finding.severity for finding in plan(raw(SPOT, fleet={"memoryGib": 999})).findings]
    assert order == sorted(order, key=["error", "warning", "info"].index)
    assert order[0] == "error"


def test_the_ids_of_live_pools_are_the_previous_ids() -> None:
    facts = account(clusters=(cluster(),), pools=(live_pool(7), live_pool(8, fleet="gone")))
    assert plan(raw(), facts).previous_ids == {"batch-spot": uuid(7)}


def test_of_two_live_pools_of_a_tier_the_newer_generation_counts() -> None:
    facts = account(clusters=(cluster(),), pools=(live_pool(1), live_pool(2, generation=2)))
    assert plan(raw(), facts).previous_ids == {"batch-spot": uuid(2)}


def test_a_pool_of_another_cluster_has_no_line() -> None:
    facts = account(clusters=(cluster(),), pools=(live_pool(cluster_id="elsewhere"),))
    assert plan(raw(), facts).previous_ids == {}


def test_the_cluster_is_named_and_tagged_after_the_stack() -> None:
    spec = plan(raw()).cluster
    assert (spec.name, spec.tags) == ("doks-gpu-dev", ("doks-gpu:stack:doks-gpu:dev",))


def test_a_name_of_the_settings_is_kept() -> None:
    assert plan(raw(cluster={"name": "mine"})).cluster.name == "mine"


def test_a_prefix_becomes_the_newest_patch_and_is_then_left_alone() -> None:
    spec = plan(raw(cluster={"version": "1.35", "autoUpgrade": False}), account()).cluster
    assert (spec.version, spec.ignore_version) == ("1.35.4-do.1", True)


@pytest.mark.parametrize(("auto", "ignored"), [(True, True), (False, False)])
def test_a_full_version_is_managed_unless_doks_upgrades_by_itself(*, auto: bool, ignored: bool) -> None:
    spec = plan(raw(cluster={"version": "1.36.1-do.0", "autoUpgrade": auto}), account()).cluster
    assert (spec.version, spec.ignore_version) == ("1.36.1-do.0", ignored)


@pytest.mark.parametrize(("low", "high", "count"), [(2, 4, None), (3, 3, 3)])
def test_only_a_fixed_cpu_pool_has_a_count(low: int, high: int, count: int | None) -> None:
    pool = plan(raw(cluster={"cpuPool": {"size": "c-4", "min": low, "max": high}})).cluster.cpu_pool
    assert (pool.count, pool.autoscaled) == (count, count is None)


def test_the_expanders_start_with_priority() -> None:
    assert plan(raw()).cluster.autoscaler.expanders == ("priority", "random")


def test_waits_are_written_as_the_api_shows_them() -> None:
    said = raw(cluster={"scaleDown": {"unneeded": "90s"}})
    assert plan(said).cluster.autoscaler.scale_down_unneeded == "1m30s"


def test_an_attached_cluster_is_named_by_its_id() -> None:
    assert plan(raw(cluster={"id": CLUSTER_ID})).cluster.attached_id == CLUSTER_ID


@pytest.mark.parametrize("path", sorted(ROOT.glob("Pulumi.*.yaml")), ids=lambda path: path.stem)
def test_a_committed_stack_has_no_error(path: Path) -> None:
    config = yaml.safe_load(path.read_text())["config"]
    said = {key.removeprefix("doks-gpu:"): value for key, value in config.items() if key.startswith("doks-gpu:")}
    assert plan(said).errors == ()


def test_the_dev_stack_shows_what_a_warning_looks_like() -> None:
    config = yaml.safe_load((ROOT / "Pulumi.dev.yaml").read_text())["config"]
    findings = plan({key.removeprefix("doks-gpu:"): value for key, value in config.items()}).findings
    assert "region-unproven" in {finding.rule for finding in findings if finding.severity == "warning"}
