"""The program under the mock monitor, as `doks-gpu preview` runs it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import offline
from doks_gpu.errors import DoksGpuError
from doks_gpu.ops.project import configuration, find_project

ROOT = Path(__file__).parents[2]


class Graph:
    """Everything that one run registered."""

    def __init__(self, answer: Mapping[str, Any]) -> None:
        self.plan: Mapping[str, Any] = answer["plan"]
        self.resources = {row["name"]: row for row in answer["resources"] if not row["type"].startswith("doks-gpu:")}
        self.components = {row["name"]: row for row in answer["resources"] if row["type"].startswith("doks-gpu:")}

    def inputs(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.resources[name]["inputs"]
        return found

    def options(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.resources[name]["options"]
        return found


Build = Callable[..., Graph]


def run_offline(stack: str, *assignments: str) -> tuple[int, dict[str, Any]]:
    """Exit code and answer of `offline.py`, which is run in this process: its start-up is tested elsewhere."""
    raw = configuration(find_project(ROOT), stack, None, assignments)
    question = {"project": "doks-gpu", "stack": stack, "config": raw, "facts": False}
    try:
        answer = offline.main(question)
    except DoksGpuError as error:
        return error.exit_code, {"errors": [str(error)]}
    return 2 if answer["refused"] else 0, answer


@pytest.fixture(scope="session")
def build() -> Build:
    """Builds a stack with some values changed; runs of the same kind are made once."""
    known: dict[tuple[str, ...], Graph] = {}

    def build_once(*assignments: str, stack: str = "dev") -> Graph:
        key = (stack, *assignments)
        if key not in known:
            code, answer = run_offline(stack, *assignments)
            assert code == 0, answer
            known[key] = Graph(answer)
        return known[key]

    return build_once
