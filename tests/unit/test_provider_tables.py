"""The property tables cannot drift from the SDK that programs are written with."""

import inspect
from typing import Any, get_args, get_type_hints

import pulumi_digitalocean as sdk
import pytest
from pulumi import Output
from pulumi._types import input_type_types
from pulumi_digitalocean import outputs as sdk_outputs

from rehearsal.provider.schema import Fields, Kind, Property
from rehearsal.provider.tables import CLUSTER, INLINE_POOL, NODE_POOL, SPACES_KEY

TABLES = [
    ("cluster", CLUSTER, sdk.KubernetesClusterArgs, sdk.KubernetesCluster),
    ("node pool", NODE_POOL, sdk.KubernetesNodePoolArgs, sdk.KubernetesNodePool),
    ("Spaces key", SPACES_KEY, sdk.SpacesKeyArgs, sdk.SpacesKey),
]


def pulumi_names(owner: type) -> dict[str, str]:
    """Python name to Pulumi name of the SDK class's properties."""
    return {
        name: str(getattr(getter.fget, "_pulumi_name", name))
        for name, getter in vars(owner).items()
        if isinstance(getter, property)
    }


def leaf_types(annotation: Any) -> list[Any]:
    """The annotation and everything inside it, without wrappers that say nothing."""
    return [annotation, *(leaf for part in get_args(annotation) for leaf in leaf_types(part))]


def kind_of(annotation: Any) -> set[Kind]:
    """The kinds that a property with this annotation may have."""
    text = str(annotation)
    names = {leaf.__name__ for leaf in leaf_types(annotation) if isinstance(leaf, type)}
    if "Sequence" in text:
        return {Kind.LIST, Kind.SET}
    if "Mapping" in text:
        return {Kind.MAP}
    if any(name.endswith("Args") for name in names):
        return {Kind.OBJECT}
    for name, kind in (("bool", Kind.BOOLEAN), ("int", Kind.INTEGER), ("float", Kind.NUMBER)):
        if name in names:
            return {kind}
    return {Kind.STRING}


def args_class(annotation: Any) -> type | None:
    found = [leaf for leaf in leaf_types(annotation) if isinstance(leaf, type) and leaf.__name__.endswith("Args")]
    return found[0] if found else None


def inner(prop: Property) -> Property:
    return prop.item if prop.item is not None else prop


def assert_same(fields: Fields, owner: type, *, output_only: set[str]) -> None:
    given = input_type_types(owner)
    assert set(given) == set(fields) - output_only, owner.__name__
    for name, annotation in given.items():
        assert fields[name].kind in kind_of(annotation), f"{owner.__name__}.{name}"
        nested = args_class(annotation)
        if nested is not None:
            assert_same(inner(fields[name]).fields, nested, output_only=set())


@pytest.mark.parametrize(("fields", "args"), [row[1:3] for row in TABLES], ids=[row[0] for row in TABLES])
def test_the_inputs_are_exactly_those_of_the_sdk(fields: Fields, args: type) -> None:
    assert_same(fields, args, output_only={name for name, prop in fields.items() if not prop.settable})


@pytest.mark.parametrize(("fields", "args"), [row[1:3] for row in TABLES], ids=[row[0] for row in TABLES])
def test_what_the_sdk_requires_is_required(fields: Fields, args: type) -> None:
    parameters = inspect.signature(args).parameters
    required = {
        pulumi for name, pulumi in pulumi_names(args).items() if parameters[name].default is inspect.Parameter.empty
    }

    assert required == {name for name, prop in fields.items() if prop.required} - {"name"}


@pytest.mark.parametrize(("fields", "resource"), [(row[1], row[3]) for row in TABLES], ids=[row[0] for row in TABLES])
def test_the_outputs_are_exactly_those_of_the_sdk(fields: Fields, resource: type) -> None:
    assert set(pulumi_names(resource).values()) == set(fields)


@pytest.mark.parametrize(("fields", "resource"), [(row[1], row[3]) for row in TABLES], ids=[row[0] for row in TABLES])
def test_an_output_that_the_sdk_always_has_is_required_or_filled_in(fields: Fields, resource: type) -> None:
    module = vars(inspect.getmodule(resource))
    always = set()
    for name, pulumi in pulumi_names(resource).items():
        hint = get_type_hints(vars(resource)[name].fget, {**module, "outputs": sdk_outputs})["return"]
        assert hint.__origin__ is Output
        if type(None) not in get_args(get_args(hint)[0]):
            always.add(pulumi)

    assert always == {name for name, prop in fields.items() if prop.required or prop.computed or not prop.settable}


def test_the_inline_pool_has_what_the_other_pool_has_but_for_its_owner() -> None:
    assert set(INLINE_POOL) - {"id"} == set(NODE_POOL) - {"clusterId"}
