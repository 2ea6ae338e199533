"""The life of a cluster through the protocol: creation, credentials, updates, imports, deletion, secrets."""

from collections.abc import Iterator

import grpc
import pytest
import yaml
from pulumi.runtime.proto import provider_pb2

from rehearsal.provider import cluster_wire, marshal
from rehearsal.provider.marshal import UNKNOWN, Props
from tests.unit.provider_harness import CLUSTER, NODE_POOL, SPACES_KEY, World, world

CPU_POOL: Props = {"name": "cpu", "size": "s-4vcpu-8gb", "autoScale": True, "minNodes": 2, "maxNodes": 4}
AUTOSCALER: Props = {"expanders": ["priority", "random"], "scaleDownUtilizationThreshold": 0.5}
PROGRAM: Props = {"name": "main", "region": "ATL1", "version": "1.36.3-do.0", "nodePool": CPU_POOL}


@pytest.fixture
def opened() -> Iterator[World]:
    with world() as started:
        yield started


def body_of(opened: World, method: str) -> Props:
    """The body of the last request with that method."""
    return opened.api.sent(method)[-1].body


def test_the_creation_sends_upgrade_switches_and_an_empty_policy_and_tags_the_default_pool(opened: World) -> None:
    opened.engine.create(CLUSTER, "main", PROGRAM)

    assert body_of(opened, "POST") == {
        "name": "main",
        "region": "atl1",
        "version": "1.36.3-do.0",
        "node_pools": [
            {
                "name": "cpu",
                "size": "s-4vcpu-8gb",
                "tags": ["terraform:default-node-pool"],
                "auto_scale": True,
                "min_nodes": 2,
                "max_nodes": 4,
            }
        ],
        "maintenance_policy": None,
        "auto_upgrade": False,
        "surge_upgrade": True,
    }


def test_a_region_in_capitals_is_no_difference_later(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)

    assert opened.engine.plan(cluster, PROGRAM).action == "nothing"


def test_every_block_that_a_program_may_give_is_stable(opened: World) -> None:
    program: Props = {
        **PROGRAM,
        "region": "atl1",
        "tags": ["b", "a"],
        "clusterAutoscalerConfigurations": [AUTOSCALER],
        "maintenancePolicy": {"day": "sunday", "startTime": "04:00"},
        "nvidiaGpuDevicePlugin": {"enabled": True},
        "rdmaSharedDevicePlugin": {"enabled": False},
        "controlPlaneFirewall": {"enabled": True, "allowedAddresses": ["192.0.2.0/24"]},
        "ssos": [{"enabled": True, "issuerUrl": "https://id.test", "clientId": "c"}],
        "destroyAllAssociatedResources": True,
        "kubeconfigExpireSeconds": 3600,
        "ha": True,
    }
    cluster = opened.engine.create(CLUSTER, "main", program)

    assert opened.engine.plan(cluster, program).changes == {}
    refreshed = opened.engine.refresh(cluster)
    assert refreshed is not None
    assert opened.engine.plan(refreshed, program).changes == {}
    assert refreshed.inputs == cluster.inputs


@pytest.mark.parametrize("later", ["1.36.3-do.1", "1.36.10-do.0", "1.37.0-do.0"])
def test_a_higher_version_is_an_upgrade_in_place(opened: World, later: str) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)
    program = {**PROGRAM, "version": later}

    assert opened.engine.plan(cluster, program).action == "update"
    opened.engine.update(cluster, program)

    assert [request.path for request in opened.api.sent("POST", "PUT")][1:] == [
        f"/v2/kubernetes/clusters/{cluster.id}/upgrade"
    ]


@pytest.mark.parametrize("earlier", ["1.36.2-do.9", "1.35.10-do.0"])
def test_a_lower_version_replaces_the_cluster(opened: World, earlier: str) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)

    assert opened.engine.plan(cluster, {**PROGRAM, "version": earlier}).action == "replace"


def test_an_ignored_version_is_no_change(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)

    plan = opened.engine.plan(cluster, {**PROGRAM, "version": "1.35.0-do.0"}, ignore=("version",))

    assert plan.action == "nothing"


