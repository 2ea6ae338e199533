"""Reads a stack's file without Pulumi, as the engine would, and changes single values of it.

PyYAML follows YAML 1.1, where `yes`, `12:30` and `2026-11-30` are not strings; the engine's parser (Go,
yaml.v3) takes them as strings. The loader below does as the engine does.
"""

import json
import re
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import yaml

from doks_gpu.errors import RefusedError
from doks_gpu.settings.loader import own_name
from doks_gpu.settings.problems import PREFIX, hide_secrets, key_path, meant, names_secret, nearest, one_line
from doks_gpu.settings.reading import encrypted, is_encrypted

LARGEST_FILE = 1_000_000
"""Bytes of a stack's file; a real one has a few thousand."""
MOST_VALUES = 100_000
"""Keys and values of one text once its aliases are followed: a few lines of aliases can stand for billions."""
FILE_KEYS = ("config", "secretsprovider", "encryptedkey", "encryptionsalt", "environment")
"""What Pulumi writes at the top of a stack's file."""

MERGE_TAG = "tag:yaml.org,2002:merge"

_STEP = re.compile(r'\.?(?P<key>[A-Za-z0-9_-]+)|\[(?P<index>[0-9]{1,6})\]|\["(?P<quoted>[^"]+)"\]')


class _EngineLoader(yaml.SafeLoader):
    """Scalars as the engine reads them; a key that is there twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Hashable] = set()
        for key_node in (key for key, _ in node.value if key.tag != MERGE_TAG):
            key = self.construct_object(key_node, deep=True)
            if not isinstance(key, Hashable):
                raise yaml.constructor.ConstructorError(None, None, "this key is not a string", key_node.start_mark)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key} is there twice", key_node.start_mark)
            seen.add(key)
        return super().construct_mapping(node, deep=deep)


_EngineLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(0|[1-9][0-9]*)|0[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        "-+.0123456789",
    ),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", r"<<", "<"),
):
    _EngineLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), list(_first))


def parse_yaml(text: str, origin: str) -> Any:
    """Plain JSON values from YAML. Raises `RefusedError` with the line."""
    try:
        return json.loads(json.dumps(_parsed(text)))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        raise RefusedError(f"{origin}{line}: not valid YAML: {_safe(error.problem or error.context)}") from None
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        raise RefusedError(f"{origin}: not valid YAML: {_safe(str(error))}") from None


def _parsed(text: str) -> Any:
    """Plain data: the loader is a `SafeLoader`. Aliases are counted before anything is made of them."""
    loader = _EngineLoader(text)
    try:
        document = loader.get_single_node()
        if document is None:
            return None
        if _values(document, {}) > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES} values, with its aliases followed")
        return loader.construct_document(document)
    finally:
        loader.dispose()


def _values(node: yaml.Node, known: dict[yaml.Node, int]) -> int:
    """Nodes of a tree in which every alias is a copy. Raises `ValueError` for a tree that contains itself."""
    if node in known:
        if not known[node]:
            raise ValueError("an alias inside its own anchor")
        return known[node]
    known[node] = 0
    below = [part for pair in node.value for part in pair] if isinstance(node, yaml.MappingNode) else node.value
    parts = below if isinstance(node, yaml.CollectionNode) else ()
    known[node] = 1 + sum(_values(part, known) for part in parts)
    return known[node]


def _safe(text: str | None) -> str:
    return hide_secrets(one_line(text or "unreadable"))[:200]


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise RefusedError(f"{path}: larger than {LARGEST_FILE} bytes, so not a stack's configuration")
        text = content.decode()
    except UnicodeDecodeError:
        raise RefusedError(f"{path}: not a text file in UTF-8") from None
    except OSError as error:
        raise RefusedError(f"{path}: cannot be read: {error.strerror}") from None
    parsed = parse_yaml(text, str(path))
    if parsed is not None and not isinstance(parsed, dict):
        raise RefusedError(f"{path}: a mapping is needed at the top, with `config:` in it")
    return parsed or {}


def _config(path: Path, top: Mapping[str, Any]) -> dict[str, Any]:
    config = top.get("config") or {}
    if not isinstance(config, dict):
        raise RefusedError(f"{path}: config: a mapping is needed")
    return config


def read_stack_file(path: Path) -> dict[str, Any]:
    """The `doks-gpu:` keys of a stack's file, without their prefix, for `doks_gpu.settings.load`.

    Encrypted values become a marker that `load` refuses. Raises `RefusedError` for a file that cannot be
    read.
    """
    raw: dict[str, Any] = {}
    top = _read(path)
    _check_top(path, top)
    for key, value in _config(path, top).items():
        if ":" not in key:
            raise RefusedError(f"{path}: config: {_safe(key)} has no namespace: write {PREFIX}{_safe(key)}")
        if (name := own_name(key)) is not None:
            raw[name] = encrypted() if ":" in name else _without_ciphertext(value)
    return raw


def _check_top(path: Path, top: Mapping[str, Any]) -> None:
    strangers = [key for key in top if key not in FILE_KEYS]
    meant_config = [key for key in strangers if nearest(key, FILE_KEYS) == "config"]
    if meant_config:
        raise RefusedError(f"{path}: {_safe(meant_config[0])}: unknown key, did you mean config?")
    if strangers and "config" not in top:
        raise RefusedError(
            f"{path}: there is no `config:` in it: write {', '.join(map(_safe, strangers[:3]))} below `config:`"
        )


def _without_ciphertext(value: Any) -> Any:
    if is_encrypted(value):
        return encrypted()
    if isinstance(value, dict):
        return {key: _without_ciphertext(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_ciphertext(item) for item in value]
    return value


def with_defaults(raw: Mapping[str, Any], project_file: Path) -> dict[str, Any]:
    """The stack's keys, and the defaults that `Pulumi.yaml` declares for those that it leaves out."""
    merged = dict(raw)
    for key, schema in _config(project_file, _read(project_file)).items():
        name = key.removeprefix(PREFIX)
        if ":" not in name and name not in merged and isinstance(schema, dict) and "default" in schema:
            merged[name] = schema["default"]
    return merged


