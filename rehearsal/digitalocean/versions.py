"""Kubernetes versions as DOKS names them (`1.36.3-do.0`), and how a request may name one."""

import re
from collections.abc import Sequence

from rehearsal.digitalocean.errors import unprocessable

_SLUG = re.compile(r"(\d+)\.(\d+)\.(\d+)-do\.(\d+)")


def resolve(offered: Sequence[str], asked: str) -> str:
    """The full slug of a slug, a minor version (`1.36`: its newest) or `latest`. `offered` has the newest first.

    Raises `ApiRefusedError` (422) for a version that is not offered.
    """
    if asked == "latest" and offered:
        return offered[0]
    for slug in offered:
        if slug == asked or ".".join(slug.split(".")[:2]) == asked:
            return slug
    raise unprocessable(f"invalid version slug: {asked}")


def upgrades(offered: Sequence[str], current: str) -> list[str]:
    """What a cluster may go to: newer, and at most one minor version further; newest first."""
    here = _key(current)
    return [slug for slug in offered if _key(slug) > here and _key(slug)[:2] <= (here[0], here[1] + 1)]


def _key(slug: str) -> tuple[int, ...]:
    found = _SLUG.fullmatch(slug)
    return tuple(int(part) for part in found.groups()) if found else (0, 0, 0, 0)
