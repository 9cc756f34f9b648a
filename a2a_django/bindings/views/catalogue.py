"""The address of the list of agents."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.bindings import addresses, catalogue, rest
from a2a_django.bindings.views.carrier import MetaHeaders, base_of, response_of


async def view(request: HttpRequest) -> HttpResponseBase:
    """Answer a request for the list."""
    headers = MetaHeaders(request.META)
    try:
        base = base_of(request, addresses.endpoint_beside_card(request.path_info, ""))
    except Exception as error:
        return response_of(rest.refuse(error, headers))
    return response_of(await catalogue.handle(request.method or "", headers, base))


view = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))
