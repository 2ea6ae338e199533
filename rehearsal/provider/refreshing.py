"""Inputs after a read: what a refresh writes back, and what an import starts from."""

from typing import Any

from rehearsal.provider.checking import DEFAULTS_KEY
from rehearsal.provider.marshal import Props
from rehearsal.provider.schema import Fields, Kind, Property, is_zero


def refreshed_inputs(fields: Fields, inputs: Props, outputs: Props) -> Props:
    """The inputs that the program gave, with the values that DigitalOcean has now; nothing is added."""
    result: Props = {DEFAULTS_KEY: inputs[DEFAULTS_KEY]} if DEFAULTS_KEY in inputs else {}
    for key, before in inputs.items():
        prop = fields.get(key)
        if prop is not None and prop.settable and outputs.get(key) is not None:
            result[key] = _refreshed(prop, before, outputs[key])
    return result


def imported_inputs(fields: Fields, outputs: Props) -> Props:
    """Everything that a program could have given, except what it need not give."""
    return {**_given(fields, outputs), DEFAULTS_KEY: []}


def _refreshed(prop: Property, before: Any, now: Any) -> Any:
    if prop.kind is Kind.OBJECT and isinstance(before, dict):
        return refreshed_inputs(prop.fields, before, now)
    if prop.kind is Kind.SET and isinstance(before, list):
        same = len(before) == len(now) and all(value in now for value in before)
        return before if same else now
    if prop.kind is Kind.LIST and isinstance(before, list) and prop.item is not None:
        item = prop.item
        return [
            _refreshed(item, before[index], value) if index < len(before) else value for index, value in enumerate(now)
        ]
    return now


def _given(fields: Fields, outputs: Props) -> Props:
    result: Props = {}
    for key, value in outputs.items():
        prop = fields.get(key)
        if prop is None or not prop.settable or is_zero(value) or value == prop.default:
            continue
        result[key] = _given(prop.fields, value) if prop.kind is Kind.OBJECT else value
    return result
