"""What is done to requests on purpose, and what is remembered of them."""

import itertools
import re
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from rehearsal.digitalocean.settings import Strict


class Failure(Strict):
    """What happens to requests that match: they fail, or are slow, or both."""

    method: str | None = None
    """None: any."""
    path: str = ".*"
    """A regular expression for the whole path, without the query."""
    status: Annotated[int, Field(ge=400, le=599)] | None = None
    """None: the request is answered as usual, after `slow_seconds`."""
    message: str = ""
    retry_after: Annotated[int, Field(ge=0)] | None = None
    """Seconds; sent as the header that clients obey."""
    slow_seconds: Annotated[float, Field(ge=0)] = 0
    """Real seconds, since it is real clients that wait."""
    applied: bool = False
    """The request takes effect all the same: its answer is what is lost."""
    times: Annotated[int, Field(ge=1)] | None = 1
    """How many requests; None: every one until the failure is taken back."""

    @field_validator("path")
    @classmethod
    def _path_is_an_expression(cls, path: str) -> str:
        try:
            re.compile(path)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from error
        return path

    @model_validator(mode="after")
    def _does_something(self) -> Self:
        if self.status is None and not self.slow_seconds:
            raise ValueError("a failure needs a status, slow_seconds or both")
        return self

    def concerns(self, method: str, path: str) -> bool:
        """Whether it is about such a request."""
        return self.method in (None, method) and re.fullmatch(self.path, path) is not None


class Failures:
    """The failures that are still to come, oldest first. Several threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[Failure, int | None]] = {}

    def add(self, failure: Failure) -> int:
        """Returns the number by which it can be taken back."""
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = (failure, failure.times)
            return number

    def take(self, method: str, path: str) -> Failure | None:
        """The failure of this request, which uses one of its times up."""
        with self._lock:
            for number, (failure, left) in self._waiting.items():
                if failure.concerns(method, path):
                    self._use(number, failure, left)
                    return failure
            return None

    def waiting(self) -> dict[int, tuple[Failure, int | None]]:
        """By number: the failure and how many requests it still has; None means all."""
        with self._lock:
            return dict(self._waiting)

    def remove(self, number: int | None = None) -> None:
        """Takes back one failure, or all. One that is not there (any more) is no error."""
        with self._lock:
            if number is None:
                self._waiting.clear()
            else:
                self._waiting.pop(number, None)

    def _use(self, number: int, failure: Failure, left: int | None) -> None:
        if left == 1:
            del self._waiting[number]
        elif left is not None:
            self._waiting[number] = (failure, left - 1)


class LoggedRequest(BaseModel):
    """A request to the API and its answer's status. Headers are not kept: one of them is the token."""

    model_config = ConfigDict(frozen=True)

    number: int
    at: datetime
    """On the stand-in's clock."""
    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    """Parsed JSON, None for an empty body, the text where it is not JSON."""
    status: int
    user_agent: str


class RequestLog:
    """Every request to `/v2`, in the order of their answers. Several threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._rows: list[LoggedRequest] = []

    def add(
        self,
        *,
        at: datetime,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: Any,
        status: int,
        user_agent: str,
    ) -> None:
        """Remembers one."""
        with self._lock:
            self._rows.append(
                LoggedRequest(
                    number=next(self._numbers),
                    at=at,
                    method=method,
                    path=path,
                    query=query,
                    body=body,
                    status=status,
                    user_agent=user_agent,
                )
            )

    def rows(self, method: str | None = None, path: str = ".*", since: int = 0) -> list[LoggedRequest]:
        """Those after number `since` whose method is this and whose whole path matches the expression."""
        with self._lock:
            found = list(self._rows)
        return [
            row for row in found if row.number > since and method in (None, row.method) and re.fullmatch(path, row.path)
        ]

    def changes(self, since: int = 0) -> list[LoggedRequest]:
        """Those that ask for a change: everything but GET."""
        return [row for row in self.rows(since=since) if row.method != "GET"]

    def clear(self) -> None:
        """Forgets them; numbers go on."""
        with self._lock:
            self._rows.clear()
