"""`python -m rehearsal.toolchain`: makes what the machine lacks and says where each program is."""

import argparse
import sys

from rich.console import Console
from rich.table import Table

from doks_gpu.errors import DoksGpuError
from rehearsal.toolchain.builder import Toolchain, ensure
from rehearsal.toolchain.tools import NAMES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m rehearsal.toolchain", description=__doc__)
    parser.add_argument(
        "--only",
        action="append",
        metavar="NAME",
        choices=NAMES,
        help=f"just this one, may be repeated: {', '.join(NAMES)}",
    )
    arguments = parser.parse_args()
    try:
        tools = ensure(arguments.only or NAMES)
    except DoksGpuError as error:
        Console(stderr=True).print(str(error), style="red", markup=False, highlight=False)
        return error.exit_code
    Console(width=None if sys.stdout.isatty() else 200).print(_table(tools))
    return 0


def _table(tools: Toolchain) -> Table:
    table = Table("program", "version", "from", "path", box=None)
    for program in tools.programs.values():
        table.add_row(program.name, program.version, program.origin.value, str(program.path))
    return table


if __name__ == "__main__":
    sys.exit(main())
