"""Clusters of the stand-in: backends, configuration, versions, tokens."""

import threading
from typing import Any

import pytest
import yaml

from rehearsal.digitalocean import Clock, ClusterEndpoint, DigitalOcean
from rehearsal.digitalocean.bodies import ClusterUpdate
from rehearsal.digitalocean.errors import ApiRefusedError
from tests.unit.digitalocean_harness import MI300, START, Account, account

WAIT = 10


class SlowBackend:
    """Makes control planes when the test lets it, and remembers what it was asked."""

    def __init__(self) -> None:
        self.may_make = threading.Event()
        self.failure: Exception | None = None
        self.expanders: list[tuple[str, ...]] = []
        self.deleted: list[str] = []

    def create(self, cluster_id: str, name: str, region: str, version: str) -> ClusterEndpoint:
        del name, region, version
        assert self.may_make.wait(WAIT)
        if self.failure:
            raise self.failure
        return ClusterEndpoint(server=f"https://127.0.0.1:6443/{cluster_id}", certificate_authority_pem="pem")

    def delete(self, cluster_id: str) -> None:
        self.deleted.append(cluster_id)

    def apply_autoscaler(self, cluster_id: str, expanders: tuple[str, ...]) -> None:
        del cluster_id
        self.expanders.append(expanders)


def update(it: Account, cluster_id: str, **body: Any) -> dict[str, Any]:
    return it.cloud.clusters.update(cluster_id, ClusterUpdate.model_validate(body))


def state(it: Account, cluster_id: str) -> str:
    return str(it.cloud.clusters.get(cluster_id)["status"]["state"])


class TestBackend:
    """A real control plane takes its time."""

    def test_a_cluster_is_provisioning_until_its_control_plane_is_there(self) -> None:
        backend = SlowBackend()
        it = account(backend, cluster_boot_seconds=0)
        cluster = it.cluster()
        before = state(it, cluster)
        backend.may_make.set()
        it.cloud.finish(WAIT)
        assert (before, state(it, cluster)) == ("provisioning", "running")

    def test_a_control_plane_that_fails_is_an_error_with_its_message(self) -> None:
        backend = SlowBackend()
        backend.failure = RuntimeError("etcd did not start")
        backend.may_make.set()
        it = account(backend)
        cluster = it.cluster()
        it.cloud.finish(WAIT)
        assert it.cloud.clusters.get(cluster)["status"] == {"state": "error", "message": "etcd did not start"}

    def test_a_cluster_deleted_while_it_is_made_is_ended_again(self) -> None:
        backend = SlowBackend()
        it = account(backend)
        cluster = it.cluster()
        it.cloud.clusters.delete(cluster)
        backend.may_make.set()
        it.cloud.finish(WAIT)
        assert backend.deleted == [cluster, cluster]
        assert backend.expanders == []

    def test_the_backend_hears_of_the_expanders_once_it_is_up_and_at_each_change(self) -> None:
        backend = SlowBackend()
        backend.may_make.set()
        it = account(backend)
        cluster = it.cluster()
        it.cloud.finish(WAIT)
        update(it, cluster, cluster_autoscaler_configuration={"expanders": ["priority", "random"]})
        update(it, cluster, tags=["unrelated"])
        assert backend.expanders == [(), ("priority", "random")]


def test_a_cluster_runs_once_its_boot_time_is_over() -> None:
    it = account(cluster_boot_seconds=240)
    cluster = it.cluster()
    it.wait(239)
    assert state(it, cluster) == "provisioning"
    it.wait(1)
    assert state(it, cluster) == "running"


def test_a_cluster_fails_with_the_message_that_the_settings_give() -> None:
    it = account(cluster_failure="no capacity for the control plane")
    cluster = it.cluster()
    status = it.cloud.clusters.get(cluster)["status"]
    assert status == {"state": "error", "message": "no capacity for the control plane"}


