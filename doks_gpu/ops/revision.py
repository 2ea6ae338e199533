"""The project as it was: another checkout, or a git revision in a temporary folder."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops.project import PROGRAM, Project, is_file, project_at


@contextmanager
def checkout(project: Project, reference: str) -> Iterator[Project]:
    """The project as of `reference`: a folder with a checkout if there is one of that name, else a git revision.

    Raises `RefusedError` when it is neither, or when the program is not there.
    """
    if not reference.strip():
        raise RefusedError("--compare: name a folder with a checkout, or a git revision, for example main.")
    folder = Path(reference)
    if is_file(folder / PROGRAM):
        yield project_at(folder.resolve(), shown=reference)
        return
    commit = _commit(project, reference)
    with tempfile.TemporaryDirectory(prefix="doks-gpu-compare-") as temporary:
        archive = _output(["git", "archive", "--format=tar", commit], project.root)
        _output(["tar", "-x", "-C", temporary], project.root, archive)
        yield project_at(Path(temporary).resolve(), revision=reference)


def _commit(project: Project, reference: str) -> str:
    """The revision's hash: whatever the reference looks like, it is no option from here on."""
    run = _run(["git", "rev-parse", "--verify", "--end-of-options", f"{reference}^{{commit}}"], project.root)
    if run.returncode:
        reason = (_said(run.stderr).removeprefix("fatal: ") or "no reason given")[:200]
        raise RefusedError(
            f"--compare {reference[:100]}: neither a folder with a checkout nor a git revision here ({reason})."
        )
    return _said(run.stdout)


def _output(command: list[str], folder: Path, given: bytes | None = None) -> bytes:
    run = _run(command, folder, given)
    if run.returncode:
        raise DoksGpuError(f"{command[0]} failed with {run.returncode}: {_said(run.stderr) or 'no reason given'}")
    return run.stdout


def _run(command: list[str], folder: Path, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, cwd=folder, input=given, capture_output=True, check=False)  # noqa: S603
    except FileNotFoundError:
        raise RefusedError(
            f"{command[0]} is not on PATH: --compare with a git revision needs it. Or name a folder with a checkout."
        ) from None


def _said(output: bytes) -> str:
    return (output.decode(errors="replace").strip().splitlines() or [""])[-1]
