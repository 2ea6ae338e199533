"""Where the command prints: results on standard output, everything else on standard error."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

# Pipes and CI logs have no width of their own: tables would be squeezed to 80 columns.
_WIDTH = None if sys.stdout.isatty() or "COLUMNS" in os.environ else 120

_WIDEST = 1000

out = Console(width=_WIDTH, highlight=False, soft_wrap=False)
err = Console(stderr=True, width=_WIDTH, highlight=False)


def print_wide(table: Table) -> None:
    """A table whose ids people copy: wider than the screen rather than wrapped or cut."""
    width = max(out.width, Measurement.get(out, out.options.update(max_width=_WIDEST), table).maximum)
    out.print(table, width=width, no_wrap=True, overflow="ignore", crop=False)


def print_json(value: Any) -> None:
    """Stable JSON: sorted keys, two spaces, no colour."""
    sys.stdout.write(json.dumps(value, indent=2, sort_keys=True, default=str) + "\n")


def print_text(text: str) -> None:
    """Text as it is: not wrapped, and nothing in it is markup."""
    sys.stdout.write(f"{text.rstrip()}\n")


def note(text: str) -> None:
    """A word on standard error; nothing in it is markup."""
    err.print(text, markup=False)


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on a terminal, nothing in a log."""
    if err.is_terminal:
        with err.status(what):
            yield
    else:
        yield
