"""Which running Jobs a deployment would stop, and how far they are."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from doks_gpu.plan.jobs import JobSpec
from doks_gpu.plan.running import running_jobs, stopped_by
from doks_gpu.plan.stack import make_plan
from doks_gpu.settings import load
from doks_gpu.stackfile import read_stack_file

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def planned() -> JobSpec:
    settings = load(read_stack_file(ROOT / "Pulumi.dev.yaml"))
    (job,) = make_plan(settings, None, project="doks-gpu", stack="dev").jobs
    return job


def live(job: JobSpec, **status: Any) -> dict[str, Any]:
    """As the API server tells it."""
    manifest: dict[str, Any] = {**job.manifest, "status": status}
    return manifest


def test_a_running_job_is_told_with_its_progress(planned: JobSpec) -> None:
    (found,) = running_jobs([live(planned, active=2, succeeded=3)])
    assert found.in_words.endswith("3 of 8 tasks done, 2 running")


@pytest.mark.parametrize("end", ["Complete", "Failed"])
def test_a_job_that_has_ended_runs_no_more(planned: JobSpec, end: str) -> None:
    assert running_jobs([live(planned, conditions=[{"type": end, "status": "True"}])]) == []


def test_a_suspended_job_can_still_lose_work(planned: JobSpec) -> None:
    assert running_jobs([live(planned, conditions=[{"type": "Suspended", "status": "True"}])])


def test_a_job_without_our_label_is_nobody_of_ours(planned: JobSpec) -> None:
    row = live(planned)
    assert running_jobs([row | {"metadata": row["metadata"] | {"labels": {}}}]) == []


def test_the_same_job_is_not_stopped(planned: JobSpec) -> None:
    running = running_jobs([live(planned, active=2)])
    assert stopped_by([planned], "gpu", running) == []


def test_a_new_template_stops_the_running_job(planned: JobSpec) -> None:
    running = running_jobs([live(planned, active=2)])
    assert stopped_by([replace(planned, object_name="train-00000000")], "gpu", running) == running


def test_another_namespace_stops_the_running_job(planned: JobSpec) -> None:
    running = running_jobs([live(planned, active=2)])
    assert stopped_by([planned], "elsewhere", running) == running
