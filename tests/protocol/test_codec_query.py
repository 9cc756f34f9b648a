"""Requests as query parameters."""

from __future__ import annotations

import pytest

from a2a_django.protocol.codec import decode_query

from .wrong import wrong_fields

pytestmark = pytest.mark.spec("11")


def test_all_parameters_of_list_tasks() -> None:
    pairs = [
        ("tenant", "shop"),
        ("contextId", "c 1"),
        ("status", "TASK_STATE_WORKING"),
        ("pageSize", "7"),
        ("pageToken", "abc=="),
        ("historyLength", "0"),
        ("statusTimestampAfter", "2026-01-01T02:00:00+02:00"),
        ("includeArtifacts", "true"),
    ]
    assert decode_query("ListTasksRequest", pairs) == {
        "tenant": "shop",
        "contextId": "c 1",
        "status": "TASK_STATE_WORKING",
        "pageSize": 7,
        "pageToken": "abc==",
        "historyLength": 0,
        "statusTimestampAfter": "2026-01-01T00:00:00Z",
        "includeArtifacts": True,
    }


def test_snake_case_names_are_read() -> None:
    pairs = [("page_size", "7"), ("context_id", "c"), ("include_artifacts", "false")]
    assert decode_query("ListTasksRequest", pairs) == {"pageSize": 7, "contextId": "c", "includeArtifacts": False}


@pytest.mark.parametrize("name", ["A2A-Version", "a2a-version", "utm_source", "PageSize", "", "tasks"])
def test_unknown_names_are_ignored(name: str) -> None:
    assert decode_query("ListTasksRequest", [(name, "1.0"), (name, "2.0"), ("pageSize", "7")]) == {"pageSize": 7}


def test_no_parameters_are_no_filter() -> None:
    assert decode_query("ListTasksRequest", []) == {}


def test_empty_strings_are_not_given() -> None:
    assert decode_query("ListTasksRequest", [("pageToken", ""), ("contextId", ""), ("tenant", "")]) == {}


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("pageSize", "page_size"),
        ("historyLength", "history_length"),
        ("includeArtifacts", "include_artifacts"),
        ("status", "status"),
        ("statusTimestampAfter", "status_timestamp_after"),
    ],
)
def test_other_values_are_neither_empty_nor_repeated(name: str, field: str) -> None:
    good = {"pageSize": "5", "historyLength": "5", "includeArtifacts": "true", "status": "TASK_STATE_WORKING"}
    value = good.get(name, "2026-01-01T00:00:00Z")
    assert len(decode_query("ListTasksRequest", [(name, value)])) == 1
    assert wrong_fields(decode_query, "ListTasksRequest", [(name, "")]) == [field]
    assert wrong_fields(decode_query, "ListTasksRequest", [(name, value), (name, value)]) == [field]
    assert wrong_fields(decode_query, "ListTasksRequest", [(name, value), (field, value)]) == [field]
    assert wrong_fields(decode_query, "ListTasksRequest", [(name, f"{value},{value}")]) == [field]


@pytest.mark.parametrize(
    ("name", "value", "field"),
    [
        ("pageSize", "9" * 5000, "page_size"),
        ("pageSize", "0", "page_size"),
        ("pageSize", "101", "page_size"),
        ("pageSize", "-1", "page_size"),
        ("pageSize", "5.0", "page_size"),
        ("pageSize", " 5", "page_size"),
        ("pageSize", "\u0665", "page_size"),
        ("historyLength", "-1", "history_length"),
        ("historyLength", "2147483648", "history_length"),
        ("includeArtifacts", "True", "include_artifacts"),
        ("includeArtifacts", "1", "include_artifacts"),
        ("includeArtifacts", "yes", "include_artifacts"),
        ("status", "completed", "status"),
        ("status", "99", "status"),
        ("status", "9" * 5000, "status"),
        ("status", "-1", "status"),
        ("statusTimestampAfter", "2020-01-01T02:00:00 02:00", "status_timestamp_after"),
        ("statusTimestampAfter", "2020-01-01T02:00:00", "status_timestamp_after"),
        ("statusTimestampAfter", "1767225600", "status_timestamp_after"),
        ("contextId", "a\x00b", "context_id"),
        ("contextId", "a\udce9b", "context_id"),
        ("contextId", "x" * 1025, "context_id"),
    ],
)
def test_bad_values_are_refused(name: str, value: str, field: str) -> None:
    assert wrong_fields(decode_query, "ListTasksRequest", [(name, value)]) == [field]


def test_states_are_read_by_number_and_unspecified_is_no_filter() -> None:
    assert decode_query("ListTasksRequest", [("status", "3")]) == {"status": "TASK_STATE_COMPLETED"}
    assert decode_query("ListTasksRequest", [("status", "0")]) == {}
    assert decode_query("ListTasksRequest", [("status", "TASK_STATE_UNSPECIFIED")]) == {}


def test_path_and_query_may_agree_but_not_differ() -> None:
    assert decode_query("GetTaskRequest", [("id", "A"), ("tenant", "t"), ("tenant", "t")]) == {"id": "A", "tenant": "t"}
    assert wrong_fields(decode_query, "GetTaskRequest", [("id", "A"), ("id", "B")]) == ["id"]
    assert wrong_fields(decode_query, "GetTaskRequest", [("id", "A"), ("tenant", "t"), ("tenant", "u")]) == ["tenant"]
    assert wrong_fields(decode_query, "GetTaskRequest", [("id", "A"), ("id", "")]) == ["id"]


def test_required_fields_are_missed() -> None:
    assert wrong_fields(decode_query, "GetTaskRequest", [("historyLength", "1")]) == ["id"]


def test_repeated_fields_are_repeated_or_joined_by_comma() -> None:
    pairs = [
        ("acceptedOutputModes", "text/plain,image/png"),
        ("accepted_output_modes", "a/b"),
        ("returnImmediately", "true"),
    ]
    assert decode_query("SendMessageConfiguration", pairs) == {
        "acceptedOutputModes": ["text/plain", "image/png", "a/b"],
        "returnImmediately": True,
    }


def test_objects_need_a_body() -> None:
    assert wrong_fields(decode_query, "CancelTaskRequest", [("id", "t"), ("metadata", "{}")]) == ["metadata"]
    assert wrong_fields(decode_query, "SendMessageRequest", [("message", "{}")]) == ["message"]


def test_all_wrong_parameters_are_reported_at_once() -> None:
    pairs = [("pageSize", "x"), ("status", "y"), ("includeArtifacts", "true"), ("includeArtifacts", "true")]
    assert sorted(wrong_fields(decode_query, "ListTasksRequest", pairs)) == ["include_artifacts", "page_size", "status"]
