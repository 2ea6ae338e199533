"""What the DigitalOcean stand-in makes of a "cluster": a real control plane with its own ports and folder."""

import logging
import threading
from pathlib import Path

import httpx

from doks_gpu.errors import DoksGpuError
from rehearsal.cluster.control_plane import ControlPlane
from rehearsal.cluster.starter_map import create_starter_map
from rehearsal.digitalocean.backend import ClusterEndpoint
from rehearsal.toolchain import Toolchain

_log = logging.getLogger(__name__)


class ControlPlanes:
    """Control planes by cluster id, as the stand-in's `ClusterBackend`. Several threads may call it.

    `map_delay_seconds` is how long DOKS takes to make the priority map once its expander is on: the cluster
    is `running` before that, which is a race that the program must survive. `token_review_url` is where the
    API servers ask whose a token is; it must be set before the first cluster is made.
    """

    def __init__(self, toolchain: Toolchain, folder: Path, *, map_delay_seconds: float = 1.0) -> None:
        self.map_delay_seconds = map_delay_seconds
        self.token_review_url = ""
        self._toolchain = toolchain
        self._folder = folder
        self._planes: dict[str, ControlPlane] = {}
        self._starter_maps: dict[str, threading.Timer] = {}
        self._lock = threading.Lock()
        self._stopped = False

    def create(self, cluster_id: str, name: str, region: str, version: str) -> ClusterEndpoint:
        """Blocks until the API server is ready. It is the toolchain's version, whatever `version` says.

        Raises `ControlPlaneError` when it does not come up.
        """
        plane = ControlPlane(self._folder / cluster_id, self._toolchain, f"{self.token_review_url}/{cluster_id}")
        with self._lock:
            if self._stopped:
                raise DoksGpuError("The rehearsal is being stopped.")
            self._planes[cluster_id] = plane
        try:
            plane.start()
        except DoksGpuError:
            self.delete(cluster_id)
            raise
        _log.info("cluster %s (%s, %s, asked for %s) at %s", name, cluster_id, region, version, plane.server)
        return ClusterEndpoint(server=plane.server, certificate_authority_pem=plane.certificate_authority_pem)

    def delete(self, cluster_id: str) -> None:
        """Ends the control plane; a cluster that is not there is no error."""
        with self._lock:
            plane = self._planes.pop(cluster_id, None)
            starter_map = self._starter_maps.pop(cluster_id, None)
        if starter_map:
            starter_map.cancel()
        if plane:
            plane.stop()

    def apply_autoscaler(self, cluster_id: str, expanders: tuple[str, ...]) -> None:
        """With `priority` among the expanders the starter map appears after the delay, once per cluster."""
        with self._lock:
            if "priority" not in expanders or cluster_id in self._starter_maps:
                return
            timer = threading.Timer(self.map_delay_seconds, self._make_starter_map, [cluster_id])
            timer.daemon = True
            self._starter_maps[cluster_id] = timer
            timer.start()

    def plane(self, cluster_id: str) -> ControlPlane:
        """The control plane of a cluster, for the rehearsal's own parts. Raises `DoksGpuError`."""
        with self._lock:
            if cluster_id not in self._planes:
                raise DoksGpuError(f"No control plane runs for the cluster {cluster_id}.")
            return self._planes[cluster_id]

    def stop(self) -> None:
        """Ends every control plane, one that is being made too; none can be made after it."""
        with self._lock:
            self._stopped = True
            clusters = list(self._planes)
        for cluster_id in clusters:
            self.delete(cluster_id)

    def _make_starter_map(self, cluster_id: str) -> None:
        try:
            with self.plane(cluster_id).admin() as api:
                create_starter_map(api)
        except (httpx.HTTPError, DoksGpuError) as error:
            _log.warning("the starter priority map of cluster %s was not made: %s", cluster_id, error)
