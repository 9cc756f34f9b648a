"""Our messages beside those of the official SDK in one process: the same names, two pools, no quarrel."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from a2a.types import a2a_pb2 as official
from google.protobuf import json_format, struct_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from a2a_django.protocol import pool
from a2a_django.protocol.v1 import a2a_pb2 as ours

ROOT = Path(__file__).resolve().parents[2]
OURS = "import a2a_django.protocol.v1.a2a_pb2 as ours"
SDK = "import a2a.client, a2a.types.a2a_pb2 as official, a2a.types.a2a_pb2_grpc"
COMPARE = """
from google.protobuf import descriptor_pool, json_format
assert ours.Task is not official.Task
assert ours.DESCRIPTOR.pool is not official.DESCRIPTOR.pool
assert descriptor_pool.Default().FindMessageTypeByName("lf.a2a.v1.Task") is official.Task.DESCRIPTOR
task = ours.Task(id="t1", metadata={"n": 1}, status={"state": "TASK_STATE_WORKING"})
assert json_format.MessageToDict(official.Task.FromString(task.SerializeToString())) == json_format.MessageToDict(task)
print("fine")
"""
ALONE = """
from google.protobuf import descriptor_pool
try:
    descriptor_pool.Default().FindFileContainingSymbol("lf.a2a.v1.A2AService")
except KeyError:
    print("fine")
