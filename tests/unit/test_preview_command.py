"""`doks-gpu preview` as people call it: what it refuses, where it prints, and what it never does.

The program of the checkout is a stand-in that prints one answer, so that a call takes no time.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from doks_gpu.ops import console, preview_view
from doks_gpu.ops.main import main
from doks_gpu.ops.manifests import write_manifests
from doks_gpu.plan.stack import as_dict
from doks_gpu.settings import load
from doks_gpu.stackfile import set_path
from tests.unit.settings_examples import FULL
from tests.unit.stacks import plan

PROGRAM = "import pathlib, sys\nsys.stdout.write(pathlib.Path(__file__).with_name('answer.json').read_text())\n"
LONG = "a" * 300


@dataclass(frozen=True)
class Call:
    code: int
    out: str
    err: str


Command = Callable[..., Call]


def answer(*assignments: str) -> dict[str, Any]:
    said: dict[str, Any] = FULL
    for path, value in (assignment.split("=", 1) for assignment in assignments):
        said = set_path(said, path, value)
    told = as_dict(plan(said))
    refused = any(finding["severity"] == "error" for finding in told["findings"])
    settings = load(said).model_dump(mode="json", by_alias=True)
    return {"plan": told, "refused": refused, "resources": [], "settings": settings}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return made(tmp_path / "project")


def made(folder: Path, *assignments: str) -> Path:
    folder.mkdir()
    (folder / "Pulumi.yaml").write_text("name: doks-gpu\nruntime: python\n")
    (folder / "Pulumi.dev.yaml").write_text("config:\n  doks-gpu:region: atl1\n")
    (folder / "offline.py").write_text(PROGRAM)
    (folder / "answer.json").write_text(json.dumps(answer(*assignments)))
    return folder


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], project: Path) -> Command:
    """The command in this process, in the project's folder."""
    monkeypatch.delenv("DIGITALOCEAN_TOKEN", raising=False)
    monkeypatch.chdir(project)

    def call(*arguments: str | Path) -> Call:
        monkeypatch.setattr(sys, "argv", ["doks-gpu", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        return Call(int(end.value.code or 0), said.out, said.err)

    return call


def process(project: Path, *arguments: str, line: str = '"$@"', **variables: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, started by a line of shell."""
    return subprocess.run(
        ["bash", "-c", line, "bash", sys.executable, "-m", "doks_gpu.ops.main", *arguments],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **variables},
        capture_output=True,
        text=True,
        check=False,
    )


# What is asked for.


@pytest.mark.parametrize("stack", ["../x", "a/b", "a[/b]", "a`b", "", ".", "..", LONG, "a\nb"])
@pytest.mark.parametrize("verb", ["preview", "up", "destroy", "orphans"])
def test_a_name_that_no_stack_can_have_is_refused_by_every_verb(command: Command, verb: str, stack: str) -> None:
    call = command(verb, "--stack", stack)
    assert call.code == 2
    assert "a stack's name has 1 to 100" in " ".join(call.err.replace("│", " ").split())


def test_no_file_outside_the_folder_of_a_stack_is_deleted(command: Command, project: Path) -> None:
    precious = project / ".doks-gpu" / "mine.rendered.yaml"
    precious.parent.mkdir()
    precious.write_text("mine")
    command("preview", "--stack", "..", "--config-file", "Pulumi.dev.yaml")
    assert precious.exists()


def test_a_named_project_is_that_folder_and_none_above_it(command: Command, project: Path) -> None:
    (project / "below").mkdir()
    call = command("preview", "--project", project / "below")
    assert call.code == 2
    assert "has no Pulumi.yaml and no offline.py" in call.err


@pytest.mark.parametrize("name", ["typo", LONG])
def test_a_named_project_that_is_not_there_is_refused(command: Command, project: Path, name: str) -> None:
    call = command("preview", "--project", project / name)
    assert (call.code, "There is no folder" in call.err) == (2, True)


def test_the_project_is_found_from_a_folder_below(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "below").mkdir()
    monkeypatch.chdir(project / "below")
    assert command("preview").code == 0


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "the project's name is needed"),
        (b"- a", "the project's name is needed"),
        (b"name: 5", "the project's name is needed"),
        (b"name: ../x", "the project's name is needed"),
        (b"name: [x", "not valid YAML"),
        (b"name: \xff", "not a text file"),
    ],
)
def test_a_broken_project_file_is_refused_with_its_name(
    command: Command, project: Path, text: bytes, reason: str
) -> None:
    (project / "Pulumi.yaml").write_bytes(text)
    call = command("preview")
    assert call.code == 2
    assert f"{project / 'Pulumi.yaml'}" in call.err
    assert reason in call.err


# Manifests.


def test_the_plan_is_shown_also_where_nothing_can_be_written(command: Command, project: Path) -> None:
    (project / ".doks-gpu").write_text("in the way")
    call = command("preview")
    assert call.code == 0
    assert "At most 25.28 of 60.00 $/h allowed." in call.out
    assert "Manifests could not be written" in call.err


def test_a_folder_for_manifests_that_is_a_file_fails_after_the_plan(command: Command) -> None:
    call = command("preview", "--manifests", "Pulumi.yaml")
    assert call.code == 1
    assert "At most 25.28" in call.out
    assert "Manifests could not be written to Pulumi.yaml" in call.err


def test_manifests_stay_in_their_folder_and_replace_only_their_own_kind(tmp_path: Path) -> None:
    (tmp_path / "old.rendered.yaml").write_text("old")
    (tmp_path / "mine.yaml").write_text("mine")
    row = {"type": "kubernetes:core/v1:ConfigMap", "name": "../../out", "inputs": {"kind": "ConfigMap"}}
    write_manifests(tmp_path, [row])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["configmap-..-..-out.rendered.yaml", "mine.yaml"]


# Standard streams.


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("line", ['"$@" >&-', '"$@" >/dev/full'])
def test_output_that_goes_nowhere_is_an_error_without_a_traceback(project: Path, line: str, output: str) -> None:
    run = process(project, "preview", "--output", output, line=line)
    assert run.returncode == 1
    assert run.stderr.startswith("Error: ")
    assert len(run.stderr.splitlines()) == 1


def test_closed_standard_error_keeps_the_output(project: Path) -> None:
    run = process(project, "preview", line='"$@" 2>&-')
    assert run.returncode == 0
    assert "At most 25.28" in run.stdout


def test_a_terminal_without_unicode_gets_what_it_knows(project: Path) -> None:
    run = process(project, "preview", PYTHONIOENCODING="ascii")
    assert run.returncode == 0, run.stderr
    assert run.stdout.isascii()


# JSON.


@pytest.mark.parametrize(
    "arguments", [["--set", "nothing"], ["--stack", "other"], ["--project", "typo"], ["--compare", ""]]
)
def test_what_is_refused_is_json_too(command: Command, arguments: list[str]) -> None:
    call = command("preview", "--output", "json", *arguments)
    told = json.loads(call.out)
    assert call.code == 2
    assert told["refused"] is True
    assert told["errors"][0] in call.err


def test_a_crash_is_json_that_is_not_refused(command: Command, project: Path) -> None:
    (project / "offline.py").write_text("raise SystemExit('boom')")
    told = json.loads(command("preview", "--output", "json").out)
    assert (told["refused"], "boom" in told["errors"][0]) == (False, True)


def test_the_value_of_a_variable_with_a_secret_name_is_in_no_output(command: Command, project: Path) -> None:
    (project / "answer.json").write_text(json.dumps(answer("services.own.env.API_TOKEN=hunter2")))
    for output in ("text", "json"):
        assert "hunter2" not in command("preview", "--output", output).out


# A program that fails.


def test_all_that_a_crashing_program_said_is_kept(command: Command, project: Path) -> None:
    (project / "offline.py").write_text("raise SystemExit('first line\\nlast line')")
    call = command("preview")
    kept = project / ".doks-gpu" / "offline-error.txt"
    assert call.code == 1
    assert "last line" in call.err
    assert str(kept) in call.err
    assert kept.read_text() == "first line\nlast line\n"


def test_where_nothing_can_be_kept_all_of_it_is_printed(command: Command, project: Path) -> None:
    (project / ".doks-gpu").write_text("in the way")
    (project / "offline.py").write_text("raise SystemExit('first line\\nlast line')")
    assert "first line\nlast line" in command("preview").err


def test_the_token_is_in_nothing_that_a_crash_leaves(
    command: Command, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DIGITALOCEAN_TOKEN", "dop_v1_abc")
    (project / "offline.py").write_text("import os\nraise SystemExit(os.environ['DIGITALOCEAN_TOKEN'])")
    call = command("preview")
    assert "dop_v1_abc" not in call.err + (project / ".doks-gpu" / "offline-error.txt").read_text()


@pytest.mark.parametrize("printed", ["", "[]", "text", "\\xff"])
def test_an_answer_that_is_none_is_an_error(command: Command, project: Path, printed: str) -> None:
    (project / "offline.py").write_text(f"import sys\nsys.stdout.buffer.write(b'{printed}')")
    call = command("preview")
    assert (call.code, "ended with 0" in call.err) == (1, True)


# Comparing.


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    run = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return run.stdout.strip()


@pytest.fixture
def history(project: Path) -> Path:
    """First a commit without the program, then one with it."""
    git(project, "init", "--quiet")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "empty")
    git(project, "tag", "empty")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "program")
    return project


def test_a_revision_is_compared_with(command: Command, history: Path) -> None:
    (history / "answer.json").write_text(json.dumps(answer("limits.usdPerHour=70")))
    call = command("preview", "--compare", "HEAD")
    assert call.code == 0, call.err
    assert "Price cap ($/h) raised: 60 → 70." in call.out


@pytest.mark.usefixtures("history")
def test_a_revision_without_the_program_is_named(command: Command) -> None:
    call = command("preview", "--compare", "empty")
    assert call.code == 2
    assert "Revision empty has no Pulumi.yaml and no offline.py" in call.err
    assert "doks-gpu-compare" not in call.err


def test_a_refusal_of_a_revision_names_the_revision(command: Command, history: Path) -> None:
    (history / "Pulumi.dev.yaml").write_text("config: 5")
    git(history, "commit", "--quiet", "-am", "broken")
    (history / "Pulumi.dev.yaml").write_text("config:\n  doks-gpu:region: atl1\n")
    call = command("preview", "--compare", "HEAD")
    assert "HEAD:Pulumi.dev.yaml: config: a mapping is needed" in call.out
    assert "nothing to compare with" in call.out
    assert call.code == 0


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize("reference", ["", " ", LONG, "no-such-thing", "HEAD:offline.py"])
def test_a_reference_to_nothing_is_refused(command: Command, reference: str) -> None:
    call = command("preview", "--compare", reference)
    assert (call.code, call.err.startswith("Error: --compare")) == (2, True)


def test_a_reference_is_never_an_option_of_git(command: Command, history: Path) -> None:
    assert command("preview", "--compare=--output=written").code == 2
    assert not (history / "written").exists()


@pytest.mark.usefixtures("history")
def test_without_git_a_revision_is_refused(command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    call = command("preview", "--compare", "HEAD")
    assert (call.code, "git is not on PATH" in call.err) == (2, True)


@pytest.mark.parametrize("variable", ["PYTHONSAFEPATH", "UNRELATED"])
def test_another_checkout_runs_its_own_library(
    command: Command, tmp_path: Path, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    other = made(tmp_path / "other")
    (other / "doks_gpu").mkdir()
    (other / "doks_gpu" / "__init__.py").write_text("")
    (other / "offline.py").write_text("import doks_gpu, json\nprint(json.dumps({'errors': [doks_gpu.__file__]}))")
    told = json.loads(command("preview", "--compare", other, "--output", "json").out)
    assert told["beforeErrors"] == [str(other / "doks_gpu" / "__init__.py")]


def test_a_comparison_has_no_marks_in_json(command: Command, tmp_path: Path) -> None:
    other = made(tmp_path / "other", "fleets.batch.tiers[0].generation=2")
    told = json.loads(command("preview", "--compare", other, "--output", "json").out)
    assert told["comparison"]["pools"] == ["Replaced, new pool first: tier spot of fleet batch (generation 2 → 1)."]
    assert (told["refused"], told["errors"], told["plan"]["stack"]) == (False, [], "dev")


def test_a_side_that_is_refused_is_no_removed_stack_in_json(command: Command, project: Path, tmp_path: Path) -> None:
    other = made(tmp_path / "other")
    (project / "Pulumi.dev.yaml").write_text("config: 5")
    call = command("preview", "--compare", other, "--output", "json")
    told = json.loads(call.out)
    assert (call.code, told["comparison"], len(told["errors"]), told["refused"]) == (2, None, 1, True)


# Prices on a terminal.


def shown(told: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], width: int) -> str:
    monkeypatch.setattr(console.out, "_width", width)
    preview_view.show(told)
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [20, 30, 40, 50, 60, 70, 80, 100, 110, 120, 200])
def test_no_price_is_cut_at_any_width(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(answer(), monkeypatch, capsys, width)
    prices = text.partition("At most")[0]
    assert "…" not in prices
    assert {"16.00", "8.94", "0.2857", "25.28"} <= set(prices.split())


def test_a_sum_with_an_unknown_price_is_unknown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = shown(answer("fleets.batch.tiers[0].size=gpu-h300x1-200gb"), monkeypatch, capsys, 120)
    assert "At most unknown (at least 9.28) of 60.00 $/h allowed." in text
    assert "Idle, everything at its minimum: unknown (at least" in text


def test_a_cap_that_cents_would_hide_is_shown_with_more_decimals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "At most 25.2846 of 25.2800 $/h" in shown(answer("limits.usdPerHour=25.28"), monkeypatch, capsys, 120)


@pytest.mark.parametrize(
    ("minimum", "sentence"),
    [
        (
            2,
            "No on-demand capacity is ever added to fleet batch when Spot fails (batch-fallback): a pool",
        ),
        (
            0,
            "On-demand capacity for fleet batch may never come when Spot fails (batch-fallback): upstream",
        ),
        (1, "On-demand capacity for fleet batch is asked for after 40 s when Spot refuses"),
    ],
)
def test_the_preview_says_whether_fallback_comes(
    minimum: int, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in shown(answer(f"fleets.batch.tiers[1].min={minimum}"), monkeypatch, capsys, 400)


def test_text_of_an_answer_is_never_markup(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    told = answer()
    told["plan"]["stack"] = told["plan"]["pricing"]["charges"][0]["name"] = "a[/b]"
    told["resources"] = [{"type": "x:y:Z[/z]", "name": "n[/n]", "parent": None, "options": {}}]
    text = shown(told, monkeypatch, capsys, 120)
    assert text.count("a[/b]") == 2
    assert "Z[/z] n[/n]" in text
