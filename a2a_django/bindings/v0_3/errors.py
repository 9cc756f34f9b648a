"""Errors as version 0.3 has them (facts 1.3); for all its bindings.

It has no code for a required extension that was not asked for, which is UnsupportedOperation there. That a version is
not served keeps its code, which lies in the range that servers may use.
"""

from __future__ import annotations

from typing import Any, Final

from a2a_django.protocol.codec import dumps
from a2a_django.protocol.errors import (
    A2AError,
    ExtendedAgentCardNotConfiguredError,
    ExtensionSupportRequiredError,
    MethodNotFoundError,
    ParseError,
    UnsupportedOperationError,
)

#: Code of 1.0 -> the one of 0.3.
_CODES: Final = {ExtensionSupportRequiredError.code: UnsupportedOperationError.code}

_NAMES: Final = {
    ExtendedAgentCardNotConfiguredError: "AuthenticatedExtendedCardNotConfiguredError",
    ExtensionSupportRequiredError: UnsupportedOperationError.__name__,
    ParseError: "JSONParseError",
}


def code_of(error: A2AError) -> int:
    """Return the JSON-RPC code of an error."""
    return _CODES.get(error.code, error.code)


def name_of(error: A2AError) -> str:
    """Return the name that the specification has for an error."""
    return _NAMES.get(type(error), type(error).__name__)


def rpc_text(error: A2AError, request_id: str) -> str:
    """Return the JSON-RPC answer for an error; ``request_id`` is JSON text.

    ``data`` may be anything in 0.3, so it holds the details of 1.0; of a method that does not exist there are none.
    """
    body: dict[str, Any] = {"code": code_of(error), "message": error.message}
    if not isinstance(error, MethodNotFoundError):
        body["data"] = error.details()
    return f'{{"jsonrpc":"2.0","id":{request_id},"error":{dumps(body)}}}'


def status_text(error: A2AError) -> str:
    """Return the HTTP+JSON body for an error: what the SDKs read at the top, and the Status form that others read."""
    details = error.details()
    status = {"code": error.http_status, "status": error.grpc_status, "message": error.message, "details": details}
    return dumps({"code": code_of(error), "message": error.message, "data": details, "error": status})
