"""Changes of a stack that is up, through the real engine; each test on a rehearsal of its own."""

import pytest

from tests.rehearsal.stack import Stack

pytestmark = pytest.mark.full


@pytest.fixture
def up(fresh: Stack) -> Stack:
    """The dev stack, deployed."""
    run = fresh.up()
    assert run.returncode == 0, run.stdout + run.stderr
    return fresh


def test_another_gpu_size_leaves_the_cluster_and_the_other_pools_alone(up: Stack) -> None:
    cluster, pools = up.clusters()[0]["id"], {name: pool["id"] for name, pool in up.pools().items()}
    up.edit({"fleets.inference.tiers[0].size": "gpu-mi325x1-256gb", "limits.usdPerHour": 90})
    run = up.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert up.clusters()[0]["id"] == cluster
    after = {name: pool["id"] for name, pool in up.pools().items()}
    changed = {name for name in pools if after[name] != pools[name]}
    assert changed == {"inference-amd"}
    assert up.priorities() == up.expected_priorities()


def test_a_raised_generation_replaces_the_pool_and_the_map_follows(up: Stack) -> None:
    before = up.pools()["batch-spot"]["id"]
    up.edit({"fleets.batch.tiers[0].generation": 2})
    assert up.up().returncode == 0
    assert up.pools()["batch-spot"]["id"] != before
    assert up.priorities() == up.expected_priorities()


def test_a_replacement_that_fails_keeps_the_old_pool_and_its_line(up: Stack) -> None:
    before = up.pools()["batch-spot"]
    up.settings(stock_outs=[{"size": before["size"], "left": 1}])
    up.edit({"fleets.batch.tiers[0].max": 3})
    run = up.up()
    assert run.returncode != 0
    assert "tier spot of fleet batch" in run.stderr
    assert up.pools()["batch-spot"]["id"] == before["id"]
    assert up.priorities() == up.expected_priorities()


def test_a_protected_cluster_is_not_replaced(up: Stack) -> None:
    cluster = up.clusters()[0]["id"]
    up.edit({"cluster.protect": True})
    assert up.up().returncode == 0
    up.edit({"region": "tor1"})
    run = up.up()
    assert run.returncode != 0
    assert "protect" in run.stdout + run.stderr
    assert [c["id"] for c in up.clusters()] == [cluster]


def test_a_protected_cluster_is_not_destroyed_and_the_way_out_is_named(up: Stack) -> None:
    up.edit({"cluster.protect": True})
    assert up.up().returncode == 0
    run = up.destroy()
    assert run.returncode != 0
    assert "protect: false" in run.stderr
    assert len(up.clusters()) == 1


def test_the_map_keeps_its_priorities_when_the_kubernetes_part_is_destroyed(up: Stack) -> None:
    before = up.priorities()
    urn = up.state()["priorities-map"]["urn"]
    run = up.rehearsal.pulumi(
        "destroy", "--stack", up.name, "--yes", "--skip-preview", "--target", urn, "--target-dependents"
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert up.priorities() == before


def test_a_map_that_comes_late_is_waited_for_and_keeps_its_labels(slow_map: Stack) -> None:
    run = slow_map.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert slow_map.priority_map()["metadata"]["labels"]["doks.digitalocean.com/managed"] == "true"
    assert slow_map.priorities() == slow_map.expected_priorities()


def test_an_expired_token_in_the_state_breaks_nothing_and_a_renewed_one_changes_nothing(short_tokens: Stack) -> None:
    run = short_tokens.up()
    assert run.returncode == 0, run.stdout + run.stderr
    first = short_tokens.kubernetes_credentials()
    assert short_tokens.plan() == {}
    assert short_tokens.up().returncode == 0
    assert short_tokens.kubernetes_credentials() != first, "the provider renewed what had expired"
    assert short_tokens.plan() == {}


def test_a_volume_that_a_workload_made_is_named_at_destroy(up: Stack) -> None:
    body = {"kind": "volumes", "name": "pvc-of-a-workload"}
    up.api.post(f"/admin/clusters/{up.clusters()[0]['id']}/associated", json=body).raise_for_status()
    run = up.destroy()
    assert run.returncode == 0, run.stdout + run.stderr
    assert "pvc-of-a-workload" in run.stdout


def test_the_executable_of_the_provider_is_a_setting(other_provider: Stack) -> None:
    run = other_provider.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert (other_provider.rehearsal.workspace.folder / "other-was-used").exists()
