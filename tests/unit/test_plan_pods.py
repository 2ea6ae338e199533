"""What every workload's pod has, from settings to manifest."""

from typing import Any

import pytest

from doks_gpu.plan import pods
from doks_gpu.settings import Settings, load
from doks_gpu.settings.workloads import SHARED_MEMORY_PATH
from tests.unit.stacks import AMD, FALLBACK, JOB, SPOT, raw

GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def loaded(*tiers: Any, fleet: Any = None, **job: Any) -> Settings:
    return load(raw(*tiers, fleet=fleet, jobs={"train": {**JOB, **job}}))


def pod(*tiers: Any, fleet: Any = None, **job: Any) -> dict[str, Any]:
    settings = loaded(*tiers, fleet=fleet, **job)
    said = settings.jobs["train"]
    return pods.pod_spec(
        said,
        settings.fleets["batch"],
        "amd" if tiers and tiers[0] is AMD else "nvidia",
        placement=said.placement,
        container={"image": said.image},
        env={},
        grace_seconds=60,
    )


def container(**job: Any) -> dict[str, Any]:
    (main,) = pod(**job)["containers"]
    found: dict[str, Any] = main
    return found


def test_a_pod_reaches_its_fleet_by_the_workload_label_alone() -> None:
    assert pod(fleet={"workload": "gpu-mine"})["nodeSelector"] == {"workload": "gpu-mine"}


def test_a_pod_tolerates_the_taints_of_its_own_fleet() -> None:
    workload = {"key": "workload", "operator": "Equal", "value": "gpu-batch", "effect": "NoSchedule"}
    assert pod()["tolerations"] == [workload, GPU_TAINT]


def test_an_amd_pod_tolerates_the_amd_taint_alone() -> None:
    assert [taint["key"] for taint in pod(AMD)["tolerations"]] == ["workload", "amd.com/gpu"]


def test_further_taints_of_the_fleet_are_tolerated_as_kubernetes_writes_them() -> None:
    further = {"key": "example.com/x", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
    assert pod(fleet={"tolerations": [further]})["tolerations"][2:] == [further]


def test_every_toleration_names_its_key() -> None:
    tolerations = pod(fleet={"tolerations": [{"key": "a", "operator": "Exists"}]})["tolerations"]
    assert all(taint["key"] for taint in tolerations)


@pytest.mark.parametrize(("placement", "operator"), [("spot", "In"), ("onDemand", "NotIn")])
def test_placement_is_a_preference(placement: str, operator: str) -> None:
    (term,) = pod(placement=placement)["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    (wanted,) = term["preference"]["matchExpressions"]
    assert term["weight"] == 100
    assert wanted == {"key": "doks-gpu/capacity-type", "operator": operator, "values": ["spot"]}


def test_placement_is_never_a_requirement() -> None:
    assert pod()["affinity"]["nodeAffinity"].keys() == {"preferredDuringSchedulingIgnoredDuringExecution"}


@pytest.mark.parametrize(("tier", "resource"), [(SPOT, "nvidia.com/gpu"), (AMD, "amd.com/gpu")])
def test_gpus_are_requested_as_much_as_they_are_limited(tier: Any, resource: str) -> None:
    (main,) = pod(tier, FALLBACK, gpus=4)["containers"]
    resources = main["resources"]
    assert resources["requests"][resource] == resources["limits"][resource] == "4"


def test_resources_are_those_of_the_settings() -> None:
    said = {"requests": {"cpu": "2", "memory": "8Gi"}, "limits": {"memory": "16Gi"}}
    gpu = {"nvidia.com/gpu": "1"}
    assert container(resources=said)["resources"] == {
        "requests": {**said["requests"], **gpu},
        "limits": {**said["limits"], **gpu},
    }


def test_variables_come_in_one_order_whatever_the_order_of_the_settings() -> None:
    ref = {"M": {"secret": "s", "key": "k"}}
    one = container(env={"A": "1", "Z": "2"}, secretEnv=ref)["env"]
    assert one == container(env={"Z": "2", "A": "1"}, secretEnv=ref)["env"]
    assert [row["name"] for row in one] == ["A", "M", "Z"]


def test_a_secret_reaches_the_pod_by_reference() -> None:
    env = container(secretEnv={"HF_TOKEN": {"secret": "hf", "key": "token"}})["env"]
    assert env == [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "hf", "key": "token"}}}]


def test_a_variable_named_like_a_secret_is_hidden() -> None:
    job = loaded(env={"DB_PASSWORD": "x", "LEVEL": "info"}).jobs["train"]
    assert pods.hidden_variables(job) == {"DB_PASSWORD"}


def test_pull_secrets_are_named() -> None:
    assert pod(pullSecrets=["registry"])["imagePullSecrets"] == [{"name": "registry"}]


@pytest.mark.parametrize(
    ("said", "manifest"),
    [
        ({"emptyDir": {}}, {"emptyDir": {}}),
        ({"emptyDir": {"sizeLimit": "1Gi"}}, {"emptyDir": {"sizeLimit": "1Gi"}}),
        ({"configMap": "c"}, {"configMap": {"name": "c"}}),
        ({"secret": "s"}, {"secret": {"secretName": "s"}}),
        ({"claim": "p"}, {"persistentVolumeClaim": {"claimName": "p"}}),
    ],
)
def test_a_volume_has_its_one_source(said: Any, manifest: Any) -> None:
    assert pod(volumes=[{"name": "v", "mountPath": "/v", **said}])["volumes"] == [{"name": "v", **manifest}]


def test_a_volume_is_mounted_where_the_settings_say() -> None:
    mounts = container(volumes=[{"name": "v", "mountPath": "/v", "claim": "p", "readOnly": True}])["volumeMounts"]
    assert mounts == [{"name": "v", "mountPath": "/v", "readOnly": True}]


def test_shared_memory_is_memory_of_that_size() -> None:
    assert pod(sharedMemory="8Gi")["volumes"] == [
        {"name": pods.SHARED_MEMORY, "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}
    ]


def test_shared_memory_is_where_programs_look_for_it() -> None:
    assert container(sharedMemory="8Gi")["volumeMounts"] == [
        {"name": pods.SHARED_MEMORY, "mountPath": SHARED_MEMORY_PATH}
    ]


def test_volumes_that_go_with_the_node_are_named_to_the_autoscaler() -> None:
    scratch = [
        {"name": "a", "mountPath": "/a", "emptyDir": {}},
        {"name": "b", "mountPath": "/b", "configMap": "c"},
    ]
    job = loaded(volumes=scratch, sharedMemory="1Gi").jobs["train"]
    assert pods.evictable_volumes(job) == {pods.LOCAL_VOLUMES: f"a,{pods.SHARED_MEMORY}"}


def test_without_such_volumes_there_is_nothing_to_name() -> None:
    assert pods.evictable_volumes(loaded().jobs["train"]) == {}


def test_a_pod_gets_no_cluster_credentials() -> None:
    assert pod()["automountServiceAccountToken"] is False


def test_what_is_not_set_is_not_written() -> None:
    assert not {"volumes", "imagePullSecrets"} & pod().keys()
    assert not {"env", "volumeMounts"} & container().keys()


def test_replicas_spread_over_nodes_and_pools_where_they_can() -> None:
    rules = pods.spread({"app": "x"})
    assert [rule["topologyKey"] for rule in rules] == [
        "kubernetes.io/hostname",
        "doks.digitalocean.com/node-pool-id",
    ]
    assert {rule["whenUnsatisfiable"] for rule in rules} == {"ScheduleAnyway"}
