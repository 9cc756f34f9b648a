"""The .pyi of a generated module: what type checkers and editors see of it.

The comments of the .proto become docstrings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

HEADER = '''"""Generated from proto/{source} by `python proto/generate.py`; do not edit.

The messages and enums of {package}, in the private descriptor pool of a2a_django/protocol/pool.py. The well-known types
are typed as protobuf's own classes, which they behave like; at run time they are the private pool's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime as _datetime
from typing import Any, Literal

from google.protobuf.descriptor import FileDescriptor as _FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool as _DescriptorPool
from google.protobuf.empty_pb2 import Empty as Empty
from google.protobuf.internal.containers import MessageMap as _MessageMap
from google.protobuf.internal.containers import RepeatedCompositeFieldContainer as _Messages
from google.protobuf.internal.containers import RepeatedScalarFieldContainer as _Scalars
from google.protobuf.internal.containers import ScalarMap as _ScalarMap
from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper
from google.protobuf.message import Message as _Message
from google.protobuf.struct_pb2 import ListValue as ListValue
from google.protobuf.struct_pb2 import Struct as Struct
from google.protobuf.struct_pb2 import Value as Value
from google.protobuf.timestamp_pb2 import Timestamp as Timestamp

POOL: _DescriptorPool
DESCRIPTOR: _FileDescriptor
'''

Field = FieldDescriptorProto
SCALARS = {
    Field.TYPE_STRING: "str",
    Field.TYPE_BYTES: "bytes",
    Field.TYPE_BOOL: "bool",
    Field.TYPE_INT32: "int",
    Field.TYPE_INT64: "int",
    Field.TYPE_DOUBLE: "float",
}
# What protobuf also takes in the place of a well-known type when a message is made.
ALSO_TAKEN = {"Struct": "Mapping[str, Any]", "Timestamp": "_datetime"}


class Comments:
    """The comments of a .proto, found by the path of a declaration (descriptor.proto, SourceCodeInfo.Location.path)."""

    def __init__(self, file: FileDescriptorProto) -> None:
        self._leading = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}

    def docstring(self, *path: int, indent: int = 0) -> list[str]:
        """The lines of a docstring, none when the declaration has no comment."""
        margin = " " * indent
        lines = [line.strip() for line in self._leading.get(path, "").strip().splitlines()]
        if not lines:
            return []
        if len(lines) == 1:
            return [f'{margin}"""{lines[0]}"""']
        return [f'{margin}"""{lines[0]}', *(margin + line for line in lines[1:]), f'{margin}"""']


def stub_text(file: FileDescriptorProto, well_known: Sequence[str]) -> str:
    """The text of the .pyi for one file; ``well_known`` are the google.protobuf messages that the module re-exports."""
    comments = Comments(file)
    lines = [HEADER.format(source=file.name, package=file.package)]
    for number, enum in enumerate(file.enum_type):
        lines += enum_lines(enum, comments, number)
    for number, message in enumerate(file.message_type):
        lines += message_lines(message, comments, number, file.package, well_known)
    return "\n".join(lines)


def enum_lines(enum: EnumDescriptorProto, comments: Comments, number: int) -> Iterator[str]:
    """An enum: its wrapper as metaclass (so type checkers know Name, Value and the members), then its values."""
    yield f"class _{enum.name}Wrapper(_EnumTypeWrapper[{enum.name}]):"
    for place, value in enumerate(enum.value):
        yield f"    {value.name}: {enum.name}"
        yield from comments.docstring(5, number, 2, place, indent=4)
    yield ""
    yield f"class {enum.name}(int, metaclass=_{enum.name}Wrapper):"
    yield from comments.docstring(5, number, indent=4) or ["    ..."]
    yield ""
    for place, value in enumerate(enum.value):
        yield f"{value.name}: {enum.name}"
        yield from comments.docstring(5, number, 2, place)
    yield ""


def message_lines(
    message: DescriptorProto, comments: Comments, number: int, package: str, well_known: Sequence[str]
) -> Iterator[str]:
    """A message: its fields (read-only where protobuf takes no assignment), its constructor, its presence methods."""
    types = {field.name: field_type(field, message, package, well_known) for field in message.field}
    yield f"class {message.name}(_Message):"
    yield from comments.docstring(4, number, indent=4)
    for place, field in enumerate(message.field):
        doc = comments.docstring(4, number, 2, place)
        if types[field.name].assignable:
            yield f"    {field.name}: {types[field.name].read}"
            yield from ("    " + line for line in doc)
        else:
            yield "    @property"
            yield f"    def {field.name}(self) -> {types[field.name].read}:" + ("" if doc else " ...")
            yield from ("        " + line for line in doc)
    yield "    def __init__("
    yield "        self,"
    if types:
        yield "        *,"
    yield from (f"        {name}: {kind.given} = ...," for name, kind in types.items())
    yield "    ) -> None: ..."
    yield from presence_lines(message)
    yield ""


def presence_lines(message: DescriptorProto) -> Iterator[str]:
    """HasField, ClearField and WhichOneof, which name their arguments as strings: only the right ones."""
    oneofs: dict[str, list[str]] = {
        oneof.name: [field.name for field in message.field if in_oneof(field) and field.oneof_index == index]
        for index, oneof in enumerate(message.oneof_decl)
    }
    oneofs = {name: fields for name, fields in oneofs.items() if fields}
    present = [field.name for field in message.field if has_presence(field)] + list(oneofs)
    clearable = [field.name for field in message.field] + list(oneofs)
    if present:
        yield f"    def HasField(self, field_name: {literal(present)}) -> bool: ..."
    if clearable:
        yield f"    def ClearField(self, field_name: {literal(clearable)}) -> None: ..."
    for name, fields in oneofs.items():
        yield f"    def WhichOneof(self, oneof_group: {literal([name])}) -> {literal(fields)} | None: ..."


def literal(names: Sequence[str]) -> str:
    """A Literal type of some strings."""
    quoted = ", ".join(f'"{name}"' for name in names)
    return f"Literal[{quoted}]"


def in_oneof(field: FieldDescriptorProto) -> bool:
    """Whether the field belongs to a oneof that somebody wrote (an ``optional`` scalar has one that nobody did)."""
    return field.HasField("oneof_index") and not field.proto3_optional


def has_presence(field: FieldDescriptorProto) -> bool:
    """Whether HasField may be asked about the field."""
    if field.label == Field.LABEL_REPEATED:
        return False
    return field.type == Field.TYPE_MESSAGE or field.HasField("oneof_index")


@dataclass(frozen=True)
class FieldType:
    """How a field is read, what its argument in the constructor takes, and whether it can be assigned to."""

    read: str
    given: str
    assignable: bool


def field_type(
    field: FieldDescriptorProto, message: DescriptorProto, package: str, well_known: Sequence[str]
) -> FieldType:
    """The types of one field of a message."""
    is_message = field.type == Field.TYPE_MESSAGE
    entry = next((nested for nested in message.nested_type if field.type_name.endswith(f".{nested.name}")), None)
    if entry is not None:
        key, value = (field_type(part, entry, package, well_known) for part in entry.field)
        container = "_ScalarMap" if value.assignable else "_MessageMap"
        return FieldType(
            f"{container}[{key.read}, {value.read}]", f"Mapping[{key.read}, {value.read}] | None", assignable=False
        )
    name = type_name(field, package, well_known)
    given = f"{name} | str" if field.type == Field.TYPE_ENUM else name
    if name in ALSO_TAKEN:
        given += f" | {ALSO_TAKEN[name]}"
    if field.label == Field.LABEL_REPEATED:
        container = "_Messages" if is_message else "_Scalars"
        return FieldType(f"{container}[{name}]", f"Iterable[{given}] | None", assignable=False)
    return FieldType(name, f"{given} | None", assignable=not is_message)


def type_name(field: FieldDescriptorProto, package: str, well_known: Sequence[str]) -> str:
    """The name of the type of one value; raises ``ValueError`` for a type that this writer does not know."""
    if field.type in SCALARS:
        return SCALARS[field.type]
    space, _, name = field.type_name.lstrip(".").rpartition(".")
    if space == package or (space == "google.protobuf" and name in well_known):
        return name
    raise ValueError(f"{field.name}: a field of type {field.type} {field.type_name} is new to proto/stub.py")
