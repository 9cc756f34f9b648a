"""How deep values may nest: what is accepted over one binding can be read over every other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from a2a.types import a2a_pb2 as sdk
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from a2a_django.protocol import wellknown
from a2a_django.protocol.codec import decode, dumps, from_message, parse_json, to_message
from a2a_django.protocol.v1 import a2a_pb2
from a2a_django.protocol.wellknown import MAX_NESTING

from .wrong import wrong_fields

pytestmark = pytest.mark.spec("13.4")


def objects(depth: int) -> Any:
    return {"a": objects(depth - 1)} if depth else 1


def lists(depth: int) -> Any:
    return [lists(depth - 1)] if depth else "x"


def mixed(depth: int) -> Any:
    return ([mixed(depth - 1)] if depth % 2 else {"a": mixed(depth - 1)}) if depth else None


SHAPES = pytest.mark.parametrize("shape", [objects, lists, mixed])


@SHAPES
def test_the_deepest_accepted_value(shape: Callable[[int], Any]) -> None:
    value = shape(MAX_NESTING)
    assert decode("Part", parse_json(dumps({"data": value}).encode())) == {"data": value}
    message = to_message("Part", {"data": value})
    assert from_message(message) == {"data": value}


@SHAPES
def test_one_level_more_is_refused_in_json_and_in_protobuf(shape: Callable[[int], Any]) -> None:
    value = shape(MAX_NESTING + 1)
    assert wrong_fields(decode, "Part", {"data": value}) == wrong_fields(
        from_message, to_message("Part", {"data": value})
    )


def test_metadata_has_the_same_limit() -> None:
    good = {"id": "t", "metadata": objects(MAX_NESTING)}
    assert decode("CancelTaskRequest", good) == good
    assert from_message(to_message("CancelTaskRequest", good)) == good
    bad = {"id": "t", "metadata": objects(MAX_NESTING + 1)}
    assert wrong_fields(decode, "CancelTaskRequest", bad)[0].startswith("metadata.a.a")
    assert wrong_fields(from_message, to_message("CancelTaskRequest", bad))[0].startswith("metadata.a.a")


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: list[Any] = []
    ring.append(ring)
    assert len(wrong_fields(decode, "Part", {"data": ring})) == 1


Route = tuple[FieldDescriptor, ...]


def routes(descriptor: Descriptor, above: Route = ()) -> Iterator[Route]:
    """Yield the ways of fields that lead from a message to each Struct and Value in it."""
    for field in descriptor.fields:
        inner = field.message_type
        if inner is None or inner.GetOptions().map_entry:
            continue
        if inner.full_name in ("google.protobuf.Struct", "google.protobuf.Value"):
            yield (*above, field)
        elif inner.file is descriptor.file or inner.file.name == descriptor.file.name:
            yield from routes(inner, (*above, field))


ALL_ROUTES = [
    pytest.param(name, route, id=f"{name}.{'.'.join(field.name for field in route)}")
    for name, descriptor in a2a_pb2.DESCRIPTOR.message_types_by_name.items()
    for route in routes(descriptor)
]


@SHAPES
@pytest.mark.parametrize(("name", "route"), ALL_ROUTES)
def test_python_readers_can_read_it_wherever_it_travels(name: str, route: Route, shape: Callable[[int], Any]) -> None:
    """Bytes and JSON of every message that can hold a value, filled with the deepest one, read by the SDK's classes."""
    value = objects(MAX_NESTING) if route[-1].message_type.name == "Struct" else shape(MAX_NESTING)
    message = getattr(a2a_pb2, name)()
    holder = message
    for field in route:
        holder = getattr(holder, field.name)
        holder = holder.add() if field.is_repeated else holder
    fill = wellknown.fill_struct if isinstance(value, dict) and route[-1].message_type.name == "Struct" else None
    (fill or wellknown.fill_value)(value, holder)

    read = getattr(sdk, name).FromString(message.SerializeToString())
    assert read.SerializeToString(deterministic=True) == message.SerializeToString(deterministic=True)
    again = json_format.Parse(json_format.MessageToJson(message), getattr(sdk, name)())
    assert again == read


def test_200000_members_are_no_trouble() -> None:
    metadata = {f"k{number}": number for number in range(200_000)}
    assert decode("CancelTaskRequest", {"id": "t", "metadata": metadata})["metadata"] == metadata
