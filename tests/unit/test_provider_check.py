"""Check refuses what is unknown, mistyped or missing, and chooses the names that a program does not give."""

import re
from collections.abc import Iterator

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime.proto import provider_pb2

from rehearsal.provider import checking, marshal
from rehearsal.provider.marshal import UNKNOWN, Props
from rehearsal.provider.tables import NODE_POOL as POOL_FIELDS
from tests.unit.provider_harness import CLUSTER, NODE_POOL, SPACES_KEY, Engine, world

POOL: Props = {"clusterId": "c", "size": "gpu-h200x1-141gb", "name": "n"}
CPU_POOL: Props = {"name": "cpu", "size": "s-4vcpu-8gb"}
MAIN: Props = {"name": "m", "region": "atl1", "version": "1.36.3-do.0", "nodePool": CPU_POOL}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with world() as opened:
        yield opened.engine


REFUSALS = [
    ("unknown property", NODE_POOL, {**POOL, "minNode": 1}, "minNode", "unknown property, got an integer"),
    (
        "string for an integer",
        NODE_POOL,
        {**POOL, "minNodes": "1"},
        "minNodes",
        "expected an integer, got a string",
    ),
    (
        "fraction for an integer",
        NODE_POOL,
        {**POOL, "minNodes": 1.5},
        "minNodes",
        "expected an integer, got a number",
    ),
    ("boolean for an integer", NODE_POOL, {**POOL, "minNodes": True}, "minNodes", "got a boolean"),
    (
        "string for a boolean",
        NODE_POOL,
        {**POOL, "autoScale": "true"},
        "autoScale",
        "expected a boolean, got a string",
    ),
    ("number for a string", NODE_POOL, {**POOL, "size": 8}, "size", "expected a string, got an integer"),
    (
        "boolean label value",
        NODE_POOL,
        {**POOL, "labels": {"a/b": True}},
        'labels["a/b"]',
        "expected a string",
    ),
    ("object for a list", NODE_POOL, {**POOL, "taints": {}}, "taints", "expected a list, got an object"),
    (
        "missing taint value",
        NODE_POOL,
        {**POOL, "taints": [{"key": "k", "effect": "NoSchedule"}]},
        "taints[0].value",
        "missing required property, expected a string",
    ),
    (
        "unknown taint property",
        NODE_POOL,
        {**POOL, "taints": [{"key": "k", "value": "", "effect": "NoSchedule", "op": "x"}]},
        "taints[0].op",
        "unknown property",
    ),
    (
        "taint effect",
        NODE_POOL,
        {**POOL, "taints": [{"key": "k", "value": "", "effect": "Never"}]},
        "taints[0].effect",
        "expected one of NoSchedule",
    ),
    (
        "computed property",
        NODE_POOL,
        {**POOL, "actualNodeCount": 1},
        "actualNodeCount",
        "the provider computes",
    ),
    ("no size", NODE_POOL, {"clusterId": "c", "name": "n"}, "size", "missing required property"),
    ("blank in a tag", NODE_POOL, {**POOL, "tags": ["a b"]}, "tags[0]", "tags may only contain"),
    ("too long a tag", NODE_POOL, {**POOL, "tags": ["x" * 256]}, "tags[0]", "tags may only contain"),
    (
        "partition mode",
        NODE_POOL,
        {**POOL, "gpuPartitionMode": "CPX"},
        "gpuPartitionMode",
        "expected one of AMD_",
    ),
    (
        "unknown inline pool property",
        CLUSTER,
        {**MAIN, "nodePool": {**CPU_POOL, "count": 1}},
        "nodePool.count",
        "unknown property",
    ),
    (
        "inline pool without a name",
        CLUSTER,
        {**MAIN, "nodePool": {"size": "s-4vcpu-8gb"}},
        "nodePool.name",
        "missing required property",
    ),
    (
        "subnet",
        CLUSTER,
        {**MAIN, "clusterSubnet": "10.0.0.0"},
        "clusterSubnet",
        "expected a valid CIDR value",
    ),
    (
        "maintenance day",
        CLUSTER,
        {**MAIN, "maintenancePolicy": {"day": "Sunday"}},
        "maintenancePolicy.day",
        "expected one of any, monday",
    ),
    (
        "number for the unneeded time",
        CLUSTER,
        {**MAIN, "clusterAutoscalerConfigurations": [{"scaleDownUnneededTime": 10}]},
        "clusterAutoscalerConfigurations[0].scaleDownUnneededTime",
        "expected a string, got an integer",
    ),
    (
        "plugin and DRA driver",
        CLUSTER,
        {**MAIN, "amdGpuDevicePlugin": {"enabled": True}, "amdGpuDraDriver": {"enabled": True}},
        "amdGpuDevicePlugin",
        "conflicts with amdGpuDraDriver",
    ),
    (
        "negative expiry",
        CLUSTER,
        {**MAIN, "kubeconfigExpireSeconds": -1},
        "kubeconfigExpireSeconds",
        "at least 0",
    ),
    (
        "plugin block without its switch",
        CLUSTER,
        {**MAIN, "routingAgent": {}},
        "routingAgent.enabled",
        "missing required",
    ),
    (
        "grant without a bucket",
        SPACES_KEY,
        {"name": "k", "grants": [{"permission": "read"}]},
        "grants[0].bucket",
        "missing required",
    ),
]


