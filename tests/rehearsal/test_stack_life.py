"""The main life of a stack, through the real engine and a real API server. The tests build on each other, in order."""

import pytest

from tests.rehearsal.stack import Stack

pytestmark = pytest.mark.rehearsal


def test_the_dev_stack_comes_up(stack: Stack) -> None:
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert stack.pools().keys() == {"batch-spot", "batch-fallback", "inference-amd"}


def test_the_estimate_is_shown_by_the_engine(stack: Stack) -> None:
    run = stack.rehearsal.pulumi("preview", "--stack", stack.name)
    assert "Estimate for stack dev in atl1" in run.stdout


def test_a_preview_after_up_shows_no_change(stack: Stack) -> None:
    assert stack.plan() == {}


def test_the_priority_map_names_the_pools_by_id(stack: Stack) -> None:
    assert stack.priorities() == stack.expected_priorities()


def test_the_priority_map_keeps_its_managed_labels(stack: Stack) -> None:
    labels = stack.priority_map()["metadata"]["labels"]
    assert labels["doks.digitalocean.com/managed"] == "true"


def test_only_the_priority_text_is_ours(stack: Stack) -> None:
    managers = stack.priority_map()["metadata"]["managedFields"]
    ours = [row["fieldsV1"] for row in managers if row["operation"] == "Apply"]
    assert [set(fields) - {"f:metadata"} for fields in ours] == [{"f:data"}]


@pytest.mark.parametrize("count", [2, 1])
def test_a_preview_after_the_autoscaler_moved_a_count_shows_no_change(stack: Stack, count: int) -> None:
    stack.scale("batch-spot", count)
    stack.settle()
    assert stack.plan() == {}


def test_a_label_edit_after_a_scale_up_keeps_the_live_count(stack: Stack) -> None:
    stack.scale("batch-fallback", 2)
    stack.settle()
    stack.edit({"fleets.batch.workload": "gpu-batch-2"})
    assert stack.up().returncode == 0
    assert stack.pools()["batch-fallback"]["count"] == 2


def test_a_spot_pool_that_vanished_is_made_again(stack: Stack) -> None:
    before = stack.pools()["batch-spot"]["id"]
    stack.reclaim("batch-spot")
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert stack.pools()["batch-spot"]["id"] != before


def test_the_priority_map_follows_the_new_pool(stack: Stack) -> None:
    assert stack.priorities() == stack.expected_priorities()


def test_raising_an_on_demand_maximum_is_an_update(stack: Stack) -> None:
    stack.edit({"fleets.batch.tiers[1].max": 3})
    assert stack.plan() == {"batch-fallback": "update"}


def test_raising_a_spot_maximum_is_a_replacement(stack: Stack) -> None:
    stack.edit({"fleets.batch.tiers[1].max": 2, "fleets.batch.tiers[0].max": 3})
    assert stack.plan()["batch-spot"] == "replace"


def test_the_priority_map_is_right_after_a_replacement(stack: Stack) -> None:
    before = stack.pools()["batch-spot"]["id"]
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert stack.pools()["batch-spot"]["id"] != before
    assert stack.priorities() == stack.expected_priorities()


def test_an_out_of_stock_spot_pool_is_named_and_the_fallback_works(stack: Stack) -> None:
    size = stack.pools()["batch-spot"]["size"]
    stack.reclaim("batch-spot")
    stack.settings(stock_outs=[{"size": size}])
    run = stack.up()
    assert run.returncode != 0
    assert "tier spot of fleet batch" in run.stderr
    assert "batch-fallback" in stack.pools()


def test_the_priority_map_survives_a_tier_that_cannot_be_made(stack: Stack) -> None:
    assert stack.priorities() == stack.expected_priorities()


def test_the_next_up_finishes_once_spot_is_back(stack: Stack) -> None:
    stack.settings(stock_outs=[])
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert stack.priorities() == stack.expected_priorities()


def test_no_secret_is_in_any_file_or_output(stack: Stack) -> None:
    """State, history, logs of engine and control plane, temporary kubeconfigs; and what `up` printed."""
    tokens = [stack.rehearsal.token, *stack.cluster_tokens()]
    assert len(tokens) > 1, "the provider fetched credentials"
    files = [path for path in stack.rehearsal.workspace.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert any(path.name == "dev.json" for path in files), "the state is among them"
    found = [path for path in files for token in tokens if token.encode() in path.read_bytes()]
    assert found == []
    assert not [token for token in tokens if token in stack.printed]


def test_destroy_after_a_reclaim_leaves_nothing(stack: Stack) -> None:
    stack.reclaim("batch-spot")
    run = stack.destroy()
    assert run.returncode == 0, run.stdout + run.stderr
    assert stack.rehearsal.stand_in.cloud.control.is_empty()
