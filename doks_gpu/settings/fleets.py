"""Fleets: GPU pools of one purpose, in order of preference, and the limits that all of them stay under.

A tier becomes one node pool. Spot is a property of the size (DigitalOcean sells it under slugs of its own,
read on 2026-11-30), so it is never a key here. Names are short enough for what is made from them: a pool is
`<fleet>-<tier>-<7 hex>`, its nodes add a suffix of their own, and all of it is a host name of at most 63
characters.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from doks_gpu.catalog import is_spot
from doks_gpu.settings.types import (
    Count,
    Flag,
    GpuSize,
    LabelKey,
    LabelValue,
    Positive,
    Section,
    Share,
    Speed,
    Usd,
    Wait,
    at_least_one,
    dns_label,
    matching,
    not_below_min,
    refused,
    whole,
)

MOST_TIERS = 6
"""The priority map has one level for each of six ranks."""
POOL_NAME_LIMIT = 45
"""`<fleet>-<tier>`: 63, less Pulumi's 8 characters and room for a node's suffix or a check's prefix."""

NAME_LIMIT = 40
"""Of a fleet or a tier alone."""

FleetName = Annotated[str, dns_label(NAME_LIMIT)]
ModelName = Annotated[
    str,
    matching(re.compile(r"[a-z0-9]+\Z"), "a GPU model in lower case without its maker, for example h200", 40),
]


class Toleration(Section):
    """A further taint of a fleet's nodes, as Kubernetes writes a toleration; it always names its key."""

    key: LabelKey
    operator: Literal["Equal", "Exists"] = "Equal"
    value: LabelValue | None = None
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = None
    toleration_seconds: Annotated[int, whole(0)] | None = Field(default=None, validate_default=True)

    @field_validator("value")
    @classmethod
    def _exists_has_no_value(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value and info.data.get("operator") == "Exists":
            raise refused("no value with operator Exists")
        return value

    @field_validator("toleration_seconds")
    @classmethod
    def _seconds_need_no_execute(cls, value: int | None, info: ValidationInfo) -> int | None:
        if value is not None and info.data.get("effect", "NoExecute") != "NoExecute":
            raise refused("seconds only with effect NoExecute")
        return value


class Tier(Section):
    """One node pool. `min` < `max` is autoscaled, `min` = `max` is a fixed size."""

    name: Annotated[str, dns_label(NAME_LIMIT)]
    size: GpuSize
    min: Count
    max: Positive
    enabled: Flag = True
    priority: Annotated[int, whole(2, 1_000_000)] | None = None
    """Level in the autoscaler's map, higher first; omitted: by rank. Level 1 is everybody else's."""
    usd_per_hour: Usd | None = None
    """What the account shows for one node of this size; wins over every other source."""
    generation: Count = 1
    """Raise it to replace the pool on purpose."""
    relative_speed: Speed = 1.0
    """Work per hour against the other tiers of the fleet."""

    @field_validator("max", mode="before")
    @classmethod
    def _has_a_node(cls, value: Any, info: ValidationInfo) -> Any:
        if value in (0, "0") and not isinstance(value, bool | float):
            raise refused(
                f"1 or more: pool {info.data.get('name', 'without a name')} would never have a node; "
                "`enabled: false` keeps a tier without a pool"
            )
        return value

    @field_validator("max")
    @classmethod
    def _not_below_min(cls, value: int, info: ValidationInfo) -> int:
        return not_below_min(value, info)

    @property
    def is_fixed(self) -> bool:
        """The pool sends a count and no autoscaling."""
        return self.min == self.max

    @property
    def is_spot(self) -> bool:
        """DigitalOcean may take the whole pool back."""
        return is_spot(self.size)


class Fleet(Section):
    """Pools that the same work may run on, in order of preference."""

    workload: LabelValue
    """Value of the label and taint `workload`; the loader fills `gpu-<fleet>` in."""
    memory_gib: Positive | None = None
    """GPU memory that one worker needs."""
    headroom: Share = 0.1
    """Share of GPU memory kept free."""
    tolerations: tuple[Toleration, ...] = ()
    fallback_after: Wait | None = None
    """A pod that has waited this long gets on-demand capacity; None: the autoscaler's own rules alone."""
    tiers: Annotated[tuple[Tier, ...], AfterValidator(at_least_one("tier"))]


class Limits(Section):
    """What may never be passed. None, or a model that is not named: not checked."""

    droplets: Positive | None = None
    """The account's Droplet limit."""
    running_droplets: Count = 0
    """Droplets that already run elsewhere in the account."""
    gpus: dict[ModelName, Count] = Field(default_factory=dict)
    """GPU quota per model, Spot included."""
    usd_per_hour: Usd
    """Cap on the worst hourly price of the stack."""
