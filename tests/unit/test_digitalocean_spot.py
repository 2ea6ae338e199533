"""Reclaims, prices and the bill of the stand-in."""

from decimal import Decimal

import pytest

from doks_gpu.catalog import HIGH_AVAILABILITY, find, find_cpu
from rehearsal.digitalocean import ReclaimOrder, StockOut
from rehearsal.digitalocean.control import AssociatedThing, BillLine
from rehearsal.digitalocean.errors import ApiRefusedError
from tests.unit.digitalocean_harness import CPU, H200, SPOT, Account, account


def line(it: Account, name: str) -> BillLine:
    (found,) = [line for line in it.cloud.control.bill().lines if line.name == name]
    return found


def test_a_reclaim_without_notice_takes_the_pool_at_once() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.cloud.control.reclaim(ReclaimOrder(pool=pool))
    assert not it.exists(cluster, pool)
    assert [row["name"] for row in it.cloud.pools.all(cluster)] == ["cpu"]


def test_a_reclaim_with_notice_drains_every_node_first() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster, min_nodes=2)
    it.cloud.control.reclaim(ReclaimOrder(pool="batch-spot", notice_seconds=7200))
    it.wait(7199)
    assert it.states(cluster, pool) == ["draining", "draining"]
    it.wait(1)
    assert not it.exists(cluster, pool)


def test_a_pool_under_notice_refuses_updates() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.cloud.control.reclaim(ReclaimOrder(pool=pool, notice_seconds=60))
    with pytest.raises(ApiRefusedError) as refused:
        it.put(cluster, pool, count=2)
    assert refused.value.status == 422


def test_a_node_bought_under_notice_dies_with_its_pool() -> None:
    it = account(node_boot_seconds=5)
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.wait(5)
    it.cloud.control.reclaim(ReclaimOrder(pool=pool, notice_seconds=50, refuses_updates=False))
    it.put(cluster, pool, count=2)
    it.wait(5)
    assert it.states(cluster, pool) == ["draining", "running"]
    it.wait(45)
    assert not it.exists(cluster, pool)


def test_a_reclaimed_pool_can_stay_listed_without_nodes() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster, min_nodes=2)
    it.cloud.control.reclaim(ReclaimOrder(pool=pool, listed_empty_seconds=30))
    left = it.get(cluster, pool)
    assert (left["count"], left["nodes"]) == (2, [])
    it.wait(30)
    assert not it.exists(cluster, pool)


def test_a_pool_that_is_not_there_cannot_be_reclaimed() -> None:
    with pytest.raises(ApiRefusedError) as refused:
        account().cloud.control.reclaim(ReclaimOrder(pool="nobody"))
    assert refused.value.status == 404


def test_a_spot_pool_keeps_the_price_of_its_first_day() -> None:
    it = account()
    it.pool(it.cluster())
    it.cloud.world.change(prices={SPOT: "11.19"})
    spot = line(it, "batch-spot")
    listed = find(SPOT)
    assert listed is not None
    assert (spot.usd_per_hour, spot.offered_usd_per_hour) == (listed.price.usd_per_hour, Decimal("11.19"))


def test_an_on_demand_pool_follows_the_list_price() -> None:
    it = account()
    it.pool(it.cluster(), name="od", size=H200)
    it.cloud.world.change(prices={H200: "5"})
    assert line(it, "od").usd_per_hour == 5


def test_a_new_pool_gets_the_price_of_its_own_day() -> None:
    it = account(prices={SPOT: "4"})
    cluster = it.cluster()
    it.pool(cluster, name="first")
    it.cloud.world.change(prices={SPOT: "3"})
    it.pool(cluster, name="second")
    assert [line(it, name).usd_per_hour for name in ("first", "second")] == [Decimal(4), Decimal(3)]


def test_the_price_list_says_the_price_of_today() -> None:
    it = account(prices={SPOT: "11.19"})
    (row,) = [row for row in it.cloud.offer.sizes() if row["slug"] == SPOT]
    assert row["price_hourly"] == 11.19


def test_the_bill_adds_up_nodes_and_control_plane() -> None:
    it = account(prices={SPOT: "4"})
    it.pool(it.cluster(), min_nodes=2)
    cpu = find_cpu(CPU)
    assert cpu is not None
    expected = HIGH_AVAILABILITY.usd_per_hour + 2 * cpu.price.usd_per_hour + 2 * 4
    assert it.cloud.control.bill().total_usd_per_hour == expected


def test_nodes_that_wait_for_hardware_are_on_the_bill() -> None:
    it = account(prices={SPOT: "4"}, stock_outs=[StockOut(size=SPOT, kind="never_boots")])
    it.pool(it.cluster())
    assert line(it, "batch-spot").total_usd_per_hour == 4


def test_an_account_without_anything_is_empty_and_costs_nothing() -> None:
    it = account()
    cluster = it.cluster()
    it.pool(cluster)
    it.cloud.clusters.delete(cluster)
    assert it.cloud.control.is_empty()
    assert it.cloud.control.bill().total_usd_per_hour == 0


def test_a_deleted_cluster_leaves_its_volumes_behind() -> None:
    it = account()
    cluster = it.cluster()
    it.cloud.control.associate(cluster, AssociatedThing(kind="volumes", name="pvc-1"))
    it.cloud.clusters.delete(cluster)
    (left,) = it.cloud.control.state()["leftovers"]
    assert (left["kind"], left["name"], left["cluster"]) == ("volumes", "pvc-1", "dev")


def test_a_cluster_deleted_with_all_that_belongs_to_it_leaves_nothing() -> None:
    it = account()
    cluster = it.cluster()
    it.cloud.control.associate(cluster, AssociatedThing(kind="volumes", name="pvc-1"))
    it.cloud.clusters.delete(cluster, with_associated=True)
    assert it.cloud.control.is_empty()


def test_the_state_says_how_many_nodes_wait_and_what_is_being_reclaimed() -> None:
    it = account(stock_outs=[StockOut(size=SPOT, kind="never_boots")])
    cluster = it.cluster()
    pool = it.pool(cluster, min_nodes=2)
    waiting = it.cloud.control.state()["clusters"][0]["node_pools"][1]["waiting_for_hardware"]
    it.cloud.control.reclaim(ReclaimOrder(pool=pool, notice_seconds=60))
    reclaim = it.cloud.control.state()["clusters"][0]["node_pools"][1]["reclaim"]
    assert (waiting, reclaim["nodes_gone_at"]) == (2, "2026-11-30T12:01:00Z")
