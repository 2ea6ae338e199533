"""Rules about fit, each on both sides of its limit."""

from typing import Any

import pytest

from tests.unit.stacks import AMD, FALLBACK, JOB, SERVICE, SPOT, found, raw

EIGHT = {"name": "eight", "size": "gpu-h200x8-1128gb", "min": 1, "max": 2}


def test_a_fleet_of_two_vendors_is_refused() -> None:
    (finding,) = found("mixed-vendors", raw(SPOT, AMD))
    assert finding.severity == "error"
    assert "NVIDIA" in finding.message
    assert "AMD" in finding.message


@pytest.mark.parametrize("tiers", [(SPOT, FALLBACK), (AMD,), (SPOT, {**AMD, "enabled": False})])
def test_a_fleet_of_one_vendor_passes(tiers: tuple[dict[str, Any], ...]) -> None:
    assert found("mixed-vendors", raw(*tiers)) == []


@pytest.mark.parametrize(
    ("memory", "headroom", "refused"),
    [(126, 0.1, False), (127, 0.1, True), (141, 0, False), (142, 0, True)],
)
def test_a_worker_must_fit_the_smallest_gpu_less_the_headroom(memory: int, headroom: float, *, refused: bool) -> None:
    """The H200 has 141 GiB, 126.9 of them less a tenth; the B300 in the same fleet has 288."""
    findings = found("memory-too-small", raw(SPOT, FALLBACK, fleet={"memoryGib": memory, "headroom": headroom}))
    assert [f.severity for f in findings] == ["error"] * refused


def test_the_refusal_names_the_tier_and_the_figures() -> None:
    (finding,) = found("memory-too-small", raw(SPOT, FALLBACK, fleet={"memoryGib": 200}))
    assert "fallback (gpu-h200x1-141gb)" in finding.message
    assert "126.9" in finding.message


def test_a_disabled_tier_does_not_count_as_the_smallest() -> None:
    said = raw(SPOT, {**FALLBACK, "enabled": False}, fleet={"memoryGib": 200})
    assert found("memory-too-small", said) == []


def test_memory_is_not_compared_when_it_is_not_given() -> None:
    assert found("memory-too-small", raw()) == []


@pytest.mark.parametrize(("gpus", "refused"), [(1, False), (2, True)])
@pytest.mark.parametrize("kind", ["services", "jobs"])
def test_a_workload_must_fit_one_node_of_every_tier(kind: str, gpus: int, *, refused: bool) -> None:
    work = {"services": SERVICE, "jobs": JOB}[kind]
    findings = found("gpus-per-node", raw(EIGHT, FALLBACK, **{kind: {"api": {**work, "gpus": gpus}}}))
    assert [(f.severity, f.path) for f in findings] == [("error", f"{kind}.api.gpus")] * refused


def test_eight_gpus_fit_a_node_of_eight() -> None:
    assert found("gpus-per-node", raw(EIGHT, jobs={"train": {**JOB, "gpus": 8}})) == []


@pytest.mark.parametrize(("parallelism", "warned"), [(2, False), (3, True)])
def test_on_demand_must_carry_the_work_when_spot_is_gone(parallelism: int, *, warned: bool) -> None:
    findings = found("on-demand-too-small", raw(jobs={"train": {**JOB, "parallelism": parallelism}}))
    assert [f.severity for f in findings] == ["warning"] * warned


def test_the_warning_has_the_figures() -> None:
    said = raw(
        jobs={"train": {**JOB, "parallelism": 4}}, services={"api": {**SERVICE, "replicas": {"min": 3, "max": 3}}}
    )
    (finding,) = found("on-demand-too-small", said)
    assert "takes 7 GPUs" in finding.message
    assert "have 2 at" in finding.message


def test_a_job_never_runs_more_tasks_at_once_than_it_has() -> None:
    assert found("on-demand-too-small", raw(jobs={"train": {**JOB, "tasks": 2, "parallelism": 50}})) == []


def test_gpus_of_all_on_demand_tiers_count() -> None:
    said = raw(SPOT, FALLBACK, EIGHT, jobs={"train": {**JOB, "tasks": 18, "parallelism": 18}})
    assert found("on-demand-too-small", said) == []


def test_a_fleet_of_spot_alone_has_nothing_to_compare() -> None:
    assert found("on-demand-too-small", raw(SPOT, jobs={"train": {**JOB, "parallelism": 8}})) == []


def test_a_service_on_spot_alone_is_warned_about() -> None:
    (finding,) = found("service-on-spot-only", raw(SPOT, services={"api": SERVICE}))
    assert (finding.severity, finding.path) == ("warning", "services.api.fleet")


@pytest.mark.parametrize(
    "said",
    [raw(SPOT, FALLBACK, services={"api": SERVICE}), raw(SPOT, jobs={"train": JOB}), raw(SPOT)],
    ids=["with on-demand", "a job", "nothing"],
)
def test_other_work_on_spot_is_not(said: dict[str, Any]) -> None:
    assert found("service-on-spot-only", said) == []
