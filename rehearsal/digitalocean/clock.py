"""The stand-in's time. Every state is worked out from it when somebody asks; nothing waits for it."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


class Clock:
    """A clock that runs `scale` seconds per real second, and that its owner may move forward.

    Scale 1 is real time, 60 makes a minute of each second, 0 stands still: then time moves by `advance` alone.
    """

    def __init__(
        self,
        scale: float = 1.0,
        start: datetime | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises `ValueError` for a negative scale. `start` is now unless given, with its time zone."""
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._base = start or datetime.now(UTC)
        self._since = monotonic()
        self._scale = _checked(scale)

    @property
    def scale(self) -> float:
        """Seconds on this clock per real second."""
        return self._scale

    def now(self) -> datetime:
        """The time on this clock, in UTC."""
        with self._lock:
            return self._now()

    def advance(self, seconds: float) -> datetime:
        """Moves the clock forward and returns the new time. Raises `ValueError` when asked to go back."""
        if seconds < 0:
            raise ValueError(f"time does not go back: {seconds} s")
        with self._lock:
            self._base += timedelta(seconds=seconds)
            return self._now()

    def rescale(self, scale: float) -> None:
        """Changes the speed from now on. Raises `ValueError` for a negative scale."""
        checked = _checked(scale)
        with self._lock:
            self._base, self._since = self._now(), self._monotonic()
            self._scale = checked

    def _now(self) -> datetime:
        return self._base + timedelta(seconds=(self._monotonic() - self._since) * self._scale)


def _checked(scale: float) -> float:
    if scale < 0:
        raise ValueError(f"a clock cannot run backwards: scale {scale}")
    return scale


def rfc3339(moment: datetime) -> str:
    """As DigitalOcean writes times: UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def after(moment: datetime, seconds: float) -> datetime:
    """That many seconds later."""
    return moment + timedelta(seconds=seconds)
