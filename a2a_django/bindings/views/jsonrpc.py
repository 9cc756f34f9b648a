"""The address of JSON-RPC."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.access import authenticate
from a2a_django.bindings import jsonrpc
from a2a_django.bindings.http import Answer
from a2a_django.bindings.views.carrier import answered, exchange_of, read_body, response_of
from a2a_django.protocol.errors import (
    A2AError,
    MethodNotAllowedError,
    PermissionDeniedError,
    ThrottledError,
    UnauthenticatedError,
)

_ALLOW = ("POST", "OPTIONS")


async def view(request: HttpRequest) -> HttpResponseBase:
    """Answer a JSON-RPC call: the caller first, the body after (D-14)."""
    if request.method != "POST":
        if request.method == "OPTIONS":
            return response_of(Answer(200, {"Allow": ", ".join(_ALLOW), "Content-Type": "text/plain"}, b""))
        return response_of(jsonrpc.refuse(MethodNotAllowedError(_ALLOW)))
    try:
        identity = await authenticate(request)
        exchange = exchange_of(request, identity, (), request.path_info.rstrip("/"))
    except (UnauthenticatedError, PermissionDeniedError, ThrottledError) as error:
        return response_of(jsonrpc.refuse(error, _id_of(request)))
    except Exception as error:
        return response_of(jsonrpc.refuse(error))
    return await answered(request, jsonrpc.handle, exchange)


def _id_of(request: HttpRequest) -> str:
    """Return the id of a call that is refused unread, where it is cheap to have (D-14)."""
    try:
        return jsonrpc.peek_id(read_body(request))
    except A2AError:
        return "null"


# No CSRF token, no login page, and no transaction around the call: an async view cannot be in one.
view = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))
