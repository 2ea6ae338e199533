"""What the catalogue knows about a size, and how well it knows it."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

Vendor = Literal["nvidia", "amd"]
Confidence = Literal["high", "medium", "low"]
"""high: read in a primary source; medium: one secondary source; low: weak, or sources that disagree."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a value was read, when, and how far it can be trusted."""

    text: str
    read_on: date
    confidence: Confidence


@dataclass(frozen=True, kw_only=True)
class ListPrice:
    """A price of one unit per hour, in US dollars."""

    usd_per_hour: Decimal
    source: Source


@dataclass(frozen=True, kw_only=True)
class RegionFact:
    """Somebody saw this size offered there. The list of such facts is never complete."""

    region: str
    source: Source


@dataclass(frozen=True, kw_only=True)
class GpuHardware:
    """What a slug says about a node's GPUs."""

    vendor: Vendor
    model: str
    """Lower case, without the maker: `h200`, `mi300x`."""
    gpus: int
    """GPUs of one node."""
    gpu_memory_gib: int
    """Memory of one GPU: the seller's number, compared as GiB."""


@dataclass(frozen=True, kw_only=True)
class GpuSize:
    """One row of the catalogue."""

    slug: str
    hardware: GpuHardware
    vcpus: int
    memory_gib: int
    """RAM of one node."""
    price: ListPrice
    regions: tuple[RegionFact, ...]


@dataclass(frozen=True, kw_only=True)
class CpuSize:
    """A size of the cluster's own pool."""

    slug: str
    vcpus: int
    memory_gib: int
    price: ListPrice
