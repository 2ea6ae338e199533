"""Rules about whether the work fits the nodes."""

from collections.abc import Iterable
from decimal import Decimal

from doks_gpu.plan.preflight.model import Finding, Rule, RuleBook, Subject

BOOK = RuleBook()


@BOOK.rule("mixed-vendors", "error", "A fleet mixes NVIDIA and AMD")
def _mixed_vendors(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.fleets():
        if len({pool.vendor for pool in pools}) > 1:
            shown = ", ".join(f"{pool.tier} is {pool.vendor.upper()} ({pool.size})" for pool in pools)
            yield rule.found(
                f"fleets.{name}.tiers",
                f"A pod asks for one vendor's GPUs and its image has one vendor's libraries, but {shown}.",
                "Give each vendor its own fleet.",
            )


@BOOK.rule("memory-too-small", "error", "A worker does not fit the smallest GPU")
def _memory_too_small(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, fleet, pools in subject.fleets():
        if fleet.memory_gib is None:
            continue
        smallest = min(pools, key=lambda pool: pool.gpu_memory_gib)
        usable = smallest.gpu_memory_gib * (1 - Decimal(str(fleet.headroom)))
        if fleet.memory_gib > usable:
            yield rule.found(
                f"fleets.{name}.memoryGib",
                f"A worker needs {fleet.memory_gib} GiB; tier {smallest.tier} ({smallest.size}) has "
                f"{smallest.gpu_memory_gib} GiB per GPU, {usable.normalize():f} less a headroom of "
                f"{fleet.headroom:.0%}.",
                "Choose a larger GPU for that tier, lower headroom, or make the worker smaller.",
            )


@BOOK.rule("gpus-per-node", "error", "A workload wants more GPUs than a node has")
def _gpus_per_node(subject: Subject, rule: Rule) -> Iterable[Finding]:
    settings = subject.settings
    for kind, workloads in (("services", settings.services), ("jobs", settings.jobs)):
        for name, workload in workloads.items():
            pools = subject.by_fleet.get(workload.fleet, ())
            small = [f"{pool.tier} ({pool.gpus})" for pool in pools if pool.gpus < workload.gpus]
            if small:
                yield rule.found(
                    f"{kind}.{name}.gpus",
                    f"A pod of {name} takes {workload.gpus} GPUs of one node; these tiers of fleet "
                    f"{workload.fleet} have fewer: {', '.join(small)}.",
                    "Lower gpus, or give these tiers a size with more GPUs.",
                )


@BOOK.rule("on-demand-too-small", "warning", "On-demand cannot carry the work when Spot is gone")
def _on_demand_too_small(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.fleets():
        on_demand = [pool for pool in pools if not pool.is_spot]
        have, need = sum(pool.most_gpus for pool in on_demand), _needed_gpus(subject, name)
        if on_demand and need > have:
            yield rule.found(
                f"fleets.{name}.tiers",
                f"The work of fleet {name} takes {need} GPUs at once; its on-demand tiers have {have} at "
                f"their maximum. When all of Spot is gone, {need - have} GPU(s) worth of it waits.",
                "Raise max of an on-demand tier, or accept the wait.",
            )


@BOOK.rule("service-on-spot-only", "warning", "A service has Spot nodes alone")
def _service_on_spot_only(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.fleets():
        if not all(pool.is_spot for pool in pools):
            continue
        for service, _said in subject.services_of(name):
            yield rule.found(
                f"services.{service}.fleet",
                f"Every tier of fleet {name} is Spot: a reclaim takes the whole pool, and service "
                f"{service} with it, until somebody makes a new one.",
                f"Add an on-demand tier to fleet {name}, or move the service.",
            )


def _needed_gpus(subject: Subject, fleet: str) -> int:
    jobs = sum(
        min(job.parallelism, job.tasks or job.parallelism) * job.gpus
        for job in subject.settings.jobs.values()
        if job.fleet == fleet
    )
    return jobs + sum(service.replicas.min * service.gpus for _, service in subject.services_of(fleet))
