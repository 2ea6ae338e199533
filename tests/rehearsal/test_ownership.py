"""Whose a cluster or a pool is, when a token, a stack's name or the API is not what it was. Tests run in order."""

import shutil

import pytest

from doks_gpu.ops.orphans import EXIT_FOUND
from doks_gpu.plan.tags import PoolTags, pool_tags
from rehearsal.digitalocean import Failure
from tests.rehearsal.stack import Stack

pytestmark = pytest.mark.full

TEAM = "5f6c1d3e-0c5b-4b0a-9d8a-6f0e2a7c9b11"


@pytest.fixture(scope="module")
def deployed(stack: Stack) -> Stack:
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    return stack


def test_a_token_of_another_team_is_refused_by_every_verb_that_acts(deployed: Stack) -> None:
    deployed.settings(team_id="another-team")
    before = len(deployed.rehearsal.stand_in.cloud.requests.rows("(POST|PUT|DELETE)", ".*/kubernetes/.*", 0))
    runs = [deployed.up(), deployed.destroy(), deployed.orphans("--delete", "all", "--yes")]
    after = len(deployed.rehearsal.stand_in.cloud.requests.rows("(POST|PUT|DELETE)", ".*/kubernetes/.*", 0))
    deployed.settings(team_id=TEAM)
    assert [run.returncode for run in runs] == [2, 2, 2]
    assert all("another-team" in run.stderr for run in runs)
    assert after == before


def test_credentials_that_the_api_does_not_give_are_told_in_its_words(deployed: Stack) -> None:
    broken = Failure(method="GET", path=".*/credentials$", status=500, message="being rotated", times=None)
    deployed.rehearsal.stand_in.cloud.failures.add(broken)
    run = deployed.up()
    deployed.api.delete("/admin/failures").raise_for_status()
    assert run.returncode == 1
    assert "being rotated" in run.stderr


def test_a_run_that_the_engine_never_began_names_no_tier(deployed: Stack) -> None:
    deployed.edit({"fleets.batch.tiers[0].max": 3})
    run = deployed.up("--no-such-flag")
    deployed.edit({"fleets.batch.tiers[0].max": 2})
    assert run.returncode == 1
    assert "Missing" not in run.stderr


def test_a_renamed_stack_still_finds_what_it_left_over(deployed: Stack) -> None:
    program = deployed.rehearsal.workspace.program
    shutil.copy(program / "Pulumi.dev.yaml", program / "Pulumi.lab.yaml")
    deployed.rehearsal.pulumi("stack", "rename", "lab", "--stack", "dev").check_returncode()
    shutil.copy(program / "Pulumi.lab.yaml", program / "Pulumi.dev.yaml")
    deployed.name = "lab"
    assert deployed.orphans().returncode == 0
    tags = PoolTags(project="doks-gpu", stack="dev", fleet="batch", tier="spot", generation=1, usd_per_hour=None)
    (cluster,) = deployed.clusters()
    body = {"name": "batch-spot-0", "size": "gpu-h200x1-141gb", "count": 1, "tags": list(pool_tags(tags))}
    made = deployed.api.post(f"/v2/kubernetes/clusters/{cluster['id']}/node_pools", json=body)
    made.raise_for_status()
    pool = made.json()["node_pool"]["id"]
    found = deployed.orphans()
    assert found.returncode == EXIT_FOUND
    assert pool in found.stdout
    assert deployed.orphans("--delete", "all", "--yes").returncode == 0


def test_a_new_stack_of_the_old_name_neither_adds_to_the_other_nor_deletes_it(deployed: Stack) -> None:
    other = Stack(deployed.rehearsal, "dev")
    assert other.up().returncode == EXIT_FOUND
    found = other.orphans()
    assert "was renamed" in found.stdout.replace("\n", " ")
    assert other.orphans("--delete", "all", "--yes").returncode == 0
    assert deployed.clusters()
    assert deployed.pools().keys() == {"batch-spot", "batch-fallback", "inference-amd"}
