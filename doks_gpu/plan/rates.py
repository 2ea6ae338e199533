"""Price of one node, and of what is billed besides nodes: from the configuration, else the account, else the
catalogue.

A price that nobody knows is unknown, never 0. A Spot price holds for the life of its pool.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from doks_gpu import catalog
from doks_gpu.plan.facts import Facts

Origin = Literal["configuration", "live pool", "account", "catalogue", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Price:
    """US dollars per hour for one unit, with where and when that was said."""

    usd_per_hour: Decimal | None
    """None: unknown, which is an error of the preflight."""
    origin: Origin
    read_on: date | None
    """Day of the reading; None where the configuration or nobody says it."""
    source: str


UNKNOWN = Price(usd_per_hour=None, origin="unknown", read_on=None, source="nobody says it")


def gpu_price(slug: str, configured: Decimal | None, facts: Facts | None) -> Price:
    """Price of one node of a GPU size."""
    size = catalog.find(slug)
    return _first(slug, configured, facts, size.price if size else None)


def cpu_price(slug: str, configured: Decimal | None, facts: Facts | None) -> Price:
    """Price of one node of a CPU size."""
    size = catalog.find_cpu(slug)
    return _first(slug, configured, facts, size.price if size else None)


def listed(price: catalog.ListPrice, units: int = 1) -> Price:
    """Price of `units` of something that the catalogue alone prices."""
    return Price(
        usd_per_hour=price.usd_per_hour * units,
        origin="catalogue",
        read_on=price.source.read_on,
        source=price.source.text,
    )


def _first(slug: str, configured: Decimal | None, facts: Facts | None, known: catalog.ListPrice | None) -> Price:
    if configured is not None:
        return Price(usd_per_hour=configured, origin="configuration", read_on=None, source="usdPerHour")
    said = facts.sizes.get(slug) if facts else None
    if facts and said and said.usd_per_hour > 0:
        return Price(usd_per_hour=said.usd_per_hour, origin="account", read_on=facts.read_on, source="GET /v2/sizes")
    return listed(known) if known else UNKNOWN
