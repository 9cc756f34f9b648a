"""The addresses of the agent cards."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.bindings import cards, rest
from a2a_django.bindings.views.carrier import MetaHeaders, base_of, response_of

#: Segments of the card's own path, and the place of the endpoints beside it.
_BELOW = 2
_ENDPOINTS = "/a2a"


async def view(request: HttpRequest, tenant: str = "") -> HttpResponseBase:
    """Answer a request for the card of the default agent, or of the one that ``tenant`` names."""
    headers = MetaHeaders(request.META)
    place = request.path_info.split("/")
    endpoint = "/".join(place[: -_BELOW - 1]) if tenant else "/".join(place[:-_BELOW]) + _ENDPOINTS
    try:
        base = base_of(request, endpoint)
    except Exception as error:
        return response_of(rest.refuse(error, headers))
    return response_of(await cards.handle(request.method or "", tenant, headers, base))


view = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))
