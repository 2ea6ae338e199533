"""DigitalOcean's sizes and prices as they were read, each with date, source and confidence. It decides
nothing."""

from doks_gpu.catalog.gpu import GPU_SIZES
from doks_gpu.catalog.model import (
    Confidence,
    CpuSize,
    GpuHardware,
    GpuSize,
    ListPrice,
    RegionFact,
    Source,
    Vendor,
)
from doks_gpu.catalog.prices import CPU_SIZES, HIGH_AVAILABILITY, HOURS_PER_MONTH, SPACES, VOLUME_GIB
from doks_gpu.catalog.slugs import is_spot, model_name, parse_size, vendor_of

__all__ = [
    "CPU_SIZES",
    "GPU_SIZES",
    "HIGH_AVAILABILITY",
    "HOURS_PER_MONTH",
    "SPACES",
    "VOLUME_GIB",
    "Confidence",
    "CpuSize",
    "GpuHardware",
    "GpuSize",
    "ListPrice",
    "RegionFact",
    "Source",
    "Vendor",
    "find",
    "find_cpu",
    "is_spot",
    "model_name",
    "parse_size",
    "regions_of",
    "vendor_of",
]

_GPU = {size.slug: size for size in GPU_SIZES}
_CPU = {size.slug: size for size in CPU_SIZES}


def find(slug: str) -> GpuSize | None:
    """The row of a GPU size; None when the catalogue is older than the size."""
    return _GPU.get(slug)


def find_cpu(slug: str) -> CpuSize | None:
    """The row of a CPU size; None when the catalogue does not have it."""
    return _CPU.get(slug)


def regions_of(slug: str) -> frozenset[str]:
    """Regions that are known to sell a GPU size. Empty means unknown."""
    size = find(slug)
    return frozenset(fact.region for fact in size.regions) if size else frozenset()
