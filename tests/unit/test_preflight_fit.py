"""Rules about fit, each on both sides of its limit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    assert "takes 7 GPUs at once, in 7 pod(s)" in finding.message
    assert "have 2 at their maximum (2 node(s) of 1)" in finding.message
    assert "When all of Spot is gone, 5 pod(s) wait" in finding.message


def test_a_job_never_runs_more_tasks_at_once_than_it_has() -> None:
    assert found("on-demand-too-small", raw(jobs={"train": {**JOB, "tasks": 2, "parallelism": 50}})) == []


def test_gpus_of_all_on_demand_tiers_count() -> None:
    said = raw(SPOT, FALLBACK, EIGHT, jobs={"train": {**JOB, "tasks": 18, "parallelism": 18}})
    assert found("on-demand-too-small", said) == []


def test_a_job_on_spot_alone_is_warned_about() -> None:
    (finding,) = found("on-demand-too-small", raw(SPOT, jobs={"train": {**JOB, "parallelism": 8}}))
    assert "have 0 at" in finding.message
    assert "When all of Spot is gone, 8 pod(s) wait" in finding.message
    assert finding.way_out.startswith("Add an on-demand tier")


def test_a_service_on_spot_alone_has_a_rule_of_its_own() -> None:
    assert found("on-demand-too-small", raw(SPOT, services={"api": SERVICE})) == []


def test_a_fleet_without_spot_is_not_told_about_spot() -> None:
    (finding,) = found("on-demand-too-small", raw(FALLBACK, jobs={"train": {**JOB, "parallelism": 3}}))
    assert "When all of Spot" not in finding.message
    assert "has no Spot, 1 pod(s) wait" in finding.message


@pytest.mark.parametrize(
    ("work", "waiting"),
    [
        ([(5, 2)], 0),
        ([(5, 3)], 1),
        ([(8, 2)], 0),
        ([(5, 2), (3, 2)], 0),
        ([(5, 2), (2, 3)], 1),
        ([(3, 2), (5, 2)], 0),
        ([(1, 17)], 1),
        ([(4, 3), (2, 2), (1, 1)], 1),
    ],
)
def test_a_pod_takes_its_gpus_of_one_node(work: list[tuple[int, int]], waiting: int) -> None:
    """Two nodes of 8 GPUs; work is (GPUs of a pod, pods at once)."""
    jobs = {f"j{n}": {**JOB, "gpus": gpus, "tasks": pods, "parallelism": pods} for n, (gpus, pods) in enumerate(work)}
    findings = found("on-demand-too-small", raw(EIGHT, jobs=jobs))
    assert [f.message.rpartition(", ")[2] for f in findings] == [f"{waiting} pod(s) wait."] * bool(waiting)


@given(
    gpus=st.integers(1, 8),
    pods=st.integers(1, 60),
    nodes=st.lists(st.tuples(st.sampled_from([1, 4, 8]), st.integers(1, 5)), min_size=1, max_size=4),
)
def test_pods_of_one_kind_fit_as_often_as_each_node_holds_them(
    gpus: int, pods: int, nodes: list[tuple[int, int]]
) -> None:
    tiers = [
        {"name": f"t{place}", "size": f"gpu-h200x{each}-{141 * each}gb", "min": 0, "max": count}
        for place, (each, count) in enumerate(nodes)
    ]
    job = {**JOB, "gpus": gpus, "tasks": pods, "parallelism": pods}
    room = sum(count * (each // gpus) for each, count in nodes)
    assert bool(found("on-demand-too-small", raw(*tiers, jobs={"train": job}))) is (pods > room)


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


@pytest.mark.parametrize(
    ("deadline", "fewest", "warned"), [(929, 0, True), (930, 0, False), (929, 1, False), (None, 0, False)]
)
def test_a_deadline_leaves_time_for_a_node_where_none_may_be_there(
    deadline: int | None, fewest: int, *, warned: bool
) -> None:
    job = JOB | ({"deadlineSeconds": deadline} if deadline else {})
    said = raw({**SPOT, "min": 0}, {**FALLBACK, "min": fewest}, jobs={"train": job})
    assert [finding.severity for finding in found("deadline-before-node", said)] == ["warning"] * warned
