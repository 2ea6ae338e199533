"""The stand-in as a server on loopback, in a thread of the process that wants it."""

import contextlib
import secrets
import socket
import threading
import time
from typing import Self

import uvicorn

from doks_gpu.errors import DoksGpuError
from rehearsal.digitalocean.app import create_app
from rehearsal.digitalocean.backend import ClusterBackend
from rehearsal.digitalocean.clock import Clock
from rehearsal.digitalocean.cloud import DigitalOcean
from rehearsal.digitalocean.settings import StandInSettings

_HOST = "127.0.0.1"
_START_SECONDS = 15.0
_BACKEND_SECONDS = 60.0


class StandIn:
    """DigitalOcean on a loopback port. What lives in it survives `stop` and a later `start`, at the same address.

    `cloud` is the account itself, for callers in the same process. A `token` of their own is made when none is given.
    """

    def __init__(
        self,
        settings: StandInSettings | None = None,
        *,
        backend: ClusterBackend | None = None,
        token: str | None = None,
        clock: Clock | None = None,
        port: int = 0,
    ) -> None:
        self.cloud = DigitalOcean(settings, backend=backend, clock=clock)
        self.token = token or secrets.token_urlsafe(24)
        self._app = create_app(self.cloud, self.token)
        self._port = port
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Base address of API and admin API, without a path. Raises `DoksGpuError` before the first `start`."""
        if not self._port:
            raise DoksGpuError("The DigitalOcean stand-in has no address before it is started.")
        return f"http://{_HOST}:{self._port}"

    def start(self) -> Self:
        """Returns when it answers. Raises `DoksGpuError` when the port is taken or the server does not come up."""
        if self._thread is not None:
            raise DoksGpuError(f"The DigitalOcean stand-in already runs at {self.url}.")
        listener = self._listener()
        config = uvicorn.Config(
            self._app,
            lifespan="off",
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=1,
            timeout_keep_alive=30,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, args=([listener],), name="digitalocean-stand-in", daemon=True
        )
        self._thread.start()
        self._wait_until_started(self._server, self._thread)
        return self

    def stop(self) -> None:
        """Ends the server, and waits for control planes that are just being made or ended. Not running is no error."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_START_SECONDS)
        self._server = self._thread = None
        self.cloud.finish(_BACKEND_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _listener(self) -> socket.socket:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((_HOST, self._port))
        except OSError as error:
            listener.close()
            raise DoksGpuError(f"Port {self._port} cannot be had on {_HOST}: {error.strerror}.") from error
        self._port = listener.getsockname()[1]
        return listener

    @staticmethod
    def _wait_until_started(server: uvicorn.Server, thread: threading.Thread) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not server.started:
            if not thread.is_alive() or time.monotonic() > deadline:
                raise DoksGpuError("The DigitalOcean stand-in did not start.")
            with contextlib.suppress(TimeoutError):
                thread.join(0.01)
