"""The cluster as the program registers it."""

import json

from tests.graph.conftest import Build

ATTACHED = "11111111-2222-4333-8444-555555555555"


def test_only_the_cpu_pool_is_inline(build: Build) -> None:
    assert build().inputs("cluster")["nodePool"]["size"] == "s-4vcpu-8gb"


def test_an_autoscaled_cpu_pool_sends_no_count(build: Build) -> None:
    assert "nodeCount" not in build().inputs("cluster")["nodePool"]


def test_a_fixed_cpu_pool_sends_its_count(build: Build) -> None:
    graph = build("cluster.cpuPool.min=3", "cluster.cpuPool.max=3")
    assert graph.inputs("cluster")["nodePool"]["nodeCount"] == 3


def test_the_priority_expander_comes_first_and_random_last(build: Build) -> None:
    (autoscaler,) = build().inputs("cluster")["clusterAutoscalerConfigurations"]
    assert autoscaler["expanders"] == ["priority", "random"]


def test_a_cluster_is_protected_when_the_settings_say_so(build: Build) -> None:
    assert build("cluster.protect=true").options("cluster")["protect"] is True


def test_an_unprotected_cluster_carries_no_protection(build: Build) -> None:
    assert "protect" not in build().options("cluster")


def test_a_version_that_doks_moves_is_not_compared(build: Build) -> None:
    assert "version" in build().options("cluster")["ignoreChanges"]


def test_a_full_version_without_automatic_upgrades_is_managed(build: Build) -> None:
    graph = build("cluster.version=1.36.3-do.0", "cluster.autoUpgrade=false")
    assert "version" not in graph.options("cluster")["ignoreChanges"]


def test_the_kubernetes_provider_asks_for_its_token(build: Build) -> None:
    kubeconfig = json.loads(build().inputs("cluster-kubernetes")["kubeconfig"])
    assert kubeconfig["users"][0]["user"]["exec"]["command"] == "doks-gpu"


def test_the_kubernetes_provider_is_known_by_the_cluster_id(build: Build) -> None:
    assert build().inputs("cluster-kubernetes")["clusterIdentifier"] == "<id of cluster>"


def test_an_attached_cluster_is_no_resource_of_the_stack(build: Build) -> None:
    graph = build(f"cluster.id={ATTACHED}")
    assert not [row for row in graph.resources.values() if row["type"].endswith(":KubernetesCluster")]


def test_pools_join_an_attached_cluster_by_its_id(build: Build) -> None:
    assert build(f"cluster.id={ATTACHED}").inputs("batch-spot")["clusterId"] == ATTACHED


def test_device_plugins_follow_the_vendors_of_the_pools(build: Build) -> None:
    inputs = build(stack="prod-ric1").inputs("cluster")
    assert inputs["amdGpuDevicePlugin"] == {"enabled": True}
    assert "nvidiaGpuDevicePlugin" not in inputs, "no pool of that vendor"


def test_what_the_cluster_stores_about_access_stays_secret(build: Build) -> None:
    assert build().options("cluster")["additionalSecretOutputs"] == ["kubeConfigs"]
