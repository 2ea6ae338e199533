"""Fleets become pools."""

from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doks_gpu.plan.facts import SizeFact
from doks_gpu.plan.pools import PoolSpec, Taint, hardware_of
from doks_gpu.plan.tags import parse_pool_tags
from tests.unit.stacks import FALLBACK, SPOT, account, live_pool, plan, raw, size


def pools(*tiers: dict[str, object], **fleet: object) -> tuple[PoolSpec, ...]:
    return plan(raw(*tiers, fleet=fleet)).pools


def test_each_tier_becomes_one_pool_named_after_fleet_and_tier() -> None:
    assert [pool.name for pool in pools(SPOT, FALLBACK)] == ["batch-spot", "batch-fallback"]


def test_a_disabled_tier_has_no_pool_and_leaves_the_others_their_level() -> None:
    (pool,) = pools({**SPOT, "enabled": False}, FALLBACK)
    assert (pool.name, pool.level) == ("batch-fallback", 50)


def test_the_same_rank_has_the_same_level_in_every_fleet() -> None:
    fleets = {name: {"tiers": [SPOT, FALLBACK]} for name in ("a", "b")}
    assert [pool.level for pool in plan(raw(fleets=fleets)).pools] == [100, 50, 100, 50]


def test_an_autoscaled_pool_has_no_count() -> None:
    (pool,) = pools({**SPOT, "min": 0, "max": 3})
    assert (pool.autoscaled, pool.count, pool.min, pool.max) == (True, None, 0, 3)


def test_a_fixed_pool_has_a_count() -> None:
    (pool,) = pools({**SPOT, "min": 2, "max": 2})
    assert (pool.autoscaled, pool.count) == (False, 2)


@pytest.mark.parametrize(("tier", "kind"), [(SPOT, "spot"), (FALLBACK, "on-demand")])
def test_labels_and_taint_say_the_workload_and_the_capacity_type(tier: dict[str, object], kind: str) -> None:
    (pool,) = pools(tier, workload="training")
    assert pool.labels == {"workload": "training", "doks-gpu/capacity-type": kind}
    assert pool.taints == (Taint(key="workload", value="training", effect="NoSchedule"),)


def test_the_workload_is_named_after_the_fleet_by_default() -> None:
    (pool,) = pools(SPOT)
    assert pool.labels["workload"] == "gpu-batch"


def test_only_a_spot_pool_is_replaced_when_its_ceiling_changes() -> None:
    assert [pool.replace_on_ceiling for pool in pools(SPOT, FALLBACK)] == [True, False]


def test_the_tags_say_whose_the_pool_is_and_what_it_cost() -> None:
    (pool,) = pools({**SPOT, "generation": 3})
    tags = parse_pool_tags(pool.tags)
    assert tags is not None
    assert (tags.project, tags.stack, tags.fleet, tags.tier) == ("doks-gpu", "dev", "batch", "spot")
    assert (tags.generation, tags.usd_per_hour) == (3, Decimal("8.00"))


def test_the_nodes_gpus_come_with_the_pool() -> None:
    (pool,) = pools({**SPOT, "size": "gpu-mi325x8-2048gb", "max": 3})
    assert (pool.vendor, pool.model, pool.gpus, pool.gpu_memory_gib, pool.most_gpus) == ("amd", "mi325x", 8, 256, 24)


def test_a_size_newer_than_the_catalogue_is_read_from_its_slug() -> None:
    (pool,) = pools({**SPOT, "size": "gpu-mi455x1-432gb-spot", "usdPerHour": 9})
    assert (pool.vendor, pool.model, pool.gpu_memory_gib, pool.is_spot) == ("amd", "mi455x", 432, True)


