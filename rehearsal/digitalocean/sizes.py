"""Droplet sizes as the stand-in sells them: the catalogue's rows in the API's words.

Shape of the rows, boot disks and `gpu_info` (whose memory is that of all GPUs of the node together): `GET /v2/sizes` of
one account as published by its author, read on 2026-10-08, and the recorded answer in DigitalOcean's own Go client
(`vram` 640 GiB for eight H100), read on 2026-11-30.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from doks_gpu.catalog import CPU_SIZES, GPU_SIZES, HOURS_PER_MONTH, CpuSize, GpuHardware, GpuSize, is_spot

REGIONS = tuple(
    "ams3 atl1 blr1 fra1 lon1 mem1 mkc1 nyc1 nyc2 nyc3 ric1 sfo2 sfo3 sgp1 syd1 tor1".split()
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
    def usd_per_month(self) -> Decimal:
        """List price of an average month."""
        return (self.usd_per_hour * HOURS_PER_MONTH).quantize(Decimal("0.01"))

    @property
    def gpu_model(self) -> str | None:
        """As the API writes it: `nvidia_h100`."""
        return f"{self.gpu.vendor}_{self.gpu.model}" if self.gpu else None


def default_sizes() -> Mapping[str, Size]:
    """Every size of the catalogue, by slug."""
    rows = [*map(_cpu, CPU_SIZES), *map(_gpu, GPU_SIZES)]
    return {row.slug: row for row in rows}


def _cpu(row: CpuSize) -> Size:
    return Size(
        slug=row.slug,
        vcpus=row.vcpus,
        memory_gib=row.memory_gib,
        disk_gib=20 * row.memory_gib,
        usd_per_hour=row.price.usd_per_hour,
    )


def _gpu(row: GpuSize) -> Size:
    return Size(
        slug=row.slug,
        vcpus=row.vcpus,
        memory_gib=row.memory_gib,
        disk_gib=_gpu_disk(row.hardware),
        usd_per_hour=row.price.usd_per_hour,
        gpu=row.hardware,
    )


def _gpu_disk(hardware: GpuHardware) -> int:
    if hardware.gpus > 1:
        return 2046
    return 500 if hardware.model in _SMALL_GPUS else 720
