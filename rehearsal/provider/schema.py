"""The vocabulary of the property tables: what a property is, who may set it, and what its change means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

Rule: TypeAlias = Callable[[Any], str | None]
"""A known value of the right type to the reason why it is refused, or None."""


class Kind(Enum):
    """The value is how a failure calls it."""

    STRING = "a string"
    INTEGER = "an integer"
    NUMBER = "a number"
    BOOLEAN = "a boolean"
    LIST = "a list"
    SET = "a list "
    MAP = "an object of strings"
    OBJECT = "an object"

    @property
    def words(self) -> str:
        return self.value.strip()


Fields: TypeAlias = Mapping[str, "Property"]


@dataclass(frozen=True, kw_only=True)
class Property:
    kind: Kind
    item: "Property | None" = None
    """Element of a list or set."""
    fields: Fields = field(default_factory=dict)
    """Properties of an object."""
    required: bool = False
    computed: bool = False
    """Left out by the program, it is whatever DigitalOcean says: no difference."""
    settable: bool = True
    """False: an output only."""
    replaces: bool = False
    """A change cannot be made in place."""
    default: Any = None
    rule: Rule | None = None


def string(**traits: Any) -> Property:
    return Property(kind=Kind.STRING, **traits)


def integer(**traits: Any) -> Property:
    return Property(kind=Kind.INTEGER, **traits)


def number(**traits: Any) -> Property:
    return Property(kind=Kind.NUMBER, **traits)


def boolean(**traits: Any) -> Property:
    return Property(kind=Kind.BOOLEAN, **traits)


def strings(**traits: Any) -> Property:
    """An object whose values are all strings."""
    return Property(kind=Kind.MAP, **traits)


def list_of(item: Property, **traits: Any) -> Property:
    return Property(kind=Kind.LIST, item=item, **traits)


def set_of(item: Property, **traits: Any) -> Property:
    """A list on the wire whose order means nothing."""
    return Property(kind=Kind.SET, item=item, **traits)


def structure(fields: Fields, **traits: Any) -> Property:
    return Property(kind=Kind.OBJECT, fields=fields, **traits)


def is_zero(value: Any) -> bool:
    """Whether the provider cannot tell the value from one that was never given."""
    return value is None or value == 0 or value in ("", [], {})


def step(path: str, key: str | int) -> str:
    """The path of a part, as the engine writes paths."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    if not key.replace("_", "a").isalnum():
        quoted = key.replace('"', '\\"')
        return f'{path}["{quoted}"]'
    return f"{path}.{key}" if path else key
