"""Changes of single keys of the configuration that no other sentence tells, so that none passes unseen."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from doks_gpu.plan.compare.words import Location, code, value, values
from doks_gpu.settings.problems import HIDDEN, PREFIX, key_path, names_secret

Change = tuple[Location, Any, Any]


def changed_settings(
    old: Mapping[str, Any] | None, new: Mapping[str, Any] | None, told: Collection[Location]
) -> list[str]:
    """One sentence per key. `told` are the keys, or what they are below, of which the reader knows already."""
    if old is None or new is None:
        return []
    return [
        _sentence(change, old, new)
        for change in _differences(old, new, ())
        if not any(change[0][: len(known)] == known for known in told)
    ]


def without_secrets(settings: Any, at: Location = ()) -> Any:
    """A copy in which a variable with the name of a secret keeps its value to itself."""
    if at[-2:-1] == ("env",) and names_secret(at[-1]):
        return HIDDEN
    if isinstance(settings, Mapping):
        return {key: without_secrets(item, (*at, str(key))) for key, item in settings.items()}
    if isinstance(settings, list):
        return [without_secrets(item, at) for item in settings]
    return settings


def _differences(old: Any, new: Any, at: Location) -> Iterator[Change]:
    """A key that is not there counts as one without a value: both mean the default."""
    if _empty(old) and _empty(new):
        return
    if not _comparable(old, new):
        if old != new:
            yield at, old, new
        return
    before, after = _children(old) or {}, _children(new) or {}
    for key in {**after, **before}:
        yield from _differences(before.get(key), after.get(key), (*at, key))


def _comparable(old: Any, new: Any) -> bool:
    """Both are mappings, lists whose entries have names, or lists of one length."""
    if isinstance(old, list) and isinstance(new, list):
        return (_named(old) and _named(new)) or (len(old) == len(new) and not _named(old) and not _named(new))
    return isinstance(old, Mapping) and isinstance(new, Mapping)


def _empty(one: Any) -> bool:
    return one is None or one == {} or one == []


def _children(one: Any) -> Mapping[str, Any] | None:
    if isinstance(one, Mapping):
        return one
    if isinstance(one, list):
        return {item["name"] if _named(one) else str(index): item for index, item in enumerate(one)}
    return None


def _named(entries: list[Any]) -> bool:
    """Entries with names of their own (tiers, volumes) keep them when another one is put in front."""
    names = [item["name"] for item in entries if isinstance(item, Mapping) and isinstance(item.get("name"), str)]
    return len(set(names)) == len(entries)


def _sentence(change: Change, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    at, before, after = change
    where = code((_path(new, at) or _path(old, at) or key_path(at)).removeprefix(PREFIX))
    before, after = without_secrets(before, at), without_secrets(after, at)
    if before == after:
        return f"{where} changes; its value is not shown."
    if before is None and isinstance(after, Mapping | list):
        return f"{where} is added: {value(after)}."
    if after is None and isinstance(before, Mapping | list):
        return f"{where} is removed."
    return f"{where}: {values(before, after)}."


def _path(tree: Any, at: Location) -> str | None:
    """The path as `--set` takes it, with the place of a list's entry; None where the tree does not have it."""
    steps: list[str | int] = []
    for step in at:
        children = _children(tree)
        if children is None or step not in children:
            return None
        steps.append(list(children).index(step) if isinstance(tree, list) else step)
        tree = children[step]
    return key_path(tuple(steps))