def set_path(raw: Mapping[str, Any], path: str, value: str) -> dict[str, Any]:
    """A copy with one value changed, as `--set fleets.batch.tiers[0].max=3` asks; the value is read as YAML.

    A mapping that is missing on the way is made; a list takes an index that it has, or the next one.
    Raises `RefusedError` for a path that leads nowhere.
    """
    steps = _steps(path)
    if names_secret(str(steps[0])):
        raise RefusedError(
            f"--set {steps[0]}: no token belongs in the configuration or on a command line: "
            "`export DIGITALOCEAN_TOKEN=…`"
        )
    changed: dict[str, Any] = json.loads(json.dumps(dict(raw)))
    place: Any = changed
    for depth, step in enumerate(steps[:-1]):
        _check_step(place, steps, depth, path)
        if isinstance(place, list):
            if step == len(place):
                place.append({})
        elif place.get(step) is None:
            if isinstance(steps[depth + 1], int) and steps[depth + 1] != 0:
                raise _nowhere(path, f"there is no {key_path(steps[: depth + 1])}")
            place[step] = [] if steps[depth + 1] == 0 else {}
        place = place[step]
    _check_step(place, steps, len(steps) - 1, path)
    parsed = parse_yaml(value, f"--set {path}")
    if isinstance(place, list) and steps[-1] == len(place):
        place.append(parsed)
    else:
        place[steps[-1]] = parsed
    return changed


def _steps(path: str) -> tuple[str | int, ...]:
    rest, steps = path.removeprefix(PREFIX), list[str | int]()
    position = 0
    while position < len(rest):
        found = _STEP.match(rest, position)
        if not found or (not steps and found["key"] is None) or (not steps and rest.startswith(".")):
            break
        steps.append(int(found["index"]) if found["index"] else found["key"] or found["quoted"])
        position = found.end()
    if not steps or position < len(rest):
        raise _nowhere(path, "write it as in fleets.batch.tiers[0].max")
    return tuple(steps)


def _check_step(place: Any, steps: tuple[str | int, ...], depth: int, path: str) -> None:
    here, step = key_path(steps[:depth]), steps[depth]
    if isinstance(place, list):
        if not isinstance(step, int):
            raise _nowhere(path, f"{here} is a list: write {here}[0] to {here}[{max(len(place) - 1, 0)}]")
        if step > len(place):
            raise _nowhere(path, f"{here} has {len(place)} entries, counted from 0")
    elif not isinstance(place, dict):
        raise _nowhere(path, f"{here} is a single value, with nothing below it")
    elif isinstance(step, int):
        raise _nowhere(path, f"{here} is a mapping, not a list; {meant('', list(place))}")


def _nowhere(path: str, why: str) -> RefusedError:
    return RefusedError(f"--set {_safe(path) if path else chr(34) * 2}: {why}")
