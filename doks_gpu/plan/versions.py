"""Kubernetes versions of DOKS: what a prefix means today, and which upgrades DOKS accepts.

DOKS upgrades one minor at a time, and only from the newest patch of the present one
(digitalocean/terraform-provider-digitalocean#708); a version below the one in the state replaces the whole
cluster (seen).
"""

import re
from collections.abc import Sequence

_SLUG = re.compile(r"(\d+)\.(\d+)\.(\d+)-do\.(\d+)\Z")

Key = tuple[int, int, int, int]


def parse(slug: str) -> Key | None:
    """Comparable form of a full slug (`1.36.3-do.0`); None for anything else."""
    found = _SLUG.match(slug)
    return (int(found[1]), int(found[2]), int(found[3]), int(found[4])) if found else None


def newest(prefix: str, offered: Sequence[str]) -> str | None:
    """The newest full slug that a prefix (`1.36`, `1.36.3`) or a full slug stands for; None when none is
    offered."""
    fitting = [slug for slug in offered if slug == prefix or slug.startswith((f"{prefix}.", f"{prefix}-"))]
    return max(fitting, key=lambda slug: parse(slug) or (0, 0, 0, 0), default=None)


def resolve(wanted: str, offered: Sequence[str]) -> str:
    """The newest slug for a prefix; the text itself when it is a full slug or nothing is known to be
    offered."""
    return newest(wanted, offered) or wanted


def is_at_least(version: str, major: int, minor: int) -> bool:
    """Whether a prefix or slug names at least this minor."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return bool(found) and (int(found[1]), int(found[2])) >= (major, minor) if found else False


def step_before(current: str, wanted: str, offered: Sequence[str]) -> str | None:
    """The upgrade that DOKS wants before this one; None when it accepts it at once (or the slugs cannot be
    compared)."""
    here, there = parse(current), parse(wanted)
    if here is None or there is None or here[:2] == there[:2]:
        return None
    newest_patch = newest(f"{here[0]}.{here[1]}", offered)
    if newest_patch and (parse(newest_patch) or here) > here:
        return newest_patch
    if here[0] == there[0] and there[1] > here[1] + 1:
        return newest(f"{here[0]}.{here[1] + 1}", offered) or f"{here[0]}.{here[1] + 1}"
    return None
