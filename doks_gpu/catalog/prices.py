"""What a cluster costs besides its GPUs: CPU nodes, control plane, volumes, buckets.

None of these prices was read in an account. Each names where it comes from; where sources disagree the higher
one is taken, because an estimate that is too low is a surprise bill.
"""

from datetime import date
from decimal import ROUND_HALF_UP, Decimal

from doks_gpu.catalog.model import CpuSize, ListPrice, Source

HOURS_PER_MONTH = 730
"""Average month. DigitalOcean caps a node at 672 hours a month, so a full month bills up to 8 % less than
shown."""

_DROPLETS = Source(
    text="droplet price table in a public article of mid-2026 (secondhand); the monthly prices agree with "
    "DigitalOcean's list since July 2022",
    read_on=date(2026, 11, 30),
    confidence="medium",
)
_DOKS_PAGE = Source(
    text="$40 a month, prorated hourly (DigitalOcean docs, Kubernetes pricing, a stored copy)",
    read_on=date(2026, 11, 30),
    confidence="medium",
)
_VOLUMES = Source(
    text="$0.15 per GiB and month, standard tier, in a public article of mid-2026 (secondhand); older texts say "
    "$0.10, so the higher one is taken",
    read_on=date(2026, 11, 30),
    confidence="low",
)
_SPACES = Source(
    text="$5 a month with 250 GiB and 1 TiB of transfer, in a public article of mid-2026 (secondhand)",
    read_on=date(2026, 11, 30),
    confidence="medium",
)


def _monthly(usd: str, source: Source) -> ListPrice:
    hourly = (Decimal(usd) / HOURS_PER_MONTH).quantize(Decimal("1E-8"), ROUND_HALF_UP)
    return ListPrice(usd_per_hour=hourly, source=source)


HIGH_AVAILABILITY = _monthly("40", _DOKS_PAGE)
"""The highly available control plane of one cluster; a plain one is free."""
VOLUME_GIB = _monthly("0.15", _VOLUMES)
"""One GiB of a block storage volume."""
SPACES = _monthly("5", _SPACES)
"""The Spaces subscription, once per account, whatever the number of buckets."""


def _cpu(slug: str, vcpus: int, memory_gib: int, usd: str) -> CpuSize:
    price = ListPrice(usd_per_hour=Decimal(usd), source=_DROPLETS)
    return CpuSize(slug=slug, vcpus=vcpus, memory_gib=memory_gib, price=price)


CPU_SIZES: tuple[CpuSize, ...] = (
    _cpu("s-1vcpu-2gb", 1, 2, "0.01786"),
    _cpu("s-2vcpu-2gb", 2, 2, "0.02679"),
    _cpu("s-2vcpu-4gb", 2, 4, "0.03571"),
    _cpu("s-4vcpu-8gb", 4, 8, "0.07143"),
    _cpu("s-8vcpu-16gb", 8, 16, "0.14286"),
    _cpu("c-2", 2, 4, "0.06250"),
    _cpu("c-4", 4, 8, "0.12500"),
    _cpu("c-8", 8, 16, "0.25000"),
    _cpu("c-16", 16, 32, "0.50000"),
    _cpu("g-2vcpu-8gb", 2, 8, "0.09375"),
    _cpu("g-4vcpu-16gb", 4, 16, "0.18750"),
    _cpu("g-8vcpu-32gb", 8, 32, "0.37500"),
    _cpu("g-16vcpu-64gb", 16, 64, "0.75000"),
    _cpu("m-2vcpu-16gb", 2, 16, "0.12500"),
    _cpu("m-4vcpu-32gb", 4, 32, "0.25000"),
    _cpu("m-8vcpu-64gb", 8, 64, "0.50000"),
)
