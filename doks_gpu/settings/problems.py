"""How an error of the configuration is said: where, what is there, what is allowed. Never a secret."""

import difflib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from doks_gpu.errors import RefusedError

PREFIX = "doks-gpu:"
SHOWN_CHARACTERS = 60
HIDDEN = "[hidden]"
NEAR_PREFIX = 0.72
"""Likeness from which a namespace is taken for ours: `doks` alone is, `docker` and `kubernetes` are far."""

Location = tuple[str | int, ...]

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_SECRET_KEY = re.compile(r"token|secret|passw|credential|kubeconfig|(api|access|private)[-_]?key", re.IGNORECASE)
_SECRET_VALUE = re.compile(
    r"do[por]_v1_\w+|hf_[A-Za-z0-9]{30,}|gh[pousr]_\w{30,}|github_pat_\w{30,}|AKIA[0-9A-Z]{16}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: full key path, what is there (short), and what is allowed or the way out."""

    where: str
    value: str
    allowed: str

    def __str__(self) -> str:
        said = f"{self.where}: {self.value}; {self.allowed}" if self.value else f"{self.where}: {self.allowed}"
        return hide_secrets(one_line(said))


class SettingsError(RefusedError):
    """The configuration is wrong. The message has one line per problem; `problems` has them apart."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = "1 error" if len(self.problems) == 1 else f"{len(self.problems)} errors"
        lines = "\n".join(f"  {problem}" for problem in self.problems)
        super().__init__(f"The stack's configuration is refused, {count}:\n{lines}")


def key_path(location: Location) -> str:
    """The path as people write it: `doks-gpu:fleets.batch.tiers[0].max`."""
    if location and isinstance(location[0], str) and ":" in location[0]:
        return _key(location[0], plain=True)
    parts = [PREFIX]
    for index, step in enumerate(location):
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif _PLAIN_KEY.match(step):
            parts.append(f".{step}" if index else step)
        else:
            parts.append(f"[{_key(step)}]")
    return "".join(parts)


def _key(key: str, *, plain: bool = False) -> str:
    short = key if len(key) <= SHOWN_CHARACTERS else key[:SHOWN_CHARACTERS] + "…"
    return short if plain else json.dumps(short, ensure_ascii=False)


def shown(value: Any) -> str:
    """A value as YAML would have it, at most 60 characters; of a mapping or list only that it is one."""
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(_short(hide_secrets(value)), ensure_ascii=False)
    if isinstance(value, int) and abs(value) > 10**SHOWN_CHARACTERS:
        return "a very long number"
    return _short(str(value))


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def one_line(text: str) -> str:
    """Printable on one line of any terminal: control characters are written as escapes."""
    readable = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return readable.encode("utf-8", "backslashreplace").decode()


def hide_secrets(text: str) -> str:
    """Text without anything that has the shape of a well-known token."""
    return _SECRET_VALUE.sub(HIDDEN, text)


def holds_secret(text: str) -> bool:
    """Something in the text has the shape of a well-known token."""
    return _SECRET_VALUE.search(text) is not None


def names_secret(key: str) -> bool:
    """A key whose value is better not shown."""
    return _SECRET_KEY.search(key) is not None


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant."""
    by_shape = {_shape(candidate): candidate for candidate in known}
    if found := by_shape.get(_shape(word)):
        return found
    close = difflib.get_close_matches(_shape(word), by_shape, n=1, cutoff=0.5)
    return by_shape[close[0]] if close else None


def is_misspelt_prefix(key: str) -> bool:
    """The namespace of a key is not ours, but so near to it that ours was meant: `dok-gpu:`, `DOKS_GPU:`, `doks:`."""
    namespace, colon, _ = key.partition(":")
    if not colon or f"{namespace}:" == PREFIX:
        return False
    return difflib.SequenceMatcher(None, _shape(namespace.strip()), _shape(PREFIX[:-1])).ratio() > NEAR_PREFIX


def _shape(word: str) -> str:
    return word[:SHOWN_CHARACTERS].replace("_", "").replace("-", "").lower()


def meant(word: str, known: Sequence[str]) -> str:
    """Advice for a word that is not known: the nearest one, else all of them."""
    if found := nearest(word, known):
        return f"did you mean {found}?"
    return f"known: {', '.join(known)}" if known else "there is none"
