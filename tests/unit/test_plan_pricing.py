"""What a stack costs."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doks_gpu.plan.pricing import StackPricing, cents, told_apart
from doks_gpu.plan.stack import as_dict
from tests.unit.stacks import AMD, CLUSTER_ID, FALLBACK, SPOT, account, plan, raw

BARE: dict[str, Any] = {
    "cluster": {
        "highAvailability": False,
        "cpuPool": {"size": "s-4vcpu-8gb", "min": 2, "max": 4, "usdPerHour": "0.10"},
    },
    "monitoring": {"enabled": False},
}


def pricing(*tiers: dict[str, Any], **keys: Any) -> StackPricing:
    return plan(raw(*tiers, **(BARE | keys))).pricing


def names(found: StackPricing) -> list[str]:
    return [charge.name for charge in found.charges]


def test_the_hourly_minimum_and_maximum_are_sums_over_all_pools() -> None:
    hourly = pricing(SPOT, FALLBACK).hourly
    assert hourly.min == Decimal("8.00") + Decimal("4.47") + 2 * Decimal("0.10")
    assert hourly.max == 2 * Decimal("8.00") + 2 * Decimal("4.47") + 4 * Decimal("0.10")


def test_a_fixed_pool_costs_the_same_at_both_ends() -> None:
    (charge, _) = pricing({**SPOT, "min": 3, "max": 3}).charges
    assert charge.usd_min == charge.usd_max == Decimal("24.00")


def test_the_peak_has_the_dearest_pool_twice() -> None:
    found = pricing(SPOT, {**FALLBACK, "max": 5})
    assert found.dearest_pool == "batch-fallback"
    assert found.hourly.peak == found.hourly.max + 5 * Decimal("4.47")


def test_idle_is_everything_at_its_minimum_for_730_hours() -> None:
    assert pricing({**SPOT, "min": 0}).idle_per_month == 2 * Decimal("0.10") * 730


def test_a_disabled_tier_costs_nothing() -> None:
    assert names(pricing(SPOT, {**FALLBACK, "enabled": False})) == ["batch-spot", "cpu"]


@pytest.mark.parametrize(
    ("cluster", "billed"),
    [
        ({"highAvailability": True}, True),
        ({"highAvailability": False}, False),
        ({"version": "1.36"}, True),
        ({"version": "1.35"}, False),
        ({"id": CLUSTER_ID}, False),
    ],
)
def test_high_availability_is_billed_where_it_is_on(cluster: dict[str, Any], *, billed: bool) -> None:
    assert ("high availability" in names(pricing(cluster=cluster))) is billed


def test_the_pools_of_an_attached_cluster_are_not_our_bill() -> None:
    assert names(pricing(SPOT, cluster={"id": CLUSTER_ID})) == ["batch-spot"]


def test_the_volume_of_prometheus_is_billed_by_its_size() -> None:
    found = pricing(monitoring={"storageGib": 40})
    volume = next(charge for charge in found.charges if charge.kind == "volume")
    assert cents(volume.usd_max * 730) == "6.00"


def test_checkpoints_bill_the_spaces_subscription() -> None:
    assert "Spaces subscription" in names(pricing(checkpoints={"enabled": True}))


def test_an_unknown_price_is_named_and_not_taken_for_nothing() -> None:
    found = pricing({**SPOT, "size": "gpu-r200x1-288gb-spot"}, FALLBACK)
    assert found.unknown == ("batch-spot",)


def test_an_unknown_price_adds_nothing_to_the_sums_that_are_known() -> None:
    known = pricing({**FALLBACK, "name": "only"})
    partly = pricing({**SPOT, "size": "gpu-r200x1-288gb-spot"}, FALLBACK)
    assert (partly.hourly.min, partly.hourly.max) == (known.hourly.min, known.hourly.max)


def test_what_is_billed_once_is_billed_once() -> None:
    found = pricing(cluster={"highAvailability": True}, monitoring={}, checkpoints={"enabled": True})
    once = [charge for charge in found.charges if not charge.kind.endswith("pool")]
    assert [(charge.min, charge.max) for charge in once] == [(1, 1)] * 3


def test_without_a_pool_the_peak_is_the_maximum() -> None:
    found = pricing({**SPOT, "enabled": False})
    assert (found.dearest_pool, found.hourly.peak) == (None, found.hourly.max)


def test_nothing_is_unknown_when_everything_has_a_price() -> None:
    found = pricing()
    assert (found.unknown, found.complete) == ((), True)


@pytest.mark.parametrize("size", ["gpu-r200x1-288gb-spot", "gpu-foo"], ids=["no price", "unreadable"])
def test_sums_are_not_complete_while_a_price_is_unknown(size: str) -> None:
    found = pricing({**SPOT, "size": size}, FALLBACK)
    assert (found.unknown, found.complete) == (("batch-spot",), False)


@pytest.mark.parametrize(("size", "complete"), [(SPOT["size"], True), ("gpu-foo", False)])
def test_the_json_form_says_whether_the_sums_are_complete(size: str, *, complete: bool) -> None:
    assert as_dict(plan(raw({**SPOT, "size": size}, FALLBACK)))["pricing"]["complete"] is complete


def test_the_cpu_pool_is_priced_by_the_account_before_the_catalogue() -> None:
    found = plan(raw(), account()).pricing
    assert next(charge for charge in found.charges if charge.kind == "cpu-pool").price.origin == "account"


def test_work_is_priced_per_gpu_and_by_speed() -> None:
    eight = {**SPOT, "size": "gpu-b300x8-2304gb-spot", "relativeSpeed": 2}
    assert [work.usd for work in pricing(eight, FALLBACK).work] == [Decimal("4.0000"), Decimal("4.4700")]


def test_the_output_is_text_with_cents() -> None:
    assert pricing(SPOT, FALLBACK).output() == {"min": "12.67", "max": "25.34", "peak": "41.34"}


@pytest.mark.parametrize(("usd", "shown"), [("0", "0.00"), ("0.005", "0.01"), ("12.344", "12.34"), ("1E+2", "100.00")])
def test_cents_are_rounded_half_up(usd: str, shown: str) -> None:
    assert cents(Decimal(usd)) == shown


@pytest.mark.parametrize(
    ("one", "other", "shown"),
    [
        ("46.0046", "46", ("46.0046", "46.0000")),
        ("46.01", "46", ("46.01", "46.00")),
        ("46", "46.00", ("46.00", "46.00")),
        ("46.000001", "46", ("46.000001", "46.000000")),
        ("46.0000000001", "46", ("46.0000000001", "46")),
    ],
)
def test_different_amounts_are_told_apart(one: str, other: str, shown: tuple[str, str]) -> None:
    assert told_apart(Decimal(one), Decimal(other)) == shown


@given(
    nodes=st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5)), min_size=1, max_size=5),
    usd=st.decimals("0.01", "99.99", places=2),
)
def test_minimum_maximum_and_peak_never_cross(nodes: list[tuple[int, int]], usd: Decimal) -> None:
    tiers = [
        {**AMD, "name": f"t{place}", "min": low, "max": low + extra, "usdPerHour": str(usd)}
        for place, (low, extra) in enumerate(nodes)
    ]
    hourly = pricing(*tiers).hourly
    assert hourly.min <= hourly.max < hourly.peak <= 2 * hourly.max
