"""Values survive the wire, and secrets and unknowns keep what they are."""

from hypothesis import given
from hypothesis import strategies as st

from rehearsal.provider.marshal import UNKNOWN, Props, Secret, from_struct, to_struct

VALUES = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(min_size=1), VALUES, max_size=5))
def test_properties_survive_the_wire(props: Props) -> None:
    assert from_struct(to_struct(props)) == props


def test_an_unknown_value_stays_unknown() -> None:
    assert from_struct(to_struct({"id": UNKNOWN}))["id"] is UNKNOWN


def test_a_secret_is_marked_on_the_wire_and_open_inside() -> None:
    wire = to_struct({"token": Secret("hidden")})

    assert set(wire.fields["token"].struct_value.fields) == {"4dabf18193072939515e22adb298388d", "value"}
    assert from_struct(wire) == {"token": "hidden"}


def test_a_secret_does_not_show_itself() -> None:
    assert "hidden" not in repr({"token": Secret("hidden")})
