"""What stands behind a cluster of the stand-in: nothing, or a real Kubernetes control plane."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, kw_only=True)
class ClusterEndpoint:
    """Where a cluster's API server answers, and the CA that signed its certificate (PEM text)."""

    server: str
    certificate_authority_pem: str


class ClusterBackend(Protocol):
    """Makes and ends control planes. Every method may be called from several threads at once."""

    def create(self, cluster_id: str, name: str, region: str, version: str) -> ClusterEndpoint:
        """Blocks until the API server answers. What it raises becomes the cluster's `error` message."""
        ...

    def delete(self, cluster_id: str) -> None:
        """Ends the control plane. One that is not there is no error; one that is being made is ended too."""
        ...

    def apply_autoscaler(self, cluster_id: str, expanders: tuple[str, ...]) -> None:
        """Called once a control plane is up, and each time that the cluster's expanders change."""
        ...


_NO_CERTIFICATE = """-----BEGIN CERTIFICATE-----
bm8gY29udHJvbCBwbGFuZSBzdGFuZHMgYmVoaW5kIHRoaXMgY2x1c3Rlcg==
-----END CERTIFICATE-----
"""


class NoControlPlane:
    """Clusters in name only: an address that nobody can reach."""

    def create(self, cluster_id: str, name: str, region: str, version: str) -> ClusterEndpoint:
        """Answers at once."""
        del name, region, version
        return ClusterEndpoint(server=f"https://{cluster_id}.k8s.invalid", certificate_authority_pem=_NO_CERTIFICATE)

    def delete(self, cluster_id: str) -> None:
        """Nothing to end."""

    def apply_autoscaler(self, cluster_id: str, expanders: tuple[str, ...]) -> None:
        """Nobody reads it."""
