"""The cluster: DOKS itself, its CPU pool, when it is upgraded and when the autoscaler gives nodes back.

Limits from the provider and API facts read on 2026-11-30: weekday and time of the maintenance window,
networks, and a utilization of 0 that the provider cannot tell from "not set".
"""

import ipaddress
import re
from datetime import timedelta
from typing import Annotated, Literal

from pydantic import ValidationInfo, field_validator

from doks_gpu.catalog import is_spot
from doks_gpu.settings.types import (
    Cidr,
    Flag,
    Section,
    Usd,
    Uuid,
    Version,
    Wait,
    dns_label,
    fraction,
    matching,
    not_below_min,
    refused,
    whole,
)

Day = Literal["any", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


class Maintenance(Section):
    """When DOKS may upgrade: a day, and a time in UTC."""

    day: Day = "sunday"
    start: Annotated[
        str,
        matching(re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]\Z"), 'a time in quotes, "00:00" to "23:59", in UTC'),
    ] = "04:00"


class CpuPool(Section):
    """The cluster's own pool, for add-ons and DOKS's system pods: never a GPU size, never empty."""

    size: Annotated[
        str,
        matching(
            re.compile(r"[a-z][a-z0-9]*(-[a-z0-9.]+)+\Z"),
            "the slug of a CPU size, for example s-4vcpu-8gb",
            100,
        ),
    ] = "s-4vcpu-8gb"
    min: Annotated[int, whole(1)] = 2
    max: Annotated[int, whole(1)] = 4
    usd_per_hour: Usd | None = None

    @field_validator("size")
    @classmethod
    def _is_a_cpu_size(cls, size: str) -> str:
        if size.startswith("gpu-") or is_spot(size):
            raise refused("a CPU size, on demand: add-ons and system pods must never wait for a GPU or go with Spot")
        return size

    @field_validator("max")
    @classmethod
    def _not_below_min(cls, value: int, info: ValidationInfo) -> int:
        return not_below_min(value, info)


class ScaleDown(Section):
    """When the autoscaler gives a node back."""

    utilization: Annotated[float, fraction(0, 1, low_is_allowed=False, high_is_allowed=True)] = 0.5
    unneeded: Wait = timedelta(minutes=10)


class Cluster(Section):
    """A cluster of ours, or an existing one (`id`) that gets our pools and is otherwise left alone."""

    id: Uuid | None = None
    name: Annotated[str, dns_label()] | None = None
    version: Version = "1.36"
    auto_upgrade: Flag = True
    high_availability: Flag | None = None
    protect: Flag = True
    destroy_associated_resources: Flag = False
    vpc: Uuid | None = None
    cluster_subnet: Cidr | None = None
    service_subnet: Cidr | None = None
    maintenance: Maintenance | None = Maintenance()
    cpu_pool: CpuPool = CpuPool()
    scale_down: ScaleDown = ScaleDown()

    @property
    def version_is_prefix(self) -> bool:
        """Resolved once, when the cluster is made (`1.36`); False for a full slug, which is managed."""
        return "-do." not in self.version

    @field_validator("service_subnet")
    @classmethod
    def _apart_from_cluster_subnet(cls, value: str | None, info: ValidationInfo) -> str | None:
        other = info.data.get("cluster_subnet")
        if value and other and ipaddress.IPv4Network(value).overlaps(ipaddress.IPv4Network(other)):
            raise refused(f"a network that does not overlap clusterSubnet ({other})")
        return value
