"""Turns what was given into plain dicts, lists and scalars, and finds what must not be there at all: secrets.

A DigitalOcean token in the stack would be out of `kube-token`'s reach and in every copy of the file, so it
is refused with the way out, and no value that could be one is repeated.
"""

from collections.abc import Mapping
from typing import Any

from doks_gpu.settings.problems import (
    HIDDEN,
    PREFIX,
    Location,
    Problem,
    holds_secret,
    is_misspelt_prefix,
    key_path,
    names_secret,
)

DEEPEST = 32
"""More levels than the schema has; deeper input is refused, not followed."""
SECURE = "secure"
"""Pulumi writes an encrypted value as `{secure: <ciphertext>}`."""


def encrypted() -> dict[str, str]:
    """What stands for an encrypted value, without its ciphertext."""
    return {SECURE: HIDDEN}


def is_encrypted(value: Any) -> bool:
    """Pulumi's way to write an encrypted value."""
    return isinstance(value, Mapping) and set(value) == {SECURE} and isinstance(value[SECURE], str)


class Reading:
    """A plain copy of the input, the problems found on the way, and the locations that need no other."""

    def __init__(self, given: Mapping[str, Any], known: frozenset[str]) -> None:
        self.problems: list[Problem] = []
        self.settled: set[Location] = set()
        self.raw: dict[str, Any] = {}
        for key, value in given.items():
            if isinstance(key, str) and key not in known and (names_secret(key) or holds_secret(key)):
                self._settle((key,), _token_text(key if ":" in key else PREFIX + key))
            elif isinstance(key, str) and ":" in key and _is_unicode(key):
                self._settle((key,), _namespace_text(key))
            elif self._is_key(key, ()):
                self.raw[key] = self._plain(value, (key,))

    def _settle(self, location: Location, allowed: str) -> None:
        self.settled.add(location)
        self.problems.append(Problem(key_path(location), "", allowed))

    def _is_key(self, key: Any, location: Location) -> bool:
        if isinstance(key, str) and _is_unicode(key):
            return True
        where = key_path(location) if location else PREFIX
        self.problems.append(Problem(where, "", f"the key {key!a:.60} is not a string: write it in quotes"))
        return False

    def _plain(self, value: Any, location: Location) -> Any:
        if len(location) > DEEPEST:
            self._settle(location[:3], "nested deeper than any key of the configuration")
            return None
        if is_encrypted(value):
            self._settle(location, _encrypted_text(location))
            return None
        if isinstance(value, Mapping):
            return {k: self._plain(v, (*location, k)) for k, v in value.items() if self._is_key(k, location)}
        if isinstance(value, list | tuple):
            return [self._plain(item, (*location, index)) for index, item in enumerate(value)]
        if isinstance(value, str):
            return self._string(value, location)
        return value

    def _string(self, value: str, location: Location) -> str | None:
        if not _is_unicode(value):
            self._settle(location, "text that is not valid Unicode")
            return None
        if holds_secret(value):
            self._settle(location, f"this looks like a token or a private key. {_way_out(location)}")
            return None
        return value


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _token_text(full_key: str) -> str:
    return (
        "no token or other secret belongs in the stack's configuration (its value is not shown). "
        "The DigitalOcean token comes from the environment alone: `export DIGITALOCEAN_TOKEN=…`, "
        f"then `pulumi config rm {full_key}`"
    )


def _namespace_text(key: str) -> str:
    if is_misspelt_prefix(key):
        return f"unknown namespace, did you mean {PREFIX}{key.partition(':')[2].strip()}?"
    return f"unknown key: after {PREFIX} comes a name without a colon"


def _encrypted_text(location: Location) -> str:
    if len(location) == 1:
        return (
            "holds an encrypted value (`secure:` in the stack's file), and nothing here is a secret: "
            "set it without --secret. A token belongs in the environment (`export DIGITALOCEAN_TOKEN=…`), "
            "a workload's secret in a Kubernetes Secret (secretEnv)"
        )
    return f"an encrypted value, and nothing in these objects is a secret. {_way_out(location)}"


def _way_out(location: Location) -> str:
    path = " --path" if len(location) > 1 else ""
    remove = f"`pulumi config rm{path} '{key_path(location)}'`"
    if "env" in location:
        return f"Put it into a Kubernetes Secret, name that under secretEnv, then {remove}"
    return f"The DigitalOcean token comes from the environment: `export DIGITALOCEAN_TOKEN=…`, then {remove}"
