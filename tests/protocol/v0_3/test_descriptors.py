"""Our proto of 0.3 against the official one and against the table it was written from.

The official side is the descriptor that a2a-sdk ships for its own old clients.
"""

from __future__ import annotations

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as official

from a2a_django.protocol.v0_3 import a2a_pb2 as ours
from tests.protocol.test_descriptors import (
    enum_facts,
    fields_of,
    message_facts,
    messages_of,
    methods_of,
    written,
)

pytestmark = pytest.mark.spec("A")

OUR_FILE, OFFICIAL_FILE = written(ours.DESCRIPTOR), written(official.DESCRIPTOR)
OUR_MESSAGES, OFFICIAL_MESSAGES = messages_of(ours.DESCRIPTOR), messages_of(official.DESCRIPTOR)
OUR_FIELDS, OFFICIAL_FIELDS = fields_of(OUR_MESSAGES), fields_of(OFFICIAL_MESSAGES)
OUR_METHODS, OFFICIAL_METHODS = methods_of(OUR_FILE), methods_of(OFFICIAL_FILE)
OUR_ENUMS = {enum.name: enum_facts(enum) for enum in OUR_FILE.enum_type}
OFFICIAL_ENUMS = {enum.name: enum_facts(enum) for enum in OFFICIAL_FILE.enum_type}


def test_the_files_are_of_one_kind() -> None:
    assert (OUR_FILE.package, OUR_FILE.syntax) == (OFFICIAL_FILE.package, OFFICIAL_FILE.syntax) == ("a2a.v1", "proto3")
    assert sorted(OUR_FILE.dependency) == sorted(OFFICIAL_FILE.dependency)


def test_something_was_compared() -> None:
    """The official schema of 0.3 has 45 messages with 153 fields, 2 enums and 10 RPCs, besides the entries of maps."""
    entries = [name for name, (proto, _) in OFFICIAL_MESSAGES.items() if proto.options.map_entry]
    fields = [name for name in OFFICIAL_FIELDS if name.rpartition(".")[0] not in entries]
    assert (len(OFFICIAL_MESSAGES) - len(entries), len(fields)) == (45, 153)
    assert (len(OFFICIAL_ENUMS), len(OFFICIAL_METHODS)) == (2, 10)


@pytest.mark.parametrize("name", sorted({*OUR_MESSAGES, *OFFICIAL_MESSAGES}))
def test_message(name: str) -> None:
    assert message_facts(OUR_MESSAGES[name]) == message_facts(OFFICIAL_MESSAGES[name])


@pytest.mark.parametrize("name", sorted({*OUR_FIELDS, *OFFICIAL_FIELDS}))
def test_field(name: str) -> None:
    assert OUR_FIELDS[name] == OFFICIAL_FIELDS[name]


@pytest.mark.parametrize("name", sorted({*OUR_ENUMS, *OFFICIAL_ENUMS}))
def test_enum(name: str) -> None:
    assert OUR_ENUMS[name] == OFFICIAL_ENUMS[name]


@pytest.mark.parametrize("name", sorted({*OUR_METHODS, *OFFICIAL_METHODS}))
def test_rpc(name: str) -> None:
    assert OUR_METHODS[name] == OFFICIAL_METHODS[name]


@pytest.mark.parametrize("name", sorted(name for name in OUR_MESSAGES if "." not in name))
def test_every_message_is_a_class_of_the_private_pool(name: str) -> None:
    live = ours.POOL.FindMessageTypeByName(f"a2a.v1.{name}")
    assert live is not official.DESCRIPTOR.pool.FindMessageTypeByName(f"a2a.v1.{name}")
    message = getattr(ours, name)()
    assert message.DESCRIPTOR is live
    assert (type(message).__module__, type(message).__qualname__) == (ours.__name__, name)
