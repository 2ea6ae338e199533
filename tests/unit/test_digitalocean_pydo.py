"""DigitalOcean's own Python client against the stand-in on a loopback port."""

from collections.abc import Iterator
from typing import Any

import httpx
import pydo
import pytest
from azure.core.credentials import AzureKeyCredential
from azure.core.exceptions import HttpResponseError
from azure.core.pipeline.policies import AzureKeyCredentialPolicy

from doks_gpu.errors import DoksGpuError
from rehearsal.digitalocean import StandIn, StandInSettings
from tests.unit.digitalocean_harness import CLUSTER, SPOT, SPOT_POOL


@pytest.fixture(scope="module")
def running() -> Iterator[StandIn]:
    with StandIn(StandInSettings(cluster_boot_seconds=0, node_boot_seconds=0)) as stand_in:
        yield stand_in


@pytest.fixture(scope="module")
def api(running: StandIn) -> Any:
    return client(running.url, running.token)


def client(url: str, token: str) -> Any:
    """pydo refuses to send its token without TLS unless the policy is named."""
    policy = AzureKeyCredentialPolicy(AzureKeyCredential(token), "Authorization", prefix="Bearer")
    return pydo.Client(token, endpoint=url, authentication_policy=policy, retry_total=0)


@pytest.fixture
def cluster(api: Any) -> Iterator[str]:
    made = api.kubernetes.create_cluster(CLUSTER)["kubernetes_cluster"]
    yield made["id"]
    api.kubernetes.delete_cluster(made["id"])


def test_the_account_has_its_limit_and_its_team(api: Any, running: StandIn) -> None:
    account = api.account.get()["account"]
    settings = running.cloud.world.settings
    assert account["droplet_limit"] == settings.droplet_limit
    assert account["team"] == {"uuid": settings.team_id, "name": settings.team_name}


def test_sizes_come_in_pages(api: Any) -> None:
    first = api.sizes.list(page=1, per_page=200)
    assert len(first["sizes"]) == first["meta"]["total"]
    assert SPOT in {row["slug"] for row in first["sizes"]}


def test_options_name_versions_newest_first(api: Any) -> None:
    options = api.kubernetes.list_options()["options"]
    slugs = [row["slug"] for row in options["versions"]]
    assert slugs == sorted(slugs, reverse=True)
    assert SPOT in {row["slug"] for row in options["sizes"]}


def test_a_cluster_runs_and_gives_credentials(api: Any, cluster: str) -> None:
    seen = api.kubernetes.get_cluster(cluster)["kubernetes_cluster"]
    credentials = api.kubernetes.get_credentials(cluster, expiry_seconds=3600)
    assert seen["status"]["state"] == "running"
    assert credentials["server"] == seen["endpoint"]
    assert credentials["token"]


def test_clusters_are_listed_with_their_pools(api: Any, cluster: str) -> None:
    rows = api.kubernetes.list_clusters(page=1, per_page=200)["kubernetes_clusters"]
    assert [(row["id"], row["node_pools"][0]["name"]) for row in rows] == [(cluster, "cpu")]


def test_a_cluster_is_updated(api: Any, cluster: str) -> None:
    body = {"name": "dev", "cluster_autoscaler_configuration": {"expanders": ["priority", "random"]}}
    after = api.kubernetes.update_cluster(cluster, body)["kubernetes_cluster"]
    assert after["cluster_autoscaler_configuration"]["expanders"] == ["priority", "random"]


def test_a_pool_lives_and_goes(api: Any, cluster: str) -> None:
    pool = api.kubernetes.add_node_pool(cluster, SPOT_POOL)["node_pool"]
    after = api.kubernetes.update_node_pool(cluster, pool["id"], {"name": pool["name"], "count": 2})["node_pool"]
    api.kubernetes.delete_node(cluster, pool["id"], after["nodes"][0]["id"], skip_drain=1)
    left = api.kubernetes.get_node_pool(cluster, pool["id"])["node_pool"]["count"]
    api.kubernetes.delete_node_pool(cluster, pool["id"])
    gone = api.kubernetes.get_node_pool(cluster, pool["id"])
    assert (after["count"], left, gone["id"]) == (2, 1, "not_found")


def test_what_belongs_to_a_cluster_is_listed(api: Any, cluster: str) -> None:
    assert api.kubernetes.list_associated_resources(cluster) == {
        "load_balancers": [],
        "volumes": [],
        "volume_snapshots": [],
    }


def test_a_spaces_key_is_made_and_deleted(api: Any) -> None:
    key = api.spaces_key.create({"name": "k", "grants": []})["key"]
    api.spaces_key.delete(key["access_key"])
    assert key["access_key"] not in {row["access_key"] for row in api.spaces_key.list()["keys"]}


def test_a_refusal_reaches_the_caller(api: Any, cluster: str) -> None:
    with pytest.raises(HttpResponseError, match="invalid size") as refused:
        api.kubernetes.add_node_pool(cluster, {**SPOT_POOL, "size": "gpu-nonsense"})
    assert refused.value.status_code == 422


def test_a_wrong_token_is_refused(running: StandIn) -> None:
    with pytest.raises(HttpResponseError, match="Unable to authenticate you"):
        client(running.url, "wrong").account.get()


def test_what_lives_survives_a_restart_at_the_same_address() -> None:
    stand_in = StandIn()
    with stand_in:
        url = stand_in.url
        api = client(url, stand_in.token)
        cluster = api.kubernetes.create_cluster(CLUSTER)["kubernetes_cluster"]["id"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/admin/state")
    with stand_in:
        assert stand_in.url == url
        assert api.kubernetes.get_cluster(cluster)["kubernetes_cluster"]["id"] == cluster


def test_a_port_that_is_taken_is_an_error_with_its_number(running: StandIn) -> None:
    port = int(running.url.rpartition(":")[2])
    with pytest.raises(DoksGpuError, match=str(port)):
        StandIn(port=port).start()
