"""Jobs as the program registers them."""

from collections.abc import Mapping
from typing import Any

from tests.graph.conftest import Build


def test_a_job_of_the_configuration_is_a_job_of_the_cluster(build: Build) -> None:
    graph = build()
    metadata = graph.inputs("train-job")["metadata"]
    assert metadata["name"] == graph.plan["jobs"][0]["objectName"]
    assert metadata["namespace"] == "gpu"


def test_the_whole_manifest_reaches_the_engine(build: Build) -> None:
    spec = build().inputs("train-job")["spec"]
    assert spec["podFailurePolicy"]["rules"][0]["onPodConditions"] == [{"type": "DisruptionTarget", "status": "True"}]
    assert spec["backoffLimitPerIndex"] == 3
    assert spec["template"]["spec"]["tolerations"][2]["tolerationSeconds"] == 30


def test_the_engine_does_not_wait_for_the_job(build: Build) -> None:
    assert build().inputs("train-job")["metadata"]["annotations"]["pulumi.com/skipAwait"] == "true"


def test_a_job_depends_on_on_demand_pools_and_never_on_spot(build: Build) -> None:
    assert build().resources["train-job"]["dependencies"] == ["batch-fallback", "namespace", "train-account"]


def test_a_job_on_spot_alone_depends_on_no_pool(build: Build) -> None:
    graph = build("fleets.batch.tiers[1].enabled=false", "fleets.batch.fallbackAfter=null")
    assert graph.resources["train-job"]["dependencies"] == ["namespace", "train-account"]


def test_an_old_job_goes_before_the_new_one_comes(build: Build) -> None:
    assert build().options("train-job")["deleteBeforeReplace"] is True


def test_everything_of_a_job_uses_the_clusters_own_provider(build: Build) -> None:
    graph = build()
    for name in ("train-job", "train-account", "namespace"):
        assert graph.options(name)["provider"].startswith("cluster-kubernetes::")


def test_a_jobs_account_mounts_no_token(build: Build) -> None:
    graph = build()
    assert graph.inputs("train-account")["automountServiceAccountToken"] is False
    assert graph.inputs("train-job")["spec"]["template"]["spec"]["serviceAccountName"] == "train"


def test_the_namespace_is_made_once_for_all_jobs(build: Build) -> None:
    other = "jobs.other={fleet: batch, image: 'docker.io/me/other:1', command: [x], tasks: 1}"
    graph = build(other)
    assert graph.inputs("namespace")["metadata"]["name"] == "gpu"
    assert "namespace" in graph.resources["other-job"]["dependencies"]


def test_without_jobs_there_is_no_namespace(build: Build) -> None:
    assert not [row for row in build(stack="prod-tor1").resources.values() if row["type"].endswith(":Namespace")]


def test_a_variable_named_like_a_secret_is_shown_nowhere(build: Build) -> None:
    graph = build("jobs.train.env={API_TOKEN: canary-value, LEVEL: info}")
    shown = {row["name"]: row["value"] for row in container(graph.inputs("train-job"))["env"]}
    assert shown == {"API_TOKEN": "[secret]", "DOKS_GPU_TASKS": "8", "LEVEL": "info"}
    assert "canary-value" not in str(graph.plan)


def container(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    (main,) = inputs["spec"]["template"]["spec"]["containers"]
    found: Mapping[str, Any] = main
    return found
