"""The wait for DOKS's priority map: bounded, and never over somebody else's text."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from doks_gpu.errors import DoksGpuError
from doks_gpu.priority_map import POLL_SECONDS, wait_until_ready

STARTER = "1:\n  - .*\n"
FOREIGN = "10:\n  - ^their-pool$\n"


class Clock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def pause(self, seconds: float) -> None:
        self.now += seconds


def answers(*texts: str | None) -> Callable[[str], str | None]:
    left: Iterator[str | None] = iter(texts)
    return lambda _: next(left)


def wait(read: Callable[[str], str | None], clock: Clock, *, attached: bool = False, bound: float = 60) -> None:
    asyncio.run(wait_until_ready("c1", read, attached=attached, wait_seconds=bound, clock=clock, pause=clock.pause))


def test_a_map_that_appears_late_is_waited_for() -> None:
    clock = Clock()
    wait(answers(None, None, STARTER), clock)
    assert clock.now == 2 * POLL_SECONDS


def test_a_map_that_never_appears_fails_with_the_command_that_turns_the_expander_on() -> None:
    with pytest.raises(DoksGpuError, match="--expanders priority"):
        wait(lambda _: None, Clock())


def test_the_wait_ends_at_its_bound() -> None:
    clock = Clock()
    with pytest.raises(DoksGpuError):
        wait(lambda _: None, clock, bound=10)
    assert clock.now == 10


def test_an_attached_clusters_own_map_is_left_alone() -> None:
    with pytest.raises(DoksGpuError, match="written by somebody else"):
        wait(answers(FOREIGN), Clock(), attached=True)


def test_an_attached_clusters_starter_map_is_taken_over() -> None:
    wait(answers(STARTER), Clock(), attached=True)


def test_our_own_clusters_map_is_written_whatever_it_holds() -> None:
    wait(answers(FOREIGN), Clock())
