"""Child processes that never outlive the rehearsal, however it ends.

The kernel kills a child when the thread that started it ends (Linux, PR_SET_PDEATHSIG). So all children are
started by one thread that lives as long as this process, and each sets the signal on itself before it becomes
the real program.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# PR_SET_PDEATHSIG is 1 (linux/prctl.h). A parent that died before the call is seen by its number.
_LAUNCHER = """
import ctypes, os, signal, sys
ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the rehearsal ended before this program started")
os.execv(sys.argv[2], sys.argv[2:])
"""
_KILL_SECONDS = 10

_spawner = ThreadPoolExecutor(1, thread_name_prefix="spawner")


class Child:
    """A running program with its log file."""

    def __init__(self, name: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.name = name
        self.log = log
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative for the signal that ended it."""
        return self._process.poll()

    def last_lines(self, count: int = 8) -> str:
        """The end of its log, for an error message."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])

    def kill(self) -> None:
        """Ends it at once and waits until it is gone. Its data is thrown away: nothing to tidy up."""
        self._process.kill()
        self._process.wait(_KILL_SECONDS)


def start(name: str, program: Path, arguments: Sequence[str], log: Path) -> Child:
    """Starts a program in a session of its own: Ctrl-C reaches the rehearsal alone, which then ends it."""
    return _spawner.submit(_start, name, program, arguments, log).result()


def _start(name: str, program: Path, arguments: Sequence[str], log: Path) -> Child:
    command = [sys.executable, "-ISc", _LAUNCHER, str(os.getpid()), str(program), *arguments]
    with log.open("ab") as output:
        process = subprocess.Popen(  # noqa: S603 - programs of the toolchain
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Child(name, process, log)
