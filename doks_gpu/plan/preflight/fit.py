"""Rules about whether the work fits the nodes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal

from doks_gpu.plan.fallback import GPU_POD_WAIT, PROVISION_TIMEOUT
from doks_gpu.plan.pools import PoolSpec
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


@BOOK.rule("tasks-file", "error", "A job's tasks are in a file")
def _tasks_file(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, job in subject.settings.jobs.items():
        if job.tasks_file is not None:
            yield rule.found(
                f"jobs.{name}.tasksFile",
                f"The tasks of job {name} are to be read from {job.tasks_file}, which this version cannot do yet.",
                "Set tasks to their number, and let the program find its own by JOB_COMPLETION_INDEX.",
            )


@BOOK.rule("deadline-before-node", "warning", "A job's deadline may pass before it has a node")
def _deadline_before_node(subject: Subject, rule: Rule) -> Iterable[Finding]:
    slowest = int((GPU_POD_WAIT + PROVISION_TIMEOUT).total_seconds())
    for name, job in subject.settings.jobs.items():
        pools = subject.by_fleet.get(job.fleet, ())
        if job.deadline_seconds is None or job.deadline_seconds >= slowest or any(pool.min for pool in pools):
            continue
        yield rule.found(
            f"jobs.{name}.deadlineSeconds",
            f"Every pool of fleet {job.fleet} may be without a node. One may take {slowest} s to come, and the "
            f"deadline of {job.deadline_seconds} s, which runs from the start of the job, fails all its tasks.",
            f"Raise deadlineSeconds to {slowest} or more and the time that the work takes, or min of a tier to 1.",
        )


@BOOK.rule("on-demand-too-small", "warning", "On-demand cannot carry the work when Spot is gone")
def _on_demand_too_small(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.whole_fleets():
        on_demand = [pool for pool in pools if not pool.is_spot]
        pods = _job_pods(subject, name)
        if on_demand:  # else the services are service-on-spot-only's
            pods += _service_pods(subject, name)
        waiting = _pods_without_room(pods, on_demand)
        if waiting:
            have, need = sum(pool.most_gpus for pool in on_demand), sum(gpus * count for gpus, count in pods.items())
            nodes = ", ".join(f"{pool.max} node(s) of {pool.gpus}" for pool in on_demand) or "none"
            when = "When all of Spot is gone" if len(on_demand) < len(pools) else "As the fleet has no Spot"
            yield rule.found(
                f"fleets.{name}.tiers",
                f"The work of fleet {name} takes {need} GPUs at once, in {pods.total()} pod(s); its on-demand tiers "
                f"have {have} at their maximum ({nodes}). {when}, {waiting} pod(s) wait.",
                "Raise max of an on-demand tier, or accept the wait."
                if on_demand
                else "Add an on-demand tier after Spot, or accept the wait.",
            )


@BOOK.rule("service-on-spot-only", "warning", "A service has Spot nodes alone")
def _service_on_spot_only(subject: Subject, rule: Rule) -> Iterable[Finding]:
    for name, _, pools in subject.whole_fleets():
        if not all(pool.is_spot for pool in pools):
            continue
        for service, _said in subject.services_of(name):
            yield rule.found(
                f"services.{service}.fleet",
                f"Every tier of fleet {name} is Spot: a reclaim takes the whole pool, and service "
                f"{service} with it, until somebody makes a new one.",
                f"Add an on-demand tier to fleet {name}, or move the service.",
            )


def _job_pods(subject: Subject, fleet: str) -> Counter[int]:
    """Pods that run at once, by the GPUs that each takes."""
    pods: Counter[int] = Counter()
    for job in subject.settings.jobs.values():
        if job.fleet == fleet:
            pods[job.gpus] += min(job.parallelism, job.tasks or job.parallelism)
    return pods


def _service_pods(subject: Subject, fleet: str) -> Counter[int]:
    """The fewest replicas, by the GPUs that each takes."""
    pods: Counter[int] = Counter()
    for _, service in subject.services_of(fleet):
        pods[service.gpus] += service.replicas.min
    return pods


def _pods_without_room(pods: Mapping[int, int], pools: Iterable[PoolSpec]) -> int:
    """Pods that stay over when all nodes are there. A pod takes its GPUs of one node; large pods go first, each to
    the fullest node that has room."""
    free: Counter[int] = Counter()
    for pool in pools:
        free[pool.gpus] += pool.max
    return sum(_place(gpus, pods[gpus], free) for gpus in sorted(pods, reverse=True))


def _place(gpus: int, count: int, free: Counter[int]) -> int:
    """Takes the room of `count` pods from `free` (nodes by their free GPUs) and tells how many found none."""
    for room in sorted(room for room in free if room >= gpus):
        for held, nodes in _filled(count, room // gpus, free[room]):
            free[room] -= nodes
            free[room - held * gpus] += nodes
            count -= held * nodes
    return count


def _filled(count: int, each: int, nodes: int) -> Iterator[tuple[int, int]]:
    """Pods on a node, and how many nodes hold so many: full ones, then one with the rest."""
    full = min(nodes, count // each)
    yield each, full
    if full < nodes and count > full * each:
        yield count - full * each, 1
