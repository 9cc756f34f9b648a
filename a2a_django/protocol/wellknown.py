"""google.protobuf.Timestamp, Struct and Value: from JSON, from protobuf, to protobuf."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from a2a_django.protocol.faults import Fault, below
from a2a_django.protocol.json_text import OUT_OF_RANGE
from a2a_django.protocol.scalars import text

#: Objects and lists may stand in one another so many times in a data part or in metadata.
#:
#: Protobuf readers (Python, C++, Java) stop at 100 nested messages. An object costs three (Value, Struct, map entry), a
#: list two, and the deepest place a value can travel to, ListTasksResponse.tasks.status.message.parts.data, five: so 31
#: objects are the most that every client can read (tests/protocol/test_codec_limits.py), and one is left as a margin.
MAX_NESTING = 30

#: Above this a double no longer tells neighbouring whole numbers apart.
_EXACT = 2**53

_TOO_DEEP = f"must not nest objects and lists more than {MAX_NESTING} deep"
_NO_NUMBER = "must hold only finite numbers in the range of a double"

_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,9}))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_TIME = "must be an RFC 3339 time with a zone, such as 2026-01-31T12:00:00.000Z"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z


def number(value: int | float) -> int | float:
    """Return the number as JSON and gRPC clients both see it: a double, written without ".0" where it is whole.

    Whole numbers beyond 2**53 become what a double makes of them and stay floats, so that 1e308 is written as 1e308.
    """
    if type(value) is int and -_EXACT <= value <= _EXACT:
        return value
    try:
        double = float(value)
    except OverflowError:
        raise Fault(_NO_NUMBER) from None
    if double.is_integer():
        return int(double) if -_EXACT <= double <= _EXACT else double
    if double - double != 0:  # NaN and the infinities
        raise Fault(_NO_NUMBER)
    return double


def step(key: object) -> str:
    """Return a member's name as a step of a path: plain where it reads well, else quoted and cut."""
    if isinstance(key, str) and key.isascii() and key.isidentifier() and len(key) <= 64:
        return key
    return f"[{json.dumps(str(key)[:64])}]"


def value_from_json(value: Any, depth: int = MAX_NESTING) -> Any:
    """Return a google.protobuf.Value in canonical form: any JSON value."""
    kind = type(value)
    if kind is str:
        return text(value)
    if kind is int or kind is float:
        return number(value)
    if value is None or kind is bool:
        return value
    if kind is dict:
        return struct_from_json(value, depth)
    if kind is list:
        if not depth:
            raise Fault(_TOO_DEEP)
        depth -= 1
        items = []
        try:
            for item in value:
                items.append(value_from_json(item, depth))  # noqa: PERF401 - the index of the wrong one is needed
        except Fault as fault:
            raise Fault(below(f"[{len(items)}]", fault.items)) from None
        return items
    return _unusual(value, depth)


def _unusual(value: Any, depth: int) -> Any:
    """Return what agents hand over beside plain JSON types: tuples and subclasses (an IntEnum, a defaultdict, ...)."""
    if value is OUT_OF_RANGE:
        raise Fault(_NO_NUMBER)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, int):
        return number(int(value))
    if isinstance(value, float):
        return number(float(value))
    if isinstance(value, dict):
        return struct_from_json(dict(value), depth)
    if isinstance(value, list | tuple):
        return value_from_json(list(value), depth)
    raise Fault("must be a JSON value")


def struct_from_json(value: Any, depth: int = MAX_NESTING) -> dict[str, Any]:
    """Return a google.protobuf.Struct in canonical form: a JSON object."""
    if not isinstance(value, dict):
        raise Fault("must be an object")
    if not depth:
        raise Fault(_TOO_DEEP)
    depth -= 1
    members: dict[str, Any] = {}
    key: Any = None
    try:
        for key, member in value.items():
            members[text(key)] = value_from_json(member, depth)
    except Fault as fault:
        raise Fault(below(step(key), fault.items)) from None
    return members


