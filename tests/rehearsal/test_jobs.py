"""Jobs of a stack on a real API server and job controller. The tests build on each other, in order.

There are no nodes: tasks wait for a GPU, and the one that ends is ended by hand.
"""

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from tests.rehearsal.stack import Stack

pytestmark = pytest.mark.rehearsal

JOBS = "/apis/batch/v1/namespaces/gpu/jobs"
PODS = "/api/v1/namespaces/gpu/pods"


def admin(stack: Stack) -> httpx.Client:
    return stack.rehearsal.planes.plane(stack.clusters()[0]["id"]).admin()


def items(stack: Stack, path: str) -> list[dict[str, Any]]:
    with admin(stack) as kubernetes:
        answer = kubernetes.get(path)
        answer.raise_for_status()
        found: list[dict[str, Any]] = answer.json()["items"]
        return found


def job(stack: Stack) -> dict[str, Any]:
    """The one Job that lives; those on their way out do not count."""
    (found,) = [row for row in items(stack, JOBS) if "deletionTimestamp" not in row["metadata"]]
    return found


def uid(stack: Stack) -> str:
    return str(job(stack)["metadata"]["uid"])


def test_up_returns_while_every_task_still_waits(stack: Stack) -> None:
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert not job(stack)["status"].get("conditions")


def test_the_real_api_server_holds_the_failure_policy(stack: Stack) -> None:
    ignored, fatal = job(stack)["spec"]["podFailurePolicy"]["rules"]
    assert (ignored["action"], ignored["onPodConditions"][0]["type"]) == ("Ignore", "DisruptionTarget")
    assert (fatal["action"], fatal["onExitCodes"]["values"]) == ("FailIndex", [64])


def test_the_job_controller_makes_a_pod_for_each_task_at_once(stack: Stack, eventually: Callable[..., bool]) -> None:
    assert eventually(lambda: len(items(stack, PODS)) == 2)
    indexes = {pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] for pod in items(stack, PODS)}
    assert indexes == {"0", "1"}


def test_a_task_finds_its_index_and_the_total_in_its_environment(stack: Stack) -> None:
    (main,) = items(stack, PODS)[0]["spec"]["containers"]
    assert {"JOB_COMPLETION_INDEX", "DOKS_GPU_TASKS"} == {row["name"] for row in main["env"]}


def test_a_job_that_runs_is_no_change(stack: Stack) -> None:
    assert stack.plan() == {}


def test_an_unrelated_edit_leaves_the_job_untouched(stack: Stack) -> None:
    before = job(stack)["metadata"]
    stack.edit({"fleets.batch.tiers[1].max": 3, "limits.usdPerHour": 70})
    assert stack.up().returncode == 0
    after = job(stack)["metadata"]
    assert (after["uid"], after["generation"]) == (before["uid"], before["generation"])


def test_another_deadline_is_an_update_of_the_same_job(stack: Stack) -> None:
    before = uid(stack)
    stack.edit({"jobs.train.deadlineSeconds": 7200})
    assert stack.plan() == {"train-job": "update"}
    assert stack.up().returncode == 0
    assert (uid(stack), job(stack)["spec"]["activeDeadlineSeconds"]) == (before, 7200)


def test_more_tasks_at_once_is_a_replacement_as_preview_says(stack: Stack) -> None:
    stack.edit({"jobs.train.parallelism": 3})
    assert stack.plan() == {"train-job": "replace"}


def test_up_names_the_running_job_that_it_would_stop_and_asks(stack: Stack) -> None:
    before = uid(stack)
    run = stack.rehearsal.doks_gpu("up", "--stack", stack.name, "--skip-preview")
    assert run.returncode == 1, "nobody answered"
    assert "0 of 8 tasks done, 2 running" in run.stderr
    assert uid(stack) == before


def test_another_image_is_another_job_and_the_old_one_goes(stack: Stack, eventually: Callable[..., bool]) -> None:
    before = job(stack)["metadata"]
    stack.edit({"jobs.train.image": "docker.io/me/train:2.0", "jobs.train.tasks": 1})
    run = stack.up()
    assert run.returncode == 0, run.stdout + run.stderr
    after = job(stack)["metadata"]
    assert (after["uid"], after["name"]) != (before["uid"], before["name"])
    assert eventually(lambda: [row["metadata"]["uid"] for row in items(stack, JOBS)] == [after["uid"]])


def test_a_finished_job_is_not_run_again(stack: Stack, eventually: Callable[..., bool]) -> None:
    before = uid(stack)
    assert eventually(lambda: len(items(stack, PODS)) == 1)
    with admin(stack) as kubernetes:
        path = f"{PODS}/{items(stack, PODS)[0]['metadata']['name']}/status"
        done = {"status": {"phase": "Succeeded"}}
        kubernetes.patch(path, json=done, headers={"Content-Type": "application/merge-patch+json"}).raise_for_status()
    assert eventually(lambda: job(stack)["status"].get("succeeded") == 1)
    assert stack.plan() == {}
    assert stack.up().returncode == 0
    assert uid(stack) == before


def test_destroy_takes_the_kubernetes_objects_before_the_on_demand_pool(stack: Stack) -> None:
    run = stack.destroy()
    assert run.returncode == 0, run.stdout + run.stderr
    lines = run.stdout.splitlines()

    def line(*words: str) -> int:
        (number,) = [n for n, text in enumerate(lines) if all(word in text for word in words)]
        return number

    job_gone, namespace_gone = (line(f" {name} deleted") for name in ("train-job", "namespace"))
    assert job_gone < line(" batch-fallback deleting")
    assert namespace_gone < line("KubernetesCluster cluster deleting")
    assert stack.rehearsal.stand_in.cloud.control.is_empty()
