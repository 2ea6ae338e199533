"""Creations that end early: nothing is doubled, nothing is orphaned without being named, the next `up` finishes."""

import json
import os
import signal
import subprocess
import sys
from typing import Any

import pytest

from rehearsal.digitalocean import Failure
from tests.rehearsal.stack import Stack

pytestmark = pytest.mark.full

SPOT = "gpu-b300x1-288gb-spot"


def start_up(stack: Stack) -> subprocess.Popen[str]:
    """`doks-gpu up` in a process group of its own, as a terminal would run it."""
    return subprocess.Popen(
        [sys.executable, "-m", "doks_gpu.ops.main", "up", "--stack", stack.name, "--yes", "--skip-preview"],
        cwd=stack.rehearsal.workspace.program,
        env=stack.rehearsal.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def wait_for_request(stack: Stack, process: subprocess.Popen[str], path: str) -> None:
    """Until the stand-in got a POST there. Reading the command's output paces the look; its end ends it."""
    assert process.stdout is not None
    for _ in process.stdout:
        if stack.rehearsal.stand_in.cloud.requests.rows("POST", path, 0):
            return
    pytest.fail("the command ended before the request")


def found_orphans(stack: Stack) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(stack.orphans("--output", "json").stdout)
    return rows


def finish(stack: Stack) -> None:
    """Deletes what is left over and brings the stack up."""
    for orphan in sorted(found_orphans(stack), key=lambda row: row["kind"], reverse=True):
        deleted = stack.orphans("--delete", orphan["id"], "--yes", "--no-update-runs")
        assert deleted.returncode == 0, deleted.stdout + deleted.stderr
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert stack.pools().keys() == {"batch-spot", "batch-fallback", "inference-amd"}
    assert found_orphans(stack) == []
    assert stack.orphans("--delete", "all", "--yes").returncode == 0, "no creation is left unfinished"


def test_a_creation_that_timed_out_is_found_and_not_doubled(impatient: Stack) -> None:
    impatient.settings(stock_outs=[{"size": SPOT, "kind": "never_boots"}])
    run = impatient.up()
    assert run.returncode != 0
    (orphan,) = found_orphans(impatient)
    assert (orphan["fleet"], orphan["tier"], orphan["usd_per_hour"]) == ("batch", "spot", "8.00")
    again = impatient.up()
    assert again.returncode == 3, again.stdout + again.stderr
    assert sum(pool["size"] == SPOT for c in impatient.clusters() for pool in c["node_pools"]) == 1


def test_an_orphan_can_be_adopted(impatient: Stack) -> None:
    impatient.settings(stock_outs=[{"size": SPOT, "kind": "never_boots"}])
    impatient.up()
    (orphan,) = found_orphans(impatient)
    impatient.settings(stock_outs=[])
    impatient.settle()
    adopted = impatient.orphans("--adopt", orphan["id"], "--yes")
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    assert found_orphans(impatient) == []
    run = impatient.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert impatient.pools()["batch-spot"]["id"] == orphan["id"]
    assert impatient.plan() == {}


def test_ctrl_c_while_pools_are_made(fresh: Stack) -> None:
    fresh.settings(stock_outs=[{"size": SPOT, "kind": "never_boots"}])
    process = start_up(fresh)
    wait_for_request(fresh, process, ".*/node_pools$")
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode != 0
    assert ("batch", "spot") in {(row["fleet"], row["tier"]) for row in found_orphans(fresh)}
    fresh.settings(stock_outs=[])
    finish(fresh)


def test_an_engine_that_was_killed_looks_like_one_that_runs(fresh: Stack) -> None:
    fresh.settings(stock_outs=[{"size": SPOT, "kind": "never_boots"}])
    process = start_up(fresh)
    wait_for_request(fresh, process, ".*/node_pools$")
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=120)
    refused = fresh.orphans("--delete", "all", "--yes")
    assert refused.returncode == 2, "what an `up` is making is no orphan"
    assert "pulumi cancel" in refused.stderr
    fresh.rehearsal.pulumi("cancel", "--stack", fresh.name, "--yes")
    fresh.settings(stock_outs=[])
    finish(fresh)


def test_an_api_that_dies_while_pools_are_made(fresh: Stack) -> None:
    fresh.settings(stock_outs=[{"size": SPOT, "kind": "never_boots"}])
    process = start_up(fresh)
    wait_for_request(fresh, process, ".*/node_pools$")
    fresh.rehearsal.stand_in.stop()
    process.communicate(timeout=240)
    fresh.rehearsal.stand_in.start()
    assert process.returncode != 0
    fresh.settings(stock_outs=[])
    finish(fresh)


def test_a_cluster_that_failed_is_named(fresh: Stack) -> None:
    fresh.settings(cluster_failure="no capacity for control planes")
    run = fresh.up()
    assert run.returncode != 0
    (orphan,) = found_orphans(fresh)
    assert (orphan["kind"], orphan["failed"]) == ("cluster", True)
    assert fresh.orphans("--adopt", orphan["id"], "--yes").returncode == 2
    assert fresh.orphans("--delete", "all", "--yes").returncode == 0
    assert [row["id"] for row in found_orphans(fresh)] == [orphan["id"]], "a cluster goes by its own id alone"
    fresh.settings(cluster_failure="")
    finish(fresh)


def test_an_answer_that_was_lost_leaves_a_named_pool(fresh: Stack) -> None:
    lost = Failure(method="POST", path=".*/node_pools$", status=500, applied=True, times=1)
    fresh.rehearsal.stand_in.cloud.failures.add(lost)
    run = fresh.up()
    left = found_orphans(fresh)
    assert left, run.stdout + run.stderr
    finish(fresh)


def test_no_tier_at_all_can_be_made(fresh: Stack) -> None:
    sizes = ("gpu-b300x1-288gb-spot", "gpu-h200x1-141gb", "gpu-mi300x1-192gb")
    fresh.settings(stock_outs=[{"size": size} for size in sizes])
    run = fresh.up()
    assert run.returncode != 0
    assert "Traceback" not in run.stdout + run.stderr
    assert fresh.priorities() == {1: [".*"]}
    fresh.settings(stock_outs=[])
    finish(fresh)


def test_a_cluster_that_was_deleted_by_hand_is_made_again(fresh: Stack) -> None:
    assert fresh.up().returncode == 0
    before = fresh.clusters()[0]["id"]
    fresh.api.delete(f"/v2/kubernetes/clusters/{before}").raise_for_status()
    refused = fresh.up()
    assert refused.returncode == 2, "another team's token looks the same"
    assert fresh.clusters() == []
    run = fresh.up("--cluster-is-gone")
    assert run.returncode == 0, run.stdout + run.stderr
    assert [cluster["id"] for cluster in fresh.clusters()] != [before]
    assert fresh.priorities() == fresh.expected_priorities()


def test_a_stack_whose_cluster_was_deleted_by_hand_is_destroyed(fresh: Stack) -> None:
    assert fresh.up().returncode == 0
    fresh.api.delete(f"/v2/kubernetes/clusters/{fresh.clusters()[0]['id']}").raise_for_status()
    assert fresh.destroy().returncode == 2
    run = fresh.destroy("--cluster-is-gone")
    assert run.returncode == 0, run.stdout + run.stderr
    assert fresh.rehearsal.stand_in.cloud.control.is_empty()