class TestAutoscalerConfiguration:
    """0, "" and [] mean unset; null means unchanged."""

    def test_it_is_null_when_nothing_was_ever_set(self) -> None:
        it = account()
        zeros = {"scale_down_utilization_threshold": 0, "scale_down_unneeded_time": "", "expanders": []}
        cluster = it.cluster(cluster_autoscaler_configuration=zeros)
        assert it.cloud.clusters.get(cluster)["cluster_autoscaler_configuration"] is None

    def test_null_leaves_a_field_as_it_is(self) -> None:
        it = account()
        cluster = it.cluster(cluster_autoscaler_configuration={"expanders": ["priority"]})
        sent = {"scale_down_utilization_threshold": 0.5, "scale_down_unneeded_time": None, "expanders": None}
        assert update(it, cluster, cluster_autoscaler_configuration=sent)["cluster_autoscaler_configuration"] == {
            "scale_down_utilization_threshold": 0.5,
            "scale_down_unneeded_time": None,
            "expanders": ["priority"],
        }

    def test_a_zero_takes_a_field_away(self) -> None:
        it = account()
        cluster = it.cluster(cluster_autoscaler_configuration={"expanders": ["priority"]})
        after = update(it, cluster, cluster_autoscaler_configuration={"expanders": []})
        assert after["cluster_autoscaler_configuration"] is None


class TestPlugins:
    """A switch that nobody touched is DOKS's."""

    def test_a_device_plugin_is_on_when_the_cluster_has_the_vendors_gpus(self) -> None:
        it = account()
        cluster = it.cluster()
        it.pool(cluster, size=MI300)
        seen = it.cloud.clusters.get(cluster)
        assert (seen["amd_gpu_device_plugin"], seen["nvidia_gpu_device_plugin"]) == (
            {"enabled": True},
            {"enabled": False},
        )

    def test_a_null_switch_changes_nothing(self) -> None:
        it = account()
        cluster = it.cluster(amd_gpu_device_metrics_exporter_plugin={"enabled": True})
        after = update(it, cluster, amd_gpu_device_metrics_exporter_plugin={"enabled": None})
        assert after["amd_gpu_device_metrics_exporter_plugin"] == {"enabled": True}


def test_the_maintenance_policy_is_always_there_and_keeps_what_is_not_sent() -> None:
    it = account()
    cluster = it.cluster(maintenance_policy=None)
    after = update(it, cluster, maintenance_policy={"day": "sunday", "start_time": "", "duration": ""})
    assert after["maintenance_policy"] == {"day": "sunday", "start_time": "00:00", "duration": "4h0m0s"}


@pytest.mark.parametrize(("version", "ha"), [("1.36", True), ("1.35", False)])
def test_high_availability_is_the_default_from_1_36(version: str, ha: bool) -> None:
    it = account()
    assert it.cloud.clusters.get(it.cluster(version=version))["ha"] is ha


def test_high_availability_cannot_be_turned_off() -> None:
    it = account()
    cluster = it.cluster(ha=True)
    with pytest.raises(ApiRefusedError, match="cannot be turned off"):
        update(it, cluster, ha=False)


class TestVersions:
    """Prefixes, upgrades, and what is not offered."""

    @pytest.mark.parametrize(
        ("asked", "slug"),
        [("1.36", "1.36.3-do.0"), ("latest", "1.36.3-do.0"), ("1.35.6-do.1", "1.35.6-do.1")],
    )
    def test_a_version_can_be_named_in_three_ways(self, asked: str, slug: str) -> None:
        it = account()
        assert it.cloud.clusters.get(it.cluster(version=asked))["version"] == slug

    def test_a_version_that_is_not_offered_is_refused(self) -> None:
        with pytest.raises(ApiRefusedError, match=r"invalid version slug: 1\.3"):
            account().cluster(version="1.3")

    def test_an_upgrade_takes_the_time_that_the_settings_give_it(self) -> None:
        it = account(upgrade_seconds=60)
        cluster = it.cluster(version="1.35")
        it.wait(1)
        it.cloud.clusters.upgrade(cluster, "1.36.3-do.0")
        during = it.cloud.clusters.get(cluster)
        it.wait(60)
        after = it.cloud.clusters.get(cluster)
        assert (during["status"]["state"], during["version"]) == ("upgrading", "1.35.6-do.1")
        assert (after["status"]["state"], after["version"]) == ("running", "1.36.3-do.0")

    def test_a_downgrade_is_refused(self) -> None:
        it = account()
        cluster = it.cluster(version="1.36")
        with pytest.raises(ApiRefusedError, match="cannot upgrade"):
            it.cloud.clusters.upgrade(cluster, "1.35")

    def test_an_upgrade_skips_no_minor_version(self) -> None:
        it = account()
        cluster = it.cluster(version="1.34")
        slugs = [row["slug"] for row in it.cloud.clusters.available_upgrades(cluster)]
        assert slugs == ["1.35.6-do.1"]