@pytest.mark.parametrize(
    "edit",
    [
        {"region": "nyc2"},
        {"clusterSubnet": "10.9.0.0/16"},
        {"serviceSubnet": "10.9.0.0/16"},
        {"vpcUuid": "vpc-2"},
        {"workerSubnetUuid": "subnet-2"},
        {"isolatedWorkers": True},
        {"nodePool": {**CPU_POOL, "gpuPartitionMode": "AMD_PARTITION_MODE_SPX_NPS1"}},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_what_is_fixed_at_creation_replaces_the_cluster(opened: World, edit: Props) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)

    assert opened.engine.plan(cluster, {**PROGRAM, **edit}).action == "replace"


def test_a_cluster_in_error_fails_with_its_message_and_is_forgotten(opened: World) -> None:
    opened.api.change(cluster_failure="no capacity for the control plane")

    with pytest.raises(grpc.RpcError, match="no capacity for the control plane"):
        opened.engine.create(CLUSTER, "main", PROGRAM)

    assert len(opened.api.clusters()) == 1


def test_the_kubeconfig_is_a_secret_and_names_context_and_user_as_digitalocean_does(opened: World) -> None:
    urn = opened.engine.urn(CLUSTER, "main")
    inputs = opened.engine.checked(urn, PROGRAM)

    answer = opened.engine.stub.Create(provider_pb2.CreateRequest(urn=urn, properties=marshal.to_struct(inputs)))

    secret = answer.properties.fields["kubeConfigs"].struct_value
    assert "4dabf18193072939515e22adb298388d" in secret.fields
    (config,) = marshal.from_struct(answer.properties)["kubeConfigs"]
    document = yaml.safe_load(config["rawConfig"])
    assert document["current-context"] == "do-atl1-main"
    assert document["users"] == [{"name": "do-atl1-main-admin", "user": {"token": config["token"]}}]


def test_credentials_are_kept_until_they_expire_and_then_renewed_by_a_refresh(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", {**PROGRAM, "kubeconfigExpireSeconds": 3600})

    early = opened.engine.refresh(cluster)
    opened.clock.pass_time(3601)
    late = opened.engine.refresh(cluster)

    assert early is not None
    assert late is not None
    assert early.outputs["kubeConfigs"] == cluster.outputs["kubeConfigs"]
    assert late.outputs["kubeConfigs"] != cluster.outputs["kubeConfigs"]
    asked = [request.path for request in opened.api.requests if "credentials" in request.path]
    assert asked == [f"/v2/kubernetes/clusters/{cluster.id}/credentials?expiry_seconds=3600"] * 2


def test_an_update_names_every_block_with_the_value_of_program_or_state(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", {**PROGRAM, "nvidiaGpuDevicePlugin": {"enabled": True}})

    opened.engine.update(
        cluster, {**PROGRAM, "nvidiaGpuDevicePlugin": {"enabled": False}, "surgeUpgrade": False, "tags": ["a"]}
    )

    sent = body_of(opened, "PUT")
    assert sent["nvidia_gpu_device_plugin"] == {"enabled": False}
    assert sent["rdma_shared_dev_plugin"] == {"enabled": False}
    assert sent["control_plane_firewall"] == {"enabled": None, "allowed_addresses": None}
    assert set(sent["cluster_autoscaler_configuration"].values()) == {None}
    assert sent["tags"] == ["a"]
    assert "surge_upgrade" not in sent


def test_an_update_sends_nulls_for_blocks_that_neither_program_nor_state_has() -> None:
    sent = cluster_wire.update_body({}, PROGRAM)

    assert sent["rdma_shared_dev_plugin"] == {"enabled": None}
    assert sent["ha"] is None


def test_an_autoscaler_block_sends_all_three_fields_and_its_removal_clears_those_that_were_set(
    opened: World,
) -> None:
    cluster = opened.engine.create(CLUSTER, "main", {**PROGRAM, "clusterAutoscalerConfigurations": [AUTOSCALER]})
    assert body_of(opened, "POST")["cluster_autoscaler_configuration"] == {
        "expanders": ["priority", "random"],
        "scale_down_utilization_threshold": 0.5,
        "scale_down_unneeded_time": "",
    }

    opened.engine.update(cluster, PROGRAM)

    assert body_of(opened, "PUT")["cluster_autoscaler_configuration"] == {
        "expanders": [],
        "scale_down_utilization_threshold": 0,
        "scale_down_unneeded_time": None,
    }


def test_a_change_that_the_api_does_not_know_sends_nothing(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)
    opened.api.forget_requests()

    updated = opened.engine.update(cluster, {**PROGRAM, "destroyAllAssociatedResources": True})

    assert opened.api.sent() == []
    assert updated.outputs["destroyAllAssociatedResources"] is True


def test_a_refused_update_keeps_the_planned_outputs_for_the_engine_to_try_again(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)
    opened.api.fail_once(422, "no such tag")

    with pytest.raises(grpc.RpcError, match=r"Unable to update cluster: PUT .*422 no such tag") as caught:
        opened.engine.update(cluster, {**PROGRAM, "tags": ["a"]})

    details = {item.key: item.value for item in caught.value.trailing_metadata()}
    assert b"ErrorResourceInitFailed" in details["grpc-status-details-bin"]


def test_an_update_of_a_cluster_that_is_gone_fails(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)
    opened.api.lose_clusters()

    with pytest.raises(grpc.RpcError, match="did not exist while updating"):
        opened.engine.update(cluster, {**PROGRAM, "tags": ["a"]})


def test_a_cluster_that_is_gone_is_seen_by_a_refresh(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)
    opened.api.lose_clusters()

    assert opened.engine.refresh(cluster) is None


@pytest.mark.parametrize("gone", [False, True])
def test_deleting_a_cluster_does_not_wait_and_does_not_mind_when_it_is_gone(opened: World, gone: bool) -> None:
    cluster = opened.engine.create(CLUSTER, "main", PROGRAM)
    if gone:
        opened.api.lose_clusters()
    opened.clock.slept.clear()

    opened.engine.delete(cluster)

    assert opened.api.clusters() == []
    assert opened.clock.slept == []


def test_associated_resources_are_listed_and_destroyed_when_the_program_said_so(opened: World) -> None:
    cluster = opened.engine.create(CLUSTER, "main", {**PROGRAM, "destroyAllAssociatedResources": True})
    opened.api.forget_requests()

    opened.engine.delete(cluster)

    path = f"/v2/kubernetes/clusters/{cluster.id}/destroy_with_associated_resources"
    assert [(request.method, request.path) for request in opened.api.requests] == [
        ("GET", path),
        ("DELETE", f"{path}/dangerous"),
    ]


def test_an_import_starts_from_what_the_cluster_has(opened: World) -> None:
    made = opened.engine.create(CLUSTER, "main", PROGRAM)
    opened.api.forget_requests()

    imported = opened.engine.import_(CLUSTER, "main", made.id)

    assert imported is not None
    assert opened.api.sent() == []
    assert imported.inputs["nodePool"]["size"] == "s-4vcpu-8gb"
    assert "kubeConfigs" not in imported.inputs
    assert opened.engine.plan(imported, PROGRAM).action == "nothing"


def test_an_import_tags_the_only_pool_of_a_cluster_made_elsewhere(opened: World) -> None:
    made = opened.engine.create(CLUSTER, "main", PROGRAM)
    pool = opened.api.pool(made.outputs["nodePool"]["id"])
    pool.tags = ["mine"]

    assert opened.engine.import_(CLUSTER, "main", made.id) is not None
    assert pool.tags == ["mine", "terraform:default-node-pool"]


def test_an_import_of_a_cluster_with_several_untagged_pools_is_refused(opened: World) -> None:
    made = opened.engine.create(CLUSTER, "main", PROGRAM)
    opened.engine.create(NODE_POOL, "p", {"clusterId": made.id, "size": "s-4vcpu-8gb", "nodeCount": 1})
    for _, pool in opened.api.cloud.world.pools():
        pool.tags = []

    with pytest.raises(grpc.RpcError, match="tag exactly one of its 2 node pools"):
        opened.engine.import_(CLUSTER, "main", made.id)


def test_a_preview_of_a_creation_calls_nobody_and_leaves_the_rest_unknown(opened: World) -> None:
    urn = opened.engine.urn(CLUSTER, "main")
    inputs = opened.engine.checked(urn, PROGRAM)

    answer = opened.engine.stub.Create(
        provider_pb2.CreateRequest(urn=urn, properties=marshal.to_struct(inputs), preview=True)
    )

    outputs = marshal.from_struct(answer.properties)
    assert opened.api.requests == []
    assert outputs["name"] == "main"
    assert outputs["surgeUpgrade"] is True
    assert outputs["endpoint"] is outputs["vpcUuid"] is outputs["kubeConfigs"] is UNKNOWN
    assert outputs["nodePool"]["id"] is UNKNOWN


def test_a_spaces_key_keeps_the_secret_that_is_told_once(opened: World) -> None:
    grants = [{"bucket": "ckpt", "permission": "readwrite"}]
    key = opened.engine.create(SPACES_KEY, "ckpt", {"grants": grants})

    refreshed = opened.engine.refresh(key)
    updated = opened.engine.update(key, {"grants": [{"bucket": "ckpt", "permission": "read"}]})

    assert refreshed is not None
    assert refreshed.outputs["secretKey"] == updated.outputs["secretKey"] == key.outputs["secretKey"]
    assert updated.outputs["grants"] == [{"bucket": "ckpt", "permission": "read"}]
    opened.engine.delete(updated)
    assert opened.api.cloud.spaces_keys.all() == []
