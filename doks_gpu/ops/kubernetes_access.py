"""The Kubernetes API of the stack's own cluster, and of no other: no kubeconfig and no context of the user is read."""

from collections.abc import Iterator
from contextlib import contextmanager

from kubernetes import client
from kubernetes.client.exceptions import ApiException
from urllib3.exceptions import HTTPError

from doks_gpu.cloud import Cloud
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops.engine import Engine
from doks_gpu.ops.project import Project

LIFETIME_SECONDS = 3600
"""Life of the token, which is kept in memory alone: longer than a command follows something."""


@contextmanager
def cluster_api(project: Project, stack: str) -> Iterator[client.ApiClient]:
    """A client for the cluster that the stack's state names.

    Raises `RefusedError` where the stack has no cluster yet. What the API refuses inside the block leaves it as
    `DoksGpuError`.
    """
    clusters = sorted(Engine(project, stack).state().cluster_ids)
    if not clusters:
        raise RefusedError(f"Stack {stack} has no cluster yet: run `doks-gpu up --stack {stack}` first.")
    with open_cluster(Cloud.from_environment(), clusters[0]) as api:
        yield api


@contextmanager
def open_cluster(cloud: Cloud, cluster_id: str) -> Iterator[client.ApiClient]:
    """A client for one cluster, with a token of its own. Errors inside the block leave it as `DoksGpuError`."""
    access = cloud.credentials(cluster_id, LIFETIME_SECONDS)
    settings = client.Configuration(
        host=access.server,
        api_key={"authorization": f"Bearer {access.token}"},
        ca_cert_data=access.certificate_authority_pem,
    )
    try:
        with client.ApiClient(settings) as api:
            yield api
    except ApiException as error:
        raise DoksGpuError(f"The cluster refused ({error.status} {error.reason}): {_message(error)}") from None
    except HTTPError as error:
        raise DoksGpuError(f"The cluster at {access.server} could not be reached: {error}") from None


def _message(error: ApiException) -> str:
    return str(error.body or "no reason given").replace("\n", " ")[:500]
