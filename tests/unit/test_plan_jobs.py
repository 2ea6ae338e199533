"""From a job of the configuration to an Indexed Job."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doks_gpu.plan.jobs import JobSpec
from doks_gpu.plan.stack import as_dict
from tests.unit.settings_examples import errors
from tests.unit.stacks import FALLBACK, JOB, SPOT, found, plan, raw


def stack(*tiers: Any, fleet: Any = None, namespace: str = "gpu", **job: Any) -> dict[str, Any]:
    return raw(*tiers, fleet=fleet, namespace=namespace, jobs={"train": {**JOB, **job}})


def job(*tiers: Any, **changes: Any) -> JobSpec:
    (spec,) = plan(stack(*tiers, **changes)).jobs
    return spec


def spec(**changes: Any) -> dict[str, Any]:
    found_spec: dict[str, Any] = job(**changes).manifest["spec"]
    return found_spec


def pod(**changes: Any) -> dict[str, Any]:
    found_pod: dict[str, Any] = spec(**changes)["template"]["spec"]
    return found_pod


def test_a_job_has_one_index_per_task() -> None:
    said = spec(tasks=8, parallelism=2)
    assert (said["completionMode"], said["completions"], said["parallelism"]) == ("Indexed", 8, 2)


def test_retries_are_counted_per_index() -> None:
    assert spec(retries=0)["backoffLimitPerIndex"] == 0
    assert "backoffLimit" not in spec()


def test_a_pod_is_never_restarted_in_place() -> None:
    assert pod()["restartPolicy"] == "Never"


def test_a_pod_is_replaced_only_when_it_has_ended() -> None:
    assert spec()["podReplacementPolicy"] == "Failed"


def test_a_disruption_is_ignored_before_any_exit_code_is_looked_at() -> None:
    first, *_ = spec()["podFailurePolicy"]["rules"]
    assert first == {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}


@pytest.mark.parametrize(("fail_fast", "action"), [(False, "FailIndex"), (True, "FailJob")])
def test_a_fatal_exit_code_fails_at_once(*, fail_fast: bool, action: str) -> None:
    _, fatal = spec(failFast=fail_fast, fatalExitCodes=[70, 64])["podFailurePolicy"]["rules"]
    assert fatal["action"] == action
    assert fatal["onExitCodes"] == {"containerName": "main", "operator": "In", "values": [64, 70]}


def test_without_fatal_codes_every_failure_is_retried() -> None:
    assert [rule["action"] for rule in spec(fatalExitCodes=[])["podFailurePolicy"]["rules"]] == ["Ignore"]


@pytest.mark.parametrize("taint", ["not-ready", "unreachable"])
def test_a_lost_node_is_not_waited_for(taint: str) -> None:
    (toleration,) = [t for t in pod()["tolerations"] if t["key"] == f"node.kubernetes.io/{taint}"]
    assert (toleration["effect"], toleration["tolerationSeconds"]) == ("NoExecute", 30)


def test_a_finished_job_stays_so_that_it_is_not_run_again() -> None:
    assert "ttlSecondsAfterFinished" not in spec()


def test_nobody_waits_for_the_end_of_a_job() -> None:
    assert job().manifest["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_saving_money_never_stops_a_task() -> None:
    annotations = spec()["template"]["metadata"]["annotations"]
    assert annotations == {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}


def test_the_grace_period_is_that_of_the_settings() -> None:
    assert pod(gracePeriodSeconds=300)["terminationGracePeriodSeconds"] == 300


def test_a_deadline_is_that_of_the_whole_job() -> None:
    assert spec(deadlineSeconds=7200)["activeDeadlineSeconds"] == 7200
    assert "activeDeadlineSeconds" not in spec()


def test_a_task_is_told_how_many_there_are() -> None:
    assert pod(tasks=12)["containers"][0]["env"] == [{"name": "DOKS_GPU_TASKS", "value": "12"}]


def test_image_and_command_are_those_of_the_settings() -> None:
    (main,) = pod(command=["train", "--fast"])["containers"]
    assert (main["image"], main["command"]) == (JOB["image"], ["train", "--fast"])


def test_a_job_waits_for_its_on_demand_pools_and_never_for_spot() -> None:
    assert job(SPOT, FALLBACK).after == ("batch-fallback",)
    assert job(SPOT).after == ()


def test_tasks_do_not_spread_as_that_would_take_them_off_spot() -> None:
    assert "topologySpreadConstraints" not in pod()


def test_the_name_ends_in_a_hash() -> None:
    assert re.fullmatch(r"train-[0-9a-f]{8}", job().object_name)


NEW_JOB: dict[str, Any] = {
    "image": "docker.io/me/train:1.1",
    "command": ["train", "again"],
    "tasks": 9,
    "parallelism": 2,
    "retries": 4,
    "env": {"A": "1"},
    "gpus": 1,
    "gracePeriodSeconds": 121,
    "fatalExitCodes": [65],
    "failFast": True,
    "placement": "onDemand",
    "sharedMemory": "1Gi",
}
TEMPLATE = [key for key, value in NEW_JOB.items() if JOB.get(key) != value and key != "gpus"]


@pytest.mark.parametrize("key", TEMPLATE)
def test_another_template_is_another_job(key: str) -> None:
    assert job(**{key: NEW_JOB[key]}).object_name != job().object_name


@pytest.mark.parametrize("change", [{"deadlineSeconds": 7200}, {"checkpointSeconds": 60}])
def test_what_changes_in_place_is_the_same_job(change: Any) -> None:
    assert job(**change).object_name == job().object_name


@pytest.mark.parametrize(
    "said",
    [
        raw(SPOT, {**FALLBACK, "max": 4}, jobs={"train": JOB}),
        raw(jobs={"train": JOB, "other": JOB}),
        raw(SPOT, {**FALLBACK, "enabled": False}, jobs={"train": JOB}),
        raw(jobs={"train": JOB}, monitoring={"retention": "7d"}),
    ],
)
def test_an_edit_elsewhere_leaves_the_job_alone(said: Any) -> None:
    assert plan(said).jobs[0].manifest == job().manifest


@given(order=st.permutations(["A", "B", "C", "D"]))
def test_the_order_of_keys_makes_no_new_job(order: list[str]) -> None:
    env = {name: name.lower() for name in order}
    assert job(env=env).object_name == job(env=dict(sorted(env.items()))).object_name


def test_a_new_version_of_the_program_runs_no_finished_job_again() -> None:
    """A failure here means that each user's next `up` replaces all jobs: undo it, or let the changelog say it first."""
    full: dict[str, Any] = {
        "env": {"A": "1"},
        "secretEnv": {"T": {"secret": "s", "key": "k"}},
        "pullSecrets": ["registry"],
        "sharedMemory": "1Gi",
        "volumes": [{"name": "v", "mountPath": "/v", "emptyDir": {}}],
    }
    assert (job().object_name, job(**full).object_name) == ("train-e35dbd52", "train-dca6d1f9")


