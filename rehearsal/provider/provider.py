"""The provider: each request of Pulumi's engine to the answer that Pulumi's Terraform bridge would give.

The real provider is built with that bridge: secrets are opened by the engine before they arrive, previews
are supported, and names may be configured by the user.
"""

import os
from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto import plugin_pb2, provider_pb2

from rehearsal.provider import checking, configuration, diffing, marshal, package_schema, refreshing
from rehearsal.provider.api import Api, HttpSender, Send
from rehearsal.provider.cluster import Cluster
from rehearsal.provider.diffing import Change, Edit
from rehearsal.provider.errors import ProviderError
from rehearsal.provider.functions import invoke
from rehearsal.provider.marshal import Props
from rehearsal.provider.node_pool import NodePool
from rehearsal.provider.resources import ResourceType
from rehearsal.provider.spaces_key import SpacesKey
from rehearsal.provider.waiting import DEFAULT_LIMIT_SECONDS, Patience

VERSION: Final = "4.84.1"
"""The SDK version whose properties the tables hold."""

_KINDS: Final = {
    (Edit.ADD, False): provider_pb2.PropertyDiff.ADD,
    (Edit.ADD, True): provider_pb2.PropertyDiff.ADD_REPLACE,
    (Edit.DELETE, False): provider_pb2.PropertyDiff.DELETE,
    (Edit.DELETE, True): provider_pb2.PropertyDiff.DELETE_REPLACE,
    (Edit.UPDATE, False): provider_pb2.PropertyDiff.UPDATE,
    (Edit.UPDATE, True): provider_pb2.PropertyDiff.UPDATE_REPLACE,
}


