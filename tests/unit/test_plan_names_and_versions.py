"""Names that the plan makes up, and Kubernetes versions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doks_gpu.plan import names, versions

OFFERED = ("1.36.3-do.0", "1.36.10-do.0", "1.36.1-do.2", "1.35.4-do.1", "1.35.2-do.0")


def test_a_cluster_is_named_after_project_and_stack() -> None:
    assert names.cluster_name("doks-gpu", "dev") == "doks-gpu-dev"


@given(st.text(min_size=1, max_size=100), st.text(min_size=1, max_size=100))
def test_any_project_and_stack_give_a_dns_label(project: str, stack: str) -> None:
    assert re.fullmatch(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", names.cluster_name(project, stack))


def test_two_long_names_that_differ_at_the_end_stay_different() -> None:
    assert names.cluster_name("p" * 70, "dev") != names.cluster_name("p" * 70, "prod")


def test_a_prefix_stands_for_the_newest_patch() -> None:
    assert versions.resolve("1.36", OFFERED) == "1.36.10-do.0"


def test_a_prefix_of_one_patch_does_not_reach_another() -> None:
    assert versions.newest("1.36.1", OFFERED) == "1.36.1-do.2"


def test_a_prefix_that_is_not_offered_stays_as_it_is() -> None:
    assert versions.resolve("1.37", OFFERED) == "1.37"


def test_a_full_slug_stands_for_itself() -> None:
    assert versions.resolve("1.35.2-do.0", OFFERED) == "1.35.2-do.0"


@pytest.mark.parametrize(
    ("current", "wanted", "step"),
    [
        ("1.35.2-do.0", "1.36.3-do.0", "1.35.4-do.1"),
        ("1.35.4-do.1", "1.36.3-do.0", None),
        ("1.35.2-do.0", "1.35.4-do.1", None),
        ("1.34.9-do.0", "1.36.3-do.0", "1.35.4-do.1"),
        ("1.36.1-do.2", "1.36.3-do.0", None),
        ("unreadable", "1.36.3-do.0", None),
    ],
)
def test_an_upgrade_goes_through_the_newest_patch_and_one_minor_at_a_time(
    current: str, wanted: str, step: str | None
) -> None:
    assert versions.step_before(current, wanted, OFFERED) == step


def test_a_minor_that_is_not_offered_is_named_as_a_prefix() -> None:
    assert versions.step_before("1.33.5-do.0", "1.36.3-do.0", OFFERED) == "1.34"


@pytest.mark.parametrize(("version", "at_least"), [("1.36", True), ("1.35.9-do.0", False), ("2.0", True), ("x", False)])
def test_versions_are_compared_as_numbers(version: str, *, at_least: bool) -> None:
    assert versions.is_at_least(version, 1, 36) is at_least
