"""The address that says whether this process can serve calls."""

from __future__ import annotations

from django.contrib.auth.decorators import login_not_required
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.views.decorators.csrf import csrf_exempt

from a2a_django.bindings import health
from a2a_django.bindings.views.carrier import response_of


async def view(request: HttpRequest) -> HttpResponseBase:
    """Answer a request for this process's health."""
    return response_of(await health.handle(request.method or ""))


view = transaction.non_atomic_requests(login_not_required(csrf_exempt(view)))
