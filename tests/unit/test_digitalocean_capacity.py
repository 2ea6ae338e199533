"""What the stand-in does not give: stock, quotas, regions, a higher Spot ceiling."""

from typing import Any

import pytest

from rehearsal.digitalocean import StockOut
from rehearsal.digitalocean.bodies import ClusterCreate
from rehearsal.digitalocean.errors import ApiRefusedError
from tests.unit.digitalocean_harness import CLUSTER, CPU_POOL, H200, SPOT, SPOT_POOL, Account, account


def refused(call: Any, *arguments: Any, **named: Any) -> str:
    """The message of a 422."""
    with pytest.raises(ApiRefusedError) as error:
        call(*arguments, **named)
    assert error.value.status == 422
    return error.value.message


def test_a_size_out_of_stock_is_refused() -> None:
    it = account(stock_outs=[StockOut(size=SPOT)])
    cluster = it.cluster()
    assert refused(it.pool, cluster) == "This size is unavailable."


def test_a_stock_out_of_one_region_leaves_the_others_alone() -> None:
    it = account(stock_outs=[StockOut(size=SPOT, region="ric1")])
    cluster = it.cluster(region="atl1")
    assert it.get(cluster, it.pool(cluster))["count"] == 1


def test_what_is_left_of_a_size_can_still_be_had() -> None:
    it = account(stock_outs=[StockOut(size=SPOT, left=2)])
    cluster = it.cluster()
    pool = it.pool(cluster)
    assert it.put(cluster, pool, count=2)["count"] == 2
    assert refused(it.put, cluster, pool, count=3) == "This size is unavailable."


def test_a_refused_count_changes_nothing() -> None:
    it = account()
    cluster = it.cluster()
    pool = it.pool(cluster)
    before = it.get(cluster, pool)
    it.cloud.world.change(stock_outs=[StockOut(size=SPOT)])
    refused(it.put, cluster, pool, count=2, labels={"new": "label"})
    assert it.get(cluster, pool) == before


def test_nodes_beyond_the_stock_never_boot_while_the_others_do() -> None:
    it = account(stock_outs=[StockOut(size=SPOT, kind="never_boots", left=1)], node_boot_seconds=10)
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.put(cluster, pool, count=3)
    it.wait(24 * 3600)
    assert it.states(cluster, pool) == ["running", "provisioning", "provisioning"]


def test_waiting_nodes_boot_when_the_stock_is_back() -> None:
    it = account(stock_outs=[StockOut(size=SPOT, kind="never_boots")], node_boot_seconds=10)
    cluster = it.cluster()
    pool = it.pool(cluster)
    it.wait(1000)
    it.cloud.world.change(stock_outs=[])
    before = it.states(cluster, pool)
    it.wait(10)
    assert (before, it.states(cluster, pool)) == (["provisioning"], ["running"])


def test_a_region_that_does_not_sell_a_size_refuses_it() -> None:
    it = account(sold_in={SPOT: ["ric1"]})
    cluster = it.cluster()
    assert refused(it.pool, cluster) == "Size is not available in this region"


def test_the_default_sells_every_size_in_every_region() -> None:
    it = account()
    settings = it.cloud.world.settings
    assert all(set(row["regions"]) == set(settings.regions) and row["available"] for row in it.cloud.offer.sizes())


def test_a_size_that_doks_does_not_take_is_neither_offered_nor_made() -> None:
    it = account(not_in_doks=[SPOT])
    cluster = it.cluster()
    assert SPOT not in [row["slug"] for row in it.cloud.offer.kubernetes_options()["sizes"]]
    assert "not supported" in refused(it.pool, cluster)


@pytest.mark.parametrize(("limit", "fits"), [(3, True), (2, False)])
def test_the_droplet_limit_counts_every_node_of_the_account(limit: int, fits: bool) -> None:
    it = account(droplet_limit=limit)
    cluster = it.cluster()
    if fits:
        assert it.get(cluster, it.pool(cluster))["count"] == 1
    else:
        assert "droplet limit" in refused(it.pool, cluster)


