"""Sentences of a comparison. `**bold**` and `` `code` `` are the only marks; `plain` takes them away."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import takewhile
from typing import Any

from doks_gpu.settings.problems import hide_secrets, one_line

Location = tuple[str, ...]
"""Where a key of the settings is; an entry of a list that has a name is known by it."""

LONGEST_VALUE = 60
CONTEXT = 20
"""Characters that stay in front of the first difference of two long values."""

_MARKS = re.compile(r"`([^`]*)`|\*\*")


@dataclass(frozen=True)
class Sentence:
    """One thing that changes, and the settings that nobody needs to be told any more."""

    text: str
    told: tuple[Location, ...] = ()


def plain(sentence: str) -> str:
    """The sentence without its marks; what stands between code marks stays as it is."""
    return _MARKS.sub(lambda found: found[1] or "", sentence)


def code(text: str) -> str:
    """Text of the stack's file between code marks, which it cannot end."""
    return f"`{text.replace('`', chr(39))}`"


def values(old: Any, new: Any) -> str:
    """`old → new`, each as short JSON. Long ones begin a little before they differ."""
    before, after = _json(old), _json(new)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    start = max(0, shared - CONTEXT) if max(len(before), len(after)) > LONGEST_VALUE else 0
    return f"{_short(before, start)} → {_short(after, start)}"


def value(one: Any) -> str:
    """One value as short JSON."""
    return _short(_json(one), 0)


def _json(one: Any) -> str:
    if one is None:
        return "nothing"
    if isinstance(one, float) and one.is_integer():
        one = int(one)
    return hide_secrets(one_line(json.dumps(one, ensure_ascii=False)))


def _short(text: str, start: int) -> str:
    cut = f"…{text[start:]}" if start else text
    return code(cut if len(cut) <= LONGEST_VALUE else f"{cut[:LONGEST_VALUE]}…")


def as_dict(comparison: Any) -> dict[str, Any]:
    """Stable JSON form of a comparison: camelCase keys, sentences without marks."""
    told: dict[str, Any] = _plain_values(comparison)
    return told


def _plain_values(one: Any) -> Any:
    if is_dataclass(one):
        return {_camel(field.name): _plain_values(getattr(one, field.name)) for field in fields(one)}
    if isinstance(one, Mapping):
        return {key: _plain_values(item) for key, item in one.items()}
    if isinstance(one, tuple | list):
        return [plain(item) if isinstance(item, str) else _plain_values(item) for item in one]
    return one


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
