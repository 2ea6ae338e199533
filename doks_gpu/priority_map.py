"""Waits for the priority map that DOKS makes, and says when it must be left alone.

The patch that follows would create a missing map, without DOKS's labels (server-side apply creates what is not there),
so this wait comes first, with a bound.
"""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable

from doks_gpu.cloud import Cloud
from doks_gpu.errors import DoksGpuError
from doks_gpu.plan import priorities

WAIT_SECONDS = 300
"""DOKS makes the map some time after the cluster runs; how long is not published (doks-facts, section 4)."""
POLL_SECONDS = 2
TOKEN_SECONDS = 600

ReadMap = Callable[[str], str | None]
"""Given a cluster id, the text of the priority map; None where there is no map."""


async def wait_until_ready(
    cluster_id: str,
    read: ReadMap,
    *,
    attached: bool,
    wait_seconds: float = WAIT_SECONDS,
    clock: Callable[[], float] = time.monotonic,
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Returns once the map exists and is ours to write. Raises `DoksGpuError` with the way out.

    In an `attached` cluster somebody else may have written it: only DOKS's starter text or ours is taken over.
    """
    deadline = clock() + wait_seconds
    while (text := await asyncio.to_thread(read, cluster_id)) is None:
        if clock() >= deadline:
            raise DoksGpuError(_missing(cluster_id, wait_seconds))
        await pause(POLL_SECONDS)
    if attached and not priorities.is_starter_or_ours(text):
        raise DoksGpuError(
            f"The priority map of cluster {cluster_id} ({priorities.MAP_NAMESPACE}/{priorities.MAP_NAME}) was written "
            "by somebody else and stays as it is. Move those lines elsewhere, put DOKS's starter text back "
            "(`1: [.*]`), and run the same command again."
        )


def _missing(cluster_id: str, waited: float) -> str:
    return (
        f"Cluster {cluster_id} has no priority map ({priorities.MAP_NAMESPACE}/{priorities.MAP_NAME}) after "
        f"{waited:.0f} s. DOKS makes it once the `priority` expander is on: check with `doctl kubernetes cluster get "
        f"{cluster_id}`, turn it on with `doctl kubernetes cluster update {cluster_id} --expanders priority,random`, "
        "and run the same command again. Nothing was written: a map of our own would lack DOKS's labels."
    )


def reader(cloud: Cloud) -> ReadMap:
    """Reads the map with credentials minted once per cluster."""
    known: dict[str, object] = {}

    def read(cluster_id: str) -> str | None:
        from kubernetes.client.exceptions import ApiException

        core = known.get(cluster_id) or known.setdefault(cluster_id, _client(cloud, cluster_id))
        try:
            found = core.read_namespaced_config_map(  # type: ignore[attr-defined]
                priorities.MAP_NAME, priorities.MAP_NAMESPACE, _request_timeout=10
            )
        except ApiException as error:
            if error.status == 404:
                return None
            raise DoksGpuError(
                f"The API server of cluster {cluster_id} refused to show its priority map: {error.reason}"
            ) from None
        return str((found.data or {}).get(priorities.MAP_KEY, ""))

    return read


def _client(cloud: Cloud, cluster_id: str) -> object:
    from kubernetes import client

    credentials = cloud.credentials(cluster_id, TOKEN_SECONDS)
    configuration = client.Configuration()
    configuration.host = credentials.server
    configuration.api_key = {"authorization": f"Bearer {credentials.token}"}
    configuration.ca_cert_data = base64.b64decode(credentials.certificate_authority).decode()
    return client.CoreV1Api(client.ApiClient(configuration))
