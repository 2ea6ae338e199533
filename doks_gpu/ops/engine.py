"""Runs the Pulumi engine for a stack: its environment, its arguments, its state.

The command adds three things to plain `pulumi`: a PATH on which the engine finds the project's Python and our
credential helper, continue-on-error (a Spot pool that cannot be made must not stop the rest), and a look for orphans
first.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from doks_gpu.errors import DoksGpuError, RefusedError
from doks_gpu.ops.project import Project
from doks_gpu.ops.state import State, parse_state


class Engine:
    """`pulumi` for one stack of one project."""

    def __init__(self, project: Project, stack: str) -> None:
        self._project, self.stack = project, stack
        self._environment = environment(os.environ)
        program = shutil.which("pulumi", path=self._environment["PATH"])
        if program is None:
            raise RefusedError(
                "The Pulumi CLI is not on PATH. Install it (https://www.pulumi.com/docs/install/), or try "
                "`doks-gpu preview` and `doks-gpu rehearse`, which need no installed CLI."
            )
        self._program = program

    def run(self, verb: str, *arguments: str, cluster_is_gone: bool = False) -> int:
        """Runs a verb with the user's terminal. Returns 0, or 1 for every failure: the engine's other codes mean
        something else than ours.

        With `cluster_is_gone` (the account says so) what was in that cluster leaves the state: the Kubernetes provider
        would refuse for ever to talk to an API server that is not there.

        Ctrl-C goes to the engine, which stops cleanly and keeps its state; we wait for it.
        """
        command = [self._program, verb, "--stack", self.stack, *arguments]
        environment = self._environment | ({"PULUMI_K8S_DELETE_UNREACHABLE": "true"} if cluster_is_gone else {})
        with _interrupts_left_to_the_engine():
            run = subprocess.run(  # noqa: S603 - the engine, with arguments of ours
                command, cwd=self._project.root, env=environment, check=False
            )
        return 1 if run.returncode else 0

    def state(self) -> State:
        """What the state holds now. Raises `DoksGpuError`."""
        return parse_state(self._ask("stack", "export", "--stack", self.stack))

    def backend(self) -> str:
        """Where the state is kept, as people know it: the address that `pulumi login` was given."""
        return str(json.loads(self._ask("whoami", "--json"))["url"])

    def _ask(self, *arguments: str) -> str:
        run = subprocess.run(  # noqa: S603 - the engine, with arguments of ours
            [self._program, *arguments],
            cwd=self._project.root,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if run.returncode:
            reason = (run.stderr.strip().splitlines() or ["no reason given"])[-1].removeprefix("error: ")
            raise DoksGpuError(
                f"pulumi {' '.join(arguments[:2])} failed: {reason}. "
                f"Is the stack made (`pulumi stack init {self.stack}`) and the backend logged in (`pulumi login`)?"
            )
        return run.stdout


def environment(outer: Mapping[str, str]) -> dict[str, str]:
    """The engine finds `python` and `doks-gpu` of this environment first, and never the user's `KUBECONFIG`."""
    inner = {key: value for key, value in outer.items() if key != "KUBECONFIG"}
    scripts = str(Path(sys.executable).parent)
    inner["PATH"] = os.pathsep.join([scripts, outer.get("PATH", os.defpath)])
    inner["PULUMI_SKIP_UPDATE_CHECK"] = "true"
    inner["PULUMI_PYTHON_CMD"] = sys.executable
    return inner


@contextmanager
def _interrupts_left_to_the_engine() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
