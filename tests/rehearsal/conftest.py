"""Real parts for the tests: programs once per session, a rehearsal of its own where a test changes much."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from rehearsal.session import Rehearsal
from rehearsal.toolchain import Toolchain, ensure
from tests.rehearsal.stack import Stack

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def toolchain() -> Toolchain:
    """Built or found before the tests by `python -m rehearsal.toolchain`."""
    return ensure()


@pytest.fixture(scope="module")
def stack(toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The dev stack of one module's rehearsal; its tests run in the order of the file."""
    with Rehearsal(ROOT, tmp_path_factory.mktemp("rehearsal"), toolchain) as rehearsal:
        yield Stack(rehearsal)


@pytest.fixture
def fresh(toolchain: Toolchain, tmp_path: Path) -> Iterator[Stack]:
    """The dev stack of a rehearsal for one test."""
    with Rehearsal(ROOT, tmp_path, toolchain) as rehearsal:
        yield Stack(rehearsal)
