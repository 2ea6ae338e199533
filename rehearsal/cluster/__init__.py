"""Real control planes on loopback, which the DigitalOcean stand-in hands out as its clusters."""

from rehearsal.cluster.backend import ControlPlanes
from rehearsal.cluster.control_plane import ControlPlane, ControlPlaneError

__all__ = ["ControlPlane", "ControlPlaneError", "ControlPlanes"]
