"""What the engine asks of any provider: versions, configuration, functions, schema, what is not implemented."""

import json
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import provider_pb2

from rehearsal.provider import marshal
from rehearsal.provider.marshal import Props, Secret
from tests.unit.provider_harness import CLUSTER, World, world

VERSIONS = "digitalocean:index/getKubernetesVersions:getKubernetesVersions"


@pytest.fixture
def opened() -> Iterator[World]:
    with world() as started:
        yield started


def invoke(opened: World, token: str, **arguments: object) -> Props:
    answer = opened.engine.stub.Invoke(provider_pb2.InvokeRequest(tok=token, args=marshal.to_struct(arguments)))
    return marshal.from_struct(getattr(answer, "return"))


def check_config(opened: World, props: Props) -> Any:
    return opened.engine.stub.CheckConfig(provider_pb2.CheckRequest(news=marshal.to_struct(props)))


def test_it_introduces_itself_as_the_version_of_the_sdk(opened: World) -> None:
    assert opened.engine.stub.GetPluginInfo(Empty()).version == "4.84.1"
    assert opened.engine.stub.Handshake(
        provider_pb2.ProviderHandshakeRequest(engine_address="127.0.0.1:1")
    ).supports_autonaming_configuration


def test_the_schema_names_the_types_that_are_served(opened: World) -> None:
    schema = json.loads(opened.engine.stub.GetSchema(provider_pb2.GetSchemaRequest()).schema)

    cluster = schema["resources"][CLUSTER]
    assert cluster["requiredInputs"] == ["nodePool", "region", "version"]
    reference = cluster["inputProperties"]["nodePool"]["$ref"].removeprefix("#/types/")
    assert schema["types"][reference]["required"] == ["name", "size"]


def test_the_newest_version_with_a_prefix_is_the_latest(opened: World) -> None:
    assert invoke(opened, VERSIONS, versionPrefix="1.36.") == {
        "id": "kubernetes-versions",
        "latestVersion": "1.36.10-do.0",
        "validVersions": ["1.36.10-do.0", "1.36.3-do.1", "1.36.3-do.0"],
        "versionPrefix": "1.36.",
    }


@pytest.mark.parametrize(
    ("token", "arguments", "reason"),
    [
        ("digitalocean:index/getVpc:getVpc", {}, "does not serve digitalocean:index/getVpc:getVpc"),
        (VERSIONS, {"prefix": "1."}, "unknown argument prefix"),
        (VERSIONS, {"versionPrefix": 1}, "expected a string, got an integer"),
    ],
    ids=["unknown function", "unknown argument", "wrong type"],
)
def test_a_function_that_is_not_served_or_misused_is_an_error(
    opened: World, token: str, arguments: Props, reason: str
) -> None:
    with pytest.raises(grpc.RpcError, match=reason):
        invoke(opened, token, **arguments)


@pytest.mark.parametrize(
    ("props", "where"),
    [({"tokn": "x"}, "tokn"), ({"httpRetryMax": "many"}, "httpRetryMax"), ({"token": True}, "token")],
    ids=["unknown", "no number", "wrong type"],
)
def test_a_wrong_provider_setting_is_named(opened: World, props: Props, where: str) -> None:
    assert [failure.property for failure in check_config(opened, props).failures] == [where]


def test_a_secret_setting_stays_a_secret(opened: World) -> None:
    sent = {"token": Secret("hidden"), "httpRetryMax": "2", "version": "4.84.1", "__internal": {}}

    answer = check_config(opened, sent)

    assert not answer.failures
    assert answer.inputs == marshal.to_struct(sent)


def test_another_setting_is_a_change_but_never_replaces(opened: World) -> None:
    answer = opened.engine.stub.DiffConfig(
        provider_pb2.DiffRequest(
            olds=marshal.to_struct({"apiEndpoint": "a"}), news=marshal.to_struct({"apiEndpoint": "b"})
        )
    )

    assert answer.changes == provider_pb2.DiffResponse.DIFF_SOME
    assert not answer.replaces


def test_the_configured_token_is_the_one_that_is_sent(opened: World) -> None:
    opened.engine.stub.Configure(
        provider_pb2.ConfigureRequest(args=marshal.to_struct({"token": Secret("not-the-right-one")}))
    )

    with pytest.raises(grpc.RpcError, match="401") as caught:
        invoke(opened, VERSIONS)

    assert "not-the-right-one" not in str(caught.value.details())


def test_methods_that_are_not_offered_are_unimplemented(opened: World) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        opened.engine.stub.Call(provider_pb2.CallRequest(tok="x"))

    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
