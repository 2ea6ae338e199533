"""The DigitalOcean API as the provider's HTTP client uses it: bare origin, bearer token, retries.

Retries follow go-retryablehttp's default policy: 429, every 5xx but 501, and lost connections; the wait
doubles from the minimum to the maximum, and `Retry-After` of a 429 or 503 wins. A POST is retried like
anything else, as in the real client.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import requests

from rehearsal.provider.configuration import Configuration
from rehearsal.provider.errors import ApiError, ApiUnreachableError
from rehearsal.provider.waiting import Patience

_CONNECT_SECONDS: Final = 30.0
_USER_AGENT: Final = "doks-gpu-rehearsal-provider"

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """One HTTP answer; `body` is empty where the answer had none."""

    status: int
    body: Body = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


Send = Callable[[str, str, Mapping[str, str], Body | None], Reply]
"""Method, full URL, headers and JSON body to an answer. Raises ApiUnreachableError when there is none."""


class HttpSender:
    """Sends over the network, one connection pool per thread; ignores the machine's proxies and .netrc."""

    def __init__(self) -> None:
        self._local = threading.local()

    def __call__(self, method: str, url: str, headers: Mapping[str, str], body: Body | None) -> Reply:
        try:
            answer = self._session().request(
                method, url, headers=dict(headers), json=body, timeout=(_CONNECT_SECONDS, None)
            )
        except requests.RequestException as error:
            raise ApiUnreachableError(f"{method} {url}: {type(error).__name__}") from error
        return Reply(answer.status_code, _json_object(answer), answer.headers)

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            session.trust_env = False
            self._local.session = session
        return session


def _json_object(answer: requests.Response) -> Body:
    if not answer.content:
        return {}
    try:
        body = answer.json()
    except requests.JSONDecodeError:
        return {}
    return body if isinstance(body, dict) else {}


class Api:
    """Authenticated calls below one origin."""

    def __init__(self, configuration: Configuration, send: Send, patience: Patience) -> None:
        self._configuration = configuration
        self._send = send
        self._patience = patience
        self._pace = threading.Lock()
        self._next_request = 0.0

    @property
    def patience(self) -> Patience:
        return self._patience

    def get(self, path: str, **query: str | int) -> Body:
        return self.call("GET", f"{path}?{urlencode(query)}" if query else path)

    def exists(self, path: str) -> Body | None:
        """The answer to a GET, or None when it is 404."""
        try:
            return self.get(path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def call(self, method: str, path: str, body: Body | None = None) -> Body:
        """One request with its retries. Raises ApiError, ApiUnreachableError or CancelledError."""
        url = f"{self._configuration.endpoint}{path}"
        limit = self._configuration.retry_max
        attempt = 0
        while True:
            reply = self._attempt(method, url, body, last=attempt >= limit)
            if reply is not None and not (_retryable(reply.status) and attempt < limit):
                return _body(method, url, reply, attempts=attempt + 1 if _retryable(reply.status) else 0)
            self._patience.sleep(self._wait(reply, attempt))
            attempt += 1

    def _attempt(self, method: str, url: str, body: Body | None, *, last: bool) -> Reply | None:
        self._keep_pace()
        headers = {"User-Agent": _USER_AGENT, "Accept": "application/json"}
        if self._configuration.token:
            headers["Authorization"] = f"Bearer {self._configuration.token}"
        try:
            return self._send(method, url, headers, body)
        except ApiUnreachableError:
            if last:
                raise
            return None

    def _wait(self, reply: Reply | None, attempt: int) -> float:
        if reply is not None and reply.status in (429, 503):
            asked = {key.lower(): value for key, value in reply.headers.items()}.get("retry-after", "")
            if asked.isdecimal():
                return float(asked)
        settings = self._configuration
        return float(min(settings.retry_wait_min * 2**attempt, settings.retry_wait_max))

    def _keep_pace(self) -> None:
        if not self._configuration.requests_per_second:
            return
        with self._pace:
            now = self._patience.clock.monotonic()
            wait = max(0.0, self._next_request - now)
            self._next_request = max(now, self._next_request) + 1 / self._configuration.requests_per_second
        if wait:
            self._patience.sleep(wait)


def _retryable(status: int) -> bool:
    return status == 429 or (status >= 500 and status != 501)


def _body(method: str, url: str, reply: Reply, attempts: int) -> Body:
    if reply.status < 400:
        return reply.body
    raise ApiError(method, url, reply.status, str(reply.body.get("message", "")), attempts)
