"""The address of JSON-RPC."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.access import authenticate
from a2a_django.bindings import addresses, jsonrpc
from a2a_django.bindings.views.carrier import answered, exchange_of, read_head, response_of


async def view(request: HttpRequest) -> HttpResponseBase:
    """Answer a JSON-RPC call: the caller first, the body after (D-14). May also stand at the root of a site."""
    other = jsonrpc.other_verb(request.method or "")
    if other is not None:
        return response_of(other)
    try:
        identity = await authenticate(request)
        exchange = exchange_of(request, identity, (), addresses.endpoint_near(request.path_info))
    except Exception as error:  # told with the id all the same, if it stands near the body's beginning
        return response_of(jsonrpc.refuse(error, jsonrpc.peek_id(read_head(request))))
    return await answered(request, jsonrpc.handle, exchange)


# No CSRF token, no login page, and no transaction around the call: an async view cannot be in one.
view = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))
