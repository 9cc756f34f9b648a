"""Hypothesis strategies: JSON values, and valid ProtoJSON of any message made from its descriptor."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from google.api import field_behavior_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from hypothesis import strategies as st

from a2a_django.protocol.v1 import a2a_pb2

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NUMBERS = st.one_of(
    st.integers(-(2**53), 2**53),
    st.integers(-(10**300), 10**300),
    # json_format keeps the sign of zero, JSON and this package do not.
    st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number or 0.0),
)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=8
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=4)


def _write_time(moment: datetime, digits: int, minutes: int) -> str:
    zone = timezone(timedelta(minutes=minutes))
    text = moment.replace(tzinfo=UTC).astimezone(zone).isoformat(timespec="microseconds")
    fraction = text[20:26][:digits]
    return text[:19] + (f".{fraction}" if digits else "") + (text[26:] if minutes else "Z")


TIMES = st.builds(
    _write_time,
    st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)),
    st.integers(0, 6),
    st.integers(-23 * 60, 23 * 60),
)


def _write_bytes(raw: bytes, url_safe: bool, padded: bool) -> str:
    text = (base64.urlsafe_b64encode if url_safe else base64.b64encode)(raw).decode()
    return text if padded else text.rstrip("=")


BYTES = st.builds(_write_bytes, st.binary(max_size=12), st.booleans(), st.booleans())


def _whole(low: int, high: int) -> st.SearchStrategy[Any]:
    numbers = st.integers(low, high)
    return numbers | numbers.map(str) | numbers.map(float)


def _one(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    """Valid values of a field that is not repeated."""
    if field.name == "page_size":
        return _whole(1, 100)
    if field.name == "history_length":
        return _whole(0, 2**31 - 1)
    if field.enum_type is not None:
        values = [value for value in field.enum_type.values if value.number]
        return st.sampled_from([value.name for value in values] + [value.number for value in values])
    if field.message_type is not None:
        name = field.message_type.name
        well_known = {"Struct": OBJECTS, "Value": VALUES, "Timestamp": TIMES}
        return well_known[name] if name in well_known else messages(name, field.file)
    plain = {
        FieldDescriptor.TYPE_STRING: TEXTS,
        FieldDescriptor.TYPE_BOOL: st.booleans(),
        FieldDescriptor.TYPE_INT32: _whole(-(2**31), 2**31 - 1),
        FieldDescriptor.TYPE_BYTES: BYTES,
    }
    return plain[field.type]


def _field(field: FieldDescriptor, *, required: bool) -> st.SearchStrategy[Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return st.dictionaries(TEXTS, _one(field.message_type.fields_by_name["value"]), max_size=2)
    if field.is_repeated:
        return st.lists(_one(field), min_size=int(required), max_size=2)
    if field.type == FieldDescriptor.TYPE_STRING and required:
        return TEXTS.filter(bool)
    return _one(field)


def messages(name: str, file: FileDescriptor = a2a_pb2.DESCRIPTOR) -> st.SearchStrategy[dict[str, Any]]:
    """Valid ProtoJSON of the named message, under either name of each field, with nulls and unknown members.

    Valid as far as ``file`` says what is REQUIRED.
    """
    return st.deferred(lambda: _messages(file.message_types_by_name[name]))


def _messages(descriptor: Descriptor) -> st.SearchStrategy[dict[str, Any]]:
    @st.composite
    def build(draw: st.DrawFn) -> dict[str, Any]:
        chosen = {
            draw(st.sampled_from(list(oneof.fields))).name
            for oneof in descriptor.oneofs
            if not oneof.name.startswith("_")
        }
        made: dict[str, Any] = {}
        for field in descriptor.fields:
            oneof = field.containing_oneof
            behaviour = field.GetOptions().Extensions[field_behavior_pb2.field_behavior]
            required = field_behavior_pb2.REQUIRED in behaviour or field.name in chosen
            if oneof is not None and not oneof.name.startswith("_") and field.name not in chosen:
                continue
            spelling = draw(st.sampled_from([field.json_name, field.name]))
            if required or draw(st.booleans()):
                made[spelling] = draw(_field(field, required=required))
            elif draw(st.booleans()):
                made[spelling] = None
        if draw(st.booleans()):
            made["futureField"] = draw(VALUES)
        return made

    return build()
