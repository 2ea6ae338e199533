"""The programs of the rehearsal: found on the machine, in the cache, or built with Go once.

`ensure()` is the way in; `python -m rehearsal.toolchain` does the same from a shell.
"""

from rehearsal.toolchain.builder import Origin, Program, Toolchain, ensure
from rehearsal.toolchain.errors import ToolchainError

__all__ = ["Origin", "Program", "Toolchain", "ToolchainError", "ensure"]
