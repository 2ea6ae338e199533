"""What a comparison looks like: on a terminal, as JSON, and as the comment of a pull request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.markup import escape
from rich.panel import Panel

from doks_gpu.ops import console, preview_view
from doks_gpu.plan.compare import Comparison, as_dict, plain
from doks_gpu.plan.report import fallback_words, most_words, total, usd

NOTHING_TO_COMPARE = "The configuration before was refused, so there is nothing to compare with."
REFUSED = "The configuration is refused."

Plan = Mapping[str, Any]
Findings = Sequence[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class Told:
    """Everything that a comparison has to tell."""

    stack: str
    comparison: Comparison | None
    """None when the configuration of either side was refused."""
    before_errors: str | None
    after: Mapping[str, Any] | None
    """None for a stack that is removed, and for one whose configuration was refused."""
    after_errors: str | None

    @property
    def refused(self) -> bool:
        """The stack as it is after the change would not be made."""
        return bool(self.after_errors or (self.after and self.after["refused"]))


def show(told: Told) -> None:
    """The pull-request comment's sentences, for a terminal."""
    console.out.print(f"\n[bold]What changes in stack {escape(told.stack)}[/]")
    if told.after_errors:
        console.out.print(Panel(escape(told.after_errors), title="refused", border_style="red"))
        return
    if told.comparison is None:
        console.out.print(f"{NOTHING_TO_COMPARE} This is the stack after the change.")
        console.out.print(Panel(escape(told.before_errors or ""), title="refused before", border_style="yellow"))
        if told.after:
            preview_view.show(told.after)
        return
    for heading, lines in _sections(told.comparison):
        console.out.print(f"\n[bold]{heading}[/]")
        for line in lines:
            console.out.print(f"  • {plain(line)}", markup=False)
    if told.comparison.empty:
        console.out.print("Nothing.")


def as_json(told: Told) -> dict[str, Any]:
    """Stable JSON: camelCase keys, sentences without marks; `comparison` is null when a side was refused.

    `plan` is the stack after the change.
    """
    return {
        "comparison": as_dict(told.comparison) if told.comparison else None,
        "beforeErrors": [told.before_errors] if told.before_errors else [],
        "errors": [told.after_errors] if told.after_errors else [],
        "plan": told.after["plan"] if told.after else None,
        "refused": told.refused,
    }


def markdown(told: Told) -> str:
    """The comment of a pull request. Text that comes from the stack file cannot end a code block or mention anybody."""
    parts = [f"### doks-gpu preview: stack `{harmless(told.stack).replace('`', chr(39))}`"]
    if told.after_errors:
        return "\n\n".join([*parts, f"**{REFUSED}** Nothing would be made.", _fenced(told.after_errors)]) + "\n"
    if told.after and told.after["refused"]:
        parts.append("**Refused**: the errors below stop the stack before the first resource.")
    if told.comparison is None:
        parts += [f"**{NOTHING_TO_COMPARE}**", _fenced(told.before_errors or ""), *_after(told.after)]
    else:
        parts += [_section(heading, lines) for heading, lines in _sections(told.comparison)]
        if told.comparison.empty:
            parts.append("Nothing changes.")
    if told.after:
        parts.append(_prices(told.after["plan"]))
    return "\n\n".join(parts) + "\n"


def harmless(text: str) -> str:
    """Text that starts no tag, no mention and no line of its own."""
    return text.replace("@", "@\u200b").replace("<", "&lt;").replace("\n", " ")


def _fenced(text: str) -> str:
    inside = "\n".join(line.replace("```", "'''") for line in text.splitlines())
    return f"```\n{inside}\n```"


def _section(heading: str, lines: Sequence[str]) -> str:
    return f"**{heading}**\n" + "\n".join(f"- {harmless(line)}" for line in lines)


def _after(answer: Mapping[str, Any] | None) -> list[str]:
    """The stack after a change that cannot be compared: its money, its fallback, its checks."""
    if answer is None:
        return []
    plan = answer["plan"]
    lines = [most_words(plan), *(fallback_words(fleet) for fleet in plan["fallback"])]
    checks = _findings([finding for finding in plan["findings"] if finding["severity"] != "info"])
    return [_section("After the change", lines), *([_section("Checks", checks)] if checks else [])]


def _prices(plan: Plan) -> str:
    rows = ["| what | count | $/h each | $/h max |", "|---|--:|--:|--:|"]
    for charge in plan["pricing"]["charges"]:
        price = charge["price"]["usdPerHour"]
        name, count = harmless(charge["name"]), preview_view.count_words(charge)
        rows.append(f"| {name} | {count} | {usd(price)} | {usd(price, charge['max'])} |")
    rows.append(f"| **total** | | | **{total(plan['pricing'], 'max')}** |")
    table = "\n".join(rows)
    return f"<details><summary>Prices after the change</summary>\n\n{table}\n\n</details>"


def _findings(findings: Findings) -> list[str]:
    return [f"{f['severity']} `{f['rule']}`: {f['message']} {f['wayOut']}" for f in findings]


def _sections(comparison: Comparison) -> list[tuple[str, Sequence[str]]]:
    sections: list[tuple[str, Sequence[str]]] = [
        ("Cluster", comparison.cluster),
        ("Pools", comparison.pools),
        ("Fallback", comparison.fallback),
        ("Jobs", comparison.jobs),
        ("Limits", comparison.limits),
        ("Price", comparison.price),
        ("Settings", comparison.settings),
        ("New checks", _findings(comparison.new_findings)),
        ("Changed checks", _findings(comparison.changed_findings)),
        ("Checks that are gone", _findings(comparison.gone_findings)),
        ("Manifests", comparison.manifests),
        ("Other resources", comparison.other),
    ]
    return [(heading, lines) for heading, lines in sections if lines]
