"""What must fit together across sections: names that meet in the account or the cluster, and references.

Works on the plain input, so that a wrong value elsewhere hides nothing. What a value on its own may be is
the schema's.
"""

from collections.abc import Iterator
from typing import Any

from doks_gpu.settings.fleets import MOST_TIERS, NAME_LIMIT, POOL_NAME_LIMIT
from doks_gpu.settings.problems import Location, Problem, key_path, meant, shown

KINDS = ("services", "jobs")


def relations(raw: dict[str, Any]) -> Iterator[Problem]:
    """Every problem between sections."""
    fleets = _mapping(raw.get("fleets"))
    yield from _tiers(fleets)
    yield from _labels(fleets)
    yield from _workloads(raw)
    if fleets:
        yield from _references(raw, fleets)


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _problem(location: Location, value: Any, allowed: str) -> Problem:
    return Problem(key_path(location), shown(value), allowed)


def _tiers(fleets: dict[str, Any]) -> Iterator[Problem]:
    owners: dict[str, str] = {}
    for fleet, section in fleets.items():
        tiers = _mapping(section).get("tiers")
        tiers = tiers if isinstance(tiers, list) else []
        if len(tiers) > MOST_TIERS:
            yield Problem(
                key_path(("fleets", fleet, "tiers")),
                f"{len(tiers)} tiers",
                f"allowed: at most {MOST_TIERS}, the levels of the autoscaler's priority map",
            )
        for index, tier in enumerate(tiers):
            name = _mapping(tier).get("name")
            if isinstance(name, str):
                pool = f"{fleet}-{name}"
                if allowed := _pool_problem(pool, fleet, owners.get(pool)):
                    yield _problem(("fleets", fleet, "tiers", index, "name"), name, allowed)
                owners.setdefault(pool, fleet)


def _pool_problem(pool: str, fleet: str, owner: str | None) -> str | None:
    if owner == fleet:
        return "allowed: a name that no other tier of the fleet has"
    if owner is not None:
        return f"allowed: another name, since pool {shown(pool)} is one of fleet {owner} already"
    if len(pool) > POOL_NAME_LIMIT and max(len(fleet), len(pool) - len(fleet) - 1) <= NAME_LIMIT:
        return f"allowed: <fleet>-<tier> of at most {POOL_NAME_LIMIT} characters, not {len(pool)}"
    return None


def _labels(fleets: dict[str, Any]) -> Iterator[Problem]:
    owners: dict[str, str] = {}
    for fleet, section in fleets.items():
        label = _mapping(section).get("workload")
        label = f"gpu-{fleet}" if label is None else label
        if not isinstance(label, str):
            continue
        if label in owners:
            yield _problem(
                ("fleets", fleet, "workload"),
                label,
                f"allowed: another value, since work for fleet {owners[label]} would land here",
            )
        owners.setdefault(label, fleet)


def _workloads(raw: dict[str, Any]) -> Iterator[Problem]:
    services = _mapping(raw.get("services"))
    for name in _mapping(raw.get("jobs")):
        if name in services:
            yield Problem(
                key_path(("jobs", name)),
                "",
                f"allowed: another name, since {key_path(('services', name))} has it already",
            )


def _references(raw: dict[str, Any], fleets: dict[str, Any]) -> Iterator[Problem]:
    for kind in KINDS:
        for name, section in _mapping(raw.get(kind)).items():
            fleet = _mapping(section).get("fleet")
            if isinstance(fleet, str) and fleet.strip() and fleet not in fleets:
                yield _problem(
                    (kind, name, "fleet"),
                    fleet,
                    f"allowed: a fleet of this stack; {meant(fleet, list(fleets))}",
                )
