"""`doks-gpu orphans`: names what bills and is in no state, and adopts or deletes it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import typer
from rich.table import Table

from doks_gpu.cloud import Cloud
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops import console
from doks_gpu.ops.engine import CLUSTER_TYPE, POOL_TYPE, Engine, StateResource
from doks_gpu.ops.project import Project, configuration
from doks_gpu.plan.facts import Facts
from doks_gpu.plan.orphans import Orphan, find_orphans
from doks_gpu.plan.pricing import cents
from doks_gpu.settings import Settings, load

EXIT_FOUND = 3
"""Exit code of `orphans` and `up` when something lives outside the state."""


def look(project: Project, engine: Engine, settings: Settings, cloud: Cloud) -> tuple[Facts, tuple[Orphan, ...]]:
    """Reads account and state. Raises `DoksGpuError` where either cannot be read."""
    with console.working("Comparing the account with the state"):
        facts = cloud.facts(project.name, engine.stack, settings.cluster.id)
        known = {resource.id for resource in engine.state() if resource.id}
    return facts, find_orphans(facts, known)


def orphans(project: Project, stack: str, *, adopt: str | None, delete: str | None, yes: bool, as_json: bool) -> int:
    """Returns 0 when nothing is left over, `EXIT_FOUND` when something is."""
    engine, cloud = Engine(project, stack), Cloud.from_environment()
    settings = load(configuration(project, stack))
    _, found = look(project, engine, settings, cloud)
    if adopt:
        return _adopt(engine, _named(found, adopt), yes=yes)
    if delete:
        return _delete(cloud, stack, found if delete == "all" else (_named(found, delete),), yes=yes)
    if as_json:
        console.print_json([_row(orphan) for orphan in found])
    else:
        show(stack, found)
    return EXIT_FOUND if found else 0


def show(stack: str, found: Sequence[Orphan]) -> None:
    """The table that `up` and `orphans` print."""
    if not found:
        console.out.print(f"Nothing of stack {stack} lives outside its state.")
        return
    table = Table(title=f"Alive, billing, and in no state: stack {stack}", title_justify="left")
    for heading in ("what", "name", "id", "region", "size", "nodes", "$/hour"):
        table.add_column(heading, justify="right" if heading in ("nodes", "$/hour") else "left", overflow="fold")
    for orphan in found:
        table.add_row(
            f"pool of {orphan.fleet}/{orphan.tier}" if orphan.kind == "pool" else "cluster",
            orphan.name,
            orphan.id,
            orphan.region,
            orphan.size,
            str(orphan.nodes) if orphan.kind == "pool" else "",
            f"{orphan.usd_per_hour:.2f}" if orphan.usd_per_hour is not None else "",
        )
    console.out.print(table)
    console.out.print(
        f"Keep one:   doks-gpu orphans --stack {stack} --adopt ID\n"
        f"Delete one: doks-gpu orphans --stack {stack} --delete ID   (or --delete all)"
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


def _delete(cloud: Cloud, stack: str, chosen: Sequence[Orphan], *, yes: bool) -> int:
    if not chosen:
        console.out.print(f"Nothing of stack {stack} lives outside its state.")
        return 0
    for orphan in chosen:
        console.out.print(f"Delete {orphan.kind} {orphan.name} ({orphan.id}) in {orphan.region} of stack {stack}")
    if not yes and not typer.confirm(f"Delete {len(chosen)}?"):
        raise DoksGpuError("Nothing was deleted.")
    for orphan in chosen:
        if orphan.kind == "cluster":
            cloud.delete_cluster(orphan.id)
        else:
            cloud.delete_pool(orphan.cluster_id, orphan.id)
        console.out.print(f"Deleted {orphan.kind} {orphan.name}.")
    return 0


def _adopt(engine: Engine, orphan: Orphan, *, yes: bool) -> int:
    type_, component = (CLUSTER_TYPE, "GpuCluster") if orphan.kind == "cluster" else (POOL_TYPE, "GpuFleet")
    state = engine.state()
    parent = _parent(state, component, orphan, engine.stack)
    name = orphan.resource_name or parent.name
    if any(row.type == type_ and row.name == name and not row.external for row in state):
        raise RefusedError(
            f"The state already holds {name}: a second one cannot be adopted. "
            f"Delete this one: doks-gpu orphans --stack {engine.stack} --delete {orphan.id}"
        )
    arguments = ["--parent", f"parent={parent.urn}", "--protect=false", "--generate-code=false"]
    if yes:
        arguments.append("--yes")
    return engine.run("import", *arguments, type_, name, orphan.id)


def _parent(state: Sequence[StateResource], component: str, orphan: Orphan, stack: str) -> StateResource:
    wanted = orphan.fleet if orphan.kind == "pool" else None
    for row in state:
        if row.type == f"doks-gpu:index:{component}" and wanted in (None, row.name):
            return row
    raise RefusedError(
        f"The state has no {component} to put {orphan.name} under, so it cannot be adopted. "
        f"Delete it: doks-gpu orphans --stack {stack} --delete {orphan.id}"
    )
