"""Jobs that run in the cluster now and that an `up` would stop: made from an older template, or no longer wanted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from doks_gpu.plan import labels
from doks_gpu.plan.jobs import JobSpec

ENDED = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
"""Conditions of a Job that runs nothing any more, or is about to stop by itself (Kubernetes 1.36, batch/v1)."""


@dataclass(frozen=True, kw_only=True)
class RunningJob:
    """One Job of a stack as the cluster holds it."""

    name: str
    """The program's name."""
    object_name: str
    namespace: str
    tasks: int
    succeeded: int
    active: int

    @property
    def in_words(self) -> str:
        return (
            f"job {self.name} ({self.object_name}): {self.succeeded} of {self.tasks} tasks done, {self.active} running"
        )


def running_jobs(objects: Iterable[Mapping[str, Any]]) -> list[RunningJob]:
    """Those that still work, out of Jobs as the API server tells them (camelCase keys)."""
    return [_running(row) for row in objects if _name(row) and not _has_ended(row)]


def stopped_by(jobs: Iterable[JobSpec], namespace: str, running: Iterable[RunningJob]) -> list[RunningJob]:
    """Those that a deployment of `jobs` in `namespace` would stop."""
    kept = {(namespace, job.object_name) for job in jobs}
    return [job for job in running if (job.namespace, job.object_name) not in kept]


def _has_ended(row: Mapping[str, Any]) -> bool:
    conditions = (row.get("status") or {}).get("conditions") or ()
    ended = any(condition["type"] in ENDED and condition["status"] == "True" for condition in conditions)
    return ended or "deletionTimestamp" in row["metadata"]


def _running(row: Mapping[str, Any]) -> RunningJob:
    status = row.get("status") or {}
    return RunningJob(
        name=_name(row),
        object_name=row["metadata"]["name"],
        namespace=row["metadata"]["namespace"],
        tasks=row["spec"].get("completions") or 1,
        succeeded=status.get("succeeded") or 0,
        active=status.get("active") or 0,
    )


def _name(row: Mapping[str, Any]) -> str:
    return str((row["metadata"].get("labels") or {}).get(labels.JOB, ""))
