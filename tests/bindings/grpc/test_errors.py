"""Errors on the wire: every row of table C1 with its details, and details that fit into what clients accept."""

from __future__ import annotations

import logging
from base64 import b64encode
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import grpc
import pytest
from a2a.types import a2a_pb2
from google.rpc import error_details_pb2, status_pb2

from a2a_django import Agent
from a2a_django.bindings.grpc import errors
from a2a_django.bindings.grpc.methods import METHODS
from a2a_django.protocol.errors import (
    A2AError,
    ContentTypeNotSupportedError,
    ExtendedAgentCardNotConfiguredError,
    ExtensionSupportRequiredError,
    InternalError,
    InvalidAgentResponseError,
    InvalidParamsError,
    InvalidRequestError,
    MethodNotAllowedError,
    MethodNotFoundError,
    ParseError,
    PermissionDeniedError,
    PushNotificationNotSupportedError,
    RequestTooLargeError,
    TaskNotCancelableError,
    TaskNotFoundError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
    UnsupportedOperationError,
    VersionNotSupportedError,
    Violation,
)
from tests.bindings.grpc.conftest import Running, ask, refusal

pytestmark = pytest.mark.spec("10", "5.4")

TABLE: list[tuple[A2AError, str, str]] = [
    (TaskNotFoundError(), "NOT_FOUND", "TASK_NOT_FOUND"),
    (TaskNotCancelableError(), "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
    (PushNotificationNotSupportedError(), "FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    (UnsupportedOperationError(), "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
    (ContentTypeNotSupportedError(), "INVALID_ARGUMENT", "CONTENT_TYPE_NOT_SUPPORTED"),
    (InvalidAgentResponseError(), "INTERNAL", "INVALID_AGENT_RESPONSE"),
    (ExtendedAgentCardNotConfiguredError(), "FAILED_PRECONDITION", "EXTENDED_AGENT_CARD_NOT_CONFIGURED"),
    (ExtensionSupportRequiredError(metadata={"extensions": "u"}), "FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED"),
    (VersionNotSupportedError(metadata={"supportedVersions": "1.0"}), "FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED"),
    (ParseError(), "INVALID_ARGUMENT", "JSON_PARSE"),
    (InvalidRequestError(), "INVALID_ARGUMENT", "INVALID_REQUEST"),
    (MethodNotFoundError(), "UNIMPLEMENTED", "METHOD_NOT_FOUND"),
    (InvalidParamsError.of("message.parts[0].text", "is wrong"), "INVALID_ARGUMENT", "INVALID_PARAMS"),
    (InternalError(), "INTERNAL", "INTERNAL_ERROR"),
    (UnauthenticatedError(challenge='Bearer realm="x"'), "UNAUTHENTICATED", "UNAUTHENTICATED"),
    (PermissionDeniedError("Nicht erlaubt: ß"), "PERMISSION_DENIED", "PERMISSION_DENIED"),
    (RequestTooLargeError(), "RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE"),
    (ThrottledError(retry_after=7), "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"),
    (UnavailableError(), "UNAVAILABLE", "UNAVAILABLE"),
]
IDS = [type(error).__name__ for error, _, _ in TABLE]


class Failing:
    """Replaces what GetTask and SubscribeToTask do by raising an error."""

    def __init__(self) -> None:
        self.error: Exception = InternalError()

    async def call(self, call: Any, request: Any) -> Any:
        raise self.error


@pytest.fixture
def failing(echo: Agent, monkeypatch: pytest.MonkeyPatch) -> Failing:
    """To be asked for before a server is started."""
    failing = Failing()
    for name in ("GetTask", "SubscribeToTask"):
        path = f"/lf.a2a.v1.A2AService/{name}"
        operation = replace(METHODS[path].operation, call=failing.call)
        monkeypatch.setitem(METHODS, path, replace(METHODS[path], operation=operation))
    return failing


@pytest.mark.parametrize(("error", "code", "reason"), TABLE, ids=IDS)
async def test_every_error_has_its_status_and_its_reason(
    failing: Failing, live: Running, error: A2AError, code: str, reason: str
) -> None:
    failing.error = error
    stub = live.stub()
    for call in (
        stub.GetTask(a2a_pb2.GetTaskRequest(id="t")),
        stub.SubscribeToTask(a2a_pb2.SubscribeToTaskRequest(id="t")),
    ):
        refused = await refusal(call)
        assert (refused.code, refused.reason, refused.message) == (code, reason, error.message)
        assert refused.status.code == grpc.StatusCode[code].value[0]
        assert refused.status.message == error.message
        info = refused.detail(error_details_pb2.ErrorInfo)
        assert dict(info.metadata) == error.metadata
        assert refused.fields == [violation.field for violation in error.violations]
        retry = refused.detail(error_details_pb2.RetryInfo)
        assert (retry.retry_delay.seconds if retry else None) == error.retry_after
        challenge = error.challenge if isinstance(error, UnauthenticatedError) else None
        assert refused.trailing.get("www-authenticate") == challenge


def test_the_table_is_complete() -> None:
    def below(kind: type[A2AError]) -> set[type[A2AError]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    here = {kind for kind in below(A2AError) if kind.__module__ == A2AError.__module__}
    assert here - {A2AError, MethodNotAllowedError} == {type(error) for error, _, _ in TABLE}


async def test_the_inside_stays_inside(failing: Failing, live: Running, caplog: pytest.LogCaptureFixture) -> None:
    failing.error = RuntimeError("secret-7f3a at /srv/app")
    with caplog.at_level(logging.WARNING):
        refused = await refusal(live.stub().GetTask(a2a_pb2.GetTaskRequest(id="t")))
    assert (refused.code, refused.reason, refused.message) == ("INTERNAL", "INTERNAL_ERROR", "Internal error")
    assert "secret" not in repr(refused.trailing)
    assert "secret-7f3a" in caplog.text


async def test_a_refused_call_is_one_line_in_the_log(
    live: Running, echo: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        await refusal(live.stub().GetTask(a2a_pb2.GetTaskRequest(id="no such\ntask", tenant="a\nb")))
    records = [record for record in caplog.records if record.name != "grpc._cython.cygrpc"]
    assert len(records) == 1
    text = records[0].getMessage()
    assert "\n" not in text
    assert "/lf.a2a.v1.A2AService/GetTask from ipv4:127.0.0.1:" in text
    assert "INVALID_ARGUMENT INVALID_PARAMS" in text


def size_on_the_wire(error: A2AError) -> int:
    """What HTTP/2 counts as the size of the trailers: names, values and 32 bytes for each; binary values as base64,
    the message percent-encoded."""
    _, message, trailing = errors.status_of(error)
    fields = [("grpc-message", quote(message)), ("grpc-status", "13")]
    fields += [(k, b64encode(v).decode() if isinstance(v, bytes) else v) for k, v in trailing]
    return sum(len(name) + len(value) + 32 for name, value in fields)


@pytest.mark.parametrize(
    "error",
    [
        InvalidParamsError(violations=[Violation("message.parts" * 20, "is wrong " * 30)] * 32),
        InvalidParamsError(violations=[Violation("x" * 10_000, "is wrong")]),
        InvalidParamsError("\u4e2d" * 5000, violations=[Violation("message", "\u4e2d" * 2000)]),
        ExtensionSupportRequiredError("x" * 9000, metadata={"extensions": "https://e.example/" * 500}),
    ],
)
def test_details_fit_into_what_clients_accept(error: A2AError) -> None:
    assert size_on_the_wire(error) <= 8192
    status = status_pb2.Status.FromString(dict(errors.status_of(error)[2])["grpc-status-details-bin"])
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert info.reason == error.reason


def test_of_many_violations_the_first_are_told() -> None:
    error = InvalidParamsError(violations=[Violation(f"field_{i}", "is wrong " * 30) for i in range(32)])
    status = status_pb2.Status.FromString(dict(errors.status_of(error)[2])["grpc-status-details-bin"])
    bad = error_details_pb2.BadRequest()
    assert status.details[1].Unpack(bad)
    told = [violation.field for violation in bad.field_violations]
    assert 10 <= len(told) < 32
    assert told == [f"field_{i}" for i in range(len(told))]


async def test_a_message_full_of_wrong_fields_reaches_the_client(live: Running, echo: Agent) -> None:
    request = ask("x")
    for _ in range(100):
        request.message.parts.add()
    refused = await refusal(live.stub().SendMessage(request))
    assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID_PARAMS")
    assert refused.fields[0] == "message.parts[1]"
