"""Tags: what is written is read back, and DigitalOcean accepts it."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doks_gpu.errors import RefusedError
from doks_gpu.plan.tags import PoolTags, cluster_tags, parse_pool_tags, pool_tags, stack_of

ALLOWED = re.compile(r"[a-zA-Z0-9:\-_]{1,255}")
NAMES = st.text(min_size=1, max_size=9)
PLAIN = PoolTags(
    project="doks-gpu", stack="dev", fleet="batch", tier="spot", generation=1, usd_per_hour=Decimal("8.00")
)
ANY_TAGS = st.builds(
    PoolTags,
    project=NAMES,
    stack=NAMES,
    fleet=NAMES,
    tier=NAMES,
    generation=st.integers(0, 10**9 - 1),
    usd_per_hour=st.none() | st.decimals(0, 10**6, places=5),
)


def test_the_tags_of_a_pool_can_be_read_by_people() -> None:
    assert pool_tags(PLAIN) == (
        "doks-gpu:stack:doks-gpu:dev",
        "doks-gpu:fleet:batch",
        "doks-gpu:tier:spot",
        "doks-gpu:generation:1",
        "doks-gpu:usd-per-hour:8_00",
    )


@given(ANY_TAGS)
def test_what_is_written_is_read_back(tags: PoolTags) -> None:
    assert parse_pool_tags(pool_tags(tags)) == tags


@given(ANY_TAGS)
def test_digitalocean_accepts_every_tag(tags: PoolTags) -> None:
    assert all(ALLOWED.fullmatch(tag) for tag in pool_tags(tags))


@given(ANY_TAGS)
def test_order_and_other_tags_do_not_matter(tags: PoolTags) -> None:
    mixed = ["k8s", *reversed(pool_tags(tags)), "k8s:worker", "doks-gpu", "team:research"]
    assert parse_pool_tags(mixed) == tags


@given(ANY_TAGS)
def test_the_case_that_digitalocean_keeps_cannot_confuse_two_stacks(tags: PoolTags) -> None:
    written = pool_tags(tags)
    assert written == tuple(tag.lower() for tag in written)


@given(NAMES, NAMES)
def test_a_cluster_names_its_stack(project: str, stack: str) -> None:
    assert stack_of(cluster_tags(project, stack)) == (project, stack)


@given(st.lists(st.text(max_size=30) | st.from_regex(r"doks-gpu:[a-z]+:[a-z_0-9:]*", fullmatch=True)))
def test_foreign_tags_never_break_the_reading(tags: list[str]) -> None:
    parsed = parse_pool_tags(tags)
    assert parsed is None or parsed.fleet


@pytest.mark.parametrize("missing", range(4))
def test_a_pool_without_one_of_our_tags_is_not_ours(missing: int) -> None:
    written = list(pool_tags(PLAIN))
    del written[missing]
    assert parse_pool_tags(written) is None


@pytest.mark.parametrize("price", ["doks-gpu:usd-per-hour:", "doks-gpu:usd-per-hour:cheap"])
def test_an_unreadable_price_is_unknown(price: str) -> None:
    parsed = parse_pool_tags([*pool_tags(PLAIN)[:4], price])
    assert parsed is not None
    assert parsed.usd_per_hour is None


def test_a_foreign_cluster_has_no_stack() -> None:
    assert stack_of(["k8s", "production"]) is None


def test_names_of_the_longest_length_that_pulumi_allows_fit() -> None:
    assert all(len(tag) <= 255 for tag in cluster_tags("p" * 100, "s" * 100))


def test_names_that_do_not_fit_into_a_tag_are_refused() -> None:
    (tag,) = cluster_tags("p" * 100, "s" * 139)
    assert len(tag) == 255
    with pytest.raises(RefusedError, match="shorter name"):
        cluster_tags("p" * 100, "s" * 140)


@pytest.mark.parametrize(
    "tag", ["doks-gpu:stack:", "doks-gpu:stack::dev", "doks-gpu:stack:doks-gpu:", "doks-gpu:stack"]
)
def test_half_a_stack_is_no_stack(tag: str) -> None:
    assert stack_of([tag]) is None
