"""Diff: the stored state against the checked inputs, property by property, and what a preview may promise.

As Terraform's planner sees it: a property that the program leaves out is unchanged where DigitalOcean fills
it in, and removed otherwise; zero, empty and absent are the same.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from rehearsal.provider.marshal import UNKNOWN, Props, Unknown
from rehearsal.provider.schema import Fields, Kind, Property, is_zero, step


class Edit(Enum):
    ADD = "add"
    DELETE = "delete"
    UPDATE = "update"


@dataclass(frozen=True)
class Change:
    edit: Edit
    replaces: bool = False


Changes = dict[str, Change]
"""Property path to its change."""


def changes(fields: Fields, state: Props, news: Props) -> Changes:
    """Every difference between the state and the inputs that the program wants."""
    return dict(_object_changes(fields, state, news, "", replaces=False))


def top_level(found: Mapping[str, Change]) -> frozenset[str]:
    """The names of the properties that the changed paths belong to."""
    return frozenset(path.split(".")[0].split("[")[0] for path in found)


def planned(fields: Fields, state: Props | None, news: Props) -> Props:
    """The outputs as a preview shows them: unknown where only DigitalOcean can say."""
    outputs: Props = {}
    for key, prop in fields.items():
        before = None if state is None else state.get(key)
        value = _planned_value(prop, before, news.get(key), created=state is None)
        if value is not None:
            outputs[key] = value
    return outputs


def _planned_value(prop: Property, before: Any, wanted: Any, *, created: bool) -> Any:
    if not prop.settable:
        return UNKNOWN if created else before
    if wanted is None:
        if prop.computed:
            return UNKNOWN if created else before
        return prop.default
    if prop.kind is Kind.OBJECT and isinstance(wanted, dict):
        return planned(prop.fields, None if created or not isinstance(before, dict) else before, wanted)
    return wanted


def _object_changes(
    fields: Fields, state: Props, news: Props, path: str, *, replaces: bool
) -> Iterator[tuple[str, Change]]:
    for key, prop in fields.items():
        if prop.settable:
            yield from _changes(prop, state.get(key), news.get(key), step(path, key), replaces)


def _changes(prop: Property, old: Any, new: Any, path: str, outer: bool) -> Iterator[tuple[str, Change]]:
    replaces = outer or prop.replaces
    if new is None and not prop.computed:
        new = prop.default
    if new is None:
        if not prop.computed and not is_zero(old):
            yield path, Change(Edit.DELETE, replaces)
    elif isinstance(new, Unknown):
        yield path, Change(Edit.ADD if old is None else Edit.UPDATE, replaces)
    elif old is None:
        if not is_zero(new):
            yield path, Change(Edit.ADD, replaces)
    else:
        yield from _known_changes(prop, old, new, path, replaces)


def _known_changes(prop: Property, old: Any, new: Any, path: str, replaces: bool) -> Iterator[tuple[str, Change]]:
    match prop.kind:
        case Kind.OBJECT:
            yield from _object_changes(prop.fields, old, new, path, replaces=replaces)
        case Kind.MAP:
            for key in sorted(old.keys() | new.keys()):
                yield from _scalar_changes(old.get(key), new.get(key), step(path, key), replaces)
        case Kind.SET:
            yield from _set_changes(old, new, path, replaces)
        case Kind.LIST:
            yield from _list_changes(prop, old, new, path, replaces)
        case _:
            yield from _scalar_changes(old, new, path, replaces)


def _scalar_changes(old: Any, new: Any, path: str, replaces: bool) -> Iterator[tuple[str, Change]]:
    if old != new:
        edit = Edit.ADD if old is None else Edit.DELETE if new is None else Edit.UPDATE
        yield path, Change(edit, replaces)


def _list_changes(
    prop: Property, old: list[Any], new: list[Any], path: str, replaces: bool
) -> Iterator[tuple[str, Change]]:
    for index in range(max(len(old), len(new))):
        where = step(path, index)
        if index >= len(new):
            yield where, Change(Edit.DELETE, replaces)
        elif index >= len(old):
            yield where, Change(Edit.ADD, replaces)
        elif prop.item is not None:
            yield from _changes(prop.item, old[index], new[index], where, replaces)


def _set_changes(old: list[Any], new: list[Any], path: str, replaces: bool) -> Iterator[tuple[str, Change]]:
    found: Changes = {}
    for index, value in enumerate(old):
        if value not in new:
            found[step(path, index)] = Change(Edit.DELETE, replaces)
    for index, value in enumerate(new):
        if value not in old:
            where = step(path, index)
            found[where] = Change(Edit.UPDATE if where in found else Edit.ADD, replaces)
    yield from found.items()


def replacing(change: Change) -> Change:
    """The same change, no longer possible in place."""
    return replace(change, replaces=True)
