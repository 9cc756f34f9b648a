"""Tables compiled once from the descriptors: how each message is read from JSON or protobuf and written to protobuf.

Invariant: after compilation reading a message asks no descriptor anything; every field is a tuple with closures in it.
Both readers end in the same checks, so what one binding refuses every binding refuses (R-155).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from google.api import field_behavior_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor, OneofDescriptor

from a2a_django.protocol import kinds, scalars
from a2a_django.protocol.faults import Fault, Items, gather
from a2a_django.protocol.kinds import Kind, Reader, Writer
from a2a_django.protocol.wire import Wire


@dataclass(frozen=True, slots=True)
class Rules:
    """What a schema asks beyond its descriptors."""

    #: Names of string fields that are ids, and how many characters those may have.
    ids: frozenset[str] = frozenset()
    id_limit: int = 1024
    #: (message, field), or ("", field) for all messages -> lowest and highest value of an int32.
    ranges: Mapping[tuple[str, str], tuple[int, int]] = field(default_factory=dict)
    #: Message -> the fields that are REQUIRED, where the descriptor does not say it.
    required: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: Messages whose REQUIRED fields may be empty; these are then written all the same (A6, D-24).
    may_be_empty: frozenset[str] = frozenset()


class JsonEntry(NamedTuple):
    """One accepted JSON name of a field."""

    json_name: str
    name: str
    read: Reader
    keep: bool  # written even when it equals its default
    takes_null: bool
    other: str | None  # for the snake_case name: the camelCase one, which must not stand beside it


class ProtoEntry(NamedTuple):
    """One field number."""

    json_name: str
    name: str
    read: Reader


class QueryEntry(NamedTuple):
    """One field as a query parameter: ``kind`` is the name of the kind of its value, or of its elements in a list."""

    json_name: str
    name: str
    kind: str
    repeated: bool


class Oneof(NamedTuple):
    """At most one of the members may be set, and at least one where ``needed``."""

    members: tuple[tuple[str, str], ...]  # (JSON name, name)
    needed: bool
    wanted: str


class MessageType:
    """One message of a schema."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.by_name: dict[str, JsonEntry] = {}
        self.by_number: dict[int, ProtoEntry] = {}
        self.by_query: dict[str, QueryEntry] = {}
        self.writers: dict[str, Writer] = {}  # by JSON name
        self.required: list[tuple[str, str, str]] = []  # JSON name, name, what is wanted
        self.always: list[tuple[str, Callable[[], Any]]] = []  # JSON name, what makes its empty value
        self.oneofs: list[Oneof] = []

    def from_json(self, value: Any) -> Wire:
        """Return the canonical form of a JSON object. Raises ``Fault`` with all that is wrong."""
        if type(value) is not dict:
            if not isinstance(value, dict):
                raise Fault("must be an object")
            value = dict(value)
        wire: Wire = {}
        wrong: Items | None = None
        entries = self.by_name
        for given, item in value.items():
            entry = entries.get(given)
            if entry is None:
                continue
            json_name, name, read, keep, takes_null, other = entry
            if other is not None and other in value:
                wrong = gather(wrong, name, [("", f"must not be given both as {other} and as {given}")])
            if item is None and not takes_null:
                continue
            try:
                result = read(item)
            except Fault as fault:
                wrong = gather(wrong, name, fault.items)
                wire[json_name] = None  # it is there, so nobody has to say that it is missing
            else:
                if result or keep:
                    wire[json_name] = result
        return self._finish(wire, wrong)

    def from_proto(self, message: Any) -> Wire:
        """Return the canonical form of a protobuf message, under the same rules as JSON. Raises ``Fault``."""
        wire: Wire = {}
        wrong: Items | None = None
        entries = self.by_number
        for descriptor, item in message.ListFields():
            entry = entries.get(descriptor.number)
            if entry is None:
                continue
            try:
                wire[entry.json_name] = entry.read(item)
            except Fault as fault:
                wrong = gather(wrong, entry.name, fault.items)
                wire[entry.json_name] = None
        return self._finish(wire, wrong)

    def _finish(self, wire: Wire, wrong: Items | None) -> Wire:
        for json_name, name, wanted in self.required:
            if json_name not in wire:
                wrong = gather(wrong, name, [("", wanted)])
        for oneof in self.oneofs:
            there = 0
            for json_name, name in oneof.members:
                if json_name in wire:
                    there += 1
                    if there > 1:
                        wrong = gather(wrong, name, [("", f"must not be set beside another: {oneof.wanted}")])
            if not there and oneof.needed:
                wrong = gather(wrong, "", [("", oneof.wanted)])
        if wrong is not None:
            raise Fault(wrong)
        for json_name, empty in self.always:
            if json_name not in wire:
                wire[json_name] = empty()
        return wire

    def fill(self, wire: Wire, message: Any) -> None:
        """Write a canonical object into an empty protobuf message of this type."""
        writers = self.writers
        for json_name, item in wire.items():
            writers[json_name](item, message)


