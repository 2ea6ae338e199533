"""The stand-in without HTTP: one account's state machine, put together."""

import threading
import time

from rehearsal.digitalocean.account import Offer, SpacesKeys, Vpcs
from rehearsal.digitalocean.backend import ClusterBackend, NoControlPlane
from rehearsal.digitalocean.clock import Clock
from rehearsal.digitalocean.clusters import Clusters, Job
from rehearsal.digitalocean.control import Control
from rehearsal.digitalocean.pools import Pools
from rehearsal.digitalocean.settings import StandInSettings
from rehearsal.digitalocean.traffic import Failures, RequestLog
from rehearsal.digitalocean.world import World


class DigitalOcean:
    """One account. Without a backend clusters exist in name only, and nothing runs in the background."""

    def __init__(
        self,
        settings: StandInSettings | None = None,
        *,
        backend: ClusterBackend | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._jobs: list[threading.Thread] = []
        self.world = World(settings, clock)
        self.pools = Pools(self.world)
        self.clusters = Clusters(
            self.world, self.pools, backend or NoControlPlane(), self._in_a_thread if backend else _at_once
        )
        self.offer = Offer(self.world)
        self.spaces_keys = SpacesKeys(self.world)
        self.vpcs = Vpcs(self.world)
        self.control = Control(self.world)
        self.failures = Failures()
        self.requests = RequestLog()

    def finish(self, timeout: float) -> None:
        """Waits until control planes that are being made or ended are so; at most `timeout` real seconds."""
        end = time.monotonic() + timeout
        for job in list(self._jobs):
            job.join(max(0.0, end - time.monotonic()))

    def _in_a_thread(self, job: Job) -> None:
        thread = threading.Thread(target=job, name="cluster-backend", daemon=True)
        self._jobs = [other for other in self._jobs if other.is_alive()] + [thread]
        thread.start()


def _at_once(job: Job) -> None:
    job()
