"""Names, presence, scalars, oneofs and REQUIRED fields: what is read, what is refused, and what the fault is called."""

from __future__ import annotations

from collections import OrderedDict
from enum import StrEnum
from typing import Any

import pytest

from a2a_django.protocol.codec import MAX_ID_LENGTH, decode
from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.faults import MAX_VIOLATIONS

from .wrong import wrong_fields

pytestmark = pytest.mark.spec("5.7")

MESSAGE: dict[str, Any] = {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}


def message(**changes: Any) -> dict[str, Any]:
    return {"message": {**MESSAGE, **changes}}


def part(**members: Any) -> dict[str, Any]:
    return message(parts=[members])


# --------------------------------------------------------------------------------------------------- names and presence


def test_a_plain_request_stays_as_it_is() -> None:
    assert decode("SendMessageRequest", message()) == message()


@pytest.mark.spec("5.5")
def test_snake_case_names_are_read_and_camel_case_is_given_back() -> None:
    given = {
        "message": {
            "message_id": "m1",
            "role": 1,
            "parts": [{"text": "x", "media_type": "text/plain"}],
            "task_id": "t",
        },
        "configuration": {"accepted_output_modes": ["text/plain"], "history_length": 3, "return_immediately": True},
    }
    assert decode("SendMessageRequest", given) == {
        "message": {
            "messageId": "m1",
            "role": "ROLE_USER",
            "parts": [{"text": "x", "mediaType": "text/plain"}],
            "taskId": "t",
        },
        "configuration": {"acceptedOutputModes": ["text/plain"], "historyLength": 3, "returnImmediately": True},
    }


def test_unknown_members_are_ignored_at_every_level() -> None:
    given = {
        "message": {**MESSAGE, "x-unknown": True, "parts": [{"text": "hello", "futureField": {"a": 1}}]},
        "configuration": {"shiny": 1},
        "kind": "request",
    }
    assert decode("SendMessageRequest", given) == {**message(), "configuration": {}}


@pytest.mark.spec("2.2")
def test_null_means_not_given() -> None:
    given = message(contextId=None, taskId=None, metadata=None, extensions=None, referenceTaskIds=None)
    assert decode("SendMessageRequest", {**given, "configuration": None, "tenant": None}) == message()
    assert decode("SendMessageRequest", part(text="x", raw=None, url=None, filename=None)) == part(text="x")


@pytest.mark.spec("2.2")
def test_a_null_data_part_is_the_value_null() -> None:
    assert decode("SendMessageRequest", part(data=None)) == part(data=None)


def test_defaults_are_dropped_where_presence_does_not_count() -> None:
    given = {
        "tenant": "",
        **message(contextId="", taskId="", extensions=[], referenceTaskIds=[]),
        "configuration": {"returnImmediately": False, "acceptedOutputModes": []},
    }
    assert decode("SendMessageRequest", given) == {**message(), "configuration": {}}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GetTaskRequest", {"id": "t", "historyLength": 0}),
        ("ListTasksRequest", {"historyLength": 0, "includeArtifacts": False}),
        ("SendMessageRequest", part(text="")),
        ("SendMessageRequest", part(raw="")),
        ("SendMessageRequest", part(url="")),
        ("SendMessageRequest", part(data=0)),
        ("SendMessageRequest", part(data="")),
        ("SendMessageRequest", part(data=False)),
        ("SendMessageRequest", part(data=[])),
        ("SendMessageRequest", part(data={})),
        ("SendMessageRequest", message(metadata={})),
    ],
)
def test_defaults_are_kept_where_presence_counts(name: str, value: dict[str, Any]) -> None:
    assert decode(name, value) == value


def test_one_field_under_both_its_names_is_refused() -> None:
    assert wrong_fields(decode, "ListTasksRequest", {"pageSize": 5, "page_size": 6}) == ["page_size"]
    assert wrong_fields(decode, "ListTasksRequest", {"page_token": "", "pageToken": "x"}) == ["page_token"]
    assert wrong_fields(decode, "SendMessageRequest", message(message_id="m2")) == ["message.message_id"]


