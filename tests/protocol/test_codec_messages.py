"""Protobuf messages in and out: the same rules as for JSON, whoever made the classes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from a2a.types import a2a_pb2 as sdk
from google.protobuf import empty_pb2, json_format

from a2a_django.protocol.codec import MAX_ID_LENGTH, decode, from_message, to_message
from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.v1 import a2a_pb2

from .wrong import wrong_fields

pytestmark = pytest.mark.spec("10")

REQUEST: dict[str, Any] = {
    "tenant": "shop",
    "message": {
        "messageId": "m1",
        "contextId": "c1",
        "taskId": "t1",
        "role": "ROLE_USER",
        "parts": [
            {"text": ""},
            {"raw": "+/8=", "mediaType": "image/png", "filename": "a.png"},
            {"url": "https://e.example/x", "metadata": {"k": None}},
            {"data": None},
            {"data": {"a": [1, 2.5, True, None, {"b": {}}, []], "": "é"}},
            {"data": 0},
        ],
        "metadata": {},
        "extensions": ["https://e.example/ext"],
        "referenceTaskIds": ["t0"],
    },
    "configuration": {
        "acceptedOutputModes": ["text/plain", "image/png"],
        "taskPushNotificationConfig": {
            "id": "p1",
            "url": "https://e.example/hook",
            "token": "tok",
            "authentication": {"scheme": "Bearer", "credentials": "cred"},
        },
        "historyLength": 0,
        "returnImmediately": True,
    },
    "metadata": {"n": -17, "big": 1e308},
}

POOLS = pytest.mark.parametrize("classes", [a2a_pb2, sdk], ids=["own", "sdk"])


@POOLS
def test_a_request_is_read_from_messages_of_any_pool(classes: Any) -> None:
    message = json_format.ParseDict(REQUEST, classes.SendMessageRequest())
    assert from_message(message) == REQUEST == decode("SendMessageRequest", REQUEST)


def test_a_request_becomes_a_message_of_our_own_pool() -> None:
    message = to_message("SendMessageRequest", REQUEST)
    assert isinstance(message, a2a_pb2.SendMessageRequest)
    assert message == json_format.ParseDict(REQUEST, a2a_pb2.SendMessageRequest())
    assert sdk.SendMessageRequest.FromString(message.SerializeToString()) == json_format.ParseDict(
        REQUEST, sdk.SendMessageRequest()
    )


CARD: dict[str, Any] = {
    "name": "n",
    "description": "",
    "version": "1",
    "supportedInterfaces": [],
    "skills": [],
    "defaultInputModes": [],
    "defaultOutputModes": ["text/plain"],
    "capabilities": {"streaming": False, "extensions": [{"uri": "u", "params": {"a": [1]}}]},
    "iconUrl": "",
    "securitySchemes": {
        "b": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
        "o": {
            "oauth2SecurityScheme": {
                "flows": {"deviceCode": {"deviceAuthorizationUrl": "u", "tokenUrl": "v", "scopes": {"s": "S"}}}
            }
        },
    },
    "securityRequirements": [{"schemes": {"b": {}, "o": {"list": ["s"]}}}],
}
ARTIFACT = {"artifactId": "a", "parts": [{"text": "x"}]}
LIST = {"status": "TASK_STATE_AUTH_REQUIRED", "pageSize": 1, "includeArtifacts": False}


@pytest.mark.parametrize(
    ("name", "wire"),
    [
        ("Task", {"id": "t", "status": {"state": "TASK_STATE_COMPLETED", "timestamp": "2026-01-01T00:00:00.123Z"}}),
        ("TaskStatus", {"state": "TASK_STATE_WORKING", "timestamp": "0001-01-01T00:00:00Z"}),
        ("TaskStatus", {"state": "TASK_STATE_WORKING", "timestamp": "9999-12-31T23:59:59.999999999Z"}),
        ("TaskStatus", {"state": "TASK_STATE_WORKING", "timestamp": "1969-12-31T23:59:59.000001Z"}),
        ("TaskArtifactUpdateEvent", {"taskId": "t", "contextId": "c", "artifact": ARTIFACT, "append": True}),
        ("SendMessageResponse", {"message": {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": "x"}]}}),
        ("ListTasksRequest", {**LIST, "statusTimestampAfter": "2026-01-01T00:00:00Z"}),
        ("ListTasksResponse", {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}),
        ("AgentCard", CARD),
    ],
)
def test_messages_and_canonical_forms_are_each_other_s_inverse(name: str, wire: dict[str, Any]) -> None:
    assert decode(name, wire) == wire
    message = to_message(name, wire)
    assert from_message(message) == wire
    assert message == json_format.ParseDict(wire, getattr(a2a_pb2, name)())


def request(**changes: Any) -> Any:
    message = a2a_pb2.SendMessageRequest(message={"message_id": "m", "role": 1, "parts": [{"text": "x"}]})
    for name, value in changes.items():
        setattr(message.message, name, value)
    return message


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"message_id": ""}, "message.message_id"),
        ({"message_id": "x" * (MAX_ID_LENGTH + 1)}, "message.message_id"),
        ({"role": 0}, "message.role"),
        ({"role": 99}, "message.role"),
        ({"context_id": "a\x00b"}, "message.context_id"),
    ],
)
def test_scalars_are_checked_as_in_json(changes: dict[str, Any], field: str) -> None:
    assert from_message(request())["message"]["messageId"] == "m"
    assert wrong_fields(from_message, request(**changes)) == [field]
    assert wrong_fields(from_message, request(**changes), prefix="event") == [f"event.{field}"]


def test_missing_fields_are_reported_as_in_json() -> None:
    assert wrong_fields(from_message, a2a_pb2.SendMessageRequest()) == ["message"]
    empty = a2a_pb2.SendMessageRequest(message={}, configuration={"history_length": -1})
    assert wrong_fields(from_message, empty) == [
        "message.message_id",
        "message.role",
        "message.parts",
        "configuration.history_length",
    ]
    message = request()
    message.message.parts.add(media_type="text/plain")
    assert wrong_fields(from_message, message) == ["message.parts[1]"]


def test_ranges_hold_for_messages_too() -> None:
    assert from_message(a2a_pb2.ListTasksRequest()) == {}
    for size in (0, 101, -1):
        assert wrong_fields(from_message, a2a_pb2.ListTasksRequest(page_size=size)) == ["page_size"]
    assert from_message(a2a_pb2.ListTaskPushNotificationConfigsRequest(task_id="t", page_size=0)) == {"taskId": "t"}


def test_an_unspecified_filter_is_no_filter() -> None:
    assert from_message(a2a_pb2.ListTasksRequest(status=0)) == {}
    assert wrong_fields(from_message, a2a_pb2.ListTasksRequest(status=77)) == ["status"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_numbers_are_finite(number: float) -> None:
    message = request()
    message.message.parts.add().data.list_value.values.add().number_value = number
    message.message.metadata.fields["n"].number_value = number
    assert wrong_fields(from_message, message) == ["message.parts[1].data[0]", "message.metadata.n"]


def test_texts_and_keys_in_values_are_checked() -> None:
    message = request()
    message.message.metadata.fields["a\x00"].bool_value = True
    message.message.parts.add().data.struct_value.fields["a"].string_value = "\x00"
    fields = wrong_fields(from_message, message)
    assert fields[0] == "message.parts[1].data.a"
    assert re.fullmatch(r'message\.metadata\["a.*"\]', fields[1])


def test_a_value_that_holds_nothing_is_null() -> None:
    message = a2a_pb2.Part()
    message.data.SetInParent()
    assert from_message(message) == {"data": None}


def test_numbers_come_as_they_come_from_json() -> None:
    message = a2a_pb2.Part()
    for number in (1.0, -0.0, 2.0**53, 2.0**53 + 2, 1e308, 0.5):
        message.data.list_value.values.add().number_value = number
    assert repr(from_message(message)["data"]) == "[1, 0, 9007199254740992, 9007199254740994.0, 1e+308, 0.5]"


@pytest.mark.parametrize(
    ("seconds", "nanos"), [(5, -1), (5, 1_000_000_000), (-62_135_596_801, 0), (253_402_300_800, 0), (2**62, 0)]
)
def test_times_have_a_range(seconds: int, nanos: int) -> None:
    message = a2a_pb2.ListTasksRequest(status_timestamp_after={"seconds": seconds, "nanos": nanos})
    assert wrong_fields(from_message, message) == ["status_timestamp_after"]


def test_fields_of_a_later_version_are_ignored() -> None:
    """A field number that the schema does not have, as a newer client would send it."""
    raw = request().SerializeToString() + b"\xa2\x06\x01x"
    message = a2a_pb2.SendMessageRequest.FromString(raw)
    assert from_message(message) == from_message(request())


def test_messages_of_other_packages_are_a_bug_of_the_caller() -> None:
    with pytest.raises(KeyError):
        from_message(empty_pb2.Empty())


def test_members_that_a_message_does_not_have_are_a_bug_of_the_caller() -> None:
    with pytest.raises(KeyError):
        to_message("Part", {"kind": "text", "text": "x"})


def test_the_error_is_the_one_of_json() -> None:
    with pytest.raises(InvalidParamsError) as by_message:
        from_message(a2a_pb2.GetTaskRequest())
    with pytest.raises(InvalidParamsError) as by_json:
        decode("GetTaskRequest", {})
    assert by_message.value.details() == by_json.value.details()
