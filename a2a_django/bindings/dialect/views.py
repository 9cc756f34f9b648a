"""The addresses of the dialect as Django's views."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.access import Identity, authenticate
from a2a_django.bindings import rest
from a2a_django.bindings.dialect import updates as stream
from a2a_django.bindings.dialect.addresses import endpoint_of
from a2a_django.bindings.views import jsonrpc
from a2a_django.bindings.views.carrier import MetaHeaders, answered, exchange_of, response_of


async def updates(request: HttpRequest) -> HttpResponseBase:
    """Answer a request for the event stream of a task: the caller first, everything else after (D-14)."""
    try:
        if request.method == "OPTIONS":  # browsers ask without credentials
            identity = Identity(AnonymousUser(), "")
        else:
            identity = await authenticate(request)
        exchange = exchange_of(request, identity, (), endpoint_of(request.path_info))
    except Exception as error:
        return response_of(rest.refuse(error, MetaHeaders(request.META)))
    return await answered(request, stream.handle, exchange)


async def root(request: HttpRequest) -> HttpResponseBase:
    """Answer a JSON-RPC call to the root of the site."""
    return await jsonrpc.answer(request, endpoint_of(request.path_info))


def _open(view: Any, kind: str) -> Any:
    found = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))
    found.a2a_address = lambda path_info: (kind, endpoint_of(path_info))
    return found


updates = _open(updates, "updates")
root = _open(root, "jsonrpc")