def test_the_result_shares_nothing_with_what_was_given() -> None:
    given = {
        **message(metadata={"a": [1, {"b": 2}]}, extensions=["u"]),
        "configuration": {"acceptedOutputModes": ["t"]},
    }
    wire = decode("SendMessageRequest", given)
    wire["message"]["metadata"]["a"][1]["b"] = wire["message"]["parts"][0]["text"] = "changed"
    wire["message"]["extensions"].append("changed")
    wire["configuration"]["acceptedOutputModes"].append("changed")
    assert "changed" not in str(given)


@pytest.mark.parametrize("value", [None, [], [message()], "x", 7, True])
def test_a_request_is_an_object(value: object) -> None:
    assert wrong_fields(decode, "SendMessageRequest", value) == [""]
    assert wrong_fields(decode, "SendMessageRequest", value, prefix="params") == ["params"]


def test_subclasses_of_the_json_types_are_read_as_what_they_stand_for() -> None:
    class Role(StrEnum):
        USER = "ROLE_USER"

    given = OrderedDict(message(role=Role.USER, parts=(OrderedDict(text=Role.USER),), extensions=("u",)))
    wire = decode("SendMessageRequest", given)
    assert wire == message(parts=[{"text": "ROLE_USER"}], extensions=["u"])
    assert type(wire["message"]["role"]) is str
    assert type(wire["message"]["parts"][0]["text"]) is str


# -------------------------------------------------------------------------------------------------------------- scalars


@pytest.mark.parametrize("value", [5, 1.5, True, False, ["x"], {"x": 1}, b"x"])
def test_strings_are_strict(value: object) -> None:
    assert wrong_fields(decode, "SendMessageRequest", part(text=value)) == ["message.parts[0].text"]


@pytest.mark.parametrize("bad", ["a\x00b", "\ud800", "x\udfff", "é\ud83d"])
def test_strings_hold_neither_nul_nor_lone_surrogates(bad: str) -> None:
    assert wrong_fields(decode, "SendMessageRequest", part(text=bad)) == ["message.parts[0].text"]
    assert wrong_fields(decode, "SendMessageRequest", message(messageId=bad)) == ["message.message_id"]
    assert wrong_fields(decode, "SendMessageRequest", message(extensions=["u", bad])) == ["message.extensions[1]"]


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (1, "ROLE_USER"),
        (2, "ROLE_AGENT"),
        (2.0, "ROLE_AGENT"),
        ("ROLE_USER", "ROLE_USER"),
        ("ROLE_AGENT", "ROLE_AGENT"),
    ],
)
def test_enums_are_read_by_name_and_number(given: object, name: str) -> None:
    assert decode("SendMessageRequest", message(role=given)) == message(role=name)


@pytest.mark.parametrize(
    "bad", [0, 3, -1, 1.5, "ROLE_UNSPECIFIED", "user", "role_user", "1", "", True, False, [], {}, float("nan"), 10**400]
)
def test_a_required_enum_needs_a_known_value(bad: object) -> None:
    assert wrong_fields(decode, "SendMessageRequest", message(role=bad)) == ["message.role"]


@pytest.mark.parametrize("status", ["TASK_STATE_UNSPECIFIED", 0, 0.0, None])
def test_an_unspecified_filter_is_no_filter(status: object) -> None:
    assert decode("ListTasksRequest", {"status": status}) == {}


@pytest.mark.parametrize("status", ["TASK_STATE_CANCELLED", "completed", 9, 99, -1, True])
def test_an_unknown_state_is_refused_and_not_ignored(status: object) -> None:
    assert wrong_fields(decode, "ListTasksRequest", {"status": status}) == ["status"]


@pytest.mark.parametrize(
    ("given", "number"), [(3, 3), ("3", 3), (3.0, 3), (0, 0), ("0", 0), (2**31 - 1, 2**31 - 1), ("007", 7)]
)
def test_int32_is_read_from_numbers_and_decimal_strings(given: object, number: int) -> None:
    wire = decode("GetTaskRequest", {"id": "t", "historyLength": given})
    assert wire == {"id": "t", "historyLength": number}
    assert type(wire["historyLength"]) is int


