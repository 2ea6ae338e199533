"""The property tables as a Pulumi package schema, which `pulumi import` reads to write code."""

import json
from collections.abc import Mapping
from typing import Any, Final

from rehearsal.provider.schema import Fields, Kind, Property

_SCALARS: Final = {
    Kind.STRING: "string",
    Kind.INTEGER: "integer",
    Kind.NUMBER: "number",
    Kind.BOOLEAN: "boolean",
}

_MODULE_FORMAT: Final = "(.*)(?:/[^/]*)"
"""How a token's module is read: `index/kubernetesCluster` is in `index`."""

Types = dict[str, Any]


def text(version: str, resources: Mapping[str, Fields]) -> str:
    """The schema as JSON: resource tokens with their properties, nested objects as types."""
    types: Types = {}
    described = {token: _resource(token, fields, types) for token, fields in resources.items()}
    schema = {
        "name": "digitalocean",
        "version": version,
        "meta": {"moduleFormat": _MODULE_FORMAT},
        "resources": described,
        "types": types,
    }
    return json.dumps(schema)


def _resource(token: str, fields: Fields, types: Types) -> Any:
    name = token.rsplit(":", 1)[1]
    settable = {key: prop for key, prop in fields.items() if prop.settable}
    return {
        "properties": _properties(name, fields, types),
        "required": sorted(key for key, prop in fields.items() if prop.required or not prop.settable),
        "inputProperties": _properties(name, settable, types),
        "requiredInputs": sorted(key for key, prop in settable.items() if prop.required and key != "name"),
    }


def _properties(owner: str, fields: Fields, types: Types) -> dict[str, Any]:
    return {key: _type(f"{owner}{key[0].upper()}{key[1:]}", prop, types) for key, prop in fields.items()}


def _type(name: str, prop: Property, types: Types) -> dict[str, Any]:
    if prop.kind in _SCALARS:
        return {"type": _SCALARS[prop.kind]}
    if prop.kind is Kind.MAP:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if prop.item is not None:
        return {"type": "array", "items": _type(name, prop.item, types)}
    token = f"digitalocean:index/{name}:{name}"
    types[token] = {
        "type": "object",
        "properties": _properties(name, prop.fields, types),
        "required": sorted(key for key, inner in prop.fields.items() if inner.required),
    }
    return {"$ref": f"#/types/{token}"}
