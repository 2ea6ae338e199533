"""`doks-gpu rehearse` as people run it: it ends clean, and nothing that it started survives it."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.rehearsal.conftest import ROOT

pytestmark = pytest.mark.usefixtures("toolchain")

PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")


def command(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """The command, with its temporary folders inside `folder`."""
    return subprocess.Popen(
        [sys.executable, "-m", "doks_gpu.ops.main", "rehearse", "--", *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def survivors(folder: Path) -> list[str]:
    """Command lines of processes that name the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found.append(line)
    return found


def read_until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if text in line:
            return
    pytest.fail("the command ended early:\n" + "".join(seen[-30:]))


@pytest.mark.rehearsal
def test_a_rehearsal_that_destroys_its_stack_ends_clean() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        output, _ = (process := command(folder, "--then", "destroy")).communicate(timeout=300)
        assert process.returncode == 0, output
        assert "Nothing is left in the stand-in" in output
        assert list(folder.iterdir()) == []
        assert survivors(folder) == []


@pytest.mark.full
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_nothing_survives_a_rehearsal_that_is_stopped(end: signal.Signals) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = command(folder)
        read_until(process, "Ctrl-C stops everything")
        assert any(program in line for line in survivors(folder) for program in PROGRAMS), (
            "it runs before it is stopped"
        )
        os.kill(process.pid, end)
        process.communicate(timeout=60)
        assert survivors(folder) == []
        assert list(folder.iterdir()) == []


@pytest.mark.full
def test_nothing_survives_a_rehearsal_that_is_killed(eventually: Callable[..., bool]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        process = command(folder)
        read_until(process, "Ctrl-C stops everything")
        os.kill(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        assert eventually(lambda: not survivors(folder)), survivors(folder)