@pytest.mark.parametrize(
    "bad",
    [
        -1,
        "-1",
        2**31,
        10**400,
        3.5,
        "3.5",
        "3.0",
        "",
        " 3",
        "3 ",
        "+3",
        "1e1",
        "0x3",
        "٣",
        "three",
        True,
        False,
        [],
        {},
        float("inf"),
        1e300,
    ],
)
def test_history_length_is_a_number_that_is_not_negative(bad: object) -> None:
    assert wrong_fields(decode, "GetTaskRequest", {"id": "t", "historyLength": bad}) == ["history_length"]
    assert wrong_fields(decode, "ListTasksRequest", {"historyLength": bad}) == ["history_length"]
    given = {**message(), "configuration": {"historyLength": bad}}
    assert wrong_fields(decode, "SendMessageRequest", given) == ["configuration.history_length"]


def test_page_size_of_list_tasks_is_1_to_100() -> None:
    for good in (1, 50, 100):
        assert decode("ListTasksRequest", {"pageSize": good}) == {"pageSize": good}
    for bad in (0, -1, 101, 2**31, "0"):
        assert wrong_fields(decode, "ListTasksRequest", {"pageSize": bad}) == ["page_size"]
    with pytest.raises(InvalidParamsError, match=r"page_size: must be a whole number between 1 and 100"):
        decode("ListTasksRequest", {"pageSize": 0})


def test_page_size_of_push_configs_may_be_0_for_not_set() -> None:
    name = "ListTaskPushNotificationConfigsRequest"
    assert decode(name, {"taskId": "t", "pageSize": 0}) == {"taskId": "t"}
    assert decode(name, {"taskId": "t", "pageSize": 500}) == {"taskId": "t", "pageSize": 500}
    assert wrong_fields(decode, name, {"taskId": "t", "pageSize": -1}) == ["page_size"]


@pytest.mark.parametrize("bad", ["true", "false", "", 0, 1, [], {}])
def test_booleans_are_strict(bad: object) -> None:
    given = {**message(), "configuration": {"returnImmediately": bad}}
    assert wrong_fields(decode, "SendMessageRequest", given) == ["configuration.return_immediately"]


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("", ""),
        ("AA==", "AA=="),
        ("AA", "AA=="),
        ("AAA", "AAA="),
        ("AAA=", "AAA="),
        ("AAAA", "AAAA"),
        ("-_-_", "+/+/"),
        ("+/+/", "+/+/"),
        ("aGVsbG8gd29ybGQ", "aGVsbG8gd29ybGQ="),
        ("_w", "/w=="),
        ("AB==", "AA=="),  # bits that stand for nothing
        ("AAAAAAB=", "AAAAAAA="),
    ],
)
def test_bytes_are_read_in_both_alphabets_and_written_in_one(given: str, canonical: str) -> None:
    assert decode("SendMessageRequest", part(raw=given)) == part(raw=canonical)


@pytest.mark.parametrize(
    "bad",
    [
        "A",
        "AAAAA",
        "A===",
        "=",
        "====",
        "AA=",
        "AA=A",
        "AA==AA==",
        "AAAA====",
        "A A A A ",
        "AAAA\n",
        "é",
        "AA*=",
        "!!!!",
        5,
        True,
        ["AAAA"],
        {},
    ],
)
def test_bytes_are_base64(bad: object) -> None:
    assert wrong_fields(decode, "SendMessageRequest", part(raw=bad)) == ["message.parts[0].raw"]


@pytest.mark.parametrize("field", ["messageId", "contextId", "taskId"])
def test_ids_have_a_limit(field: str) -> None:
    good = message(**{field: "é" * MAX_ID_LENGTH})
    assert decode("SendMessageRequest", good) == good
    names = {"messageId": "message_id", "contextId": "context_id", "taskId": "task_id"}
    given = message(**{field: "x" * (MAX_ID_LENGTH + 1)})
    assert wrong_fields(decode, "SendMessageRequest", given) == [f"message.{names[field]}"]