def value_from_proto(message: Any, depth: int = MAX_NESTING) -> Any:
    """Return the canonical form of a google.protobuf.Value message; one that holds nothing is null, as elsewhere."""
    kind = message.WhichOneof("kind")
    if kind == "string_value":
        return text(message.string_value)
    if kind == "number_value":
        return number(message.number_value)
    if kind == "bool_value":
        return message.bool_value
    if kind == "struct_value":
        return struct_from_proto(message.struct_value, depth)
    if kind != "list_value":
        return None
    if not depth:
        raise Fault(_TOO_DEEP)
    depth -= 1
    items = []
    try:
        for item in message.list_value.values:
            items.append(value_from_proto(item, depth))  # noqa: PERF401 - the index of the wrong one is needed
    except Fault as fault:
        raise Fault(below(f"[{len(items)}]", fault.items)) from None
    return items


def struct_from_proto(message: Any, depth: int = MAX_NESTING) -> dict[str, Any]:
    """Return the canonical form of a google.protobuf.Struct message."""
    if not depth:
        raise Fault(_TOO_DEEP)
    depth -= 1
    members: dict[str, Any] = {}
    key = ""
    try:
        for key, member in message.fields.items():
            members[text(key)] = value_from_proto(member, depth)
    except Fault as fault:
        raise Fault(below(step(key), fault.items)) from None
    return members


def fill_value(value: Any, message: Any) -> None:
    """Write a canonical JSON value into a google.protobuf.Value message."""
    kind = type(value)
    if kind is str:
        message.string_value = value
    elif kind is bool:
        message.bool_value = value
    elif kind is dict:
        message.struct_value.SetInParent()
        fill_struct(value, message.struct_value)
    elif kind is list:
        message.list_value.SetInParent()
        add = message.list_value.values.add
        for item in value:
            fill_value(item, add())
    elif value is None:
        message.null_value = 0
    else:
        message.number_value = value


def fill_struct(value: dict[str, Any], message: Any) -> None:
    """Write a canonical JSON object into a google.protobuf.Struct message."""
    fields = message.fields
    for key, member in value.items():
        fill_value(member, fields[key])


def timestamp_from_json(value: Any) -> str:
    """Return a time in UTC with 0, 3, 6 or 9 digits of fraction; any zone is read, but one is needed (R-006, D-21)."""
    match = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise Fault(_TIME)
    year, month, day, hour, minute, second, fraction, sign, hours, minutes = match.groups()
    try:
        moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
        if sign:
            zone = timedelta(hours=int(hours), minutes=int(minutes))
            if int(minutes) > 59:
                raise Fault(_TIME)
            moment = moment.replace(tzinfo=timezone(zone if sign == "+" else -zone)).astimezone(UTC)
    except (ValueError, OverflowError):  # no such day or hour, a leap second, a year outside 0001 to 9999
        raise Fault(_TIME) from None
    return _write_time(moment, (fraction or "").ljust(9, "0"))


def _write_time(moment: datetime, nanos: str) -> str:
    """Return the canonical text of a moment in whole seconds and the nine digits of its fraction."""
    if nanos == "000000000":
        fraction = ""
    elif nanos.endswith("000000"):
        fraction = "." + nanos[:3]
    elif nanos.endswith("000"):
        fraction = "." + nanos[:6]
    else:
        fraction = "." + nanos
    return f"{moment.replace(tzinfo=None).isoformat()}{fraction}Z"


def timestamp_from_proto(message: Any) -> str:
    """Return the canonical text of a google.protobuf.Timestamp message."""
    seconds, nanos = message.seconds, message.nanos
    if not (_FIRST <= seconds <= _LAST and 0 <= nanos <= 999_999_999):
        raise Fault("must be a time between the years 0001 and 9999 with 0 to 999999999 nanoseconds")
    return _write_time(_EPOCH + timedelta(seconds=seconds), f"{nanos:09}")


def fill_timestamp(value: str, message: Any) -> None:
    """Write a canonical time into a google.protobuf.Timestamp message."""
    moment = datetime.fromisoformat(value[:19]).replace(tzinfo=UTC)
    message.seconds = (moment - _EPOCH) // timedelta(seconds=1)
    message.nanos = int(value[20:-1].ljust(9, "0"))
