"""What a preview looks like on a terminal."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table
from rich.tree import Tree

from doks_gpu.ops import console
from doks_gpu.plan.report import charge_words, fallback_words, idle, is_complete, most_words, total, usd

MARKS = {"error": "[red]✗[/]", "warning": "[yellow]![/]", "info": "[blue]·[/]"}
WORDS = {"error": "error", "warning": "warning", "info": "note"}

Told = Mapping[str, Any]

COLUMNS = ("what", "size", "GPU", "count", "$/h each", "$/h min", "$/h max", "price from")
NUMBERS = ("count", "$/h each", "$/h min", "$/h max")
DROPPED = ("price from", "GPU", "size", "$/h min")
"""Columns that a narrow terminal does without, the first one first."""


def show(answer: Told) -> None:
    """Prices first, then what is wrong, then the resources."""
    plan = answer["plan"]
    console.out.print(_headline(plan))
    _show_prices(plan)
    console.out.print(_money(plan), markup=False)
    for fleet in plan["fallback"]:
        console.out.print(fallback_words(fleet), markup=False)
    _show_findings(plan["findings"])
    if answer["refused"]:
        console.out.print("\n[red bold]Refused[/]: nothing would be made until the errors above are gone.")
        return
    console.out.print(_tree(answer["resources"]))


def _headline(plan: Told) -> str:
    cluster = plan["cluster"]
    what = f"existing cluster {cluster['attachedId']}" if cluster["attachedId"] else f"cluster {cluster['name']}"
    project, stack = escape(plan["project"]), escape(plan["stack"])
    return f"\n[bold]{project}[/] stack [bold]{stack}[/] · {escape(plan['region'])} · {escape(what)}\n"


def _show_prices(plan: Told) -> None:
    """The widest table that fits; where even the narrowest does not, one line per charge. No price is ever cut."""
    rows = [*_rows(plan)]
    for dropped in range(len(DROPPED) + 1):
        headings = [heading for heading in COLUMNS if heading not in DROPPED[:dropped]]
        widths = {
            heading: max(cell_len(row.get(heading, "")) for row in (*rows, {heading: heading})) for heading in headings
        }
        if sum(widths.values()) + len(widths) - 1 <= console.out.width:
            console.out.print(_table(widths, rows))
            return
    pricing = plan["pricing"]
    for charge in pricing["charges"]:
        console.out.print(charge_words(charge), markup=False)
    console.out.print(f"total: {total(pricing, 'min')} to {total(pricing, 'max')}", markup=False)


def _table(widths: Mapping[str, int], rows: Sequence[Mapping[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    for heading, width in widths.items():
        justify: Literal["left", "right"] = "right" if heading in NUMBERS else "left"
        table.add_column(heading, justify=justify, no_wrap=True, min_width=width)
    for row in rows:
        table.add_row(*(escape(row.get(heading, "")) for heading in widths), style=row["style"])
    return table


def _rows(plan: Told) -> Iterator[Mapping[str, str]]:
    pools = {pool["name"]: pool for pool in plan["pools"]}
    for charge in plan["pricing"]["charges"]:
        pool, price = pools.get(charge["name"]), charge["price"]
        yield {
            "what": charge["name"],
            "size": _size(plan, charge, pool),
            "GPU": f"{pool['gpus']}× {pool['vendor'].upper()} {pool['model'].upper()}" if pool else "",
            "count": count_words(charge),
            "$/h each": usd(price["usdPerHour"]),
            "$/h min": usd(price["usdPerHour"], charge["min"]),
            "$/h max": usd(price["usdPerHour"], charge["max"]),
            "price from": " ".join(filter(None, (price["origin"], price["readOn"]))),
            "style": "cyan" if pool and pool["isSpot"] else "",
        }
    pricing = plan["pricing"]
    sums = {bound: total(pricing, bound) if is_complete(pricing) else "unknown" for bound in ("min", "max")}
    yield {"what": "total", "$/h min": sums["min"], "$/h max": sums["max"], "style": "bold"}


def _size(plan: Told, charge: Told, pool: Told | None) -> str:
    if pool:
        return str(pool["size"])
    return str(plan["cluster"]["cpuPool"]["size"]) if charge["kind"] == "cpu-pool" else ""


def count_words(charge: Told) -> str:
    """`1–2`, or `2` for a fixed count."""
    return str(charge["max"]) if charge["min"] == charge["max"] else f"{charge['min']}–{charge['max']}"


def _money(plan: Told) -> str:
    pricing = plan["pricing"]
    dearest = pricing["dearestPool"]
    peak = f" Peak while {dearest} is replaced: {total(pricing, 'peak')} $/h." if dearest else ""
    return f"\n{most_words(plan)}{peak}\nIdle, everything at its minimum: {idle(pricing)} $/month."


def _show_findings(findings: Sequence[Mapping[str, str]]) -> None:
    counts = {kind: sum(f["severity"] == kind for f in findings) for kind in WORDS}
    summary = ", ".join(f"{count} {WORDS[kind]}{'s' if count != 1 else ''}" for kind, count in counts.items())
    console.out.print(f"\n[bold]Checks[/]: {summary} (docs/preflight.md explains each)")
    for kind in WORDS:
        for finding in (f for f in findings if f["severity"] == kind):
            grid = Table.grid(padding=(0, 1))
            grid.add_column(no_wrap=True)
            grid.add_column(ratio=1, overflow="fold")
            where = f" [dim]{escape(finding['path'])}[/]" if finding["path"] else ""
            text = (
                f"[bold]{escape(finding['rule'])}[/]{where}\n{escape(finding['message'])} {escape(finding['wayOut'])}"
            )
            grid.add_row(f"  {MARKS[kind]}", text)
            console.out.print(grid)


def _tree(resources: Sequence[Told]) -> Tree:
    children: defaultdict[str | None, list[Told]] = defaultdict(list)
    names = {row["name"] for row in resources}
    for row in resources:
        children[row["parent"] if row["parent"] in names else None].append(row)
    root = Tree(f"\n[bold]Resources[/] ({len(resources)})")

    def grow(branch: Tree, rows: Sequence[Told], seen: frozenset[str]) -> None:
        for row in rows:
            marks = "".join(f" [magenta]{escape(mark)}[/]" for mark in _option_marks(row["options"]))
            kind = escape(row["type"].rsplit(":", 1)[-1])
            leaf = branch.add(f"{kind} [cyan]{escape(row['name'])}[/]{marks}")
            if row["name"] not in seen and row["type"].startswith("doks-gpu:"):
                below = [r for r in children[row["name"]] if r is not row]
                grow(leaf, below, seen | {row["name"]})

    grow(root, children[None], frozenset())
    return root


def _option_marks(options: Told) -> list[str]:
    marks = []
    if options.get("protect"):
        marks.append("protected")
    if options.get("retainOnDelete"):
        marks.append("kept on destroy")
    if replaced := [key for key in options.get("replaceOnChanges", ()) if key != "nodeCount"]:
        marks.append(f"replaced when {', '.join(replaced)} changes")
    return marks