class Provider:
    """One engine's provider. `send`, `patience` and `environment` are the ways out of this process.

    The methods take a request of the protocol and return its answer; all may raise ProviderError.
    """

    def __init__(
        self,
        *,
        send: Send | None = None,
        patience: Patience | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._send = send or HttpSender()
        self._patience = patience or Patience()
        self._environment = environment
        self._use({})

    def handshake(self, _request: Any) -> Any:
        return provider_pb2.ProviderHandshakeResponse(supports_autonaming_configuration=True)

    def attach(self, _request: Any) -> Any:
        return Empty()

    def plugin_info(self, _request: Any) -> Any:
        return plugin_pb2.PluginInfo(version=VERSION)

    def schema(self, _request: Any) -> Any:
        return provider_pb2.GetSchemaResponse(
            schema=package_schema.text(VERSION, {resource.token: resource.fields for resource in self._types.values()})
        )

    def check_config(self, request: Any) -> Any:
        """The settings come back as they came, secrets closed."""
        found = configuration.failures(marshal.from_struct(request.news))
        return provider_pb2.CheckResponse(
            inputs=request.news,
            failures=[provider_pb2.CheckFailure(property=key, reason=reason) for key, reason in found],
        )

    def diff_config(self, request: Any) -> Any:
        """Other settings never replace the provider, and with it every resource."""
        olds, news = marshal.from_struct(request.olds), marshal.from_struct(request.news)
        changed = sorted(key for key in olds.keys() | news.keys() if olds.get(key) != news.get(key))
        return provider_pb2.DiffResponse(changes=_verdict(changed), diffs=changed)

    def configure(self, request: Any) -> Any:
        self._use(marshal.from_struct(request.args))
        return provider_pb2.ConfigureResponse(supportsPreview=True, supports_autonaming_configuration=True)

    def cancel(self, _request: Any) -> Any:
        """Ends every wait of this process."""
        self._patience.cancelled.set()
        return Empty()

    def invoke(self, request: Any) -> Any:
        outcome = invoke(self._api, request.tok, marshal.from_struct(request.args))
        answer = provider_pb2.InvokeResponse()
        getattr(answer, "return").CopyFrom(marshal.to_struct(outcome))
        return answer

    def check(self, request: Any) -> Any:
        resource = self._type(request.urn)
        olds, news = marshal.from_struct(request.olds), marshal.from_struct(request.news)
        inputs = checking.with_name(olds, news, _naming(request))
        found = [*checking.failures(resource.fields, inputs), *resource.extra_failures(inputs)]
        return provider_pb2.CheckResponse(
            inputs=marshal.to_struct(inputs),
            failures=[provider_pb2.CheckFailure(property=one.property, reason=one.reason) for one in found],
        )

    def diff(self, request: Any) -> Any:
        state = marshal.from_struct(request.olds)
        inputs = _with_ignored(request.ignoreChanges, state, marshal.from_struct(request.news))
        found = self._type(request.urn).diff(state, inputs)
        return provider_pb2.DiffResponse(
            changes=_verdict(found),
            replaces=sorted(path for path, change in found.items() if change.replaces),
            diffs=sorted(diffing.top_level(found)),
            detailedDiff={path: _property_diff(change) for path, change in found.items()},
            hasDetailedDiff=True,
        )

    def create(self, request: Any) -> Any:
        resource = self._type(request.urn)
        inputs = marshal.from_struct(request.properties)
        if request.preview:
            return provider_pb2.CreateResponse(properties=marshal.to_struct(resource.planned(None, inputs)))
        found = resource.create(inputs, _limit(request))
        return provider_pb2.CreateResponse(id=found.id, properties=marshal.to_struct(found.outputs))

    def read(self, request: Any) -> Any:
        """A refresh when the engine sends a state, else an import by id. No id in the answer means gone."""
        resource = self._type(request.urn)
        state, inputs = marshal.from_struct(request.properties), marshal.from_struct(request.inputs)
        outputs = resource.read(request.id, state) if state else resource.import_(request.id)
        if outputs is None:
            return provider_pb2.ReadResponse()
        properties = marshal.to_struct(outputs)
        now = marshal.from_struct(properties)
        if state and inputs:
            inputs = refreshing.refreshed_inputs(resource.fields, inputs, now)
        else:
            inputs = refreshing.imported_inputs(resource.fields, now)
        return provider_pb2.ReadResponse(id=request.id, properties=properties, inputs=marshal.to_struct(inputs))

    def update(self, request: Any) -> Any:
        resource = self._type(request.urn)
        state = marshal.from_struct(request.olds)
        inputs = _with_ignored(request.ignoreChanges, state, marshal.from_struct(request.news))
        if request.preview:
            outputs = resource.planned(state, inputs)
        else:
            outputs = resource.update(request.id, state, inputs, _limit(request))
        return provider_pb2.UpdateResponse(properties=marshal.to_struct(outputs))

    def delete(self, request: Any) -> Any:
        state = marshal.from_struct(request.properties)
        self._type(request.urn).delete(request.id, state, _limit(request))
        return Empty()

    def _use(self, props: Props) -> None:
        settings = configuration.configuration(props, self._environment)
        self._api = Api(settings, self._send, self._patience)
        types: list[ResourceType] = [Cluster(self._api), NodePool(self._api), SpacesKey(self._api)]
        self._types = {resource.token: resource for resource in types}

    def _type(self, urn: str) -> ResourceType:
        token = urn.split("::")[2].split("$")[-1]
        if token not in self._types:
            raise ProviderError(
                f"the stand-in for the digitalocean provider does not serve {token}; it serves "
                f"{', '.join(sorted(self._types))}"
            )
        return self._types[token]


def _naming(request: Any) -> checking.Naming:
    proposed, disabled = "", False
    if request.HasField("autonaming"):
        proposed = request.autonaming.proposed_name
        disabled = request.autonaming.mode == provider_pb2.CheckRequest.AutonamingOptions.DISABLE
    return checking.Naming(
        logical_name=request.urn.split("::", 3)[3],
        seed=request.randomSeed or os.urandom(32),
        proposed=proposed,
        disabled=disabled,
    )


def _with_ignored(paths: list[str], state: Props, inputs: Props) -> Props:
    """The inputs with the state's values where the program asked to ignore changes."""
    for path in paths:
        inputs = _with_value_of(state, inputs, path.split("."))
    return inputs


def _with_value_of(state: Props, inputs: Props, keys: list[str]) -> Props:
    first, *rest = keys
    if rest and isinstance(state.get(first), dict) and isinstance(inputs.get(first), dict):
        return {**inputs, first: _with_value_of(state[first], inputs[first], rest)}
    if rest or first not in state:
        return inputs
    return {**inputs, first: state[first]}


def _limit(request: Any) -> float:
    """Seconds that an operation may take: the program's `customTimeouts`, else the provider's own."""
    return float(request.timeout) or DEFAULT_LIMIT_SECONDS


def _verdict(found: Any) -> Any:
    return provider_pb2.DiffResponse.DIFF_SOME if found else provider_pb2.DiffResponse.DIFF_NONE


def _property_diff(change: Change) -> Any:
    return provider_pb2.PropertyDiff(kind=_KINDS[change.edit, change.replaces])
