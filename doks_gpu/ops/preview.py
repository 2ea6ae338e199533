"""`doks-gpu preview`: runs the project's program offline and shows what it would be."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from doks_gpu.cloud import token_from_environment
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops import comparison_view, console, preview_view
from doks_gpu.ops.formats import Output
from doks_gpu.ops.manifests import write_manifests
from doks_gpu.ops.project import OWN_FOLDER, Project, configuration, find_project, run_offline
from doks_gpu.ops.revision import checkout
from doks_gpu.plan.compare import compare
from doks_gpu.plan.compare.settings import without_secrets

EXIT_REFUSED = 2
EXIT_FAILED = 1


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to preview, and how to show it."""

    stack: str
    project: Path | None = None
    """A checkout; None: found from the current folder upwards."""
    config_file: Path | None = None
    assignments: tuple[str, ...] = ()
    manifests: Path | None = None
    """None: in the checkout's own folder, if that can be written."""
    compare: str | None = None
    """A folder with a checkout, else a git revision."""
    offline: bool = False
    output: Output = Output.text


def preview(request: Request) -> int:
    """Returns 0, or `EXIT_REFUSED` when a check refuses the stack.

    Raises `RefusedError` for a wrong configuration; as JSON it is an answer first.
    """
    try:
        project = find_project(request.project)
        if request.compare is not None:
            return _compared(project, request, request.compare)
        return _shown(project, request)
    except DoksGpuError as error:
        if request.output is Output.json:
            console.print_json({"errors": [str(error)], "refused": isinstance(error, RefusedError)})
        raise


def _shown(project: Project, request: Request) -> int:
    if request.output is Output.markdown:
        raise RefusedError("--output markdown is the text of a pull request: it goes with --compare REF.")
    answer = _answer(project, request, project)
    if request.output is Output.json:
        console.print_json(_public(answer))
    else:
        preview_view.show(answer)
    if answer["refused"]:
        return EXIT_REFUSED
    return _leave_manifests(project, request, answer)


def _leave_manifests(project: Project, request: Request, answer: dict[str, Any]) -> int:
    """The plan is shown by now. A folder that was asked for and cannot be written is a failure, ours is not."""
    folder = request.manifests or project.root / OWN_FOLDER / "preview" / request.stack
    try:
        write_manifests(folder, answer["resources"])
    except OSError as error:
        console.note(f"Manifests could not be written to {folder}: {error.strerror or error}.")
        return EXIT_FAILED if request.manifests else 0
    if request.output is Output.text:
        console.print_text(f"Manifests: {_relative(folder)}")
    return 0


def _answer(project: Project, request: Request, own: Project) -> dict[str, Any]:
    raw = configuration(project, request.stack, request.config_file, request.assignments)
    facts = not request.offline and token_from_environment() is not None
    with console.working(f"Planning stack {request.stack}"):
        return run_offline(project, request.stack, raw, facts=facts, notes=own.root / OWN_FOLDER)


def _public(answer: dict[str, Any]) -> dict[str, Any]:
    return answer | ({"settings": without_secrets(answer["settings"])} if "settings" in answer else {})


def _compared(project: Project, request: Request, reference: str) -> int:
    with checkout(project, reference) as other:
        before = _outcome(other, replace(request, assignments=(), config_file=None), project)
    after = _outcome(project, request, project)
    told = comparison_view.Told(
        stack=request.stack,
        # A side that was refused is neither a new stack nor a removed one.
        comparison=None if before.errors or after.errors else compare(before.answer, after.answer, request.stack),
        before_errors=before.errors,
        after=after.answer,
        after_errors=after.errors,
    )
    if request.output is Output.json:
        console.print_json(comparison_view.as_json(told))
    elif request.output is Output.markdown:
        console.print_text(comparison_view.markdown(told))
    else:
        comparison_view.show(told)
    return EXIT_REFUSED if told.refused else 0


@dataclass(frozen=True)
class _Outcome:
    answer: dict[str, Any] | None
    errors: str | None


def _outcome(project: Project, request: Request, own: Project) -> _Outcome:
    """A stack without a file is one that does not exist on that side; a wrong one is told in words."""
    if request.config_file is None and request.stack not in project.stacks():
        return _Outcome(None, None)
    try:
        return _Outcome(_answer(project, request, own), None)
    except RefusedError as error:
        return _Outcome(None, project.in_words(str(error)))


def _relative(path: Path) -> str:
    here, absolute = Path.cwd(), path.absolute()
    return f"{absolute.relative_to(here) if absolute.is_relative_to(here) else absolute}/"
