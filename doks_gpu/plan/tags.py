"""DigitalOcean tags that say whose a cluster or a pool is: written at creation, read back by `orphans` and
the live facts.

A tag matches `^[a-zA-Z0-9:\\-_]{1,255}$` (provider's own check, read 2026-08-06). DigitalOcean keeps the case
of the first use of a tag and treats other cases as the same one, so everything here is lower case and other
characters are written as `_` and two hexadecimal digits per byte.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from doks_gpu.errors import RefusedError

PREFIX = "doks-gpu"
TAG_LIMIT = 255

_STACK, _FLEET, _TIER, _GENERATION, _PRICE = "stack", "fleet", "tier", "generation", "usd-per-hour"
_PLAIN = re.compile(r"[a-z0-9-]")
_ESCAPED = re.compile(r"(?:[a-z0-9-]|_[0-9a-f]{2})*\Z")
_DIGITS = re.compile(r"[0-9]{1,9}\Z")
_USD = re.compile(r"[0-9]+(_[0-9]+)?\Z")


@dataclass(frozen=True, kw_only=True)
class PoolTags:
    """What the tags of a pool say."""

    project: str
    stack: str
    fleet: str
    tier: str
    generation: int
    usd_per_hour: Decimal | None
    """Price of one node at the pool's creation; None where the tag is missing or unreadable."""


def cluster_tags(project: str, stack: str) -> tuple[str, ...]:
    """Tags of a cluster. Raises `RefusedError` when the names do not fit into a tag."""
    return (_tag(_STACK, _escape(project), _escape(stack)),)


def pool_tags(tags: PoolTags) -> tuple[str, ...]:
    """Tags of a pool, in a fixed order. Raises `RefusedError` when a name does not fit into a tag."""
    written = [
        *cluster_tags(tags.project, tags.stack),
        _tag(_FLEET, _escape(tags.fleet)),
        _tag(_TIER, _escape(tags.tier)),
        _tag(_GENERATION, str(tags.generation)),
    ]
    if tags.usd_per_hour is not None:
        written.append(_tag(_PRICE, f"{tags.usd_per_hour:f}".replace(".", "_")))
    return tuple(written)


def stack_of(tags: Iterable[str]) -> tuple[str, str] | None:
    """Project and stack that tags name; None when they are not ours."""
    return _project_and_stack(_values(tags))


def parse_pool_tags(tags: Iterable[str]) -> PoolTags | None:
    """What `pool_tags` wrote; None when the tags are not those of a pool of ours."""
    values = _values(tags)
    owner = _project_and_stack(values)
    fleet, tier = _name(values, _FLEET), _name(values, _TIER)
    generation = values.get(_GENERATION, "")
    if owner is None or not fleet or not tier or not _DIGITS.match(generation):
        return None
    price = values.get(_PRICE, "")
    return PoolTags(
        project=owner[0],
        stack=owner[1],
        fleet=fleet,
        tier=tier,
        generation=int(generation),
        usd_per_hour=Decimal(price.replace("_", ".")) if _USD.match(price) else None,
    )


def _tag(kind: str, *values: str) -> str:
    tag = ":".join((PREFIX, kind, *values))
    if len(tag) > TAG_LIMIT:
        raise RefusedError(
            f"The tag {tag[:60]}… would have {len(tag)} characters and DigitalOcean allows {TAG_LIMIT}: use "
            "a shorter name for the project or the stack."
        )
    return tag


def _values(tags: Iterable[str]) -> Mapping[str, str]:
    """Kind to the rest of the tag. The first of two tags of one kind counts."""
    found: dict[str, str] = {}
    for tag in tags:
        prefix, _, rest = tag.partition(":")
        kind, _, value = rest.partition(":")
        if prefix == PREFIX:
            found.setdefault(kind, value)
    return found


def _project_and_stack(values: Mapping[str, str]) -> tuple[str, str] | None:
    project, _, stack = values.get(_STACK, "").partition(":")
    owner = _unescape(project), _unescape(stack)
    return (owner[0], owner[1]) if owner[0] and owner[1] else None


def _name(values: Mapping[str, str], kind: str) -> str | None:
    return _unescape(values.get(kind, ""))


def _escape(text: str) -> str:
    return "".join(
        letter if _PLAIN.match(letter) else "".join(f"_{byte:02x}" for byte in letter.encode()) for letter in text
    )


def _unescape(text: str) -> str | None:
    if not _ESCAPED.match(text):
        return None
    try:
        return re.sub(rb"_([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), text.encode()).decode()
    except UnicodeDecodeError:
        return None
