"""Jobs to Indexed Jobs: one index per task, one retry limit per index, a new object for a new template.

Kubernetes refuses to change a Job's template, and deleting one to make it again would run finished tasks twice. So the
object's name carries a hash of everything that Kubernetes fixes at creation: the same settings are the same Job, also
when it has long ended, and other settings are another Job. What changes in a running Job is left out of the hash.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from doks_gpu.catalog import Vendor
from doks_gpu.plan import labels
from doks_gpu.plan.pods import CONTAINER, SAFE_TO_EVICT, Manifest, hidden_variables, pod_spec
from doks_gpu.plan.pools import PoolSpec
from doks_gpu.settings import Settings
from doks_gpu.settings.fleets import Fleet
from doks_gpu.settings.workloads import TASKS_VARIABLE, Job

LOST_NODE_SECONDS = 30
"""A node that vanished silently is waited for this long; Kubernetes' default of 300 s is paid GPU time."""
HASH_LENGTH = 8
IN_PLACE = frozenset({"activeDeadlineSeconds"})
"""Keys of a Job's spec that change in a running Job. Kubernetes could change `parallelism` too, but the Kubernetes
provider replaces the Job for it (pulumi-kubernetes 4.25, `diff.go`, and seen in a rehearsal on 2026-12-01)."""
SKIP_AWAIT = "pulumi.com/skipAwait"


@dataclass(frozen=True, kw_only=True)
class JobSpec:
    """One job of the configuration as the Job of Kubernetes that it becomes."""

    name: str
    """The program's name, and that of the job's service account."""
    object_name: str
    """`<name>-<hash of the template>`."""
    fleet: str
    tasks: int
    parallelism: int
    manifest: Manifest
    """The whole object."""
    hidden: frozenset[str]
    """Variables of the container whose values are not shown."""
    after: tuple[str, ...]
    """Pools that are there before the job: its fleet's on-demand ones. A Spot pool that fails must not stop it."""


def job_specs(settings: Settings, pools: Iterable[PoolSpec]) -> tuple[JobSpec, ...]:
    """The jobs that can run, in the order of the settings. One whose fleet has no pool, or whose tasks are in a file,
    is left out: the preflight refuses it."""
    by_fleet: dict[str, list[PoolSpec]] = {}
    for pool in pools:
        by_fleet.setdefault(pool.fleet, []).append(pool)
    return tuple(
        _job(name, job, job.tasks, settings, by_fleet[job.fleet])
        for name, job in settings.jobs.items()
        if job.fleet in by_fleet and job.tasks is not None
    )


def _job(name: str, job: Job, tasks: int, settings: Settings, pools: list[PoolSpec]) -> JobSpec:
    fleet = settings.fleets[job.fleet]
    marks = {labels.JOB: name, labels.FLEET: job.fleet}
    spec = _spec(job, tasks, fleet, pools[0].vendor, marks)
    object_name = f"{name}-{template_hash(spec)}"
    return JobSpec(
        name=name,
        object_name=object_name,
        fleet=job.fleet,
        tasks=tasks,
        parallelism=job.parallelism,
        manifest={
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {
                "name": object_name,
                "namespace": settings.namespace,
                "labels": marks,
                "annotations": {SKIP_AWAIT: "true"},
            },
            "spec": spec,
        },
        hidden=hidden_variables(job),
        after=tuple(pool.name for pool in pools if not pool.is_spot),
    )


def template_hash(spec: Mapping[str, object]) -> str:
    """Of what Kubernetes fixes when a Job is made. A change of this text runs every job again: see the changelog."""
    fixed = {key: value for key, value in spec.items() if key not in IN_PLACE}
    return hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:HASH_LENGTH]


def _spec(job: Job, tasks: int, fleet: Fleet, vendor: Vendor, marks: Mapping[str, str]) -> Manifest:
    """No `ttlSecondsAfterFinished`: a Job that Kubernetes removes would be made, and run, again."""
    spec: Manifest = {
        "completionMode": "Indexed",
        "completions": tasks,
        "parallelism": job.parallelism,
        "backoffLimitPerIndex": job.retries,
        "podReplacementPolicy": "Failed",
        "podFailurePolicy": {"rules": _failure_rules(job)},
        "template": {
            "metadata": {"labels": dict(marks), "annotations": {SAFE_TO_EVICT: "false"}},
            "spec": {
                "restartPolicy": "Never",
                "serviceAccountName": marks[labels.JOB],
                **pod_spec(
                    job,
                    fleet,
                    vendor,
                    placement=job.placement,
                    container={"image": job.image, "command": list(job.command)},
                    env={TASKS_VARIABLE: str(tasks)},
                    grace_seconds=job.grace_period_seconds,
                    tolerations=_lost_node(),
                ),
            },
        },
    }
    return spec | ({"activeDeadlineSeconds": job.deadline_seconds} if job.deadline_seconds else {})


def _failure_rules(job: Job) -> list[Manifest]:
    """The first rule that matches counts: a disruption is never the task's fault, whatever its exit code."""
    disrupted = {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    if not job.fatal_exit_codes:
        return [disrupted]
    fatal = {
        "action": "FailJob" if job.fail_fast else "FailIndex",
        "onExitCodes": {"containerName": CONTAINER, "operator": "In", "values": sorted(job.fatal_exit_codes)},
    }
    return [disrupted, fatal]


def _lost_node() -> list[Manifest]:
    return [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": LOST_NODE_SECONDS}
        for key in (labels.NOT_READY, labels.UNREACHABLE)
    ]
