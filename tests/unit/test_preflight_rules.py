"""The rule book: every rule is documented, with the same title and severity, and speaks in a useful way."""

import re
from pathlib import Path

import pytest

from doks_gpu.plan.preflight import RULES, Rule
from tests.unit.stacks import plan, raw

DOCS = Path(__file__).parents[2] / "docs" / "preflight.md"
HEADING = re.compile(r"^### `(?P<id>[a-z-]+)`: (?P<title>.+) \((?P<severity>error|warning|info)\b", re.MULTILINE)


def entries() -> dict[str, re.Match[str]]:
    return {found["id"]: found for found in HEADING.finditer(DOCS.read_text())}


def test_code_and_docs_have_the_same_rules_in_the_same_order() -> None:
    assert list(entries()) == [rule.id for rule in RULES]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_docs_give_a_rule_its_title_and_severity(rule: Rule) -> None:
    entry = entries()[rule.id]
    assert (entry["title"], entry["severity"]) == (rule.title, rule.severity)


@pytest.mark.parametrize("part", ["**What.**", "**Why.**", "**Way out.**"])
def test_every_entry_says_what_why_and_the_way_out(part: str) -> None:
    sections = re.split(r"^### ", DOCS.read_text(), flags=re.MULTILINE)[1:]
    assert [section.split("`")[1] for section in sections if part not in section] == []


def test_ids_are_there_once() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)


def test_a_good_stack_has_no_error() -> None:
    assert plan(raw()).errors == ()