def review(it: Account, token: str, cluster_id: str | None = None) -> dict[str, Any]:
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
    status = it.cloud.control.token_review(body, cluster_id)["status"]
    assert isinstance(status, dict)
    return status


class TestTokens:
    """Credentials expire on the stand-in's clock."""

    def test_every_request_makes_another_token(self) -> None:
        it = account()
        cluster = it.cluster()
        tokens = {it.cloud.clusters.credentials(cluster, 0)["token"] for _ in range(3)}
        assert len(tokens) == 3

    @pytest.mark.parametrize(("asked", "until"), [(0, "2026-12-07T12:00:00Z"), (3600, "2026-11-30T13:00:00Z")])
    def test_a_token_lives_as_long_as_asked_or_seven_days(self, asked: int, until: str) -> None:
        it = account()
        assert it.cloud.clusters.credentials(it.cluster(), asked)["expires_at"] == until

    def test_the_settings_cap_the_life_of_tokens(self) -> None:
        it = account(token_seconds_cap=5)
        token = it.cloud.clusters.credentials(it.cluster(), 3600)["token"]
        it.wait(4)
        alive = review(it, token)["authenticated"]
        it.wait(1)
        assert (alive, review(it, token)["authenticated"]) == (True, False)

    def test_a_token_lives_until_the_second_that_the_answer_names(self) -> None:
        it = Account(DigitalOcean(clock=Clock(0, START.replace(microsecond=400_000))))
        answer = it.cloud.clusters.credentials(it.cluster(), 5)
        it.wait(5.5)
        assert answer["expires_at"] == "2026-11-30T12:00:06Z"
        assert review(it, answer["token"])["authenticated"]

    def test_a_known_token_is_the_administrator(self) -> None:
        it = account()
        token = it.cloud.clusters.credentials(it.cluster(), 0)["token"]
        user = review(it, token)["user"]
        assert (user["username"], user["groups"]) == ("doks-admin", ["system:masters"])

    def test_an_unknown_token_is_nobody(self) -> None:
        assert review(account(), "guess") == {"authenticated": False}

    def test_a_token_dies_with_its_cluster(self) -> None:
        it = account()
        cluster = it.cluster()
        token = it.cloud.clusters.credentials(cluster, 0)["token"]
        it.cloud.clusters.delete(cluster)
        assert review(it, token) == {"authenticated": False}

    def test_a_token_is_of_no_use_for_another_cluster(self) -> None:
        it = account()
        mine, other = it.cluster(), it.cluster(name="other")
        token = it.cloud.clusters.credentials(mine, 0)["token"]
        assert review(it, token, mine)["authenticated"]
        assert not review(it, token, other)["authenticated"]

    def test_the_kubeconfig_holds_a_token_that_works(self) -> None:
        it = account()
        config = yaml.safe_load(it.cloud.clusters.kubeconfig(it.cluster(), 60))
        assert config["current-context"] == "do-atl1-dev"
        assert review(it, config["users"][0]["user"]["token"])["authenticated"]

    def test_a_cluster_without_control_plane_gives_no_credentials(self) -> None:
        backend = SlowBackend()
        it = account(backend)
        cluster = it.cluster()
        with pytest.raises(ApiRefusedError) as refused:
            it.cloud.clusters.credentials(cluster, 0)
        backend.may_make.set()
        it.cloud.finish(WAIT)
        assert refused.value.status == 412
