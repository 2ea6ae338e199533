"""The Go command: is it there, is it new enough, and one build with it."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from rehearsal.toolchain.errors import ToolchainError
from rehearsal.toolchain.installed import numbers

# No version-control stamps, paths of this machine, debug tables or profiles: the same result everywhere.
# `-p 2` bounds memory: one process of the Kubernetes provider's build took 4.1 GB (2026-12-01).
BUILD_FLAGS = ("-mod=readonly", "-p", "2", "-pgo=off", "-trimpath")
LINK_FLAGS = "-s -w"
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false", "GOWORK": "off"}
_LINES_OF_FAILURE = 15


def required_version(modules: Path) -> str:
    """The Go version that a family's `go.mod` asks for."""
    match = re.search(r"^go (\S+)$", (modules / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise ToolchainError(f"{modules / 'go.mod'} names no Go version.")
    return match[1]


def check_go(modules: Path, missing: Sequence[str]) -> None:
    """Raises `ToolchainError` unless Go is as new as the `go.mod` there asks; `missing` programs need it."""
    required = required_version(modules)
    ways_out = (
        f"Install Go {required} or newer (https://go.dev/dl), or put the programs themselves on PATH. "
        f"Needed for: {', '.join(missing)}."
    )
    if shutil.which("go") is None:
        raise ToolchainError(f"Go is not installed, and it has to build what this machine lacks. {ways_out}")
    version = _go(["env", "GOVERSION"], modules).strip().removeprefix("go")
    if numbers(version) < numbers(required):
        raise ToolchainError(f"Go {version} is too old to build what this machine lacks. {ways_out}")


def module_folder(modules: Path, module: str) -> Path:
    """The folder with the sources of a module that a `go.mod` requires, downloaded and verified."""
    return Path(json.loads(_go(["mod", "download", "-json", module], modules))["Dir"])


def build(folder: Path, package: str, ldflags: str, target: Path) -> None:
    """Builds `package` in `folder` to the file `target`. Raises `ToolchainError` with Go's last lines."""
    flags = f"{LINK_FLAGS} {ldflags}".strip()
    _go(["build", *BUILD_FLAGS, "-ldflags", flags, "-o", str(target), package], folder)


def _go(arguments: Sequence[str], folder: Path) -> str:
    result = subprocess.run(  # noqa: S603 - fixed program, arguments from our own table
        ["go", *arguments],  # noqa: S607 - the user's own Go
        cwd=folder,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if result.returncode != 0:
        tail = "\n".join(result.stderr.strip().splitlines()[-_LINES_OF_FAILURE:])
        raise ToolchainError(f"go {arguments[0]} failed:\n{tail}")
    return result.stdout
