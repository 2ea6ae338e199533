"""The catalogue: complete rows, and slugs that speak for themselves."""

import re
from datetime import date
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doks_gpu import catalog

ALL = pytest.mark.parametrize("size", catalog.GPU_SIZES, ids=lambda size: size.slug)


@ALL
def test_a_row_says_the_same_as_its_slug(size: catalog.GpuSize) -> None:
    assert catalog.parse_size(size.slug) == size.hardware


@ALL
def test_a_row_has_a_price_with_date_and_source(size: catalog.GpuSize) -> None:
    price = size.price
    assert price.usd_per_hour > 0
    assert price.source.text
    assert date(2026, 1, 1) < price.source.read_on


@ALL
def test_a_row_has_regions_each_with_a_source(size: catalog.GpuSize) -> None:
    assert size.regions
    assert all(re.fullmatch(r"[a-z]{3}[0-9]", fact.region) and fact.source.text for fact in size.regions)


@ALL
def test_an_eight_gpu_node_costs_eight_times_one(size: catalog.GpuSize) -> None:
    hardware = size.hardware
    single = [
        other
        for other in catalog.GPU_SIZES
        if (other.hardware.model, other.hardware.gpus, catalog.is_spot(other.slug))
        == (hardware.model, 1, catalog.is_spot(size.slug))
    ]
    assert {other.price.usd_per_hour * hardware.gpus for other in single} == {size.price.usd_per_hour}


def test_every_slug_is_there_once() -> None:
    slugs = [size.slug for size in catalog.GPU_SIZES] + [size.slug for size in catalog.CPU_SIZES]
    assert len(set(slugs)) == len(slugs)


def test_on_demand_and_spot_are_never_the_same_model() -> None:
    """As read on 2026-10-08. When this fails, the texts that say so must change too."""
    models = {
        spot: {size.hardware.model for size in catalog.GPU_SIZES if catalog.is_spot(size.slug) is spot}
        for spot in (True, False)
    }
    assert not models[True] & models[False]


@pytest.mark.parametrize(
    ("slug", "vendor", "model", "gpus", "memory"),
    [
        ("gpu-4000adax1-20gb", "nvidia", "4000ada", 1, 20),
        ("gpu-mi300x8-1536gb", "amd", "mi300x", 8, 192),
        ("gpu-b300x8-2304gb-lc-spot", "nvidia", "b300", 8, 288),
        ("gpu-mi455x1-432gb-spot", "amd", "mi455x", 1, 432),
        ("gpu-r200x4-1152gb", "nvidia", "r200", 4, 288),
        ("gpu-h100x8-640gb-fabric-contracted", "nvidia", "h100", 8, 80),
    ],
)
def test_a_slug_tells_vendor_model_count_and_memory(
    slug: str, vendor: catalog.Vendor, model: str, gpus: int, memory: int
) -> None:
    expected = catalog.GpuHardware(vendor=vendor, model=model, gpus=gpus, gpu_memory_gib=memory)
    assert catalog.parse_size(slug) == expected


@pytest.mark.parametrize(
    "slug", ["s-4vcpu-8gb", "gpu-h200", "gpu-h200x0-141gb", "gpu-h200x2-141gb", "gpu-x1-80gb", "", "gpu-h100x1-80gb\n"]
)
def test_a_slug_of_another_shape_tells_nothing(slug: str) -> None:
    assert catalog.parse_size(slug) is None


@given(
    model=st.from_regex(r"[a-z][0-9]{2,3}[a-wyz]?", fullmatch=True),
    gpus=st.integers(1, 16),
    memory=st.integers(1, 999),
    suffix=st.sampled_from(["", "-lc", "-spot", "-lc-spot"]),
)
def test_any_slug_of_the_shape_is_read_back(model: str, gpus: int, memory: int, suffix: str) -> None:
    slug = f"gpu-{model}x{gpus}-{memory * gpus}gb{suffix}"
    parsed = catalog.parse_size(slug)
    assert parsed is not None
    assert (parsed.model, parsed.gpus, parsed.gpu_memory_gib) == (model, gpus, memory)
    assert catalog.is_spot(slug) is suffix.endswith("spot")


def test_an_unknown_size_is_not_found() -> None:
    assert catalog.find("gpu-r200x1-288gb") is None
    assert catalog.find_cpu("s-96vcpu-1tb") is None
    assert catalog.regions_of("gpu-r200x1-288gb") == frozenset()


def test_regions_of_a_size_are_those_of_its_row() -> None:
    assert catalog.regions_of("gpu-mi325x8-2048gb") == {"nyc2", "tor1"}


@pytest.mark.parametrize("word", ["mi300", "mi300x"])
def test_a_model_has_one_spelling(word: str) -> None:
    assert catalog.model_name(word) == "mi300x"


def test_a_month_of_high_availability_costs_forty_dollars() -> None:
    month = catalog.HIGH_AVAILABILITY.usd_per_hour * catalog.HOURS_PER_MONTH
    assert month.quantize(Decimal("0.01")) == Decimal("40.00")


@pytest.mark.parametrize("price", [catalog.HIGH_AVAILABILITY, catalog.VOLUME_GIB, catalog.SPACES])
def test_what_is_no_node_has_a_dated_price_too(price: catalog.ListPrice) -> None:
    assert price.usd_per_hour > 0
    assert price.source.text
    assert price.source.read_on.year == 2026
