"""`pulumi-resource-digitalocean`: prints its port, serves until SIGTERM or until its engine is gone."""

import os
import signal
import sys
import threading

from rehearsal.provider.errors import ProviderError
from rehearsal.provider.provider import Provider
from rehearsal.provider.server import serve
from rehearsal.provider.waiting import Patience, poll_seconds

_LOOK_FOR_ENGINE_SECONDS = 0.5
_GRACE_SECONDS = 1.0


def main() -> int:
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    engine = os.getppid()
    try:
        patience = Patience(interval=poll_seconds(os.environ))
        provider = Provider(patience=patience)
    except ProviderError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    server, port = serve(provider)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    while not stop.wait(_LOOK_FOR_ENGINE_SECONDS) and os.getppid() == engine:
        pass
    patience.cancelled.set()
    server.stop(_GRACE_SECONDS).wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