@pytest.mark.parametrize(
    ("said", "vendor", "model"),
    [
        ("amd_mi500x", "amd", "mi500x"),
        ("amd_w9000", "amd", "w9000"),
        ("nvidia_r200", "nvidia", "r200"),
        ("r200", "nvidia", "r200"),
        ("MI500", "amd", "mi500x"),
    ],
)
def test_a_size_whose_slug_says_nothing_is_read_from_the_account(said: str, vendor: str, model: str) -> None:
    fact = SizeFact(usd_per_hour=Decimal(5), regions=frozenset(), gpu_count=2, gpu_model=said, gpu_memory_gib=400)
    hardware = hardware_of("gpu-next", account(sizes={"gpu-next": fact}))
    assert hardware is not None
    assert (hardware.vendor, hardware.model, hardware.gpus, hardware.gpu_memory_gib) == (vendor, model, 2, 400)


def test_a_size_that_nobody_knows_has_no_hardware() -> None:
    assert hardware_of("gpu-next", None) is None


def test_a_price_of_the_configuration_wins() -> None:
    (pool,) = plan(raw({**SPOT, "usdPerHour": "7.77"}), account()).pools
    assert (pool.price.usd_per_hour, pool.price.origin) == (Decimal("7.77"), "configuration")


def test_the_account_wins_over_the_catalogue() -> None:
    facts = account(sizes={"gpu-b300x1-288gb-spot": size("11.19", "atl1")})
    (pool,) = plan(raw(SPOT), facts).pools
    assert (pool.price.usd_per_hour, pool.price.origin) == (Decimal("11.19"), "account")
    assert pool.price.read_on == date(2026, 12, 1)


@pytest.mark.parametrize("sizes", [{}, {"gpu-b300x1-288gb-spot": size("0")}])
def test_the_catalogue_is_asked_when_the_account_has_no_price(sizes: dict[str, SizeFact]) -> None:
    (pool,) = plan(raw(SPOT), account(sizes=sizes)).pools
    assert (pool.price.usd_per_hour, pool.price.origin) == (Decimal("8.00"), "catalogue")


def test_a_price_that_nobody_knows_is_unknown_and_never_zero() -> None:
    (pool,) = pools({**SPOT, "size": "gpu-r200x1-288gb-spot"})
    assert (pool.price.usd_per_hour, pool.price.origin) == (None, "unknown")


def test_a_live_spot_pool_keeps_the_price_of_its_creation() -> None:
    (pool,) = plan(raw(SPOT), account(pools=(live_pool(),))).pools
    assert (pool.price.usd_per_hour, pool.price.origin) == (Decimal("6.50"), "live pool")


def test_the_tag_of_a_new_pool_has_the_price_of_today() -> None:
    (pool,) = plan(raw(SPOT), account(pools=(live_pool(),))).pools
    tags = parse_pool_tags(pool.tags)
    assert tags is not None
    assert tags.usd_per_hour == Decimal("8.00")


@pytest.mark.parametrize(
    "live",
    [
        live_pool(generation=2),
        live_pool(size="gpu-b300x8-2304gb-spot"),
        live_pool(tier="other"),
        live_pool(usd_per_hour=None),
        live_pool(ceiling=3),
    ],
    ids=["other generation", "other size", "other tier", "no price tag", "other ceiling"],
)
def test_a_spot_pool_that_is_made_anew_costs_what_is_offered(live: object) -> None:
    (pool,) = plan(raw(SPOT), account(pools=(live,))).pools
    assert pool.price.usd_per_hour == Decimal("8.00")


def test_an_on_demand_pool_costs_what_the_account_says_today() -> None:
    live = live_pool(tier="fallback", size="gpu-h200x1-141gb")
    (pool,) = plan(raw(FALLBACK), account(pools=(live,))).pools
    assert pool.price.usd_per_hour == Decimal("4.47")


@given(low=st.integers(0, 9), extra=st.integers(0, 9), spot=st.booleans())
def test_every_pool_sends_a_count_or_a_range_and_never_both(low: int, extra: int, *, spot: bool) -> None:
    (pool,) = pools({**(SPOT if spot else FALLBACK), "min": low, "max": max(1, low + extra)})
    assert (pool.count is None) == pool.autoscaled
    assert pool.count in (None, pool.max)
