"""Check: what a program passed, against a property table. Nothing unknown, mistyped or missing gets through.

A failure names the property, the type of the value and what was expected; it never repeats a value that has
a wrong type.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from rehearsal.provider.marshal import Props, Secret, Unknown
from rehearsal.provider.schema import Fields, Kind, Property, step

DEFAULTS_KEY: Final = "__defaults"
"""Inputs that the provider chose: the engine's state carries the list, so that a chosen name is kept."""

_SUFFIX_LENGTH: Final = 7


@dataclass(frozen=True)
class Failure:
    property: str
    reason: str


@dataclass(frozen=True)
class Naming:
    """How a resource gets a name that its program did not give."""

    logical_name: str
    seed: bytes
    proposed: str = ""
    disabled: bool = False

    def choose(self) -> str | None:
        if self.disabled:
            return None
        return self.proposed or f"{self.logical_name}-{hashlib.sha256(self.seed).hexdigest()[:_SUFFIX_LENGTH]}"


def with_name(olds: Props, news: Props, naming: Naming) -> Props:
    """The inputs with a name: the program's, else the one chosen earlier, else a new one."""
    given = {key: value for key, value in news.items() if not key.startswith("__")}
    if "name" in given:
        return {**given, DEFAULTS_KEY: []}
    chosen_before = "name" in olds and "name" in olds.get(DEFAULTS_KEY, ["name"])
    name = olds["name"] if chosen_before else naming.choose()
    if name is None:
        return {**given, DEFAULTS_KEY: []}
    return {**given, "name": name, DEFAULTS_KEY: ["name"]}


def failures(fields: Fields, props: Mapping[str, Any], path: str = "") -> Iterator[Failure]:
    """Everything that is wrong with `props`, in the order of the properties."""
    for key in sorted(props.keys() | fields.keys()):
        if key.startswith("__"):
            continue
        prop, value, where = fields.get(key), props.get(key), step(path, key)
        if prop is None:
            yield Failure(where, f"unknown property, got {type_words(value)}; known here: {_known(fields)}")
        elif value is None:
            if prop.required:
                yield Failure(where, f"missing required property, expected {prop.kind.words}")
        elif not prop.settable:
            yield Failure(where, f"the provider computes this property, got {type_words(value)}")
        else:
            yield from _value_failures(prop, value, where)


def type_words(value: Any) -> str:
    """What a value is, without the value."""
    match value:
        case Unknown():
            return "an unknown value"
        case Secret(value=inner):
            return type_words(inner)
        case bool():
            return "a boolean"
        case int():
            return "an integer"
        case float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def _value_failures(prop: Property, value: Any, path: str) -> Iterator[Failure]:
    if isinstance(value, Unknown):
        return
    if not _has_kind(prop.kind, value):
        yield Failure(path, f"expected {prop.kind.words}, got {type_words(value)}")
        return
    if prop.rule is not None and (reason := prop.rule(value)) is not None:
        yield Failure(path, reason)
    match prop.kind:
        case Kind.OBJECT:
            yield from failures(prop.fields, value, path)
        case Kind.MAP:
            for key, entry in value.items():
                if not isinstance(entry, str | Unknown):
                    yield Failure(step(path, key), f"expected a string, got {type_words(entry)}")
        case Kind.LIST | Kind.SET if prop.item is not None:
            for index, entry in enumerate(value):
                if entry is None:
                    yield Failure(step(path, index), f"expected {prop.item.kind.words}, got nothing")
                else:
                    yield from _value_failures(prop.item, entry, step(path, index))


def _has_kind(kind: Kind, value: Any) -> bool:
    match kind:
        case Kind.STRING:
            return isinstance(value, str)
        case Kind.BOOLEAN:
            return isinstance(value, bool)
        case Kind.INTEGER:
            return isinstance(value, int) and not isinstance(value, bool)
        case Kind.NUMBER:
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Kind.LIST | Kind.SET:
            return isinstance(value, list)
        case Kind.MAP | Kind.OBJECT:
            return isinstance(value, dict)


def _known(fields: Fields) -> str:
    return ", ".join(sorted(key for key, prop in fields.items() if prop.settable))
