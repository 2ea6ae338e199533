"""What a preview looks like: on a terminal, and as the comment of a pull request."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.panel import Panel
from rich.table import Table
from rich.tree import Tree

from doks_gpu.ops import console
from doks_gpu.plan.compare import Comparison
from doks_gpu.plan.report import WAYS, wait_words

MARKS = {"error": "[red]✗[/]", "warning": "[yellow]![/]", "info": "[blue]·[/]"}
WORDS = {"error": "error", "warning": "warning", "info": "note"}


def show(answer: Mapping[str, Any], manifests: Path | None) -> None:
    """Prices first, then what is wrong, then the resources."""
    plan = answer["plan"]
    console.out.print(_headline(plan))
    console.out.print(_pools(plan))
    console.out.print(_money(plan))
    for line in _fallback(plan):
        console.out.print(line)
    _show_findings(plan["findings"])
    if answer["refused"]:
        console.out.print("\n[red bold]Refused[/]: nothing would be made until the errors above are gone.")
        return
    console.out.print(_tree(answer["resources"]))
    if manifests:
        console.out.print(f"Manifests: {_relative(manifests)}")


def _headline(plan: Mapping[str, Any]) -> str:
    cluster = plan["cluster"]
    what = f"existing cluster {cluster['attachedId']}" if cluster["attachedId"] else f"cluster {cluster['name']}"
    return f"\n[bold]{plan['project']}[/] stack [bold]{plan['stack']}[/] · {plan['region']} · {what}\n"


def _pools(plan: Mapping[str, Any]) -> Table:
    pools = {pool["name"]: pool for pool in plan["pools"]}
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for heading in ("what", "size", "GPU"):
        table.add_column(heading, no_wrap=True)
    for heading in ("count", "$/h each", "$/h min", "$/h max"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("price from", no_wrap=True)
    for charge in plan["pricing"]["charges"]:
        pool, price = pools.get(charge["name"]), charge["price"]
        table.add_row(
            charge["name"],
            _size(plan, charge, pool),
            f"{pool['gpus']}× {pool['vendor'].upper()} {pool['model'].upper()}" if pool else "",
            _range(charge),
            _usd(price["usdPerHour"]),
            _usd(price["usdPerHour"], charge["min"]),
            _usd(price["usdPerHour"], charge["max"]),
            " ".join(filter(None, (price["origin"], price["readOn"]))),
            style="cyan" if pool and pool["isSpot"] else None,
        )
    hourly = plan["pricing"]["hourly"]
    total = (f"[bold]{_usd(hourly[bound])}[/]" for bound in ("min", "max"))
    table.add_row("[bold]total[/]", "", "", "", "", *total)
    return table


def _size(plan: Mapping[str, Any], charge: Mapping[str, Any], pool: Mapping[str, Any] | None) -> str:
    if pool:
        return str(pool["size"])
    return str(plan["cluster"]["cpuPool"]["size"]) if charge["kind"] == "cpu-pool" else ""


def _range(charge: Mapping[str, Any]) -> str:
    return str(charge["max"]) if charge["min"] == charge["max"] else f"{charge['min']}–{charge['max']}"


def _money(plan: Mapping[str, Any]) -> str:
    pricing = plan["pricing"]
    hourly, dearest = pricing["hourly"], pricing["dearestPool"]
    peak = f" Peak while {dearest} is replaced: {_usd(hourly['peak'])} $/h." if dearest else ""
    return (
        f"\nAt most {_usd(hourly['max'])} of {_usd(plan['limits']['usdPerHour'])} $/h allowed.{peak}\n"
        f"Idle, everything at its minimum: {_usd(pricing['idlePerMonth'])} $/month."
    )


def _fallback(plan: Mapping[str, Any]) -> list[str]:
    lines = []
    for fleet in plan["fallback"]:
        ways = ", ".join(f"{_wait(way)} when {WAYS[way['way']]}" for way in fleet["ways"])
        lines.append(f"On-demand capacity for fleet {fleet['fleet']} is asked for after {ways}.")
    return lines


def _wait(way: Mapping[str, Any]) -> str:
    soonest, latest = (wait_words(timedelta(seconds=way[bound])) for bound in ("soonest", "latest"))
    return soonest if soonest == latest else f"{soonest} to {latest}"


def _show_findings(findings: Sequence[Mapping[str, str]]) -> None:
    counts = {kind: sum(f["severity"] == kind for f in findings) for kind in WORDS}
    summary = ", ".join(f"{count} {WORDS[kind]}{'s' if count != 1 else ''}" for kind, count in counts.items())
    console.out.print(f"\n[bold]Checks[/]: {summary} (docs/preflight.md explains each)")
    for kind in WORDS:
        for finding in (f for f in findings if f["severity"] == kind):
            grid = Table.grid(padding=(0, 1))
            grid.add_column(no_wrap=True)
            grid.add_column(ratio=1)
            where = f" [dim]{escape(finding['path'])}[/]" if finding["path"] else ""
            text = f"[bold]{finding['rule']}[/]{where}\n{escape(finding['message'])} {escape(finding['wayOut'])}"
            grid.add_row(f"  {MARKS[kind]}", text)
            console.out.print(grid)


def _tree(resources: Sequence[Mapping[str, Any]]) -> Tree:
    children: defaultdict[str | None, list[Mapping[str, Any]]] = defaultdict(list)
    names = {row["name"] for row in resources}
    for row in resources:
        children[row["parent"] if row["parent"] in names else None].append(row)
    root = Tree(f"\n[bold]Resources[/] ({len(resources)})")

    def grow(branch: Tree, rows: Sequence[Mapping[str, Any]], seen: frozenset[str]) -> None:
        for row in rows:
            marks = "".join(f" [magenta]{mark}[/]" for mark in _option_marks(row["options"]))
            leaf = branch.add(f"{row['type'].rsplit(':', 1)[-1]} [cyan]{row['name']}[/]{marks}")
            if row["name"] not in seen and row["type"].startswith("doks-gpu:"):
                below = [r for r in children[row["name"]] if r is not row]
                grow(leaf, below, seen | {row["name"]})

    grow(root, children[None], frozenset())
    return root


def _option_marks(options: Mapping[str, Any]) -> list[str]:
    marks = []
    if options.get("protect"):
        marks.append("protected")
    if options.get("retainOnDelete"):
        marks.append("kept on destroy")
    if replaced := [key for key in options.get("replaceOnChanges", ()) if key != "nodeCount"]:
        marks.append(f"replaced when {', '.join(replaced)} changes")
    return marks


def show_comparison(comparison: Comparison, errors: str | None) -> None:
    """The pull-request comment's sentences, for a terminal."""
    console.out.print(f"\n[bold]What changes in stack {comparison.stack}[/]")
    if errors:
        console.out.print(Panel(escape(errors), title="refused", border_style="red"))
        return
    for heading, lines in _sections(comparison):
        console.out.print(f"\n[bold]{heading}[/]")
        for line in lines:
            console.out.print(f"  • {escape(line.replace('**', '').replace('`', ''))}")
    if comparison.empty:
        console.out.print("Nothing.")