def test_droplets_outside_kubernetes_count_too() -> None:
    it = account(droplet_limit=3, other_droplets=1)
    assert "droplet limit" in refused(it.pool, it.cluster())


@pytest.mark.parametrize(("quota", "fits"), [(2, True), (1, False)])
def test_the_gpu_quota_of_a_model_holds_for_the_whole_account(quota: int, fits: bool) -> None:
    it = account(gpu_quota={"h200": quota})
    cluster = it.cluster()
    pool = it.pool(cluster, size=H200)
    if fits:
        assert it.put(cluster, pool, count=2)["count"] == 2
    else:
        assert "GPU limit for h200: 1" in refused(it.put, cluster, pool, count=2)


def test_the_gpu_quota_counts_gpus_and_not_nodes() -> None:
    it = account(gpu_quota={"h200": 7})
    assert "GPU limit" in refused(it.pool, it.cluster(), size="gpu-h200x8-1128gb")


def test_the_pools_of_one_new_cluster_are_counted_together() -> None:
    it = account(droplet_limit=3)
    pools = [CPU_POOL, {**SPOT_POOL, "min_nodes": 2}]
    body = ClusterCreate.model_validate({**CLUSTER, "node_pools": pools})
    assert "droplet limit" in refused(it.cloud.clusters.create, body)
    assert it.cloud.control.is_empty()


class TestSpotCeiling:
    """The maximum of a Spot pool is fixed at creation."""

    def made(self, **pool: Any) -> tuple[Account, str, str]:
        it = account()
        cluster = it.cluster()
        return it, cluster, it.pool(cluster, **pool)

    def test_spot_pool_refuses_a_higher_maximum(self) -> None:
        it, cluster, pool = self.made(max_nodes=2)
        assert "cannot be raised" in refused(it.put, cluster, pool, max_nodes=3)

    def test_spot_pool_takes_a_lower_maximum_and_the_first_one_again(self) -> None:
        it, cluster, pool = self.made(max_nodes=3)
        it.put(cluster, pool, max_nodes=2)
        assert it.put(cluster, pool, max_nodes=3)["max_nodes"] == 3

    def test_fixed_spot_pool_refuses_a_higher_count(self) -> None:
        it, cluster, pool = self.made(auto_scale=False, min_nodes=0, max_nodes=0, count=2)
        assert "cannot be raised" in refused(it.put, cluster, pool, count=3)

    def test_fixed_spot_pool_cannot_get_past_it_by_autoscaling(self) -> None:
        it, cluster, pool = self.made(auto_scale=False, min_nodes=0, max_nodes=0, count=2)
        message = refused(it.put, cluster, pool, auto_scale=True, min_nodes=1, max_nodes=3)
        assert "cannot be raised" in message

    def test_on_demand_pool_takes_a_higher_maximum(self) -> None:
        it, cluster, pool = self.made(size=H200, max_nodes=2)
        assert it.put(cluster, pool, max_nodes=5)["max_nodes"] == 5

    def test_spot_pool_takes_a_higher_maximum_where_the_settings_allow_it(self) -> None:
        it = account(spot_ceiling=False)
        cluster = it.cluster()
        pool = it.pool(cluster, max_nodes=2)
        assert it.put(cluster, pool, max_nodes=3)["max_nodes"] == 3


def test_settings_about_a_size_that_is_not_on_sale_are_refused() -> None:
    it = account()
    assert "gpu-b300x1" in refused(it.cloud.world.change, prices={"gpu-b300x1": 3})


def test_a_new_size_is_sold_as_soon_as_the_settings_name_it() -> None:
    it = account()
    new = {"slug": "gpu-b400x8-4096gb-spot", "vcpus": 64, "memory_gib": 512, "usd_per_hour": "80"}
    it.cloud.world.change(new_sizes=[new])
    (row,) = [row for row in it.cloud.offer.sizes() if row["slug"] == new["slug"]]
    assert row["gpu_info"] == {"count": 8, "vram": {"amount": 4096, "unit": "gib"}, "model": "nvidia_b400"}
    cluster = it.cluster()
    assert it.get(cluster, it.pool(cluster, size=new["slug"]))["count"] == 1
