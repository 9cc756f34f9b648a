"""The strictest Content-Security-Policy under which a site with a style sheet and a script can be served."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


@sync_and_async_middleware
def strict(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Send the policy with every answer that has none of its own."""
    import asyncio

    if asyncio.iscoroutinefunction(get_response):

        async def on_loop(request: HttpRequest) -> HttpResponseBase:
            response: HttpResponseBase = await get_response(request)  # type: ignore[misc]
            response.headers.setdefault("Content-Security-Policy", POLICY)
            return response

        return on_loop  # type: ignore[return-value]

    def in_thread(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    return in_thread
