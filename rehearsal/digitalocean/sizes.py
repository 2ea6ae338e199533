"""Droplet sizes as the stand-in sells them: the catalogue's rows in the API's words.

Shape of the rows, boot disks and `gpu_info` (whose memory is that of all GPUs of the node together): `GET /v2/sizes` of
one account as published by its author, read on 2026-10-08, and the recorded answer in DigitalOcean's own Go client
(`vram` 640 GiB for eight H100), read on 2026-11-30.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from doks_gpu.catalog import CPU_SIZES, GPU_SIZES, CpuSize, GpuHardware, GpuSize, is_spot, parse_size

REGIONS = (
    "ams3",
    "atl1",
    "blr1",
    "fra1",
    "lon1",
    "mem1",
    "mkc1",
    "nyc1",
    "nyc2",
    "nyc3",
    "ric1",
    "sfo2",
    "sfo3",
    "sgp1",
    "syd1",
    "tor1",
)
"""Regions that DigitalOcean's material names (2026-11-30). Whether DOKS runs in each of them is not known."""

_SMALL_GPUS = ("4000ada", "6000ada", "l40s")


@dataclass(frozen=True, kw_only=True)
class Size:
    """One size on sale. `usd_per_hour` is the list price; settings may move it."""

    slug: str
    vcpus: int
    memory_gib: int
    disk_gib: int
    usd_per_hour: Decimal
    gpu: GpuHardware | None = None

    @property
    def is_spot(self) -> bool:
        """DigitalOcean says it in the slug alone."""
        return is_spot(self.slug)

    @property
    def gpu_model(self) -> str | None:
        """As the API writes it: `nvidia_h100`."""
        return f"{self.gpu.vendor}_{self.gpu.model}" if self.gpu else None


def size_of(slug: str, vcpus: int, memory_gib: int, usd_per_hour: Decimal) -> Size:
    """A size that the catalogue does not have; its GPUs are read from the slug."""
    gpu = parse_size(slug)
    disk = _gpu_disk(gpu) if gpu else 20 * memory_gib
    return Size(slug=slug, vcpus=vcpus, memory_gib=memory_gib, disk_gib=disk, usd_per_hour=usd_per_hour, gpu=gpu)


def default_sizes() -> Mapping[str, Size]:
    """Every size of the catalogue, by slug."""
    rows = [*map(_cpu, CPU_SIZES), *map(_gpu, GPU_SIZES)]
    return {row.slug: row for row in rows}


def _cpu(row: CpuSize) -> Size:
    return size_of(row.slug, row.vcpus, row.memory_gib, row.price.usd_per_hour)


def _gpu(row: GpuSize) -> Size:
    size = size_of(row.slug, row.vcpus, row.memory_gib, row.price.usd_per_hour)
    return replace(size, gpu=row.hardware)


def _gpu_disk(hardware: GpuHardware) -> int:
    if hardware.gpus > 1:
        return 2046
    return 500 if hardware.model in _SMALL_GPUS else 720
