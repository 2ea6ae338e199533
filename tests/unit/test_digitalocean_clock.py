"""The stand-in's clock."""

from datetime import timedelta

import pytest

from rehearsal.digitalocean import Clock
from tests.unit.digitalocean_harness import START


class Real:
    """Real time, moved by the test."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_a_clock_at_scale_zero_stands_still() -> None:
    real = Real()
    clock = Clock(0, START, real)
    real.seconds += 1000
    assert clock.now() == START


def test_a_scaled_clock_runs_faster_than_real_time() -> None:
    real = Real()
    clock = Clock(60, START, real)
    real.seconds += 2
    assert clock.now() == START + timedelta(minutes=2)


def test_a_clock_that_was_moved_forward_stays_ahead() -> None:
    real = Real()
    clock = Clock(1, START, real)
    clock.advance(3600)
    real.seconds += 5
    assert clock.now() == START + timedelta(seconds=3605)


def test_a_new_scale_does_not_make_time_jump() -> None:
    real = Real()
    clock = Clock(1, START, real)
    real.seconds += 10
    clock.rescale(100)
    real.seconds += 1
    assert clock.now() == START + timedelta(seconds=110)


def test_time_does_not_go_back() -> None:
    clock = Clock(0, START)
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)


def test_a_clock_cannot_run_backwards() -> None:
    with pytest.raises(ValueError, match="backwards"):
        Clock(-1)
