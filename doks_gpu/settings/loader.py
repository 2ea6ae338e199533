"""Loads a stack's configuration, or says everything that is wrong with it in one message."""

import json
from collections.abc import Collection, Iterator, Mapping
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from doks_gpu.settings.problems import (
    HIDDEN,
    PREFIX,
    Location,
    Problem,
    SettingsError,
    is_misspelt_prefix,
    key_path,
    meant,
    names_secret,
    shown,
)
from doks_gpu.settings.reading import Reading, encrypted
from doks_gpu.settings.relations import relations
from doks_gpu.settings.schema import Settings
from doks_gpu.settings.types import Section

REQUIRED = {
    "region": "required: a region of DigitalOcean, for example atl1",
    "fleets": "required: at least one fleet of GPU pools",
    "limits": "required: {usdPerHour: …}, so that nobody runs without a cap",
    "usdPerHour": "required: the cap on the hourly price, so that nobody runs without one",
}
SHAPES = {
    "model_type": "a mapping with the keys {keys}",
    "model_attributes_type": "a mapping with the keys {keys}",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "bool_type": "true or false, without quotes",
}


def load(raw: Mapping[str, Any]) -> Settings:
    """The settings of a stack from its `doks-gpu:` keys, without their prefix.

    A key of another namespace keeps it, and is only ever refused. Raises `SettingsError` with every error
    at once.
    """
    if not isinstance(raw, Mapping):
        raise SettingsError([Problem(PREFIX, shown(raw), "allowed: a mapping of keys")])
    reading = Reading(raw, frozenset(known_keys(Settings)))
    problems = list(reading.problems)
    settings = None
    try:
        settings = Settings.model_validate(reading.raw)
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems += [_problem(detail) for detail in details if not _is_settled(_location(detail), reading.settled)]
    problems += relations(reading.raw)
    if settings is None or problems:
        raise SettingsError(list(dict.fromkeys(problems)))
    return settings


def raw_from_pulumi_config(values: Mapping[str, str], secret_keys: Collection[str] = ()) -> dict[str, Any]:
    """The same mapping from what Pulumi hands to a program, where objects are JSON texts.

    `secret_keys` are the keys that Pulumi keeps encrypted, in part or whole: nothing here is a secret, so
    `load` refuses them, and their value goes no further.
    """
    return dict(_of_project(values, secret_keys))


def _of_project(values: Mapping[str, str], secret_keys: Collection[str]) -> Iterator[tuple[str, Any]]:
    for key, text in values.items():
        name = own_name(key)
        if name is not None:
            yield name, encrypted() if key in secret_keys or ":" in name else _parsed(text)


def own_name(key: str) -> str | None:
    """The name that `load` knows a key by: without our prefix; whole for what it refuses, which is DigitalOcean's
    token and a namespace that looks like a misspelt one of ours; else None."""
    if key.startswith(PREFIX):
        return key.removeprefix(PREFIX)
    is_token = key.startswith("digitalocean:") and names_secret(key)
    return key if is_token or is_misspelt_prefix(key) else None


def _parsed(text: Any) -> Any:
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def known_keys(section: type[Section]) -> list[str]:
    """The keys of a section as people write them."""
    return [field.alias or name for name, field in section.model_fields.items()]


def section_at(location: Location) -> type[Section] | None:
    """The section that a location names; None for a value, a plain mapping or a list."""
    kind: Any = Settings
    for step in location:
        kind = _below(kind, step)
    return kind if isinstance(kind, type) and issubclass(kind, Section) else None


def _below(kind: Any, step: str | int) -> Any:
    if isinstance(kind, type) and issubclass(kind, Section):
        fields = (field for name, field in kind.model_fields.items() if step == (field.alias or name))
        return next((_bare(field.annotation) for field in fields), None)
    inner = get_args(kind)
    if get_origin(kind) is dict:
        return _bare(inner[1])
    return _bare(inner[0]) if get_origin(kind) is tuple else None


def _bare(kind: Any) -> Any:
    """A type without its annotations and without None."""
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return _bare(next(part for part in get_args(kind) if part is not type(None)))
    return kind


def _location(detail: ErrorDetails) -> Location:
    location = detail["loc"]
    return location[:-1] if location and location[-1] == "[key]" else location


def _is_settled(location: Location, settled: set[Location]) -> bool:
    return any(location[:length] in settled for length in range(len(location) + 1))


def _problem(detail: ErrorDetails) -> Problem:
    location, kind, ctx = _location(detail), detail["type"], detail.get("ctx", {})
    value, allowed = shown(detail["input"]), str(ctx.get("allowed", detail["msg"]))
    if kind == "missing":
        return Problem(key_path(location), "", REQUIRED.get(str(location[-1]), "required, but not there"))
    if kind == "extra_forbidden":
        return _unknown(location, detail["input"])
    if kind == "refused_together":
        return Problem(key_path(location[:-1]), "", f"allowed: {allowed}")
    if kind == "refused_inside":
        inside = getattr(detail["input"], "get", lambda _: None)(ctx["key"])
        return Problem(key_path((*location, ctx["key"])), shown(inside), f"allowed: {allowed}")
    if kind == "literal_error":
        allowed = str(ctx["expected"]).replace("'", "")
    if kind in SHAPES:
        section = section_at(location)
        allowed = SHAPES[kind].format(keys=", ".join(known_keys(section)) if section else "")
    hidden = "env" in location[:-1] and names_secret(str(location[-1]))
    return Problem(key_path(location), HIDDEN if hidden else value, f"allowed: {allowed}")


def _unknown(location: Location, value: Any) -> Problem:
    key, section = str(location[-1]), section_at(location[:-1])
    value_shown = HIDDEN if names_secret(key) else shown(value)
    known = known_keys(section) if section else []
    if names_secret(key):
        return Problem(key_path(location), "", f"unknown key (its value is not shown); {meant(key, known)}")
    return Problem(key_path(location), value_shown, f"unknown key, {meant(key, known)}")
