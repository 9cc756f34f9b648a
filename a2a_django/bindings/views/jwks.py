"""The address of the site's public keys."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.bindings import jwks
from a2a_django.bindings.views.carrier import MetaHeaders, response_of


async def view(request: HttpRequest) -> HttpResponseBase:
    """Answer a request for the key set."""
    return response_of(await jwks.handle(request.method or "", MetaHeaders(request.META)))


view = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))
