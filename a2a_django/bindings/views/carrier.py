"""From Django's request to an exchange, and from an answer to Django's response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase

from a2a_django.access import Identity
from a2a_django.agents.cards import CardBase
from a2a_django.bindings import addresses
from a2a_django.bindings.http import HEAD_BYTES, Answer, Exchange, StreamAnswer
from a2a_django.bindings.sse import Frames
from a2a_django.bindings.views.threads import release_request_thread
from a2a_django.conf import a2a_settings
from a2a_django.engine import bridge
from a2a_django.protocol.errors import InvalidRequestError, RequestTooLargeError

Handle = Callable[[Exchange], Awaitable[Answer | StreamAnswer]]


class MetaHeaders(Mapping[str, str]):
    """The headers of a request by lower-case name, looked up in ``request.META`` when they are asked for."""

    __slots__ = ("_meta",)

    def __init__(self, meta: Mapping[str, Any]) -> None:
        self._meta = meta

    def __getitem__(self, name: str) -> str:
        value: str = self._meta[_meta_key(name)]
        return value

    def __iter__(self) -> Iterator[str]:
        for key in self._meta:
            if key.startswith("HTTP_"):
                yield key[5:].lower().replace("_", "-")
            elif key in ("CONTENT_TYPE", "CONTENT_LENGTH"):
                yield key.lower().replace("_", "-")

    def __len__(self) -> int:
        return sum(1 for _ in self)


@lru_cache(maxsize=256)
def _meta_key(name: str) -> str:
    key = name.upper().replace("-", "_")
    return key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"


def is_asgi(request: HttpRequest) -> bool:
    """Whether the request came over ASGI: only then can a stream be held open, and only then does the loop last."""
    return isinstance(request, ASGIRequest)


def read_body(request: HttpRequest) -> bytes:
    """Return the body, of which no more than ``MAX_BODY_BYTES`` and one byte are ever read (D-35).

    Not ``request.body``: that has Django's own limit of 2.5 MiB for forms. Raises ``RequestTooLargeError``, and
    ``InvalidRequestError`` when the caller stopped sending.
    """
    limit = a2a_settings.MAX_BODY_BYTES
    try:
        announced = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        announced = 0
    if announced > limit:
        raise RequestTooLargeError(f"Request body too large: {limit} bytes are the limit")
    if "_body" in request.__dict__:  # a middleware has read it
        body: bytes = request.body
    else:
        try:
            body = request.read(limit + 1)
        except UnreadablePostError:
            raise InvalidRequestError("The request body could not be read") from None
    if len(body) > limit:
        request._body = body[:HEAD_BYTES]  # for ``read_head``; the rest is not needed any more
        raise RequestTooLargeError(f"Request body too large: {limit} bytes are the limit")
    request.close()  # a stream may follow and last for hours; the spooled body need not
    return body


def read_head(request: HttpRequest) -> bytes:
    """Return the beginning of a body that is refused unread, b"" where it is gone already."""
    if "_body" in request.__dict__:
        return request.body[:HEAD_BYTES]
    try:
        head: bytes = request.read(HEAD_BYTES)
    except (UnreadablePostError, ValueError):  # the caller is gone; the body is closed
        return b""
    return head


def raw_path(request: HttpRequest) -> str:
    """Return the path before it was decoded, "" where the server does not tell."""
    if isinstance(request, ASGIRequest):
        return addresses.raw_path(request.scope)
    uri: str = request.META.get("RAW_URI") or request.META.get("REQUEST_URI") or ""
    return uri.partition("?")[0]


def base_of(request: HttpRequest, endpoint: str) -> CardBase:
    """Return where the site is reached: ``BASE_URL``, else as this request reached it (proxies as Django has them).

    ``endpoint`` is the path of the protocol's endpoints, without script prefix and without trailing slash. Raises
    ``InvalidRequestError`` for a Host header that the site does not serve.
    """
    url = a2a_settings.BASE_URL
    if url is None:
        try:
            url = f"{request.scheme}://{request.get_host()}{request.META.get('SCRIPT_NAME', '').rstrip('/')}"
        except SuspiciousOperation:
            raise InvalidRequestError("Invalid Host header") from None
    return addresses.base_at(url, endpoint, is_asgi(request))


def exchange_of(request: HttpRequest, identity: Identity, path: tuple[str, ...], endpoint: str) -> Exchange:
    """Return the exchange for a request whose caller is known. Raises what ``read_body`` and ``base_of`` raise."""
    return Exchange(
        method=request.method or "",
        path=path,
        query=request.META.get("QUERY_STRING", ""),
        headers=MetaHeaders(request.META),
        body=read_body(request),
        identity=identity,
        base=base_of(request, endpoint),
    )


async def answered(request: HttpRequest, handle: Handle, exchange: Exchange) -> HttpResponseBase:
    """Let a binding answer. Under WSGI the loop of this request ends with it, so the engine's loop does the work."""
    if isinstance(request, ASGIRequest):
        return response_of(await handle(exchange))
    return response_of(await bridge.call(handle, exchange))


def response_of(answer: Answer | StreamAnswer) -> HttpResponseBase:
    """Return Django's response for an answer."""
    if isinstance(answer, StreamAnswer):
        return EventStreamResponse(answer)
    response = HttpResponse(answer.body, status=answer.status, headers=answer.headers)
    # Said here and not left to a middleware: without it the answer is sent in chunks, which costs more.
    response.headers.setdefault("Content-Length", str(len(answer.body)))
    if "Content-Type" not in answer.headers:
        del response.headers["Content-Type"]
    return response


class EventStreamResponse(StreamingHttpResponse):
    """The response of a stream; it ends the stream's producer whatever becomes of the response."""

    def __init__(self, answer: StreamAnswer) -> None:
        super().__init__(_Content(answer.frames), headers=answer.headers)


class _Content:
    """The frames, once the request has given back its thread.

    ``close`` is found by Django and called when the response is closed: also for a client that left before the first
    frame, when nobody ever iterates.
    """

    def __init__(self, frames: Frames) -> None:
        self._frames = frames
        self._released = False

    def __aiter__(self) -> _Content:
        return self

    async def __anext__(self) -> bytes:
        if not self._released:
            self._released = True
            await release_request_thread()
        return await self._frames.__anext__()

    def close(self) -> None:
        self._frames.close()
