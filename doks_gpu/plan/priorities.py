"""The text of the cluster autoscaler's priority map: which pool is asked first.

Rules seen with cluster-autoscaler 1.36.1 on 2026-12-01: keys are integers and the highest wins; values are
regular expressions that are searched in the pool's id; an unlisted pool is still used when no listed one is
available; a missing or broken map is no stop, the choice is then random among all pools that fit. So every id
is anchored and stands on one level, and everybody else is on the lowest.
"""

import re
from collections.abc import Mapping

import yaml

from doks_gpu.errors import DoksGpuError

MAP_NAMESPACE = "kube-system"
MAP_NAME = "cluster-autoscaler-priority-expander"
MAP_KEY = "priorities"
"""DOKS makes the map once the `priority` expander is on (docs of 2025); namespace and name are fixed."""

LEVELS = (100, 50, 25, 12, 6, 3)
"""Level of each rank, the same for every fleet."""
CATCH_ALL_LEVEL = 1
CATCH_ALL = ".*"
"""Alone, they are what DOKS writes into a new map."""

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_OUR_PATTERN = re.compile(rf"\^{_UUID.pattern}\$", re.IGNORECASE)


def level(rank: int, priority: int | None) -> int:
    """Level of a tier: its own `priority`, else by its place in the fleet (0 is the first)."""
    return LEVELS[rank] if priority is None else priority


def text(levels: Mapping[str, int], ids: Mapping[str, str]) -> str:
    """The map's text for the pools that exist.

    `levels` has every pool of the plan, `ids` those with a known id; without any, the text is DOKS's starter, so that
    the map is never empty. Raises `DoksGpuError` when an id is not a UUID or is there twice, or a pool has no level:
    such a text would make the autoscaler choose at random.
    """
    if len(set(ids.values())) != len(ids):
        raise DoksGpuError(f"Two pools have the same id, so the priority map was not written: {dict(ids)}.")
    by_level: dict[int, list[str]] = {}
    for pool, identity in ids.items():
        by_level.setdefault(_level_of(pool, levels), []).append(_pattern(pool, identity))
    by_level[CATCH_ALL_LEVEL] = [CATCH_ALL]
    return "".join(
        f"{number}:\n" + "".join(f'  - "{pattern}"\n' for pattern in sorted(by_level[number]))
        for number in sorted(by_level, reverse=True)
    )


def merge(made: Mapping[str, str], previous: Mapping[str, str]) -> dict[str, str]:
    """Pool name to id: the new id where it is known, else the one before this run.

    A tier whose replacement failed keeps its old pool, hence its line.
    """
    return {**previous, **{pool: identity for pool, identity in made.items() if identity}}


def is_starter_or_ours(content: str) -> bool:
    """Whether a map's text holds nothing but DOKS's starter line or what `text` writes, so that nobody's work
    is lost."""
    try:
        found = yaml.safe_load(content)
    except yaml.YAMLError:
        return False
    if not isinstance(found, dict) or found.get(CATCH_ALL_LEVEL) != [CATCH_ALL]:
        return False
    ids = {number: patterns for number, patterns in found.items() if number != CATCH_ALL_LEVEL}
    return all(type(number) is int and _are_ours(patterns) for number, patterns in ids.items())


def _are_ours(patterns: object) -> bool:
    return isinstance(patterns, list) and all(
        isinstance(pattern, str) and _OUR_PATTERN.fullmatch(pattern) for pattern in patterns
    )


def _level_of(pool: str, levels: Mapping[str, int]) -> int:
    number = levels.get(pool)
    if number is None or number <= CATCH_ALL_LEVEL:
        raise DoksGpuError(f"Pool {pool} has no level above {CATCH_ALL_LEVEL}: {number}.")
    return number


def _pattern(pool: str, identity: str) -> str:
    if not _UUID.fullmatch(identity):
        raise DoksGpuError(f"The id of pool {pool} is {identity!r}, not a UUID, so the priority map was not written.")
    return f"^{identity}$"
