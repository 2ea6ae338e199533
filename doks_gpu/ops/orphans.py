"""`doks-gpu orphans`: names what bills and is in no state, and adopts or deletes it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import typer
from rich.table import Table

from doks_gpu.cloud import Cloud
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops import console
from doks_gpu.ops.engine import Engine
from doks_gpu.ops.project import Project
from doks_gpu.ops.state import CLUSTER_TYPE, POOL_TYPE, State, StateResource
from doks_gpu.plan.facts import Facts
from doks_gpu.plan.orphans import Orphan, find_orphans
from doks_gpu.plan.pricing import cents

EXIT_FOUND = 3
"""Exit code of `orphans` and `up` when something lives outside the state."""


@dataclass(frozen=True)
class Look:
    """Account and state at one moment, and what lives outside the state."""

    facts: Facts
    state: State
    found: tuple[Orphan, ...]


def look(project: Project, engine: Engine, cloud: Cloud, *, attached: str | None = None) -> Look:
    """Reads account and state. `attached` is the id of an attached cluster whose address is wanted too.

    Raises `DoksGpuError` where either cannot be read, and `RefusedError` for the token of another team: there the
    stack's cluster looks deleted, and everything of the stack would be made a second time.
    """
    with console.working("Comparing the account with the state"):
        state = engine.state()
        own = [row.id for row in state.made_clusters]
        facts = cloud.facts(project.name, engine.stack, attached, own_clusters=own)
    if state.team_id and facts.team_id and state.team_id != facts.team_id:
        raise RefusedError(
            f"Stack {engine.stack} was deployed with a token of team {state.team_id}; DIGITALOCEAN_TOKEN is of team "
            f"{facts.team_name or 'without a name'} ({facts.team_id}). Export a token of the stack's team."
        )
    return Look(facts, state, find_orphans(facts, state.ids))


def orphans(
    project: Project,
    stack: str,
    *,
    adopt: str | None,
    delete: str | None,
    yes: bool,
    no_update_runs: bool,
    as_json: bool,
) -> int:
    """Returns 0 when nothing is left over, `EXIT_FOUND` when something is."""
    engine, cloud = Engine(project, stack), Cloud.from_environment()
    seen = look(project, engine, cloud)
    if (adopt or delete) and seen.state.unfinished and not no_update_runs:
        raise RefusedError(f"{unfinished_words(seen.state)} Then run the same command with --no-update-runs.")
    if adopt:
        return _adopt(engine, seen.state, _named(seen.found, adopt), yes=yes)
    if delete:
        return _delete(cloud, stack, _chosen(seen.found, delete), yes=yes)
    if as_json:
        console.print_json([_row(orphan) for orphan in seen.found])
    else:
        show(engine, seen)
    return EXIT_FOUND if seen.found else 0


def unfinished_words(state: State) -> str:
    """What the creations without an end in the state may mean, and what to do in either case."""
    return (
        f"The state holds a creation that has not ended: {', '.join(state.unfinished)}. If an `up` is running, wait "
        "for it: what it makes is no orphan. If it was killed, free the state with `pulumi cancel`."
    )


def show(engine: Engine, seen: Look) -> None:
    """The table that `up` and `orphans` print, with the ways out."""
    stack, found = engine.stack, seen.found
    if not found:
        console.out.print(f"Nothing of stack {stack} lives outside its state.")
        return
    table = Table(title=f"Alive, billing, and in no state: stack {stack}", title_justify="left", box=None)
    for heading in ("what", "name", "id", "region", "size", "nodes", "$/hour"):
        table.add_column(heading, justify="right" if heading in ("nodes", "$/hour") else "left", no_wrap=True)
    for orphan in found:
        table.add_row(
            f"pool of {orphan.fleet}/{orphan.tier}"
            if orphan.kind == "pool"
            else f"{'failed ' if orphan.failed else ''}cluster",
            orphan.name,
            orphan.id,
            orphan.region,
            orphan.size,
            str(orphan.nodes),
            f"{orphan.usd_per_hour:.2f}" if orphan.usd_per_hour is not None else "unknown",
        )
    console.print_wide(table)
    console.out.print(f"Compared with the state of stack {stack} in {engine.backend()}.")
    if seen.state.unfinished:
        console.out.print(unfinished_words(seen.state))
    if any(orphan.kind == "cluster" for orphan in found):
        console.out.print(
            "A cluster here can belong to a stack of the same project and name in another backend, or to one that was "
            "renamed: look there before you delete it, and give one of the two another name (`pulumi stack rename`)."
        )
    console.out.print(
        f"Keep one:   doks-gpu orphans --stack {stack} --adopt ID\n"
        f"Delete one: doks-gpu orphans --stack {stack} --delete ID   (or --delete all: every pool)"
    )


def _row(orphan: Orphan) -> dict[str, Any]:
    row = asdict(orphan)
    row["usd_per_hour"] = None if orphan.usd_per_hour is None else cents(orphan.usd_per_hour)
    return row


def _named(found: Sequence[Orphan], identity: str) -> Orphan:
    for orphan in found:
        if identity in (orphan.id, orphan.name):
            return orphan
    known = ", ".join(orphan.id for orphan in found) or "none"
    raise RefusedError(f"{identity} is not an orphan of this stack. Orphans: {known}.")


def _chosen(found: Sequence[Orphan], delete: str) -> list[Orphan]:
    """`all` is every pool: a cluster goes by its own id alone, since everything in it goes with it."""
    if delete != "all":
        return [_named(found, delete)]
    clusters = [orphan for orphan in found if orphan.kind == "cluster"]
    for cluster in clusters:
        console.err.print(f"Not deleted: cluster {cluster.name}. Delete it by its own id: --delete {cluster.id}")
    inside = {cluster.id for cluster in clusters}
    return [orphan for orphan in found if orphan.kind == "pool" and orphan.cluster_id not in inside]


def _delete(cloud: Cloud, stack: str, chosen: Sequence[Orphan], *, yes: bool) -> int:
    if not chosen:
        console.out.print(f"No pool of stack {stack} lives outside its state.")
        return 0
    for orphan in chosen:
        console.out.print(f"Delete {orphan.kind} {orphan.name} ({orphan.id}) in {orphan.region} of stack {stack}")
    if not yes and not _agreed(chosen):
        raise DoksGpuError("Nothing was deleted.")
    for orphan in chosen:
        if orphan.kind == "cluster":
            cloud.delete_cluster(orphan.id)
        else:
            cloud.delete_pool(orphan.cluster_id, orphan.id)
        console.out.print(f"Deleted {orphan.kind} {orphan.name}.")
    return 0


def _agreed(chosen: Sequence[Orphan]) -> bool:
    for orphan in chosen:
        if orphan.kind == "cluster":
            return bool(typer.prompt("Everything in the cluster goes. Type its name to delete it") == orphan.name)
    return typer.confirm(f"Delete {len(chosen)} pool(s)?")


def _adopt(engine: Engine, state: State, orphan: Orphan, *, yes: bool) -> int:
    delete = f"Delete it: doks-gpu orphans --stack {engine.stack} --delete {orphan.id}"
    if orphan.failed:
        raise RefusedError(f"Cluster {orphan.name} failed and never ran: it cannot be adopted. {delete}")
    type_, component = (CLUSTER_TYPE, "GpuCluster") if orphan.kind == "cluster" else (POOL_TYPE, "GpuFleet")
    parent = _parent(state, component, orphan)
    if parent is None:
        raise RefusedError(
            f"The state has no {component} to put {orphan.name} under, so it cannot be adopted. {delete}"
        )
    name = orphan.resource_name or parent.name
    if any(row.name == name and not row.external for row in state.of_type(type_)):
        raise RefusedError(f"The state already holds {name}: a second one cannot be adopted. {delete}")
    arguments = ["--parent", f"parent={parent.urn}", "--protect=false", "--generate-code=false"]
    if yes:
        arguments.append("--yes")
    return engine.run("import", *arguments, type_, name, orphan.id)


def _parent(state: State, component: str, orphan: Orphan) -> StateResource | None:
    wanted = orphan.fleet if orphan.kind == "pool" else None
    rows = state.of_type(f"doks-gpu:index:{component}")
    return next((row for row in rows if wanted in (None, row.name)), None)
