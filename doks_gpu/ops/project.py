"""The project that a command works on: the folder with `Pulumi.yaml`, found from the current one upwards."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.stackfile import read_stack_file, set_path, with_defaults

PROJECT_FILE = "Pulumi.yaml"
PROGRAM = "offline.py"


@dataclass(frozen=True)
class Project:
    """A checkout of the program."""

    root: Path
    name: str

    def stack_file(self, stack: str) -> Path:
        """Raises `RefusedError` naming the stacks that exist."""
        path = self.root / f"Pulumi.{stack}.yaml"
        if not path.is_file():
            known = ", ".join(self.stacks()) or "none"
            raise RefusedError(
                f"Stack {stack} has no file {path.name} in {self.root}. Stacks with one: {known}. "
                "Use --stack NAME, or --config-file PATH."
            )
        return path

    def stacks(self) -> list[str]:
        """Names of the stacks that have a file, sorted."""
        return sorted(p.name.removeprefix("Pulumi.").removesuffix(".yaml") for p in self.root.glob("Pulumi.*.yaml"))


def find_project(start: Path | None = None) -> Project:
    """Raises `RefusedError` where no folder above `start` holds the program."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / PROJECT_FILE).is_file() and (folder / PROGRAM).is_file():
            described = yaml.safe_load((folder / PROJECT_FILE).read_text(encoding="utf-8"))
            return Project(folder, str(described["name"]))
    raise RefusedError(
        f"No doks-gpu project here: neither {here} nor a folder above it has {PROJECT_FILE} and {PROGRAM}. "
        "Change to a checkout, or name one with --project."
    )


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


def run_offline(project: Project, stack: str, config: Mapping[str, Any], *, facts: bool) -> dict[str, Any]:
    """Runs the project's own program under the mock monitor.

    Raises `RefusedError` with the program's own words, `DoksGpuError` when it crashed.
    """
    question = {"project": project.name, "stack": stack, "config": config, "facts": facts}
    run = subprocess.run(  # noqa: S603 - our own interpreter and the project's own file
        [sys.executable, str(project.root / PROGRAM)],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        cwd=project.root,
        check=False,
    )
    try:
        answer: dict[str, Any] = json.loads(run.stdout)
    except ValueError:
        last = (run.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise DoksGpuError(f"{project.root / PROGRAM} ended with {run.returncode}: {last}") from None
    if "errors" in answer:
        raise RefusedError("\n".join(answer["errors"]))
    return answer
