"""Time and patience: one clock for polls and retries, and the poll loop that every wait uses.

The real provider looks every 10 s, first after 10 s, for 30 minutes (terraform-provider-digitalocean
401992a1, 2026-08-06). A rehearsal shortens the interval with `DOKS_GPU_REHEARSAL_POLL_SECONDS`, and every limit in
the same proportion: with 0.2 s, a limit of 90 minutes is over after 108 s.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, Protocol

from rehearsal.provider.errors import CancelledError, ProviderError, WaitTimeoutError

POLL_VARIABLE: Final = "DOKS_GPU_REHEARSAL_POLL_SECONDS"
POLL_SECONDS: Final = 10.0
DEFAULT_LIMIT_SECONDS: Final = 30 * 60.0


class Clock(Protocol):
    def monotonic(self) -> float:
        """Seconds that never run backwards."""

    def now(self) -> datetime:
        """Wall clock, with its zone."""

    def sleep(self, seconds: float, cancelled: threading.Event) -> None:
        """Returns after `seconds`, or as soon as `cancelled` is set."""


class SystemClock:
    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float, cancelled: threading.Event) -> None:
        cancelled.wait(seconds)


def poll_seconds(environment: Mapping[str, str]) -> float:
    """Seconds between two looks. Raises ProviderError for anything but a positive number."""
    text = environment.get(POLL_VARIABLE)
    if not text:
        return POLL_SECONDS
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ProviderError(f"{POLL_VARIABLE} is {text!r}; it must be a number of seconds above 0")
    return seconds


@dataclass(frozen=True)
class Patience:
    """How this process waits: its clock, its interval, and the flag that ends every wait at once."""

    clock: Clock = field(default_factory=SystemClock)
    interval: float = POLL_SECONDS
    cancelled: threading.Event = field(default_factory=threading.Event)

    def sleep(self, seconds: float) -> None:
        """Raises CancelledError when the engine cancels meanwhile."""
        self.clock.sleep(seconds, self.cancelled)
        if self.cancelled.is_set():
            raise CancelledError("the operation was cancelled")

    def until(self, arrived: Callable[[], bool], what: str, limit: float) -> None:
        """Looks until `arrived`. Raises WaitTimeoutError once `limit` seconds are over, or CancelledError.

        A shorter interval than the real one shortens the limit with it.
        """
        deadline = self.clock.monotonic() + limit * self.interval / POLL_SECONDS
        while True:
            self.sleep(self.interval)
            if arrived():
                return
            if self.clock.monotonic() >= deadline:
                raise WaitTimeoutError(f"timeout while waiting for {what}")
