"""The project that a command works on: the folder with `Pulumi.yaml`, found from the current one upwards."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from doks_gpu.cloud import TOKEN_VARIABLE
from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.stackfile import parse_yaml, read_stack_file, set_path, with_defaults

PROJECT_FILE = "Pulumi.yaml"
PROGRAM = "offline.py"
OWN_FOLDER = ".doks-gpu"
"""What commands leave in a checkout; git ignores it."""
CRASH_FILE = "offline-error.txt"

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}\Z")
"""What Pulumi allows as the name of a project."""


@dataclass(frozen=True)
class Project:
    """A checkout of the program."""

    root: Path
    name: str
    revision: str | None = None
    """The git revision that a temporary checkout stands for: messages name that, not the folder."""

    def stack_file(self, stack: str) -> Path:
        """Raises `RefusedError` naming the stacks that exist."""
        path = self.root / f"Pulumi.{stack}.yaml"
        if not path.is_file():
            known = ", ".join(self.stacks()) or "none"
            raise RefusedError(
                f"Stack {stack} has no file {path.name} in {self.shown()}. Stacks with one: {known}. "
                "Use --stack NAME, or --config-file PATH."
            )
        return path

    def stacks(self) -> list[str]:
        """Names of the stacks that have a file, sorted."""
        return sorted(p.name.removeprefix("Pulumi.").removesuffix(".yaml") for p in self.root.glob("Pulumi.*.yaml"))

    def shown(self, file: str | None = None) -> str:
        """The checkout, or a file in it, as people know it."""
        if self.revision is None:
            return str(self.root / file if file else self.root)
        return f"{self.revision}:{file}" if file else f"revision {self.revision}"

    def in_words(self, message: str) -> str:
        """A message about a temporary checkout, with the revision instead of its folder."""
        if self.revision is None:
            return message
        return message.replace(f"{self.root}/", f"{self.revision}:").replace(str(self.root), self.shown())


def find_project(named: Path | None = None) -> Project:
    """The project in the named folder; without a name, in the current folder or the nearest one above it.

    Raises `RefusedError` where there is none, and for a `Pulumi.yaml` that cannot be read.
    """
    if named is not None:
        return project_at(named.resolve(), shown=str(named))
    here = Path.cwd().resolve()
    for folder in (here, *here.parents):
        if holds_program(folder):
            return project_at(folder)
    raise RefusedError(
        f"No doks-gpu project here: neither {here} nor a folder above it has {PROJECT_FILE} and {PROGRAM}. "
        "Change to a checkout, or name one with --project."
    )


def project_at(folder: Path, *, shown: str | None = None, revision: str | None = None) -> Project:
    """The project in exactly this folder. Raises `RefusedError` with what is missing there."""
    called = f"revision {revision}" if revision else (shown or str(folder))
    if not revision and not _exists(folder):
        raise RefusedError(f"There is no folder {called}. Name a checkout of the program.")
    missing = [name for name in (PROJECT_FILE, PROGRAM) if not is_file(folder / name)]
    if missing:
        raise RefusedError(
            f"{called[:1].upper()}{called[1:]} has no {' and no '.join(missing)}: it is no checkout of the program."
        )
    project = Project(folder, "", revision)
    return Project(folder, _name(folder / PROJECT_FILE, project.shown(PROJECT_FILE)), revision)


def holds_program(folder: Path) -> bool:
    """Whether a folder is a checkout of the program."""
    return is_file(folder / PROJECT_FILE) and is_file(folder / PROGRAM)


def is_file(path: Path) -> bool:
    """Like `Path.is_file`, also for a name that no file can have."""
    try:
        return path.is_file()
    except OSError:
        return False


def _exists(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except OSError:
        return False


def _name(file: Path, shown: str) -> str:
    try:
        described = parse_yaml(file.read_text(encoding="utf-8"), shown)
    except UnicodeDecodeError:
        raise RefusedError(f"{shown}: not a text file in UTF-8") from None
    except OSError as error:
        raise RefusedError(f"{shown}: cannot be read: {error.strerror}") from None
    name = described.get("name") if isinstance(described, dict) else None
    if not isinstance(name, str) or not _NAME.match(name):
        raise RefusedError(
            f"{shown}: name: the project's name is needed: at most 100 ASCII letters, digits, `-`, `_` and `.`"
        )
    return name


def configuration(
    project: Project, stack: str, config_file: Path | None = None, assignments: tuple[str, ...] = ()
) -> Mapping[str, Any]:
    """The stack's keys without their prefix: file, defaults of `Pulumi.yaml`, then each `path=value`."""
    raw = read_stack_file(config_file or project.stack_file(stack))
    raw = with_defaults(raw, project.root / PROJECT_FILE)
    for assignment in assignments:
        path, equals, value = assignment.partition("=")
        if not equals:
            raise RefusedError(f"--set {assignment}: write PATH=VALUE, for example limits.usdPerHour=40")
        raw = set_path(raw, path.strip(), value)
    return raw


def run_offline(
    project: Project, stack: str, config: Mapping[str, Any], *, facts: bool, notes: Path | None = None
) -> dict[str, Any]:
    """Runs the project's own program, with the project's own library, under the mock monitor.

    Raises `RefusedError` with the program's own words. Raises `DoksGpuError` when it crashed: everything that it
    said is then in folder `notes` (default: the project's own).
    """
    question = {"project": project.name, "stack": stack, "config": config, "facts": facts}
    run = subprocess.run(  # noqa: S603 - our own interpreter and the project's own file
        [sys.executable, str(project.root / PROGRAM)],
        input=json.dumps(question),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        cwd=project.root,
        env=_environment(project, os.environ),
        check=False,
    )
    try:
        answer = json.loads(run.stdout)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise _crash(project, run, notes or project.root / OWN_FOLDER)
    if "errors" in answer:
        raise RefusedError("\n".join(answer["errors"]))
    return answer


def _environment(project: Project, outer: Mapping[str, str]) -> dict[str, str]:
    """The checkout's own modules come before installed ones: another checkout has other prices and rules."""
    inner = {key: value for key, value in outer.items() if key != "PYTHONSAFEPATH"}
    inner["PYTHONPATH"] = os.pathsep.join(filter(None, (str(project.root), outer.get("PYTHONPATH"))))
    inner["PYTHONIOENCODING"] = "utf-8"
    return inner


def _crash(project: Project, run: subprocess.CompletedProcess[str], notes: Path) -> DoksGpuError:
    said = run.stderr.strip() or "It printed nothing that can be read."
    if token := os.environ.get(TOKEN_VARIABLE):
        said = said.replace(token, "[hidden]")
    last = project.in_words(said.splitlines()[-1])
    where = project.shown(PROGRAM)
    try:
        notes.mkdir(parents=True, exist_ok=True)
        (notes / CRASH_FILE).write_text(f"{said}\n", encoding="utf-8")
    except OSError as error:
        return DoksGpuError(
            f"{where} ended with {run.returncode}. All that it said ({notes}: {error.strerror}):\n{said}"
        )
    return DoksGpuError(f"{where} ended with {run.returncode}: {last}\nAll that it said is in {notes / CRASH_FILE}.")
