"""Real parts for the tests: programs once per session, a rehearsal of its own where a test changes much."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rehearsal.digitalocean import StandInSettings
from rehearsal.session import PROVIDER, Rehearsal, RehearsalSettings
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
    yield from rehearsed(toolchain, tmp_path_factory.mktemp("rehearsal"), RehearsalSettings())


@pytest.fixture
def fresh(toolchain: Toolchain, tmp_path: Path) -> Iterator[Stack]:
    """The dev stack of a rehearsal for one test."""
    yield from rehearsed(toolchain, tmp_path, RehearsalSettings())


@pytest.fixture
def impatient(toolchain: Toolchain, tmp_path: Path) -> Iterator[Stack]:
    """Its provider gives a pool up after 90 min × 0.02 s / 10 s = 11 s."""
    yield from rehearsed(toolchain, tmp_path, RehearsalSettings(poll_seconds=0.02))


@pytest.fixture
def slow_map(toolchain: Toolchain, tmp_path: Path) -> Iterator[Stack]:
    """DOKS's priority map appears 12 s after the cluster runs, when the pools are long there."""
    yield from rehearsed(toolchain, tmp_path, RehearsalSettings(map_delay_seconds=12))


@pytest.fixture
def short_tokens(toolchain: Toolchain, tmp_path: Path) -> Iterator[Stack]:
    """No cluster token lives longer than 3 s: what one run leaves in the state is dead in the next."""
    yield from rehearsed(toolchain, tmp_path, RehearsalSettings(cloud=StandInSettings(token_seconds_cap=3)))


@pytest.fixture
def other_provider(toolchain: Toolchain, tmp_path: Path) -> Iterator[Stack]:
    """The provider is served by an executable at another path, which leaves a mark when it runs."""
    program = tmp_path / "somewhere" / "their-provider"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ntouch "{tmp_path}/other-was-used"\nexec "{PROVIDER}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    yield from rehearsed(toolchain, tmp_path, RehearsalSettings(provider=program))


@pytest.fixture
def eventually() -> Callable[..., bool]:
    """Whether a condition comes true within 20 s of real time: for what the kernel does in its own time."""

    def look(condition: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 20
        while not condition():
            if time.monotonic() > deadline:
                return False
            threading.Event().wait(0.1)
        return True

    return look


def rehearsed(toolchain: Toolchain, folder: Path, settings: RehearsalSettings) -> Iterator[Stack]:
    """A running rehearsal with its stack made, not yet deployed."""
    with Rehearsal(ROOT, folder, toolchain, settings) as rehearsal:
        stack = Stack(rehearsal)
        with stack.api:
            yield stack
