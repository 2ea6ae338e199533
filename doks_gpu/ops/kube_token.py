"""`doks-gpu kube-token`: the credential helper that the kubeconfig of a stack names.

Prints a client-go ExecCredential. The token is on standard output alone, as the protocol wants, and nowhere else.
"""

import json
import os
from datetime import UTC

from doks_gpu.cloud import Cloud, Credentials
from doks_gpu.errors import DoksGpuError

LIFETIME_SECONDS = 3600
"""Longer than any single engine run waits for a pool; the answer names its end, so client-go asks again by itself."""

API_VERSION = "client.authentication.k8s.io/v1"


def exec_credential(credentials: Credentials) -> str:
    """The JSON that client-go reads: token and its expiry, so that one request serves a whole run."""
    expiry = credentials.expires_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return json.dumps(
        {
            "apiVersion": API_VERSION,
            "kind": "ExecCredential",
            "status": {"token": credentials.token, "expirationTimestamp": expiry},
        }
    )


def kube_token(cluster_id: str) -> str:
    """Raises `DoksGpuError` when the caller speaks another version of the protocol or the API refuses."""
    asked = json.loads(os.environ.get("KUBERNETES_EXEC_INFO") or "{}").get("apiVersion", API_VERSION)
    if asked != API_VERSION:
        raise DoksGpuError(f"kube-token speaks {API_VERSION}; the caller asked for {asked}. Update kubectl.")
    return exec_credential(Cloud.from_environment().credentials(cluster_id, LIFETIME_SECONDS))
