"""How the time of a preview grows with the number of fleets of 4 tiers.

Run: `make bench`. Times are of the whole program (`offline.py` as a process), median of three; ratios are
to the first row.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
FLEETS = (1, 10, 50)
TIERS = (
    ("spot", "gpu-b300x1-288gb-spot"),
    ("first", "gpu-h200x1-141gb"),
    ("second", "gpu-h100x1-80gb"),
    ("third", "gpu-h100x8-640gb"),
)
RUNS = 3


def configuration(fleets: int) -> Mapping[str, Any]:
    """A stack of `fleets` fleets with 4 tiers each, without limits that it would pass."""
    tiers = [{"name": name, "size": size, "min": 1, "max": 1} for name, size in TIERS]
    return {
        "region": "atl1",
        "fleets": {f"fleet{number:02d}": {"tiers": tiers} for number in range(fleets)},
        "limits": {"usdPerHour": 1_000_000},
    }


def seconds(fleets: int) -> float:
    """Wall time of one preview; raises `CalledProcessError` when it is refused."""
    question = {"project": "doks-gpu", "stack": "bench", "config": configuration(fleets), "facts": False}
    started = time.perf_counter()
    subprocess.run(  # noqa: S603 - our own program
        [sys.executable, str(ROOT / "offline.py")],
        input=json.dumps(question),
        text=True,
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - started


def main() -> None:
    """Prints one row per size."""
    table = Table("fleets", "pools", "seconds (median of 3)", "ratio to 1 fleet", box=None)
    seconds(1)
    medians = {fleets: statistics.median(seconds(fleets) for _ in range(RUNS)) for fleets in FLEETS}
    for fleets, median in medians.items():
        table.add_row(str(fleets), str(fleets * len(TIERS)), f"{median:.2f}", f"{median / medians[FLEETS[0]]:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
