"""The credential helper's answer, as client-go reads it."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from doks_gpu.cloud import Credentials
from doks_gpu.errors import DoksGpuError
from doks_gpu.ops.kube_token import exec_credential, kube_token
from doks_gpu.plan.kubeconfig import exec_kubeconfig

CANARY = "canary-" + "token"


def credentials(expires_at: datetime) -> Credentials:
    return Credentials(server="https://c", certificate_authority="Q0E=", token=CANARY, expires_at=expires_at)


def test_the_answer_names_its_end_in_utc() -> None:
    noon_in_berlin = datetime(2026, 12, 1, 12, 0, tzinfo=timezone(timedelta(hours=1)))
    status = json.loads(exec_credential(credentials(noon_in_berlin)))["status"]
    assert status["expirationTimestamp"] == "2026-12-01T11:00:00Z"


def test_credentials_do_not_print_their_token() -> None:
    assert CANARY not in repr(credentials(datetime.now(UTC)))


def test_another_version_of_the_protocol_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"apiVersion": "client.authentication.k8s.io/v1alpha1"}
    monkeypatch.setenv("KUBERNETES_EXEC_INFO", json.dumps(asked))
    with pytest.raises(DoksGpuError, match="v1alpha1"):
        kube_token("c1")


def test_the_kubeconfig_holds_a_command_and_no_token() -> None:
    user = json.loads(exec_kubeconfig("c1", "https://c", "Q0E="))["users"][0]["user"]
    assert list(user) == ["exec"]


def test_the_kubeconfig_of_a_cluster_never_changes() -> None:
    assert exec_kubeconfig("c1", "https://c", "Q0E=") == exec_kubeconfig("c1", "https://c", "Q0E=")
