"""Whatever is given loads or is refused in words; what loads survives a round trip."""

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from doks_gpu.settings import (
    Settings,
    go_duration,
    load,
    parse_duration,
    raw_from_pulumi_config,
)
from doks_gpu.settings.loader import known_keys, section_at
from tests.unit.settings_examples import FULL, MINIMAL, refusal

WORDS = [
    *known_keys(Settings),
    "batch",
    "tiers",
    "name",
    "size",
    "min",
    "max",
    "usdPerHour",
    "scale",
    "secure",
    "token",
]
ANY_TEXT = st.text(st.characters(), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | ANY_TEXT
    | st.sampled_from(["1", "gpu-x1-1gb", "10m", "a:1"])
)
GARBAGE = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | ANY_TEXT, inner, max_size=4),
    max_leaves=12,
)


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [here, *(place for key, item in inner for place in places(item, (*here, key)))]


PLACES = places(FULL)[1:]


def loads_or_is_refused(raw: Any) -> None:
    if refused := refusal(raw):
        assert refused.problems
        str(refused).encode()
        assert len(str(refused).splitlines()) == len(refused.problems) + 1


@given(GARBAGE)
@settings(max_examples=100, deadline=None)
def test_garbage_loads_or_is_refused_in_words(raw: Any) -> None:
    loads_or_is_refused(raw)


@given(st.sampled_from(PLACES), GARBAGE)
@settings(max_examples=200, deadline=None)
def test_garbage_at_any_place_loads_or_is_refused_in_words(place: tuple[Any, ...], garbage: Any) -> None:
    raw = copy.deepcopy(FULL)
    target: Any = raw
    for step in place[:-1]:
        target = target[step]
    target[place[-1]] = garbage
    loads_or_is_refused(raw)


@given(
    st.dictionaries(st.sampled_from([f"doks-gpu:{word}" for word in WORDS]) | ANY_TEXT, ANY_TEXT | st.just("[" * 5000))
)
@settings(max_examples=50, deadline=None)
def test_any_pulumi_configuration_loads_or_is_refused_in_words(values: dict[str, str]) -> None:
    loads_or_is_refused(raw_from_pulumi_config(values))


@pytest.mark.parametrize("raw", [{1: 2}, {"fleets": {True: {}}}, {"limits": {"gpus": {3: 4}}}, None, [], "x", 3])
def test_keys_that_are_no_strings_are_refused_in_words(raw: Any) -> None:
    loads_or_is_refused(raw)


def test_structure_that_contains_itself_is_refused_in_words() -> None:
    loop: dict[str, Any] = {}
    loop["cluster"] = loop
    loads_or_is_refused(MINIMAL | loop)


NAMES = st.from_regex(r"[a-z]([a-z0-9]{0,8}[a-z0-9])?", fullmatch=True)
TIERS = st.builds(
    lambda name, spot, low, more: {
        "name": name,
        "size": f"gpu-h200x1-141gb{'-spot' if spot else ''}",
        "min": low,
        "max": low + more + (low == 0),
    },
    NAMES,
    st.booleans(),
    st.integers(0, 5),
    st.integers(0, 5),
)
FLEETS = st.dictionaries(
    NAMES,
    st.fixed_dictionaries(
        {"tiers": st.lists(TIERS, min_size=1, max_size=6, unique_by=lambda tier: str(tier["name"]))},
        optional={
            "memoryGib": st.integers(1, 500),
            "headroom": st.decimals(0, "0.9", places=2).map(str),
            "fallbackAfter": st.integers(1, 10_000).map(lambda seconds: f"{seconds}s"),
        },
    ),
    min_size=1,
    max_size=4,
)


@given(FLEETS, st.decimals("0.01", 10_000, places=4))
@settings(max_examples=30, deadline=None)
def test_what_loads_survives_a_round_trip(fleets: dict[str, Any], cap: Any) -> None:
    raw = FULL | {"fleets": FULL["fleets"] | {f"x{name}": fleet for name, fleet in fleets.items()}}
    loaded = load(raw | {"limits": {"usdPerHour": cap}})
    assert load(loaded.model_dump(mode="json", by_alias=True)) == loaded


@given(FLEETS)
@settings(max_examples=30, deadline=None)
def test_tiers_keep_their_order_of_preference(fleets: dict[str, Any]) -> None:
    loaded = load(MINIMAL | {"fleets": {f"x{name}": fleet for name, fleet in fleets.items()}})
    for name, fleet in fleets.items():
        assert [tier.name for tier in loaded.fleets[f"x{name}"].tiers] == [tier["name"] for tier in fleet["tiers"]]


@given(st.timedeltas(min_value=parse_duration("1ms"), max_value=parse_duration("1000h")))
def test_waits_survive_being_written(wait: Any) -> None:
    wait -= wait % parse_duration("1ms")
    assert parse_duration(go_duration(wait)) == wait


def test_every_place_of_the_full_example_is_in_the_schema() -> None:
    for place in PLACES:
        section = section_at(place[:-1])
        assert section is None or place[-1] in known_keys(section), place
