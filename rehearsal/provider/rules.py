"""The few values that the real provider refuses before it asks the API.

Source: terraform-provider-digitalocean 401992a1, 2026-08-06. Sizes, expanders and the relation of minimum
and maximum are not among them: those are the API's to refuse.
"""

import ipaddress
import re
from typing import Final

_TAG: Final = re.compile(r"[a-zA-Z0-9:\-_]{1,255}")
DAYS: Final = ("any", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
PARTITION_MODES: Final = ("AMD_PARTITION_MODE_SPX_NPS1", "AMD_PARTITION_MODE_DPX_NPS2")


def tag(value: str) -> str | None:
    if _TAG.fullmatch(value):
        return None
    return f"tags may only contain lowercase letters, numbers, colons, dashes, and underscores, got {value!r}"


def not_blank(value: str) -> str | None:
    return None if value else "expected a value that is not empty"


def cidr(value: str) -> str | None:
    try:
        ipaddress.ip_network(value, strict=False)
    except ValueError:
        return f"expected a valid CIDR value, got {value!r}"
    return None if "/" in value else f"expected a valid CIDR value, got {value!r}"


def day(value: str) -> str | None:
    return _one_of(value, DAYS)


def effect(value: str) -> str | None:
    return _one_of(value, EFFECTS)


def partition_mode(value: str) -> str | None:
    return _one_of(value, PARTITION_MODES)


def not_negative(value: int) -> str | None:
    return None if value >= 0 else f"expected at least 0, got {value}"


def _one_of(value: str, allowed: tuple[str, ...]) -> str | None:
    return None if value in allowed else f"expected one of {', '.join(allowed)}, got {value!r}"
