"""The two renderings of an error, and what must not be in them."""

from __future__ import annotations

import json
import logging

import pytest

from a2a_django.bindings import errors
from a2a_django.protocol.errors import (
    InvalidParamsError,
    MethodNotAllowedError,
    RequestTooLargeError,
    TaskNotFoundError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
)

pytestmark = pytest.mark.spec("5.4")

INFO = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    "reason": "TASK_NOT_FOUND",
    "domain": "a2a-protocol.org",
}


@pytest.mark.spec("9")
def test_the_jsonrpc_form() -> None:
    text = errors.rpc_text(TaskNotFoundError(), '"t\\u00e4"')
    assert json.loads(text) == {
        "jsonrpc": "2.0",
        "id": "tä",
        "error": {"code": -32001, "message": "Task not found", "data": [INFO]},
    }
    assert text.isascii()


@pytest.mark.spec("11")
def test_the_http_json_form() -> None:
    assert json.loads(errors.status_text(TaskNotFoundError())) == {
        "error": {"code": 404, "status": "NOT_FOUND", "message": "Task not found", "details": [INFO]}
    }


def test_wrong_fields_follow_the_error_info() -> None:
    body = json.loads(errors.status_text(InvalidParamsError.of("message.parts", "required")))
    info, bad_request = body["error"]["details"]
    assert info["reason"] == "INVALID_PARAMS"
    assert bad_request == {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": "message.parts", "description": "required"}],
    }


@pytest.mark.spec("9")
@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TaskNotFoundError(), 200),
        (RequestTooLargeError(), 200),
        (UnauthenticatedError(), 401),
        (ThrottledError(), 429),
        (UnavailableError(), 503),
        (MethodNotAllowedError(["POST"]), 405),
    ],
)
def test_the_http_status_of_a_jsonrpc_error(error: TaskNotFoundError, status: int) -> None:
    assert errors.rpc_status(error) == status


def test_headers_that_belong_to_an_error() -> None:
    assert errors.headers(TaskNotFoundError()) == {}
    assert errors.headers(UnauthenticatedError(challenge="Bearer")) == {"WWW-Authenticate": "Bearer"}
    assert errors.headers(ThrottledError(retry_after=7)) == {"Retry-After": "7"}
    assert errors.headers(MethodNotAllowedError(["GET", "HEAD"])) == {"Allow": "GET, HEAD"}


def test_an_unexpected_error_is_logged_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "a2a_django"):
        known = errors.as_a2a(RuntimeError("secret-7f3a"))
    assert known.code == -32603
    assert "secret" not in errors.rpc_text(known, "1")
    assert "secret-7f3a" in caplog.text
