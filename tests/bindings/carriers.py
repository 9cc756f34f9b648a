"""The two carriers of the HTTP bindings, as the tests see them: a client like Django's own, and an ASGI application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from io import BytesIO
from typing import Any

from django.core.handlers.asgi import ASGIHandler, ASGIRequest
from django.http import HttpResponse, StreamingHttpResponse
from django.test import AsyncClient
from django.test.client import conditional_content_removal

from a2a_django.bindings.consumers.application import Application


class Carrier:
    """Django's views, behind Django's own test client and ASGI handler."""

    name = "views"

    def __init__(self) -> None:
        #: The paths that the consumers left to the site.
        self.passed_on: list[str] = []

    def client(self, **options: Any) -> AsyncClient:
        """Return a client without cookies."""
        return AsyncClient(**options)

    def application(self) -> Any:
        """Return the ASGI application of the site."""
        return ASGIHandler()


class Consumers(Carrier):
    """The Channels consumers, in front of the same views."""

    name = "consumers"

    def client(self, **options: Any) -> AsyncClient:
        """Return a client whose requests go through the whole application."""
        client = AsyncClient(**options)
        client.handler = ThroughAsgi(self.application())
        return client

    def application(self) -> Any:
        """Return the ASGI application of the site."""
        made: list[ASGIHandler] = []

        async def site(scope: Any, receive: Any, send: Any) -> None:
            self.passed_on.append(scope["path"])
            made.append(made[0] if made else ASGIHandler())  # not before: the settings of the test decide
            await made[0](scope, receive, send)

        return Application(site)


CARRIERS: dict[str, type[Carrier]] = {"views": Carrier, "consumers": Consumers}


class ThroughAsgi:
    """In the place of the test client's own handler: hands a request to an ASGI application and makes a response of
    what it sends. A stream that is closed is a client that has left."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any]) -> Any:
        body: bytes = scope.pop("_body_file", BytesIO()).read()
        scope["query_string"] = scope.get("query_string", "").encode()
        exchange = _Exchange(self._application, scope, body)
        start = await exchange.next("http.response.start")
        headers = [(name.decode("ascii"), value.decode("latin1")) for name, value in start["headers"]]
        response: Any
        if dict(headers).get("Content-Type") == "text/event-stream":
            response = StreamingHttpResponse(exchange.pieces(), status=start["status"])
        else:
            content = b"".join([piece async for piece in exchange.pieces()])
            response = HttpResponse(content, status=start["status"])
        del response.headers["Content-Type"]
        for name, value in headers:
            response.headers[name] = value
        request = response.asgi_request = ASGIRequest(scope, BytesIO())
        conditional_content_removal(request, response)
        return response


class _Exchange:
    """One request of an application, from the server's side."""

    def __init__(self, application: Any, scope: dict[str, Any], body: bytes) -> None:
        self._received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._received.put_nowait({"type": "http.request", "body": body, "more_body": False})
        self._task = asyncio.ensure_future(application(scope, self._received.get, self._sent.put))

    async def next(self, kind: str) -> dict[str, Any]:
        message = asyncio.ensure_future(self._sent.get())
        async with asyncio.timeout(20):
            await asyncio.wait((message, self._task), return_when=asyncio.FIRST_COMPLETED)
        if not message.done():
            message.cancel()
            self._task.result()
            raise AssertionError(f"The application has ended without {kind}")
        assert message.result()["type"] == kind
        return message.result()

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            more = True
            while more:
                message = await self.next("http.response.body")
                more = message.get("more_body", False)
                if piece := message.get("body", b""):
                    yield piece
        finally:
            self._received.put_nowait({"type": "http.disconnect"})
            done, __ = await asyncio.wait((self._task,), timeout=20)
            assert done, "The application does not end"
            self._task.result()
