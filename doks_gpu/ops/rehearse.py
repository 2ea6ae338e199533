"""`doks-gpu rehearse`: starts the project's rehearsal as a program of its own."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from doks_gpu.errors import RefusedError
from doks_gpu.ops.project import Project


def rehearse(project: Project, arguments: Sequence[str]) -> int:
    """Becomes the rehearsal, so that Ctrl-C and signals reach it alone. Raises `RefusedError` off Linux."""
    if not sys.platform.startswith("linux"):
        raise RefusedError("The rehearsal runs on Linux: it starts a real control plane as local processes.")
    if find_spec("fastapi") is None or find_spec("uvicorn") is None or find_spec("httpx") is None:
        raise RefusedError("The rehearsal needs more than the command: `make rehearse` installs it and starts it.")
    os.chdir(project.root)
    os.execv(sys.executable, [sys.executable, "-m", "rehearsal", *arguments])  # noqa: S606 - our own program