"""


def python(*lines: str, **environment: str) -> str:
    run = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("implementation", ["upb", "python"])
@pytest.mark.parametrize("order", [(OURS, SDK), (SDK, OURS)], ids=["ours first", "SDK first"])
def test_both_imports_in_either_order(order: tuple[str, str], implementation: str) -> None:
    assert python(*order, COMPARE, PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION=implementation) == "fine"


def test_nothing_of_ours_is_in_the_default_pool() -> None:
    assert python(OURS, ALONE) == "fine"


def test_loading_a_file_again_is_harmless() -> None:
    assert pool.load(ours.DESCRIPTOR.serialized_pb) is ours.DESCRIPTOR


def test_loading_other_definitions_of_the_same_names_is_refused() -> None:
    other = ours.DESCRIPTOR.serialized_pb.replace(b"a2a.proto", b"b2b.proto")
    with pytest.raises(TypeError):
        pool.load(other)


WELL_KNOWN: dict[str, Any] = {
    "google.protobuf.Struct": {"a": 1, "b": [True, None, "x", {"c": 1.5}], "": {}},
    "google.protobuf.Value": {"deep": [{"er": None}]},
    "google.protobuf.Timestamp": "2026-02-03T04:05:06.789Z",
}


def sample(field: FieldDescriptor, depth: int = 2) -> Any:
    """A ProtoJSON value for a field that shows up on the wire, messages filled down to ``depth``."""
    if field.message_type and field.message_type.GetOptions().map_entry:
        return {"key": sample(field.message_type.fields_by_name["value"], depth)}
    if field.message_type and field.message_type.full_name in WELL_KNOWN:
        value = WELL_KNOWN[field.message_type.full_name]
    elif field.message_type:
        # The last member of a oneof wins, as on the wire.
        chosen = {
            (f.containing_oneof.full_name if f.containing_oneof else f.name): f for f in field.message_type.fields
        }
        value = {f.json_name: sample(f, depth - 1) for f in chosen.values()} if depth else {}
    elif field.enum_type:
        value = field.enum_type.values[-1].name
    else:
        value = {
            FieldDescriptor.TYPE_STRING: "grüße \u2028 😀",
            FieldDescriptor.TYPE_BYTES: "AP+A",
            FieldDescriptor.TYPE_BOOL: True,
            FieldDescriptor.TYPE_INT32: -7,
        }[field.type]
    return [value, value] if field.is_repeated else value


def samples() -> Iterator[Any]:
    for name, descriptor in official.DESCRIPTOR.message_types_by_name.items():
        yield pytest.param(name, {}, id=name)
        for field in descriptor.fields:
            yield pytest.param(name, {field.json_name: sample(field)}, id=f"{name}.{field.name}")


@pytest.mark.parametrize(("name", "value"), list(samples()))
def test_round_trip_between_the_two(name: str, value: dict[str, Any]) -> None:
    """A message with each field in turn, through bytes and through JSON, there and back."""
    our_class: type[Message] = getattr(ours, name)
    official_class: type[Message] = getattr(official, name)
    theirs = json_format.ParseDict(value, official_class())

    mine = our_class.FromString(theirs.SerializeToString())
    assert json_format.MessageToDict(mine) == json_format.MessageToDict(theirs) == value
    assert official_class.FromString(mine.SerializeToString()) == theirs

    assert json_format.Parse(json_format.MessageToJson(theirs), our_class()) == mine
    assert json_format.Parse(json_format.MessageToJson(mine), official_class()) == theirs


class TestWellKnownTypes:
    """The helpers of protobuf work on the private classes too."""

    def test_struct(self) -> None:
        message = ours.Message(metadata={"a": 1})
        message.metadata.update({"b": [1, {"c": None}], "d": "x"})
        message.metadata["e"] = True
        message.metadata.get_or_create_list("f").extend([1, "two"])
        message.metadata.get_or_create_struct("g")["h"] = 2
        assert "e" in message.metadata
        del message.metadata["e"]
        assert json_format.MessageToDict(message.metadata) == {
            "a": 1,
            "b": [1, {"c": None}],
            "d": "x",
            "f": [1, "two"],
            "g": {"h": 2},
        }

    def test_timestamp(self) -> None:
        moment = datetime(2026, 2, 3, 4, 5, 6, 789000, tzinfo=UTC)
        status = ours.TaskStatus(timestamp=moment)
        assert status.timestamp.ToDatetime(tzinfo=UTC) == moment
        status.timestamp.FromDatetime(moment.replace(year=2027))
        assert status.timestamp.ToJsonString() == "2027-02-03T04:05:06.789Z"
        status.timestamp.FromJsonString("2026-02-03T05:05:06+01:00")
        assert status.timestamp.seconds == int(moment.timestamp())
        status.timestamp.GetCurrentTime()
        assert status.timestamp.ToDatetime(tzinfo=UTC) > moment

    @pytest.mark.parametrize("data", [None, True, 0, 1.5, "", "x", [], [None], {}, {"a": [{"b": None}]}])
    def test_value(self, data: Any) -> None:
        part = json_format.ParseDict({"data": data}, ours.Part())
        assert part.WhichOneof("content") == "data"
        assert json_format.MessageToDict(part) == {"data": data}

    def test_value_from_parts(self) -> None:
        value = ours.Value(list_value=ours.ListValue(values=[ours.Value(null_value=struct_pb2.NULL_VALUE)]))
        value.list_value.add_struct()["a"] = "b"
        assert json_format.MessageToDict(ours.Part(data=value)) == {"data": [None, {"a": "b"}]}

    def test_classes_are_those_of_our_fields(self) -> None:
        assert type(ours.Part().data) is ours.Value
        assert type(ours.Task().metadata) is ours.Struct
        assert type(ours.TaskStatus().timestamp) is ours.Timestamp
        assert ours.Struct is not struct_pb2.Struct
        assert ours.DESCRIPTOR.services_by_name["A2AService"].methods_by_name[
            "DeleteTaskPushNotificationConfig"
        ].output_type is (ours.Empty.DESCRIPTOR)


def test_copy_and_pickle() -> None:
    """Tasks of Celery and caches of Django pickle what they are given."""
    task = ours.Task(id="t1", metadata={"a": [1]}, history=[ours.Message(role="ROLE_USER")])
    assert copy.deepcopy(task) == task
    assert pickle.loads(pickle.dumps(task)) == task  # noqa: S301 (made on this line)
    assert pickle.loads(pickle.dumps(task.metadata)) == task.metadata  # noqa: S301 (made on this line)
