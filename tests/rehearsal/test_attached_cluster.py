"""A cluster that somebody else made gets our pools and is otherwise untouched."""

from typing import Any

import pytest

from tests.rehearsal.stack import MAP, Stack

pytestmark = pytest.mark.full


@pytest.fixture
def attached(fresh: Stack) -> Stack:
    """A stack whose file names an existing cluster with the priority expander on."""
    answer = fresh.api.post(
        "/v2/kubernetes/clusters",
        json={
            "name": "theirs",
            "region": "atl1",
            "version": "1.36.3-do.0",
            "node_pools": [{"name": "theirs-cpu", "size": "s-4vcpu-8gb", "count": 2}],
            "cluster_autoscaler_configuration": {"expanders": ["priority", "random"]},
        },
    )
    answer.raise_for_status()
    cluster_id = answer.json()["kubernetes_cluster"]["id"]
    fresh.wait_until_running(cluster_id)
    fresh.edit({"cluster": {"id": cluster_id}})
    return fresh


def untouched(cluster: dict[str, Any]) -> dict[str, Any]:
    """What must stay as it was: everything but our pools and the time of the last change."""
    pools = [pool for pool in cluster["node_pools"] if not pool["size"].startswith("gpu-")]
    plugins = ("nvidia_gpu_device_plugin", "amd_gpu_device_plugin")
    rest = {key: value for key, value in cluster.items() if key not in ("node_pools", "updated_at", *plugins)}
    return {**rest, "node_pools": pools}


def test_an_attached_cluster_gets_pools_and_is_otherwise_untouched(attached: Stack) -> None:
    before = untouched(attached.clusters()[0])
    run = attached.up()
    assert run.returncode == 0, run.stdout + run.stderr
    assert attached.pools().keys() == {"batch-spot", "batch-fallback", "inference-amd"}
    assert attached.priorities() == attached.expected_priorities()
    assert untouched(attached.clusters()[0]) == before
    assert attached.plan() == {}


def test_destroy_takes_the_pools_and_leaves_the_cluster(attached: Stack) -> None:
    assert attached.up().returncode == 0
    before = untouched(attached.clusters()[0])
    run = attached.destroy()
    assert run.returncode == 0, run.stdout + run.stderr
    assert attached.pools() == {}
    assert untouched(attached.clusters()[0]) == before


def test_a_namespace_that_was_there_before_stays_with_what_is_in_it(attached: Stack) -> None:
    config_map = "/api/v1/namespaces/gpu/configmaps"
    with attached.rehearsal.planes.plane(attached.clusters()[0]["id"]).admin() as kubernetes:
        namespace = {"metadata": {"name": "gpu", "labels": {"theirs": "yes"}}}
        kubernetes.post("/api/v1/namespaces", json=namespace).raise_for_status()
        kubernetes.post(config_map, json={"metadata": {"name": "theirs"}}).raise_for_status()
        for verb in (attached.up, attached.destroy):
            run = verb()
            assert run.returncode == 0, run.stdout + run.stderr
        found = kubernetes.get("/api/v1/namespaces/gpu").json()
        assert (found["status"]["phase"], found["metadata"]["labels"]["theirs"]) == ("Active", "yes")
        assert kubernetes.get(f"{config_map}/theirs").status_code == 200


def test_somebody_elses_priority_map_stays_as_it_is(attached: Stack) -> None:
    text = "10:\n  - ^theirs$\n"
    with attached.rehearsal.planes.plane(attached.clusters()[0]["id"]).admin() as kubernetes:
        patch = {"data": {"priorities": text}}
        headers = {"Content-Type": "application/merge-patch+json"}
        kubernetes.patch(MAP, json=patch, headers=headers).raise_for_status()
    run = attached.up()
    assert run.returncode != 0
    assert "written by somebody else" in run.stdout + run.stderr
    assert attached.priority_map()["data"]["priorities"] == text


def test_a_cluster_without_the_priority_expander_is_refused_before_anything_is_made(attached: Stack) -> None:
    path = f"/v2/kubernetes/clusters/{attached.clusters()[0]['id']}"
    body = {"name": "theirs", "cluster_autoscaler_configuration": {"expanders": ["random"]}}
    attached.api.put(path, json=body).raise_for_status()
    run = attached.up()
    assert run.returncode == 2
    assert "--expanders" in run.stdout + run.stderr
    assert attached.pools() == {}