def test_jobs_of_the_plan_are_told_without_their_variables() -> None:
    (told,) = as_dict(plan(stack(env={"LEVEL": "canary-value"})))["jobs"]
    assert told["objectName"].startswith("train-")
    assert "canary-value" not in str(told)


@pytest.mark.parametrize("name", ["default", "kube-system"])
def test_a_namespace_that_every_cluster_has_is_not_made(name: str) -> None:
    assert not plan(stack(namespace=name)).makes_namespace


def test_the_namespace_is_made_for_jobs() -> None:
    assert plan(stack()).makes_namespace
    assert not plan(raw()).makes_namespace


def test_tasks_from_a_file_are_refused_until_they_are_read() -> None:
    said = raw(jobs={"train": {key: value for key, value in JOB.items() if key != "tasks"} | {"tasksFile": "t.txt"}})
    (finding,) = found("tasks-file", said)
    assert (finding.severity, finding.path) == ("error", "jobs.train.tasksFile")
    assert plan(said).jobs == ()


@pytest.mark.parametrize("name", ["DOKS_GPU_TASKS", "JOB_COMPLETION_INDEX"])
@pytest.mark.parametrize("key", ["env", "secretEnv"])
def test_a_variable_that_every_task_is_given_cannot_be_set(key: str, name: str) -> None:
    value: Any = "1" if key == "env" else {"secret": "s", "key": "k"}
    (error,) = errors(raw(jobs={"train": {**JOB, key: {name: value}}}))
    assert name in error
