"""One error, two renderings: the JSON-RPC error object and the google.rpc.Status form of HTTP+JSON (C2).

Nothing internal leaves the process: what is not an ``A2AError`` is logged here and becomes an ``InternalError``.
"""

from __future__ import annotations

import logging
from typing import Final

from a2a_django.protocol.codec import dumps
from a2a_django.protocol.errors import A2AError, InternalError, MethodNotAllowedError

logger = logging.getLogger("a2a_django")

#: What HTTP itself has to say of a JSON-RPC call; every other error travels with status 200 (D-14, D-15, D-35).
RPC_STATUSES: Final = frozenset({401, 403, 405, 429, 503})


def as_a2a(error: Exception) -> A2AError:
    """Return the error as the caller may see it; log what the caller may not see."""
    if isinstance(error, A2AError):
        return error
    logger.error("Unexpected error while a call was answered", exc_info=error)
    return InternalError()


def rpc_text(error: A2AError, request_id: str) -> str:
    """Return the JSON-RPC answer for an error (R-167, R-168); ``request_id`` is JSON text."""
    body = {"code": error.code, "message": error.message, "data": error.details()}
    return f'{{"jsonrpc":"2.0","id":{request_id},"error":{dumps(body)}}}'


def rpc_status(error: A2AError) -> int:
    """Return the HTTP status that goes with a JSON-RPC error."""
    return error.http_status if error.http_status in RPC_STATUSES else 200


def status_text(error: A2AError) -> str:
    """Return the HTTP+JSON body for an error (R-187 to R-189)."""
    body = {
        "code": error.http_status,
        "status": error.grpc_status,
        "message": error.message,
        "details": error.details(),
    }
    return dumps({"error": body})


def headers(error: A2AError) -> dict[str, str]:
    """Return the HTTP headers that belong to an error: WWW-Authenticate, Retry-After, Allow."""
    found: dict[str, str] = {}
    if error.challenge:
        found["WWW-Authenticate"] = error.challenge
    if isinstance(error, MethodNotAllowedError):
        found["Allow"] = ", ".join(error.allow)
    if error.retry_after is not None:
        found["Retry-After"] = str(error.retry_after)
    return found