def markdown(comparison: Comparison, after: Mapping[str, Any] | None, errors: str | None) -> str:
    """The comment of a pull request. Text that comes from the stack file cannot end a code block or mention anybody."""
    parts = [f"### doks-gpu preview: stack `{comparison.stack}`"]
    if errors:
        fence = "\n".join(line.replace("```", "'''") for line in errors.splitlines())
        return (
            "\n\n".join([*parts, "**The configuration is refused.** Nothing would be made.", f"```\n{fence}\n```"])
            + "\n"
        )
    if after and after["refused"]:
        parts.append("**Refused**: the errors below stop the stack before the first resource.")
    parts += [
        f"**{heading}**\n" + "\n".join(f"- {_harmless(line)}" for line in lines)
        for heading, lines in _sections(comparison)
    ]
    if comparison.empty:
        parts.append("Nothing changes.")
    if after:
        parts.append(_markdown_pools(after["plan"]))
    return "\n\n".join(parts) + "\n"


def _harmless(text: str) -> str:
    return text.replace("@", "@\u200b").replace("<", "&lt;").replace("\n", " ")


def _markdown_pools(plan: Mapping[str, Any]) -> str:
    rows = ["| what | count | $/h each | $/h max |", "|---|--:|--:|--:|"]
    for charge in plan["pricing"]["charges"]:
        price = charge["price"]["usdPerHour"]
        rows.append(
            f"| {_harmless(charge['name'])} | {_range(charge)} | {_usd(price)} | {_usd(price, charge['max'])} |"
        )
    rows.append(f"| **total** | | | **{_usd(plan['pricing']['hourly']['max'])}** |")
    table = "\n".join(rows)
    return f"<details><summary>Prices after the change</summary>\n\n{table}\n\n</details>"


def _sections(comparison: Comparison) -> list[tuple[str, list[str]]]:
    def told(findings: Sequence[Mapping[str, str]]) -> list[str]:
        return [f"{f['severity']} `{f['rule']}`: {f['message']} {f['wayOut']}" for f in findings]

    sections = [
        ("Cluster", list(comparison.cluster)),
        ("Pools", list(comparison.pools)),
        ("Price", list(comparison.price)),
        ("Limits", list(comparison.limits)),
        ("New checks", told(comparison.new_findings)),
        ("Checks that are gone", told(comparison.gone_findings)),
        ("Manifests", list(comparison.manifests)),
        ("Engine options", list(comparison.other)),
    ]
    return [(heading, lines) for heading, lines in sections if lines]


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """Stable JSON form of a comparison."""
    return asdict(comparison)


def _usd(value: str | None, units: int = 1) -> str:
    return "unknown" if value is None else f"{Decimal(value) * units:,.2f}"


def _relative(path: Path) -> str:
    here = Path.cwd()
    return f"{path.relative_to(here)}/" if path.is_relative_to(here) else f"{path}/"