class Schema:
    """All messages of one .proto file, by their short names."""

    def __init__(self, file: FileDescriptor, rules: Rules) -> None:
        self._rules = rules
        self._package = file.package + "."
        descriptors = list(file.message_types_by_name.values())
        self._types = {one.name: MessageType(one.name) for one in descriptors}  # all first: they refer to one another
        for descriptor in descriptors:
            self._compile(descriptor)

    def __getitem__(self, name: str) -> MessageType:
        """Return the message type of a short name. Raises ``KeyError`` when there is none."""
        return self._types[name]

    def of(self, full_name: str) -> MessageType:
        """Return the message type of a full name. Raises ``KeyError`` for other packages."""
        return self._types[full_name.removeprefix(self._package)]

    def _compile(self, descriptor: Descriptor) -> None:
        target = self._types[descriptor.name]
        may_be_empty = descriptor.name in self._rules.may_be_empty
        required = self._rules.required.get(descriptor.name)
        if required is None:
            required = frozenset(one.name for one in descriptor.fields if _is_marked_required(one))
        for one in descriptor.fields:
            json_name = one.json_name
            # A field with a JSON name of its own (SendMessageRequest.request of 0.3) is told of by that.
            name = one.name if json_name == _camel(one.name) else json_name
            element, kind, target.writers[json_name] = self._kind(descriptor.name, one)
            entry = JsonEntry(json_name, name, kind.from_json, one.has_presence, kind is kinds.VALUE, None)
            target.by_name[json_name] = entry
            target.by_number[one.number] = ProtoEntry(json_name, name, kind.from_proto)
            target.by_query[json_name] = QueryEntry(json_name, name, element.name, kind.name == "list")
            if one.name != json_name:
                target.by_name[one.name] = entry._replace(other=json_name)
                target.by_query[one.name] = target.by_query[json_name]
            if one.name in required:
                if not may_be_empty:
                    target.required.append((json_name, name, _wanted(one, kind)))
                elif kind.empty is not None:
                    target.always.append((json_name, kind.empty))
        for oneof in descriptor.oneofs:
            if not _is_synthetic(oneof):
                members = tuple((one.json_name, one.name) for one in oneof.fields)
                wanted = "exactly one of " + ", ".join(name for _, name in members) + " is required"
                target.oneofs.append(Oneof(members, not may_be_empty, wanted))

    def _kind(self, holder: str, one: FieldDescriptor) -> tuple[Kind, Kind, Writer]:
        """Return the kind of the single values of a field, its whole kind, and what writes it."""
        value = _map_value(one)
        if value is not None:
            element = self._single(holder, value)
            return element, kinds.map_of(element), kinds.map_writer(one.name, element)
        element = self._single(holder, one)
        if one.is_repeated:
            return element, kinds.list_of(element), kinds.list_writer(one.name, element)
        return element, element, kinds.single_writer(one.name, element)

    def _single(self, holder: str, one: FieldDescriptor) -> Kind:
        if one.type == FieldDescriptor.TYPE_STRING:
            return kinds.short_string(self._rules.id_limit) if one.name in self._rules.ids else kinds.STRING
        if one.type == FieldDescriptor.TYPE_BOOL:
            return kinds.BOOLEAN
        if one.type == FieldDescriptor.TYPE_BYTES:
            return kinds.BYTES
        if one.type == FieldDescriptor.TYPE_INT32:
            ranges = self._rules.ranges
            everything = (scalars.INT32_MIN, scalars.INT32_MAX)
            return kinds.integer(*(ranges.get((holder, one.name)) or ranges.get(("", one.name)) or everything))
        if one.enum_type is not None:
            numbers = {value.name: value.number for value in one.enum_type.values}
            return kinds.enum(numbers, presence=one.has_presence)
        if one.message_type is not None:
            if one.message_type.full_name in kinds.WELL_KNOWN:
                return kinds.WELL_KNOWN[one.message_type.full_name]
            inner = self.of(one.message_type.full_name)
            return Kind("message", inner.from_json, inner.from_proto, to_message=inner.fill)
        raise TypeError(f"{one.full_name}: there is no reader for fields of this type")


def _is_marked_required(one: FieldDescriptor) -> bool:
    return field_behavior_pb2.REQUIRED in one.GetOptions().Extensions[field_behavior_pb2.field_behavior]


def _camel(name: str) -> str:
    """Return the JSON name that protobuf gives to a field."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _map_value(one: FieldDescriptor) -> FieldDescriptor | None:
    """Return the field of the values of a map, or None when the field is no map."""
    entry = one.message_type
    return entry.fields_by_name["value"] if entry is not None and entry.GetOptions().map_entry else None


def _is_synthetic(oneof: OneofDescriptor) -> bool:
    """Return whether the oneof only stands for the presence of one ``optional`` scalar."""
    return len(oneof.fields) == 1 and oneof.name == "_" + oneof.fields[0].name


def _wanted(one: FieldDescriptor, kind: Kind) -> str:
    """Return what is said when the REQUIRED field is missing."""
    if one.enum_type is not None:
        return "is required and must be one of " + ", ".join(
            value.name for value in one.enum_type.values if value.number
        )
    return "is required" if kind.empty is None else "is required and must not be empty"