def test_other_ids_and_tenants_have_the_same_limit() -> None:
    long = "x" * (MAX_ID_LENGTH + 1)
    assert wrong_fields(decode, "GetTaskRequest", {"id": long, "tenant": long}) == ["id", "tenant"]
    assert wrong_fields(decode, "ListTasksRequest", {"contextId": long}) == ["context_id"]
    given = message(referenceTaskIds=["t", long])
    assert wrong_fields(decode, "SendMessageRequest", given) == ["message.reference_task_ids[1]"]
    config = {"id": long, "taskId": long, "url": "https://e.example/" + long}
    assert wrong_fields(decode, "TaskPushNotificationConfig", config) == ["id", "task_id"]
    update = {"taskId": "t", "contextId": "c", "artifact": {"artifactId": long, "parts": [{"text": "x"}]}}
    assert wrong_fields(decode, "TaskArtifactUpdateEvent", update) == ["artifact.artifact_id"]


@pytest.mark.parametrize("bad", ["x", 5, {}, {"0": "x"}, True])
def test_repeated_fields_are_lists(bad: object) -> None:
    assert wrong_fields(decode, "SendMessageRequest", message(parts=bad)) == ["message.parts"]
    assert wrong_fields(decode, "SendMessageRequest", message(extensions=bad)) == ["message.extensions"]


@pytest.mark.parametrize("bad", [None, "x", 5, [], True])
def test_parts_are_objects(bad: object) -> None:
    given = message(parts=[{"text": "x"}, bad])
    assert wrong_fields(decode, "SendMessageRequest", given) == ["message.parts[1]"]


# --------------------------------------------------------------------------------------------------------------- oneofs


@pytest.mark.parametrize("empty", [{}, {"mediaType": "text/plain"}, {"content": {"text": "x"}}, {"text": None}])
def test_a_part_needs_content(empty: dict[str, Any]) -> None:
    given = message(parts=[{"text": "x"}, empty])
    assert wrong_fields(decode, "SendMessageRequest", given) == ["message.parts[1]"]


def test_a_part_has_one_content() -> None:
    assert wrong_fields(decode, "SendMessageRequest", part(text="x", url="u")) == ["message.parts[0].url"]
    assert wrong_fields(decode, "SendMessageRequest", part(text="", data=None)) == ["message.parts[0].data"]
    given = part(data=1, url="u", raw="AAAA")
    assert wrong_fields(decode, "SendMessageRequest", given) == ["message.parts[0].url", "message.parts[0].data"]


def test_a_stream_response_has_exactly_one_payload() -> None:
    assert wrong_fields(decode, "StreamResponse", {}) == [""]
    task = {"id": "t", "status": {"state": "TASK_STATE_WORKING"}}
    assert decode("StreamResponse", {"task": task}) == {"task": task}
    assert wrong_fields(decode, "StreamResponse", {"task": task, "message": MESSAGE}) == ["message"]


def test_a_bad_member_of_a_oneof_is_reported_once() -> None:
    assert wrong_fields(decode, "SendMessageRequest", part(text=5)) == ["message.parts[0].text"]


# ------------------------------------------------------------------------------------------------------ REQUIRED fields


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"messageId": ""}, "message_id"),
        ({"messageId": None}, "message_id"),
        ({"role": None}, "role"),
        ({"parts": []}, "parts"),
        ({"parts": None}, "parts"),
    ],
)
def test_required_fields_of_a_message(change: dict[str, Any], field: str) -> None:
    assert wrong_fields(decode, "SendMessageRequest", message(**change)) == [f"message.{field}"]


@pytest.mark.parametrize("missing", ["messageId", "role", "parts"])
def test_absent_fields_are_missed(missing: str) -> None:
    given = message()
    del given["message"][missing]
    assert len(wrong_fields(decode, "SendMessageRequest", given)) == 1


