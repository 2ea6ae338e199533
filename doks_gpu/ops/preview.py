"""`doks-gpu preview`: runs the project's program offline and shows what it would be."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from doks_gpu.cloud import token_from_environment
from doks_gpu.errors import RefusedError
from doks_gpu.ops import console, preview_view
from doks_gpu.ops.formats import Output
from doks_gpu.ops.project import PROGRAM, Project, configuration, find_project, run_offline
from doks_gpu.plan.compare import Comparison, compare

EXIT_REFUSED = 2


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to preview, and how to show it."""

    stack: str
    config_file: Path | None = None
    assignments: tuple[str, ...] = ()
    manifests: Path | None = None
    offline: bool = False
    output: Output = Output.text


def preview(project: Project, request: Request, reference: str | None) -> int:
    """Returns 0, or `EXIT_REFUSED` when a check refuses the stack. Raises `RefusedError` for a wrong configuration."""
    if reference is not None:
        return _compared(project, request, reference)
    if request.output is Output.markdown:
        raise RefusedError("--output markdown is the text of a pull request: it goes with --compare REF.")
    answer = _answer(project, request)
    folder = _write_manifests(project, request, answer)
    if request.output is Output.json:
        console.print_json(answer)
    else:
        preview_view.show(answer, folder)
    return EXIT_REFUSED if answer["refused"] else 0


def _answer(project: Project, request: Request) -> dict[str, Any]:
    raw = configuration(project, request.stack, request.config_file, request.assignments)
    facts = not request.offline and token_from_environment() is not None
    with console.working(f"Planning stack {request.stack}"):
        return run_offline(project, request.stack, raw, facts=facts)


def _write_manifests(project: Project, request: Request, answer: dict[str, Any]) -> Path | None:
    """One YAML file per Kubernetes object. Files of an earlier preview go first; nothing else in the folder does."""
    if answer["refused"]:
        return None
    folder = request.manifests or project.root / ".doks-gpu" / "preview" / request.stack
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.rendered.yaml"):
        old.unlink()
    for row in answer["resources"]:
        if not row["type"].startswith("kubernetes:") or not row["inputs"].get("kind"):
            continue
        text = yaml.dump(row["inputs"], Dumper=_Readable, sort_keys=True, allow_unicode=True, width=110)
        (folder / f"{row['inputs']['kind'].lower()}-{row['name']}.rendered.yaml").write_text(text, encoding="utf-8")
    return folder


class _Readable(yaml.SafeDumper):
    """Text of several lines as a block, the way that people write it."""


def _block(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Readable.add_representer(str, _block)


def _compared(project: Project, request: Request, reference: str) -> int:
    with _checkout(project, reference) as other:
        before = _answer_or_refusal(other, replace(request, assignments=(), config_file=None))
    after = _answer_or_refusal(project, request)
    comparison = compare(before.answer, after.answer, request.stack)
    if request.output is Output.json:
        console.print_json({"comparison": preview_view.as_dict(comparison), "errors": after.errors})
    elif request.output is Output.markdown:
        console.out.print(preview_view.markdown(comparison, after.answer, after.errors), markup=False, soft_wrap=True)
    else:
        preview_view.show_comparison(comparison, after.errors)
    return _exit_code(comparison, after)


@dataclass(frozen=True)
class _Outcome:
    answer: dict[str, Any] | None
    errors: str | None


def _exit_code(comparison: Comparison, after: _Outcome) -> int:
    refused = after.errors or (after.answer and after.answer["refused"])
    return EXIT_REFUSED if refused or comparison.refused else 0


def _answer_or_refusal(project: Project, request: Request) -> _Outcome:
    """A stack without a file is one that does not exist on that side; a wrong one is told in words."""
    if request.config_file is None and request.stack not in project.stacks():
        return _Outcome(None, None)
    try:
        return _Outcome(_answer(project, request), None)
    except RefusedError as error:
        return _Outcome(None, str(error))


@contextmanager
def _checkout(project: Project, reference: str) -> Iterator[Project]:
    """The project as of `reference`: a folder with a checkout if there is one of that name, else a git revision."""
    folder = Path(reference)
    if (folder / PROGRAM).is_file():
        yield find_project(folder)
        return
    with tempfile.TemporaryDirectory(prefix="doks-gpu-compare-") as temporary:
        archive = _git(project, "archive", "--format=tar", reference)
        subprocess.run(["tar", "-x", "-C", temporary], input=archive, check=True)  # noqa: S603, S607
        yield find_project(Path(temporary))


def _git(project: Project, *arguments: str) -> bytes:
    run = subprocess.run(["git", *arguments], cwd=project.root, capture_output=True, check=False)  # noqa: S603, S607
    if run.returncode:
        reason = run.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no reason given"]
        raise RefusedError(
            f"--compare {arguments[-1]}: neither a folder with a checkout nor a git revision here ({reason[0]})."
        )
    return run.stdout
