"""`doks-gpu up` and `doks-gpu destroy`: the engine's verbs, with a look at the account before and after."""

from collections.abc import Sequence

from doks_gpu.cloud import Cloud, CloudError
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops import console
from doks_gpu.ops import orphans as orphan_view
from doks_gpu.ops.engine import CLUSTER_TYPE, POOL_TYPE, Engine, StateResource
from doks_gpu.ops.project import Project, configuration
from doks_gpu.plan.pools import PoolSpec
from doks_gpu.plan.pricing import cents
from doks_gpu.plan.stack import make_plan
from doks_gpu.settings import Settings, load

EXIT_INCOMPLETE = 4
"""Exit code of `up` when a tier is missing at the end, and of `destroy` when something of the stack still lives."""


def up(project: Project, stack: str, *, yes: bool, cluster_is_gone: bool = False, extra: Sequence[str] = ()) -> int:
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
    _refuse_where_the_cluster_is_missing(cloud, engine.state(), cluster_is_gone=cluster_is_gone)
    code = engine.run("up", "--continue-on-error", *(["--yes"] if yes else []), *extra, cluster_is_gone=cluster_is_gone)
    missing = missing_tiers(plan.pools, engine.state())
    for line in missing:
        console.err.print(f"[red]Missing:[/] {line}")
    left = _name_new_orphans(project, engine, settings, cloud)
    return EXIT_INCOMPLETE if code == 0 and (missing or left) else code


def missing_tiers(pools: Sequence[PoolSpec], state: Sequence[StateResource]) -> list[str]:
    """One line per tier of the plan that the state does not hold, or holds in its old form."""
    made = {row.name: row.outputs for row in state if row.type == POOL_TYPE}
    others = "The other tiers work without it. " if made else ""
    lines = []
    for pool in pools:
        name = f"tier {pool.tier} of fleet {pool.fleet} ({pool.size})"
        outputs = made.get(pool.name)
        if outputs is None:
            lines.append(f"{name} is not there. {others}The next `up` tries again.")
        elif outputs.get("size") != pool.size or (pool.is_spot and pool.autoscaled and outputs["maxNodes"] != pool.max):
            lines.append(f"{name} could not be replaced: the old pool stays. The next `up` tries again.")
    return lines


def destroy(
    project: Project, stack: str, *, yes: bool, cluster_is_gone: bool = False, extra: Sequence[str] = ()
) -> int:
    """Refreshes first: a pool that was reclaimed would fail the destroy otherwise. Names what stays and bills."""
    settings = load(configuration(project, stack))
    cloud, engine = Cloud.from_environment(), Engine(project, stack)
    state = engine.state()
    clusters = [row for row in state if row.type == CLUSTER_TYPE and not row.external]
    pools = [row for row in state if row.type == POOL_TYPE]
    console.out.print(
        f"Destroy stack [bold]{stack}[/] in {settings.region}: {len(clusters)} cluster(s), {len(pools)} GPU pool(s)."
    )
    _refuse_where_the_cluster_is_missing(cloud, state, cluster_is_gone=cluster_is_gone)
    stays = _stays(cloud, [row.id for row in clusters])
    code = engine.run("destroy", "--refresh", *(["--yes"] if yes else []), *extra, cluster_is_gone=cluster_is_gone)
    if code == 0:
        for line in stays:
            console.out.print(f"Stays and bills: {line}")
    elif settings.cluster.protect:
        console.err.print(
            "The cluster is protected. To let it go: set `doks-gpu:cluster` > `protect: false` in the stack file, "
            "run `doks-gpu up`, then `doks-gpu destroy`."
        )
    left = _name_new_orphans(project, engine, settings, cloud)
    return EXIT_INCOMPLETE if code == 0 and left else code


def _refuse_where_the_cluster_is_missing(
    cloud: Cloud, state: Sequence[StateResource], *, cluster_is_gone: bool
) -> None:
    """A cluster that this token cannot see was deleted, or belongs to another team: only a person can tell which.

    Taken for deleted, a stack of another team would be made a second time here, and go on billing there.
    """
    known = {row.id for row in state if row.type == CLUSTER_TYPE and row.id}
    known |= {str(row.outputs["clusterIdentifier"]) for row in state if row.outputs.get("clusterIdentifier")}
    missing = sorted(cluster_id for cluster_id in known if not cloud.has_cluster(cluster_id))
    if missing and not cluster_is_gone:
        raise RefusedError(
            f"The state holds cluster {', '.join(missing)}, which the account of this token does not have. "
            "Is DIGITALOCEAN_TOKEN that of another team? Then export the right one. "
            "Was the cluster deleted by hand? Then run the same command with --cluster-is-gone."
        )


def _stays(cloud: Cloud, cluster_ids: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for cluster_id in cluster_ids:
        try:
            lines += cloud.associated_resources(cluster_id)
        except CloudError as error:
            lines.append(f"unknown: {error}")
    return lines


def _name_new_orphans(project: Project, engine: Engine, settings: Settings, cloud: Cloud) -> bool:
    try:
        _, found = orphan_view.look(project, engine, settings, cloud)
    except DoksGpuError as error:
        console.err.print(f"Whether something was left outside the state is unknown: {error}\nRun: doks-gpu orphans")
        return True
    if found:
        orphan_view.show(engine.stack, found)
    return bool(found)
