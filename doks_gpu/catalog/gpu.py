"""Every GPU size that DigitalOcean lists, one row each. A new size is one row here.

Prices, vCPUs and memory: one account's `GET /v2/sizes`, published by its author, read on 2026-10-08. That
account had no NVIDIA quota and the API hides regions from such accounts, so the regions come from several
places, each named.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from doks_gpu.catalog.model import Confidence, GpuHardware, GpuSize, ListPrice, RegionFact, Source, Vendor

_LISTED = Source(
    text="GET /v2/sizes of one account, published by its author", read_on=date(2026, 10, 8), confidence="high"
)

_LISTED_REGION = Source(
    text="regions in GET /v2/sizes of one account, which may see fewer than others",
    read_on=date(2026, 10, 8),
    confidence="low",
)
_FACTS_READ = date(2026, 11, 30)


def _seen(text: str, confidence: Confidence = "medium") -> Source:
    return Source(text=text, read_on=_FACTS_READ, confidence=confidence)


_TRIED = _seen("regions that a public tool tries for this size")
_SECONDARY = _seen("secondary sources: public tools and reports that name these regions")
_UNRATED = _seen("named next to the one-GPU size in secondary sources", "low")
_CONTRACT = _seen("contract price sheet, secondary source")
_GUIDE = _seen("DOKS guide of 2025, secondary source")
_HARDWARE = _seen("hardware announcement for this region, secondary source")


def _regions(*groups: tuple[Source, str]) -> tuple[RegionFact, ...]:
    return tuple(RegionFact(region=region, source=source) for source, names in groups for region in names.split())


def _row(
    slug: str,
    vendor: Vendor,
    model: str,
    gpus: int,
    gpu_memory_gib: int,
    vcpus: int,
    memory_gib: int,
    usd: str,
    regions: Sequence[RegionFact],
) -> GpuSize:
    return GpuSize(
        slug=slug,
        hardware=GpuHardware(vendor=vendor, model=model, gpus=gpus, gpu_memory_gib=gpu_memory_gib),
        vcpus=vcpus,
        memory_gib=memory_gib,
        price=ListPrice(usd_per_hour=Decimal(usd), source=_LISTED),
        regions=tuple(regions),
    )


_RTX = _regions((_TRIED, "ams3 nyc2"))
_H100 = _regions((_SECONDARY, "nyc2 tor1 atl1"))
_H100_8 = _regions((_UNRATED, "nyc2 tor1"))
_H200 = _regions((_CONTRACT, "nyc2 atl1"))
_H200_8 = _regions((_SECONDARY, "nyc2"))
_MI300 = _regions((_CONTRACT, "atl1"), (_GUIDE, "tor1 nyc2"))
_MI300_8 = _regions((_UNRATED, "atl1"))
_MI325 = _regions((_LISTED_REGION, "nyc2 tor1"), (_CONTRACT, "atl1"))
_MI325_8 = _regions((_LISTED_REGION, "nyc2 tor1"))
_MI350 = _regions((_LISTED_REGION, "ric1"))
_MI355 = _regions((_LISTED_REGION, "mem1"))
_B300 = _regions((_HARDWARE, "ric1"))
_B300_LC = _regions((_LISTED_REGION, "mkc1"))

# slug, vendor, model, GPUs, GiB per GPU, vCPUs, GiB of RAM, $/hour, regions
GPU_SIZES: tuple[GpuSize, ...] = (
    _row("gpu-4000adax1-20gb", "nvidia", "4000ada", 1, 20, 8, 32, "0.76", _RTX),
    _row("gpu-6000adax1-48gb", "nvidia", "6000ada", 1, 48, 8, 64, "1.57", _RTX),
    _row("gpu-l40sx1-48gb", "nvidia", "l40s", 1, 48, 8, 64, "1.57", _RTX),
    _row("gpu-h100x1-80gb", "nvidia", "h100", 1, 80, 20, 240, "4.41", _H100),
    _row("gpu-h100x8-640gb", "nvidia", "h100", 8, 80, 160, 1920, "35.28", _H100_8),
    _row("gpu-h200x1-141gb", "nvidia", "h200", 1, 141, 24, 240, "4.47", _H200),
    _row("gpu-h200x8-1128gb", "nvidia", "h200", 8, 141, 192, 1920, "35.76", _H200_8),
    _row("gpu-mi300x1-192gb", "amd", "mi300x", 1, 192, 20, 240, "2.59", _MI300),
    _row("gpu-mi300x8-1536gb", "amd", "mi300x", 8, 192, 160, 1920, "20.72", _MI300_8),
    _row("gpu-mi325x1-256gb", "amd", "mi325x", 1, 256, 20, 160, "3.80", _MI325),
    _row("gpu-mi325x8-2048gb", "amd", "mi325x", 8, 256, 160, 1280, "30.40", _MI325_8),
    _row("gpu-mi350x1-288gb-spot", "amd", "mi350x", 1, 288, 24, 256, "2.46", _MI350),
    _row("gpu-mi350x8-2304gb-spot", "amd", "mi350x", 8, 288, 192, 2048, "19.68", _MI350),
    _row("gpu-mi355x1-288gb-spot", "amd", "mi355x", 1, 288, 24, 256, "2.97", _MI355),
    _row("gpu-mi355x8-2304gb-spot", "amd", "mi355x", 8, 288, 192, 2048, "23.76", _MI355),
    _row("gpu-b300x1-288gb-spot", "nvidia", "b300", 1, 288, 28, 448, "8.00", _B300),
    _row("gpu-b300x8-2304gb-spot", "nvidia", "b300", 8, 288, 224, 3584, "64.00", _B300),
    _row("gpu-b300x1-288gb-lc-spot", "nvidia", "b300", 1, 288, 28, 448, "8.00", _B300_LC),
    _row("gpu-b300x8-2304gb-lc-spot", "nvidia", "b300", 8, 288, 224, 3584, "64.00", _B300_LC),
)
