"""The documents: links lead somewhere, and the decisions are listed and uniform."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADR = ROOT / "docs" / "adr"
RECORDS = sorted(path for path in ADR.glob("*.md") if path.name != "README.md")
SECTIONS = ["Context", "Evidence", "Decision", "Rejected", "Consequences"]

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)[^)]*\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)


def documents() -> list[Path]:
    """Markdown of the project, not of what tools have left in hidden folders."""
    found = ROOT.rglob("*.md")
    return sorted(p for p in found if not any(part.startswith(".") for part in p.relative_to(ROOT).parts[:-1]))


def prose(path: Path) -> str:
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


def links(path: Path) -> list[str]:
    found = _LINK.findall(_CODE.sub("", prose(path)))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(path: Path) -> set[str]:
    """What GitHub makes of the headings: lower case, spaces to dashes, everything else than words gone."""
    headings = (_CODE.sub(lambda code: code[0].strip("`"), heading) for heading in _HEADING.findall(prose(path)))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(path: Path, link: str, root: Path = ROOT) -> bool:
    file, _, anchor = link.partition("#")
    target = (path.parent / file).resolve() if file else path
    if not target.exists() or not target.is_relative_to(root):
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in anchors(target)


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    assert [link for link in links(path) if broken(path, link)] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[a](missing.md)", ["missing.md"]),
        ("[a](CONTRIBUTING.md)", []),
        ("[a](CONTRIBUTING.md#no-such-heading)", ["CONTRIBUTING.md#no-such-heading"]),
        ("[a](#here)\n\n## Here", []),
        ("`[a](missing.md)` [b](https://example.com/missing.md)", []),
        ("```\n[a](missing.md)\n```", []),
    ],
)
def test_the_link_check_sees_what_is_broken_and_nothing_else(text: str, expected: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    (tmp_path / "CONTRIBUTING.md").write_text("# Rules\n")
    assert [link for link in links(page) if broken(page, link, tmp_path)] == expected


def test_the_index_lists_every_decision_with_its_title() -> None:
    listed = re.findall(r"\[(\d{4})\]\((\d{4}-[a-z0-9-]+\.md)\) \| ([^|]+) \|", (ADR / "README.md").read_text())
    titles = {path.name: path.read_text().splitlines()[0].removeprefix("# ") for path in RECORDS}
    assert [(file, f"{number}: {title.strip()}") for number, file, title in listed] == list(titles.items())


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [int(path.name[:4]) for path in RECORDS] == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_decision_has_the_common_form(path: Path) -> None:
    assert re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE) == SECTIONS


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_the_evidence_of_a_decision_has_a_date(path: Path) -> None:
    evidence = path.read_text().partition("## Evidence")[2].partition("\n## ")[0]
    assert re.search(r"\d{4}-\d{2}-\d{2}", evidence)
