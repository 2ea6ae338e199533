"""What the commands read out of the engine's state."""

import json
from typing import Any

from doks_gpu.ops.state import CLUSTER_TYPE, STACK_TYPE, parse_state

URN = "urn:pulumi:dev::doks-gpu::"


def exported(*resources: dict[str, Any], **deployment: Any) -> str:
    rows = [{"urn": f"{URN}{row['type']}::{row.get('name', 'x')}", **row} for row in resources]
    return json.dumps({"version": 3, "deployment": {"resources": rows, **deployment}})


def test_a_stack_that_was_never_deployed_holds_nothing() -> None:
    assert parse_state('{"version": 3, "deployment": null}').resources == ()


def test_a_creation_that_has_not_ended_is_named() -> None:
    urn = f"{URN}doks-gpu:index:GpuFleet$digitalocean:index/kubernetesNodePool:KubernetesNodePool::batch-spot"
    operations = [
        {"resource": {"urn": urn}, "type": "creating"},
        {"resource": {"urn": f"{URN}t::other"}, "type": "updating"},
    ]
    assert parse_state(exported(pending_operations=operations)).unfinished == ("batch-spot",)


def test_an_attached_cluster_is_known_and_not_made() -> None:
    attached = {"type": "pulumi:providers:kubernetes", "id": "p", "outputs": {"clusterIdentifier": "c1"}}
    state = parse_state(exported(attached))
    assert state.cluster_ids == {"c1"}
    assert not state.made_clusters


def test_a_cluster_that_was_only_read_is_not_made() -> None:
    state = parse_state(exported({"type": CLUSTER_TYPE, "id": "c1", "external": True}))
    assert state.cluster_ids == {"c1"}
    assert not state.made_clusters


def test_the_team_is_the_one_of_the_last_deployment() -> None:
    assert parse_state(exported({"type": STACK_TYPE, "outputs": {"teamId": "t1"}})).team_id == "t1"


def test_an_old_state_names_no_team() -> None:
    assert parse_state(exported({"type": STACK_TYPE})).team_id is None
