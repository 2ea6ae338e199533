"""Asks before an `up` or a `destroy` stops work: which Jobs of the stack run in its cluster, and how far they are."""

import json
from collections.abc import Iterable, Sequence
from typing import cast

import typer
from urllib3 import BaseHTTPResponse

from doks_gpu.cloud import Cloud
from doks_gpu.errors import DoksGpuError
from doks_gpu.ops import console
from doks_gpu.ops.state import State
from doks_gpu.plan import labels
from doks_gpu.plan.jobs import JobSpec
from doks_gpu.plan.running import RunningJob, running_jobs, stopped_by

JOB_TYPE = "kubernetes:batch/v1:Job"
READ_TIMEOUT_SECONDS = 30


def ask_before_stopping(cloud: Cloud, state: State, jobs: Iterable[JobSpec], namespace: str, *, yes: bool) -> None:
    """Names the running Jobs that a deployment of `jobs` would stop. Raises `DoksGpuError` when the answer is no.

    A cluster that cannot be read is no stop: the engine will say why.
    """
    owned = {str((row.outputs.get("metadata") or {}).get("name")) for row in state.of_type(JOB_TYPE)}
    if not owned:
        return
    try:
        running = [job for job in _running(cloud, sorted(state.cluster_ids)) if job.object_name in owned]
    except DoksGpuError as error:
        console.err.print(f"Whether a job runs is unknown: {error}")
        return
    stopped = stopped_by(jobs, namespace, running)
    for job in stopped:
        console.err.print(f"[bold]Stops[/] {job.in_words}")
    if stopped and not yes and not typer.confirm(f"This run stops {len(stopped)} running job(s). Go on?"):
        raise DoksGpuError("Nothing was changed.")


def _running(cloud: Cloud, cluster_ids: Sequence[str]) -> list[RunningJob]:
    from kubernetes.client import BatchV1Api

    from doks_gpu.ops.kubernetes_access import open_cluster

    found: list[RunningJob] = []
    for cluster_id in cluster_ids:
        with open_cluster(cloud, cluster_id) as api:
            answer = BatchV1Api(api).list_job_for_all_namespaces(
                label_selector=labels.JOB, _request_timeout=READ_TIMEOUT_SECONDS, _preload_content=False
            )
            # The client's types do not follow `_preload_content`, which leaves the API's own JSON.
            found += running_jobs(json.loads(cast(BaseHTTPResponse, answer).data)["items"])
    return found