@pytest.mark.parametrize(
    ("token", "inputs", "where", "reason"), [row[1:] for row in REFUSALS], ids=[row[0] for row in REFUSALS]
)
def test_a_refused_input_is_named_with_the_reason(
    engine: Engine, token: str, inputs: Props, where: str, reason: str
) -> None:
    found = engine.refusals(token, inputs)

    assert list(found) == [where]
    assert reason in found[where]


def test_every_refusal_is_reported_at_once(engine: Engine) -> None:
    assert list(engine.refusals(NODE_POOL, {"name": "n", "minNodes": "x", "typo": 1})) == [
        "clusterId",
        "minNodes",
        "size",
        "typo",
    ]


@pytest.mark.parametrize("inputs", [POOL, {**POOL, "clusterId": UNKNOWN, "labels": {"a": UNKNOWN}}])
def test_good_inputs_and_unknown_ones_pass(engine: Engine, inputs: Props) -> None:
    assert engine.refusals(NODE_POOL, inputs) == {}


def test_a_type_that_is_not_served_is_named(engine: Engine) -> None:
    with pytest.raises(grpc.RpcError, match="does not serve digitalocean:index/vpc:Vpc"):
        engine.check(engine.urn("digitalocean:index/vpc:Vpc", "v"), {})


def test_a_resource_without_a_name_gets_its_logical_name_and_seven_hex_digits(engine: Engine) -> None:
    urn = engine.urn(NODE_POOL, "batch-spot")

    first = engine.checked(urn, {"clusterId": "c", "size": "s"})
    second = engine.checked(urn, {"clusterId": "c", "size": "s"})

    assert re.fullmatch("batch-spot-[0-9a-f]{7}", first["name"])
    assert first["name"] != second["name"]


def test_the_same_seed_chooses_the_same_name(engine: Engine) -> None:
    urn = engine.urn(NODE_POOL, "batch-spot")
    news: Props = {"clusterId": "c", "size": "s"}

    names = {marshal.from_struct(engine.check(urn, news, seed=b"seed").inputs)["name"] for _ in range(2)}

    assert len(names) == 1


def test_a_chosen_name_is_kept_on_update(engine: Engine) -> None:
    urn = engine.urn(NODE_POOL, "batch-spot")
    before = engine.checked(urn, {"clusterId": "c", "size": "s"})

    after = engine.checked(urn, {"clusterId": "c", "size": "s", "maxNodes": 3}, before)

    assert after["name"] == before["name"]


def test_a_name_that_the_program_gave_and_then_drops_is_chosen_anew(engine: Engine) -> None:
    urn = engine.urn(NODE_POOL, "batch-spot")
    before = engine.checked(urn, {"clusterId": "c", "size": "s", "name": "fixed"})

    assert engine.checked(urn, {"clusterId": "c", "size": "s"}, before)["name"].startswith("batch-spot-")


def test_a_name_that_the_user_configured_wins(engine: Engine) -> None:
    options = provider_pb2.CheckRequest.AutonamingOptions(proposed_name="proposed")

    answer = engine.stub.Check(
        provider_pb2.CheckRequest(
            urn=engine.urn(NODE_POOL, "n"),
            news=marshal.to_struct({"clusterId": "c", "size": "s"}),
            autonaming=options,
        )
    )

    assert marshal.from_struct(answer.inputs)["name"] == "proposed"


WRONG = st.one_of(st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.lists(st.text()))


@given(st.dictionaries(st.sampled_from(sorted(POOL_FIELDS)), WRONG))
def test_a_wrong_type_never_passes_and_never_leaks_its_value(props: Props) -> None:
    found = list(checking.failures(POOL_FIELDS, props))

    reported = {failure.property.split("[")[0].split(".")[0] for failure in found}
    for name, value in props.items():
        prop = POOL_FIELDS[name]
        words = checking.type_words(value)
        if words != prop.kind.words or not prop.settable:
            assert name in reported
        if words != prop.kind.words and isinstance(value, str) and len(value) > 20:
            assert not any(value in failure.reason for failure in found)
