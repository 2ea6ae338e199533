"""What a size slug says by itself, so that a size newer than the catalogue still works once it has a price.

Shape, from every GPU slug listed on 2026-10-08: `gpu-<model>x<GPUs>-<memory of all GPUs>gb[-lc][-spot]`.
AMD's slugs leave the X of the model's name to the count (`mi300x8` is eight MI300X).
"""

import re

from doks_gpu.catalog.model import GpuHardware, Vendor

SPOT_SUFFIX = "-spot"
"""DigitalOcean sells Spot under slugs of its own; no other field says it (API, godo and provider, read
2026-08)."""

_GPU_SLUG = re.compile(r"gpu-(?P<model>[a-z0-9]+?)x(?P<gpus>[1-9][0-9]?)-(?P<total>[1-9][0-9]{0,5})gb(?:-[a-z0-9]+)*\Z")
_AMD_MODEL = re.compile(r"mi[0-9]")
_AMD_INSTINCT = re.compile(r"mi[0-9]+\Z")


def is_spot(slug: str) -> bool:
    """Whether DigitalOcean may take nodes of this size back."""
    return slug.endswith(SPOT_SUFFIX)


def parse_size(slug: str) -> GpuHardware | None:
    """The GPUs of one node as its slug names them; None for a slug of another shape."""
    found = _GPU_SLUG.match(slug)
    if not found:
        return None
    gpus, total = int(found["gpus"]), int(found["total"])
    if total % gpus:
        return None
    model = model_name(found["model"])
    return GpuHardware(vendor=vendor_of(model), model=model, gpus=gpus, gpu_memory_gib=total // gpus)


def model_name(word: str) -> str:
    """One spelling per model: `mi300` and `mi300x` are the same GPU."""
    return f"{word}x" if _AMD_INSTINCT.match(word) else word


def vendor_of(model: str) -> Vendor:
    """By the model's name: AMD's are called MI and a number; all others that DigitalOcean lists are
    NVIDIA's."""
    return "amd" if _AMD_MODEL.match(model) else "nvidia"
