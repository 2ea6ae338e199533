"""A stand-in for DigitalOcean's API, on loopback, with time under control of its owner."""

from rehearsal.digitalocean.backend import ClusterBackend, ClusterEndpoint, NoControlPlane
from rehearsal.digitalocean.clock import Clock
from rehearsal.digitalocean.cloud import DigitalOcean
from rehearsal.digitalocean.control import ReclaimOrder
from rehearsal.digitalocean.server import StandIn
from rehearsal.digitalocean.settings import NodeListing, StandInSettings, StockOut
from rehearsal.digitalocean.traffic import Failure

__all__ = [
    "Clock",
    "ClusterBackend",
    "ClusterEndpoint",
    "DigitalOcean",
    "Failure",
    "NoControlPlane",
    "NodeListing",
    "ReclaimOrder",
    "StandIn",
    "StandInSettings",
    "StockOut",
]
