"""`doks-gpu up` and `doks-gpu destroy`: the engine's verbs, with a look at the account before and after."""

from collections.abc import Sequence

from doks_gpu.cloud import Cloud, CloudError
from doks_gpu.errors import DoksGpuError
from doks_gpu.ops import console
from doks_gpu.ops import orphans as orphan_view
from doks_gpu.ops.engine import CLUSTER_TYPE, POOL_TYPE, Engine, StateResource
from doks_gpu.ops.project import Project, configuration
from doks_gpu.plan.orphans import find_orphans
from doks_gpu.plan.pools import PoolSpec
from doks_gpu.plan.pricing import cents
from doks_gpu.plan.stack import make_plan
from doks_gpu.settings import load

EXIT_INCOMPLETE = 4
"""Exit code of `up` when a tier is missing at the end, and of `destroy` when something of the stack still lives."""


def up(project: Project, stack: str, *, yes: bool, extra: Sequence[str] = ()) -> int:
    """Refuses to add to orphans, runs the engine, and names the tiers that are missing at the end."""
    settings = load(configuration(project, stack))
    cloud, engine = Cloud.from_environment(), Engine(project, stack)
    facts, found = orphan_view.look(project, engine, settings, cloud)
    if found:
        orphan_view.show(stack, found)
        console.err.print(
            "[bold]Not started[/]: another `up` would make these a second time. Adopt or delete them first."
        )
        return orphan_view.EXIT_FOUND
    plan = make_plan(settings, facts, project=project.name, stack=stack)
    plan.refuse_errors()
    hourly = plan.pricing.hourly
    console.out.print(
        f"Stack [bold]{stack}[/] in {plan.region}: {len(plan.pools)} GPU pools, "
        f"{cents(hourly.min)} to {cents(hourly.max)} $/hour."
    )
    gone = _cluster_is_gone(cloud, engine.state())
    code = engine.run("up", "--continue-on-error", *(["--yes"] if yes else []), *extra, cluster_is_gone=gone)
    missing = missing_tiers(plan.pools, engine.state())
    for line in missing:
        console.err.print(f"[red]Missing:[/] {line}")
    left = _name_new_orphans(project, engine, cloud, settings.cluster.id)
    return EXIT_INCOMPLETE if code == 0 and (missing or left) else code


def missing_tiers(pools: Sequence[PoolSpec], state: Sequence[StateResource]) -> list[str]:
    """One line per tier of the plan that the state does not hold, or holds in its old form."""
    made = {row.name: row.outputs for row in state if row.type == POOL_TYPE}
    lines = []
    for pool in pools:
        name = f"tier {pool.tier} of fleet {pool.fleet} ({pool.size})"
        outputs = made.get(pool.name)
        if outputs is None:
            lines.append(f"{name} could not be made. The other tiers work without it; the next `up` tries again.")
        elif outputs.get("size") != pool.size or (pool.is_spot and pool.autoscaled and outputs["maxNodes"] != pool.max):
            lines.append(f"{name} could not be replaced: the old pool stays. The next `up` tries again.")
    return lines


def destroy(project: Project, stack: str, *, yes: bool, extra: Sequence[str] = ()) -> int:
    """Refreshes first: a pool that was reclaimed would fail the destroy otherwise. Names what stays and bills."""
    settings = load(configuration(project, stack))
    cloud, engine = Cloud.from_environment(), Engine(project, stack)
    state = engine.state()
    clusters = [row for row in state if row.type == CLUSTER_TYPE and not row.external]
    pools = [row for row in state if row.type == POOL_TYPE]
    console.out.print(
        f"Destroy stack [bold]{stack}[/] in {settings.region}: {len(clusters)} cluster(s), {len(pools)} GPU pool(s)."
    )
    stays = _stays(cloud, [row.id for row in clusters])
    gone = _cluster_is_gone(cloud, state)
    code = engine.run("destroy", "--refresh", *(["--yes"] if yes else []), *extra, cluster_is_gone=gone)
    if code == 0:
        for line in stays:
            console.out.print(f"Stays and bills: {line}")
    elif settings.cluster.protect:
        console.err.print(
            "The cluster is protected. To let it go: set `doks-gpu:cluster` > `protect: false` in the stack file, "
            "run `doks-gpu up`, then `doks-gpu destroy`."
        )
    left = _name_new_orphans(project, engine, cloud, settings.cluster.id)
    return EXIT_INCOMPLETE if code == 0 and left else code


def _cluster_is_gone(cloud: Cloud, state: Sequence[StateResource]) -> bool:
    """The state holds a cluster that somebody deleted by hand."""
    gone = [row.id for row in state if row.type == CLUSTER_TYPE and row.id and not cloud.has_cluster(row.id)]
    for cluster_id in gone:
        console.err.print(f"Cluster {cluster_id} was deleted outside this stack; what was in it leaves the state.")
    return bool(gone)


def _stays(cloud: Cloud, cluster_ids: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for cluster_id in cluster_ids:
        try:
            lines += cloud.associated_resources(cluster_id)
        except CloudError as error:
            lines.append(f"unknown: {error}")
    return lines


def _name_new_orphans(project: Project, engine: Engine, cloud: Cloud, cluster_id: str | None) -> bool:
    try:
        facts = cloud.facts(project.name, engine.stack, cluster_id)
        found = find_orphans(facts, {row.id for row in engine.state() if row.id})
    except DoksGpuError as error:
        console.err.print(f"Whether something was left outside the state is unknown: {error}\nRun: doks-gpu orphans")
        return True
    if found:
        orphan_view.show(engine.stack, found)
    return bool(found)
