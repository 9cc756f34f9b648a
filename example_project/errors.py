"""What callers of the protocol get instead of an HTML page when a middleware refuses their request."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that did not reach a view, such as one with a Host header that the site does not serve."""
    if not request.path_info.startswith("/a2a"):
        return defaults.bad_request(request, exception)
    error = {"code": 400, "status": "INVALID_ARGUMENT", "message": "Bad request", "details": []}
    return JsonResponse({"error": error}, status=400)
