"""What lives outside the state is named, with its price."""

from dataclasses import replace
from datetime import date
from decimal import Decimal

from doks_gpu.catalog import HIGH_AVAILABILITY, find_cpu
from doks_gpu.plan.facts import Facts, LiveCluster, LivePool
from doks_gpu.plan.orphans import find_orphans

CLUSTER = LiveCluster(id="c1", name="doks-gpu-dev", region="atl1", version="1.36.3-do.0", expanders=("priority",))
POOL = LivePool(
    id="p1",
    cluster_id="c1",
    name="batch-spot-1a2b3c4",
    size="gpu-b300x1-288gb-spot",
    fleet="batch",
    tier="spot",
    generation=1,
    count=2,
    usd_per_hour=Decimal("8.00"),
)


def facts(*, clusters: tuple[LiveCluster, ...] = (CLUSTER,), pools: tuple[LivePool, ...] = (POOL,)) -> Facts:
    return Facts(
        read_on=date(2026, 12, 1),
        sizes={},
        doks_sizes=frozenset(),
        doks_regions=frozenset(),
        versions=(),
        droplet_limit=None,
        team_id=None,
        team_name=None,
        clusters=clusters,
        pools=pools,
    )


def test_what_the_state_holds_is_no_orphan() -> None:
    assert find_orphans(facts(), {"c1", "p1"}) == ()


def test_a_pool_outside_the_state_is_named_with_its_price() -> None:
    (orphan,) = find_orphans(facts(), {"c1"})
    assert (orphan.id, orphan.usd_per_hour) == ("p1", Decimal("16.00"))


def test_a_pool_is_named_as_the_program_names_it() -> None:
    (orphan,) = find_orphans(facts(), {"c1"})
    assert orphan.resource_name == "batch-spot"


def test_an_orphaned_cluster_comes_with_its_pools() -> None:
    assert [orphan.kind for orphan in find_orphans(facts(), set())] == ["cluster", "pool"]


def test_an_attached_cluster_is_nobodys_orphan() -> None:
    attached = replace(CLUSTER, ours=False)
    assert find_orphans(facts(clusters=(attached,), pools=()), set()) == ()


def test_a_pool_without_a_price_tag_has_an_unknown_price() -> None:
    unpriced = replace(POOL, usd_per_hour=None)
    (orphan,) = find_orphans(facts(pools=(unpriced,)), {"c1"})
    assert orphan.usd_per_hour is None


def test_an_orphaned_cluster_costs_its_cpu_pool_and_its_control_plane() -> None:
    busy = replace(CLUSTER, highly_available=True, other_nodes={"s-4vcpu-8gb": 2})
    orphan, *_ = find_orphans(facts(clusters=(busy,)), set())
    sold = find_cpu("s-4vcpu-8gb")
    assert sold is not None
    assert orphan.usd_per_hour == 2 * sold.price.usd_per_hour + HIGH_AVAILABILITY.usd_per_hour


def test_a_cluster_with_nodes_of_an_unknown_size_has_an_unknown_price() -> None:
    strange = replace(CLUSTER, other_nodes={"x-1vcpu": 1})
    orphan, *_ = find_orphans(facts(clusters=(strange,)), set())
    assert orphan.usd_per_hour is None


def test_a_cluster_that_doks_gave_up_is_marked() -> None:
    orphan, *_ = find_orphans(facts(clusters=(replace(CLUSTER, state="error"),)), set())
    assert orphan.failed
