"""Property values between Pulumi's wire format and Python.

The wire is a protobuf `Struct`. Unknown values travel as a fixed text, secrets as an object with a
signature key; both are defined by Pulumi's SDK, which is where the constants are read from.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from google.protobuf.struct_pb2 import NULL_VALUE, ListValue, Struct, Value
from pulumi.runtime import rpc

Props: TypeAlias = dict[str, Any]
"""Property names to None, bool, int, float, str, list, dict, `UNKNOWN` or `Secret`."""

_SIGNATURE: Final = str(rpc._special_sig_key)
_SECRET: Final = str(rpc._special_secret_sig)
_UNKNOWN_TEXT: Final = str(rpc.UNKNOWN)


class Unknown:
    """A value that only the deployment itself will reveal."""

    def __repr__(self) -> str:
        return "<unknown>"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, repr=False)
class Secret:
    """A value that the engine encrypts in the state and hides in its output."""

    value: Any

    def __repr__(self) -> str:
        return "<secret>"


def to_struct(props: Mapping[str, Any]) -> Struct:
    """Properties as they go to the engine; None values are left out."""
    return Struct(fields={key: _to_value(value) for key, value in props.items() if value is not None})


def from_struct(struct: Struct) -> Props:
    """Properties as they come from the engine, secrets opened, nulls left out, whole numbers as int."""
    values = {key: _from_value(value) for key, value in struct.fields.items()}
    return {key: value for key, value in values.items() if value is not None}


def _to_value(value: Any) -> Value:
    match value:
        case None:
            return Value(null_value=NULL_VALUE)
        case Unknown():
            return Value(string_value=_UNKNOWN_TEXT)
        case Secret(value=inner):
            return Value(
                struct_value=Struct(fields={_SIGNATURE: Value(string_value=_SECRET), "value": _to_value(inner)})
            )
        case bool():
            return Value(bool_value=value)
        case int() | float():
            return Value(number_value=float(value))
        case str():
            return Value(string_value=value)
        case Mapping():
            return Value(struct_value=to_struct(value))
        case list() | tuple():
            return Value(list_value=ListValue(values=[_to_value(item) for item in value]))
        case _:
            raise TypeError(f"no property value: {type(value).__name__}")


def _from_value(value: Value) -> Any:
    match value.WhichOneof("kind"):
        case "bool_value":
            return value.bool_value
        case "number_value":
            number = value.number_value
            return int(number) if number.is_integer() else number
        case "string_value":
            return UNKNOWN if value.string_value == _UNKNOWN_TEXT else value.string_value
        case "list_value":
            return [_from_value(item) for item in value.list_value.values]
        case "struct_value":
            fields = value.struct_value.fields
            if _SIGNATURE in fields and fields[_SIGNATURE].string_value == _SECRET:
                return _from_value(fields["value"])
            return from_struct(value.struct_value)
        case _:
            return None
