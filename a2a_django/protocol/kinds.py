"""What a field can hold: each kind of value with its readers and its writer, alone, in a list, or in a map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from a2a_django.protocol import scalars, wellknown
from a2a_django.protocol.faults import MAX_VIOLATIONS, Fault, Items, gather

Reader = Callable[[Any], Any]
Writer = Callable[[Any, Any], None]


class Kind(NamedTuple):
    """One kind of value: ``from_json`` and ``from_proto`` give the canonical value or raise ``Fault``.

    The way to protobuf is either ``to_scalar`` (canonical value -> value of a scalar field) or ``to_message`` (writes
    the canonical value into an empty message).
    """

    name: str
    from_json: Reader
    from_proto: Reader
    to_scalar: Reader | None = None
    to_message: Writer | None = None
    #: The value of a REQUIRED field that is written although it is empty; None where there is no such value.
    empty: Callable[[], Any] | None = None


def _same(value: Any) -> Any:
    return value


STRING = Kind("string", scalars.text, scalars.text, to_scalar=_same, empty=str)
BOOLEAN = Kind("boolean", scalars.boolean, scalars.boolean, to_scalar=_same, empty=bool)
BYTES = Kind("bytes", scalars.base64, scalars.from_bytes, to_scalar=scalars.to_bytes, empty=str)
TIMESTAMP = Kind(
    "timestamp", wellknown.timestamp_from_json, wellknown.timestamp_from_proto, to_message=wellknown.fill_timestamp
)
OBJECT = Kind("object", wellknown.struct_from_json, wellknown.struct_from_proto, to_message=wellknown.fill_struct)
VALUE = Kind("value", wellknown.value_from_json, wellknown.value_from_proto, to_message=wellknown.fill_value)

WELL_KNOWN = {
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Struct": OBJECT,
    "google.protobuf.Value": VALUE,
}


def short_string(limit: int) -> Kind:
    """Return the kind of strings of at most ``limit`` characters."""
    read = scalars.short_text(limit)
    return STRING._replace(from_json=read, from_proto=read)


def integer(low: int, high: int) -> Kind:
    """Return the kind of int32 values between ``low`` and ``high``."""
    read = scalars.whole(low, high)
    return Kind("number", read, read, to_scalar=_same, empty=int)


def enum(numbers: dict[str, int], *, presence: bool) -> Kind:
    """Return the kind of the names of an enum."""
    read = scalars.choice(numbers, presence=presence)
    return Kind("enum", read, read, to_scalar=numbers.__getitem__)


def single_writer(name: str, kind: Kind) -> Writer:
    """Return what writes the value of a field: (canonical value, message that has the field)."""
    if kind.to_message is not None:
        fill = kind.to_message

        def write_message(value: Any, message: Any) -> None:
            part = getattr(message, name)
            part.SetInParent()  # an empty object is there, too
            fill(value, part)

        return write_message
    convert = kind.to_scalar
    if convert is None or convert is _same:
        return lambda value, message: setattr(message, name, value)
    return lambda value, message: setattr(message, name, convert(value))


def list_writer(name: str, kind: Kind) -> Writer:
    """Return what writes the values of a repeated field."""
    if kind.to_message is not None:
        fill = kind.to_message

        def write_messages(value: Any, message: Any) -> None:
            add = getattr(message, name).add
            for item in value:
                fill(item, add())

        return write_messages
    convert = kind.to_scalar or _same
    return lambda value, message: getattr(message, name).extend(map(convert, value))


def map_writer(name: str, kind: Kind) -> Writer:
    """Return what writes the entries of a map field."""
    if kind.to_message is not None:
        fill = kind.to_message

        def write_messages(value: Any, message: Any) -> None:
            entries = getattr(message, name)
            for key, item in value.items():
                fill(item, entries[key])

        return write_messages
    convert = kind.to_scalar or _same
    return lambda value, message: getattr(message, name).update({key: convert(item) for key, item in value.items()})


def list_of(kind: Kind) -> Kind:
    """Return the kind of lists of ``kind``; how it is written depends on the field, see ``list_writer``."""

    def reader(read: Reader) -> Reader:
        def read_all(values: Any) -> list[Any]:
            items: list[Any] = []
            wrong: Items | None = None
            for index, value in enumerate(values):
                try:
                    items.append(read(value))
                except Fault as fault:
                    wrong = gather(wrong, f"[{index}]", fault.items)
                    if len(wrong) >= MAX_VIOLATIONS:
                        break
            if wrong is not None:
                raise Fault(wrong)
            return items

        return read_all

    read_list = reader(kind.from_json)

    def from_json(values: Any) -> list[Any]:
        if not isinstance(values, list | tuple):
            raise Fault("must be a list")
        return read_list(values)  # type: ignore[no-any-return]

    return Kind("list", from_json, reader(kind.from_proto), empty=list)


def map_of(kind: Kind) -> Kind:
    """Return the kind of maps from strings to ``kind``; how it is written depends on the field, see ``map_writer``."""

    def reader(read: Reader) -> Callable[[Any], dict[str, Any]]:
        def read_all(values: Any) -> dict[str, Any]:
            entries: dict[str, Any] = {}
            wrong: Items | None = None
            for key, value in values.items():
                try:
                    entries[scalars.text(key)] = read(value)
                except Fault as fault:
                    wrong = gather(wrong, wellknown.step(key), fault.items)
            if wrong is not None:
                raise Fault(wrong)
            return entries

        return read_all

    read_map = reader(kind.from_json)

    def from_json(values: Any) -> dict[str, Any]:
        if not isinstance(values, dict):
            raise Fault("must be an object")
        return read_map(values)

    return Kind("map", from_json, reader(kind.from_proto), empty=dict)
