"""Our proto against the official one: every message, field, enum and RPC of either side must be there on the other.

The official side is the descriptor that a2a-sdk ships. The cases are the names of both sides together, so that what one
side has too much fails like what it lacks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2 as official
from google.api import annotations_pb2, client_pb2, field_behavior_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    MethodDescriptorProto,
)
from google.protobuf.json_format import MessageToDict

from a2a_django.protocol.v1 import a2a_pb2 as ours

pytestmark = pytest.mark.spec("4.1", "4.2", "4.4")

Facts = dict[str, Any]

# The official option names a field that does not exist; it concerns generated clients only.
WRONG_SIGNATURE = "CreateTaskPushNotificationConfig"


def written(file: FileDescriptor) -> FileDescriptorProto:
    """The file as it was compiled, its options readable because google.api is known to the default pool."""
    return FileDescriptorProto.FromString(file.serialized_pb)


def messages_of(file: FileDescriptor) -> dict[str, tuple[DescriptorProto, Descriptor]]:
    """All messages by dotted name, nested ones (the entries of maps) included."""

    def walk(prefix: str, proto: DescriptorProto, live: Descriptor) -> Iterator[tuple[str, Any]]:
        yield prefix + proto.name, (proto, live)
        for nested in proto.nested_type:
            yield from walk(f"{prefix}{proto.name}.", nested, live.nested_types_by_name[nested.name])

    return {
        name: pair
        for proto in written(file).message_type
        for name, pair in walk("", proto, file.message_types_by_name[proto.name])
    }


def field_facts(message: DescriptorProto, proto: FieldDescriptorProto, live: FieldDescriptor) -> Facts:
    oneof = live.containing_oneof
    return {
        "number": proto.number,
        "type": FieldDescriptorProto.Type.Name(proto.type),
        "type name": proto.type_name,
        "label": FieldDescriptorProto.Label.Name(proto.label),
        "explicit optional": proto.proto3_optional,
        "presence": live.has_presence,
        "JSON name": (proto.json_name, live.json_name),
        "behavior": [
            field_behavior_pb2.FieldBehavior.Name(b)
            for b in proto.options.Extensions[field_behavior_pb2.field_behavior]
        ],
        "oneof": oneof.name if oneof else None,
        "deprecated": proto.options.deprecated,
        "default": live.default_value if not live.message_type and proto.label != proto.LABEL_REPEATED else None,
        "packed": live.is_packed,
    }


def message_facts(pair: tuple[DescriptorProto, Descriptor]) -> Facts:
    proto, live = pair
    return {
        "full name": live.full_name,
        "oneofs": sorted((oneof.name, tuple(f.name for f in oneof.fields)) for oneof in live.oneofs),
        "map entry": proto.options.map_entry,
        "deprecated": proto.options.deprecated,
        "reserved": (sorted(proto.reserved_name), sorted((r.start, r.end) for r in proto.reserved_range)),
        "extensions": [extension.name for extension in proto.extension],
        "enums": [enum.name for enum in proto.enum_type],
    }


def enum_facts(proto: EnumDescriptorProto) -> Facts:
    return {
        "values": [(value.name, value.number, value.options.deprecated) for value in proto.value],
        "deprecated": proto.options.deprecated,
        "alias": proto.options.allow_alias,
        "reserved": (sorted(proto.reserved_name), sorted((r.start, r.end) for r in proto.reserved_range)),
    }


def method_facts(proto: MethodDescriptorProto) -> Facts:
    return {
        "request": proto.input_type,
        "response": proto.output_type,
        "streaming": (proto.client_streaming, proto.server_streaming),
        "http": MessageToDict(proto.options.Extensions[annotations_pb2.http]),
        "signature": list(proto.options.Extensions[client_pb2.method_signature]),
        "deprecated": proto.options.deprecated,
        "idempotency": proto.options.idempotency_level,
    }


OUR_FILE, OFFICIAL_FILE = written(ours.DESCRIPTOR), written(official.DESCRIPTOR)
OUR_MESSAGES, OFFICIAL_MESSAGES = messages_of(ours.DESCRIPTOR), messages_of(official.DESCRIPTOR)


def fields_of(messages: dict[str, tuple[DescriptorProto, Descriptor]]) -> dict[str, Facts]:
    return {
        f"{name}.{field.name}": field_facts(proto, field, live.fields_by_name[field.name])
        for name, (proto, live) in messages.items()
        for field in proto.field
    }


def methods_of(file: FileDescriptorProto) -> dict[str, Facts]:
    return {f"{service.name}.{m.name}": method_facts(m) for service in file.service for m in service.method}


OUR_FIELDS, OFFICIAL_FIELDS = fields_of(OUR_MESSAGES), fields_of(OFFICIAL_MESSAGES)
OUR_METHODS, OFFICIAL_METHODS = methods_of(OUR_FILE), methods_of(OFFICIAL_FILE)
OUR_ENUMS = {enum.name: enum_facts(enum) for enum in OUR_FILE.enum_type}
OFFICIAL_ENUMS = {enum.name: enum_facts(enum) for enum in OFFICIAL_FILE.enum_type}


def test_the_files_are_of_one_kind() -> None:
    def facts(file: FileDescriptorProto) -> Facts:
        return {
            "package": file.package,
            "syntax": file.syntax,
            "edition": file.edition,
            "imports": sorted(file.dependency),
            "services": [service.name for service in file.service],
            "extensions": [extension.name for extension in file.extension],
        }

    assert facts(OUR_FILE) == facts(OFFICIAL_FILE)


def test_something_was_compared() -> None:
    """The official schema of 1.0 has 44 messages with 176 fields, 2 enums and 11 RPCs, besides the entries of maps."""
    entries = [name for name, (proto, _) in OFFICIAL_MESSAGES.items() if proto.options.map_entry]
    fields = [name for name in OFFICIAL_FIELDS if name.rpartition(".")[0] not in entries]
    assert (len(OFFICIAL_MESSAGES) - len(entries), len(fields)) == (44, 176)
    assert (len(OFFICIAL_ENUMS), len(OFFICIAL_METHODS)) == (2, 11)


@pytest.mark.parametrize("name", sorted({*OUR_MESSAGES, *OFFICIAL_MESSAGES}))
def test_message(name: str) -> None:
    assert name in OUR_MESSAGES, f"{name} is missing here"
    assert name in OFFICIAL_MESSAGES, f"{name} is not in the official schema"
    assert message_facts(OUR_MESSAGES[name]) == message_facts(OFFICIAL_MESSAGES[name])


@pytest.mark.parametrize("name", sorted({*OUR_FIELDS, *OFFICIAL_FIELDS}))
def test_field(name: str) -> None:
    assert name in OUR_FIELDS, f"{name} is missing here"
    assert name in OFFICIAL_FIELDS, f"{name} is not in the official schema"
    assert OUR_FIELDS[name] == OFFICIAL_FIELDS[name]


@pytest.mark.parametrize("name", sorted({*OUR_ENUMS, *OFFICIAL_ENUMS}))
def test_enum(name: str) -> None:
    assert name in OUR_ENUMS, f"{name} is missing here"
    assert name in OFFICIAL_ENUMS, f"{name} is not in the official schema"
    assert OUR_ENUMS[name] == OFFICIAL_ENUMS[name]


@pytest.mark.parametrize("name", sorted({*OUR_METHODS, *OFFICIAL_METHODS}))
def test_rpc(name: str) -> None:
    assert name in OUR_METHODS, f"{name} is missing here"
    assert name in OFFICIAL_METHODS, f"{name} is not in the official schema"
    mine, theirs = OUR_METHODS[name], OFFICIAL_METHODS[name]
    if name.endswith(f".{WRONG_SIGNATURE}"):
        assert "config" in theirs["signature"][0].split(","), "the official signature was mended: take it over"
        mine, theirs = {**mine, "signature": None}, {**theirs, "signature": None}
    assert mine == theirs


@pytest.mark.parametrize("name", sorted(OUR_MESSAGES))
def test_every_message_is_a_class_of_the_private_pool(name: str) -> None:
    live = ours.POOL.FindMessageTypeByName(f"lf.a2a.v1.{name}")
    assert live is not official.DESCRIPTOR.pool.FindMessageTypeByName(f"lf.a2a.v1.{name}")
    if "." not in name:
        message = getattr(ours, name)()
        assert message.DESCRIPTOR is live
        assert (type(message).__module__, type(message).__qualname__) == (ours.__name__, name)


def test_every_enum_value_is_a_constant_of_the_module() -> None:
    for enum in OUR_FILE.enum_type:
        wrapper = getattr(ours, enum.name)
        assert wrapper.items() == [(value.name, value.number) for value in enum.value]
        for value in enum.value:
            assert getattr(ours, value.name) == getattr(wrapper, value.name) == value.number
            assert wrapper.Name(value.number) == value.name


STUB = ast.parse(Path(ours.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
STUB_CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}


@pytest.mark.parametrize("name", sorted({name for name in OUR_MESSAGES if "." not in name}))
def test_type_stub_names_the_fields(name: str) -> None:
    """What type checkers believe: the members and keyword arguments of each class are the fields of the message."""
    fields = [field.name for field in OUR_MESSAGES[name][0].field]
    body = STUB_CLASSES[name].body
    functions = {node.name: node for node in body if isinstance(node, ast.FunctionDef)}
    members = [node.target.id for node in body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)]
    members += [function for function, node in functions.items() if node.decorator_list]
    assert sorted(members) == sorted(fields)
    assert [argument.arg for argument in functions["__init__"].args.kwonlyargs] == fields
