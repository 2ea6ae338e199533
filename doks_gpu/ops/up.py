"""`doks-gpu up` and `doks-gpu destroy`: the engine's verbs, with a look at the account before and after."""

from collections.abc import Sequence

from doks_gpu.cloud import READ_SECONDS, Cloud, CloudError
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops import console
from doks_gpu.ops import orphans as orphan_view
from doks_gpu.ops.engine import Engine
from doks_gpu.ops.missing import missing_tiers
from doks_gpu.ops.project import Project, configuration
from doks_gpu.ops.running_jobs import ask_before_stopping
from doks_gpu.ops.state import State
from doks_gpu.plan.pricing import cents
from doks_gpu.plan.stack import make_plan
from doks_gpu.settings import load

EXIT_INCOMPLETE = 4
"""Exit code of `up` when a tier is missing at the end, and of `destroy` when something of the stack still lives."""


def up(project: Project, stack: str, *, yes: bool, cluster_is_gone: bool = False, extra: Sequence[str] = ()) -> int:
    """Refuses to add to orphans, runs the engine, and names the tiers that are missing at the end."""
    settings = load(configuration(project, stack))
    cloud, engine = Cloud.from_environment(), Engine(project, stack)
    before = orphan_view.look(project, engine, cloud, attached=settings.cluster.id)
    if before.found:
        orphan_view.show(engine, before)
        console.err.print("[bold]Not started[/]: another `up` would make these a second time.")
        return orphan_view.EXIT_FOUND
    plan = make_plan(settings, before.facts, project=project.name, stack=stack)
    plan.refuse_errors()
    hourly = plan.pricing.hourly
    console.out.print(
        f"Stack [bold]{stack}[/] in {plan.region}: {len(plan.pools)} GPU pools, "
        f"{cents(hourly.min)} to {cents(hourly.max)} $/hour."
    )
    _check_access(cloud, before.state, cluster_is_gone=cluster_is_gone)
    ask_before_stopping(cloud, before.state, plan.jobs, plan.namespace, yes=yes)
    code = engine.run("up", "--continue-on-error", *(["--yes"] if yes else []), *extra, cluster_is_gone=cluster_is_gone)
    after = _look_again(project, engine, cloud)
    if after is None:
        return code or EXIT_INCOMPLETE
    if code and after.state.saved_at == before.state.saved_at:
        return code
    missing = missing_tiers(plan.pools, after.state)
    for line in missing:
        console.err.print(f"[red]Missing:[/] {line}")
    return EXIT_INCOMPLETE if code == 0 and (missing or after.found) else code


def destroy(
    project: Project, stack: str, *, yes: bool, cluster_is_gone: bool = False, extra: Sequence[str] = ()
) -> int:
    """Refreshes first: a pool that was reclaimed would fail the destroy otherwise. Names what stays and bills."""
    settings = load(configuration(project, stack))
    cloud, engine = Cloud.from_environment(), Engine(project, stack)
    before = orphan_view.look(project, engine, cloud)
    made = [row.id for row in before.state.made_clusters]
    pools = len(before.state.pools)
    console.out.print(
        f"Destroy stack [bold]{stack}[/] in {settings.region}: {len(made)} cluster(s), {pools} GPU pool(s)."
    )
    _check_access(cloud, before.state, cluster_is_gone=cluster_is_gone)
    ask_before_stopping(cloud, before.state, (), "", yes=yes)
    stays = _stays(cloud, made)
    code = engine.run("destroy", "--refresh", *(["--yes"] if yes else []), *extra, cluster_is_gone=cluster_is_gone)
    after = _look_again(project, engine, cloud)
    if after is None:
        return code or EXIT_INCOMPLETE
    if code == 0:
        for line in stays:
            console.out.print(f"Stays and bills: {line}")
    elif any(row.protect for row in after.state.made_clusters):
        console.err.print(
            "The cluster is protected, so the engine does not destroy it. To let it go: set `doks-gpu:cluster` > "
            "`protect: false` in the stack file, run `doks-gpu up`, then `doks-gpu destroy`."
        )
    return EXIT_INCOMPLETE if code == 0 and after.found else code


def _check_access(cloud: Cloud, state: State, *, cluster_is_gone: bool) -> None:
    """A cluster that this token cannot see was deleted, or belongs to another team: only a person can tell which.

    Taken for deleted, a stack of another team would be made a second time here, and go on billing there. One that is
    there must give credentials: the engine would call it unreachable, and hide the API's reason.
    """
    missing = sorted(cluster_id for cluster_id in state.cluster_ids if not cloud.has_cluster(cluster_id))
    if missing and not cluster_is_gone:
        raise RefusedError(
            f"The state holds cluster {', '.join(missing)}, which the account of this token does not have. "
            "Is DIGITALOCEAN_TOKEN that of another team? Then export the right one. "
            "Was the cluster deleted by hand? Then run the same command with --cluster-is-gone."
        )
    for cluster_id in state.cluster_ids.difference(missing):
        cloud.credentials(cluster_id, READ_SECONDS)


def _stays(cloud: Cloud, cluster_ids: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for cluster_id in cluster_ids:
        try:
            lines += cloud.associated_resources(cluster_id)
        except CloudError as error:
            lines.append(f"unknown: {error}")
    return lines


def _look_again(project: Project, engine: Engine, cloud: Cloud) -> orphan_view.Look | None:
    """Names what the run left outside the state. None where that cannot be known."""
    try:
        after = orphan_view.look(project, engine, cloud)
        if after.found:
            orphan_view.show(engine, after)
    except DoksGpuError as error:
        console.err.print(f"Whether something was left outside the state is unknown: {error}\nRun: doks-gpu orphans")
        return None
    return after
