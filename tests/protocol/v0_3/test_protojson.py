"""The messages of package a2a.v1: read, written, and what they mean in 1.0."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as official
from google.protobuf import json_format
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from a2a_django.protocol import codec
from a2a_django.protocol.codec import dumps
from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.v0_3 import a2a_pb2
from a2a_django.protocol.v0_3.meaning import DATA_MARK
from a2a_django.protocol.v0_3.protojson import CODEC, READER, STATES, WRITER, doubled, single
from a2a_django.protocol.wellknown import MAX_NESTING
from tests.protocol.strategies import messages

pytestmark = pytest.mark.spec("A")

MESSAGE = {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "hi"}]}


def fields_of(name: str, value: Any) -> list[str]:
    with pytest.raises(InvalidParamsError) as caught:
        CODEC.decode(name, value)
    return [violation.field for violation in caught.value.violations]


# -- reading


def test_a_whole_request_is_read() -> None:
    request = {
        "message": {
            **MESSAGE,
            "contextId": "c",
            "taskId": "t",
            "extensions": ["https://e.example/x"],
            "metadata": {"a": 1.0},
            "content": [
                {"text": "hi", "metadata": {"k": "v"}},
                {"file": {"fileWithUri": "https://f.example/a", "mimeType": "text/plain", "name": "a.txt"}},
                {"file": {"fileWithBytes": "ZUhsNg=="}},
                {"data": {"data": {"x": [1, None]}}},
                {"data": {"data": {"value": [1]}}, "metadata": {DATA_MARK: True}},
            ],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"],
            "historyLength": 3,
            "blocking": True,
            "pushNotification": {
                "id": "p",
                "url": "https://w.example/",
                "token": "t",
                "authentication": {"schemes": ["Bearer", "Basic"], "credentials": "c"},
            },
        },
        "metadata": {"m": None},
    }
    assert READER.send_request(CODEC.decode("SendMessageRequest", request)) == {
        "message": {
            "messageId": "m",
            "role": "ROLE_USER",
            "contextId": "c",
            "taskId": "t",
            "extensions": ["https://e.example/x"],
            "metadata": {"a": 1},
            "parts": [
                {"text": "hi", "metadata": {"k": "v"}},
                {"url": "https://f.example/a", "mediaType": "text/plain", "filename": "a.txt"},
                {"raw": "eHl6"},
                {"data": {"x": [1, None]}},
                {"data": [1]},
            ],
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"],
            "historyLength": 3,
            "taskPushNotificationConfig": {
                "id": "p",
                "url": "https://w.example/",
                "token": "t",
                "authentication": {"scheme": "Bearer", "credentials": "c"},
            },
        },
        "metadata": {"m": None},
    }


@pytest.mark.parametrize(
    ("configuration", "meaning"),
    [
        ({}, {"returnImmediately": True}),
        ({"blocking": False}, {"returnImmediately": True}),
        ({"blocking": True}, {}),
        ({"blocking": True, "historyLength": 0}, {}),
        ({"blocking": True, "pushNotification": {"url": "u", "authentication": {}}}, None),
    ],
)
def test_what_a_configuration_means(configuration: dict[str, Any], meaning: dict[str, Any] | None) -> None:
    if meaning is None:
        meaning = {"taskPushNotificationConfig": {"url": "u"}}
    request = CODEC.decode("SendMessageRequest", {"message": MESSAGE, "configuration": configuration})
    assert READER.send_request(request)["configuration"] == meaning


def test_without_a_configuration_there_is_none() -> None:
    assert "configuration" not in READER.send_request(CODEC.decode("SendMessageRequest", {"message": MESSAGE}))


@pytest.mark.parametrize("name", ["message", "request"])
def test_the_message_has_two_names_and_is_told_of_by_one(name: str) -> None:
    """Its field is ``request``, its JSON name ``message``; ProtoJSON readers take both."""
    assert CODEC.decode("SendMessageRequest", {name: MESSAGE}) == {"message": MESSAGE}
    assert fields_of("SendMessageRequest", {name: {**MESSAGE, "role": 7}}) == ["message.role"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"messageId": None}, "message.message_id"),
        ({"role": None}, "message.role"),
        ({"role": "user"}, "message.role"),
        ({"content": []}, "message.content"),
        ({"content": None, "parts": [{"text": "hi"}]}, "message.content"),
        ({"content": [{"kind": "text"}]}, "message.content[0]"),
        ({"content": [{"text": "a", "data": {"data": {}}}]}, "message.content[0].data"),
        ({"content": [{"file": {"mimeType": "a/b"}}]}, "message.content[0].file"),
        ({"content": [{"file": {"fileWithBytes": "%"}}]}, "message.content[0].file.file_with_bytes"),
        ({"content": [{"data": {"data": [1]}}]}, "message.content[0].data.data"),
        ({"content": [{"data": {}}]}, "message.content[0].data.data"),
        ({"taskId": "x" * 1025}, "message.task_id"),
        ({"metadata": [1]}, "message.metadata"),
        ({"contextId": "\0"}, "message.context_id"),
    ],
)
def test_wrong_messages(change: dict[str, Any], field: str) -> None:
    assert fields_of("SendMessageRequest", {"message": {**MESSAGE, **change}}) == [field]


@pytest.mark.parametrize(
    ("configuration", "field"),
    [
        ({"historyLength": -1}, "configuration.history_length"),
        ({"blocking": "yes"}, "configuration.blocking"),
        ({"pushNotification": {"id": "p"}}, "configuration.push_notification.url"),
    ],
)
def test_wrong_configurations(configuration: dict[str, Any], field: str) -> None:
    assert fields_of("SendMessageRequest", {"message": MESSAGE, "configuration": configuration}) == [field]


REQUESTS = sorted(name for name in a2a_pb2.DESCRIPTOR.message_types_by_name if name.endswith("Request"))


@pytest.mark.parametrize("name", REQUESTS)
@given(data=st.data())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_json_and_binary_requests_are_read_alike(name: str, data: st.DataObject) -> None:
    """What one binding refuses every binding refuses, and of the same fields; what is read is what protobuf reads."""
    value = data.draw(messages(name, a2a_pb2.DESCRIPTOR))
    theirs = json_format.ParseDict(value, getattr(official, name)(), ignore_unknown_fields=True)

    def outcome(read: Callable[[], Any]) -> Any:
        try:
            return read()
        except InvalidParamsError as error:
            return sorted(violation.field for violation in error.violations)

    found = outcome(lambda: CODEC.decode(name, value))
    assert found == outcome(lambda: CODEC.from_message(theirs))
    if isinstance(found, dict):
        assert CODEC.to_message(name, found).SerializeToString(deterministic=True) == theirs.SerializeToString(
            deterministic=True
        )
        assert CODEC.decode(name, json.loads(dumps(found))) == found


# -- files


@pytest.mark.parametrize(
    ("written", "raw"),
    [
        ("ZUhsNg==", b"xyz"),  # Python, Java and Go: base64 of base64
        (base64.b64encode(b"xyz").decode(), b"xyz"),  # JavaScript: base64
        (base64.b64encode(b"\x89PNG\r\n\x1a\n").decode(), b"\x89PNG\r\n\x1a\n"),
        (base64.b64encode(b"eHl6Cg=").decode(), b"eHl6Cg="),  # wrong padding
        (base64.b64encode(b"eHl7").decode(), b"xy{"),
        (base64.b64encode(b"eHm=").decode(), b"eHm="),  # bits that no encoder sets
        (base64.b64encode(b"eHl6\n").decode(), b"eHl6\n"),
        ("", b""),
    ],
)
def test_file_bytes_are_found_in_either_writing(written: str, raw: bytes) -> None:
    assert base64.b64decode(single(written)) == raw


@given(st.binary(max_size=40))
def test_what_is_written_is_read_as_it_was(raw: bytes) -> None:
    text = base64.b64encode(raw).decode()
    assert base64.b64decode(base64.b64decode(doubled(text))) == raw
    assert single(doubled(text)) == text


# -- writing


def test_states_are_those_of_the_proto() -> None:
    assert set(STATES.values()) | {"TASK_STATE_UNSPECIFIED"} == set(a2a_pb2.TaskState.keys())


def lossy(message: dict[str, Any]) -> dict[str, Any]:
    """What is left of a message of 1.0 in 0.3."""
    kept = {name: value for name, value in message.items() if name != "referenceTaskIds"}
    kept["parts"] = [_lossy_part(part) for part in message["parts"]]
    return kept


def _lossy_part(part: dict[str, Any]) -> dict[str, Any]:
    if "raw" not in part and "url" not in part:
        part = {name: value for name, value in part.items() if name not in ("mediaType", "filename")}
    if "data" in part and not isinstance(part["data"], dict) and part.get("metadata") == {}:
        part = {"data": part["data"]}
    return part


@given(messages("Message"))
def test_messages_come_back(value: dict[str, Any]) -> None:
    wire = codec.decode("Message", value)
    old = WRITER.message(wire)
    assert CODEC.decode("Message", json.loads(dumps(old))) == old
    assert CODEC.from_message(CODEC.to_message("Message", old)) == old
    theirs = json_format.ParseDict(old, official.Message())
    assert CODEC.from_message(theirs) == old
    if wire["role"] == "ROLE_USER":
        assert READER.message(old) == lossy(wire)


@given(messages("StreamResponse"), st.booleans())
def test_events_are_messages_of_the_proto(value: dict[str, Any], final: bool) -> None:
    wire = codec.decode("StreamResponse", value)
    old = WRITER.event(wire, final=final)
    binary = CODEC.to_message("StreamResponse", old).SerializeToString()
    theirs = official.StreamResponse.FromString(binary)
    assert json_format.ParseDict(json.loads(dumps(old)), official.StreamResponse()) == theirs
    if "statusUpdate" in wire:
        assert theirs.status_update.final is final
        assert ("final" in old["statusUpdate"]) is final


def test_the_reader_and_the_writer_of_configs_are_each_others_reverse() -> None:
    config = {
        "taskId": "t",
        "id": "a/b",
        "url": "https://w.example/",
        "token": "k",
        "authentication": {"scheme": "Bearer", "credentials": "c"},
    }
    old = WRITER.config(config)
    assert old["name"] == "tasks/t/pushNotificationConfigs/a/b"
    assert CODEC.decode("TaskPushNotificationConfig", old) == old
    assert {**READER.push_config(old["pushNotificationConfig"]), "taskId": "t"} == config


@pytest.mark.parametrize("is_list", [False, True])
def test_the_deepest_data_can_be_read_by_every_client(is_list: bool) -> None:
    """Protobuf readers stop at 100 nested messages."""
    value: Any = {"k": "x"} if not is_list else ["x"]
    for _ in range(MAX_NESTING - 1):
        value = {"k": value}
    if is_list:
        value = [value["k"]]
    message = codec.decode("Message", {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"data": value}]})
    update = {"taskId": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING", "message": message}}
    binary = CODEC.to_message("StreamResponse", WRITER.event({"statusUpdate": update})).SerializeToString()
    assert official.StreamResponse.FromString(binary).status_update.task_id == "t"