@pytest.mark.parametrize(
    ("name", "value", "fields"),
    [
        ("SendMessageRequest", {}, ["message"]),
        ("SendMessageRequest", {"message": None}, ["message"]),
        ("SendMessageRequest", {"message": {}}, ["message.message_id", "message.role", "message.parts"]),
        ("GetTaskRequest", {}, ["id"]),
        ("GetTaskRequest", {"id": ""}, ["id"]),
        ("CancelTaskRequest", {"metadata": {}}, ["id"]),
        ("SubscribeToTaskRequest", {}, ["id"]),
        ("TaskPushNotificationConfig", {"taskId": "t"}, ["url"]),
        ("TaskPushNotificationConfig", {"url": "u", "authentication": {}}, ["authentication.scheme"]),
        ("GetTaskPushNotificationConfigRequest", {}, ["task_id", "id"]),
        ("DeleteTaskPushNotificationConfigRequest", {"taskId": "t"}, ["id"]),
        ("ListTaskPushNotificationConfigsRequest", {}, ["task_id"]),
        ("Task", {}, ["id", "status"]),
        ("Task", {"id": "t", "status": {}}, ["status.state"]),
        ("Artifact", {"artifactId": "a", "parts": []}, ["parts"]),
        ("TaskStatusUpdateEvent", {"taskId": "t"}, ["context_id", "status"]),
    ],
)
def test_required_fields_of_requests_and_events(name: str, value: dict[str, Any], fields: list[str]) -> None:
    assert wrong_fields(decode, name, value) == fields


@pytest.mark.parametrize("name", ["ListTasksRequest", "GetExtendedAgentCardRequest"])
def test_requests_without_required_fields_may_be_empty(name: str) -> None:
    assert decode(name, {}) == {}


def test_a_list_answer_always_has_its_four_members() -> None:
    assert decode("ListTasksResponse", {}) == {"tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0}


def test_required_members_of_a_card_may_be_empty_and_are_written() -> None:
    card = {"name": "n", "description": "", "version": "1", "capabilities": {}, "skills": []}
    assert decode("AgentCard", card) == {
        **card,
        "supportedInterfaces": [],
        "defaultInputModes": [],
        "defaultOutputModes": [],
    }


def test_security_of_a_card_in_protojson_form() -> None:
    card = {
        "name": "n",
        "description": "d",
        "version": "1",
        "capabilities": {"streaming": False},
        "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "s", "description": "s", "tags": ["t"]}],
        "securitySchemes": {
            "b": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
            "o": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "u", "scopes": {"read": "R"}}}}},
        },
        "securityRequirements": [{"schemes": {"b": {}, "o": {"list": ["read"]}}}],
    }
    assert decode("AgentCard", card) == card
    two = {"apiKeySecurityScheme": {"location": "header", "name": "k"}, "mtlsSecurityScheme": {}}
    assert wrong_fields(decode, "AgentCard", {**card, "securitySchemes": {"x": two}}) == [
        "security_schemes.x.mtls_security_scheme"
    ]
    for bad in ([], "x", {"x": None}, {"x": []}, {"a\x00": {}}, {5: {}}):
        assert wrong_fields(decode, "AgentCard", {**card, "securitySchemes": bad})[0].startswith("security_schemes")


# ----------------------------------------------------------------------------------------------------------- violations


def test_all_wrong_fields_are_reported_at_once() -> None:
    given = {
        "message": {"messageId": 5, "parts": [{"text": 1}, {}, {"text": "x"}, {"raw": "*"}], "metadata": []},
        "configuration": {"historyLength": -1},
        "tenant": {},
    }
    assert wrong_fields(decode, "SendMessageRequest", given) == [
        "message.message_id",
        "message.parts[0].text",
        "message.parts[1]",
        "message.parts[3].raw",
        "message.metadata",
        "message.role",
        "configuration.history_length",
        "tenant",
    ]


def test_paths_start_with_the_prefix() -> None:
    assert wrong_fields(decode, "GetTaskRequest", {}, prefix="params") == ["params.id"]


def test_a_flood_of_wrong_fields_is_cut() -> None:
    given = message(parts=[{}] * 100_000, extensions=[1] * 100_000)
    assert len(wrong_fields(decode, "SendMessageRequest", given)) == MAX_VIOLATIONS


def test_the_message_of_the_error_names_the_first_field() -> None:
    with pytest.raises(InvalidParamsError) as caught:
        decode("GetTaskPushNotificationConfigRequest", {})
    assert str(caught.value) == "Invalid parameters: task_id: is required and must not be empty (and 1 more)"


def test_unknown_message_names_are_a_bug_of_the_caller() -> None:
    with pytest.raises(KeyError):
        decode("NoSuchMessage", {})
