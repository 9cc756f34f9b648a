"""The addresses of the dialect as Django's views."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.access import Identity, authenticate
from a2a_django.bindings import addresses, rest
from a2a_django.bindings.dialect import updates as stream
from a2a_django.bindings.views.carrier import MetaHeaders, answered, exchange_of, response_of


async def updates(request: HttpRequest) -> HttpResponseBase:
    """Answer a request for the event stream of a task: the caller first, everything else after (D-14)."""
    try:
        if request.method == "OPTIONS":  # browsers ask without credentials
            identity = Identity(AnonymousUser(), "")
        else:
            identity = await authenticate(request)
        exchange = exchange_of(request, identity, (), addresses.endpoint_near(request.path_info))
    except Exception as error:
        return response_of(rest.refuse(error, MetaHeaders(request.META)))
    return await answered(request, stream.handle, exchange)


updates = transaction.non_atomic_requests(login_not_required(csrf_exempt(updates)))
#: By which the consumers know the address.
vars(updates)["a2a_kind"] = "updates"
