"""One HTTP request from its first byte to its last, event by event.

Invariants:

* The server's own task takes the messages of the body one after the other, then answers. While it answers, a second
  task listens for the end of the connection; so a caller who leaves is noticed at once, whatever is being waited for.
* The caller is known before the body is taken in, and no more of it is ever held than ``MAX_BODY_BYTES`` and one
  message of the server.
* Nothing here uses a thread, unless the site's access classes want one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from functools import lru_cache
from io import BytesIO
from typing import ClassVar, Final, cast

from channels.consumer import AsyncConsumer
from channels.exceptions import StopConsumer
from django.http import HttpRequest
from django.http.response import ResponseHeaders
from rest_framework.views import APIView

from a2a_django.access import Identity, authenticate, recognise
from a2a_django.agents.cards import CardBase
from a2a_django.bindings import addresses
from a2a_django.bindings.consumers import site
from a2a_django.bindings.consumers.asgi import Message, Receive, Scope, Send
from a2a_django.bindings.consumers.requests import LazyRequest, Unread, full_request
from a2a_django.bindings.consumers.streams import Stream
from a2a_django.bindings.http import HEAD_BYTES, Answer, Exchange, StreamAnswer
from a2a_django.conf import a2a_settings
from a2a_django.engine import database
from a2a_django.protocol.errors import RequestTooLargeError

#: How long the rest of a body that is refused is thrown away before the connection is closed: a caller who is still
#: sending when it is closed may never see the answer.
LINGER_SECONDS: Final = 2.0
#: How long the beginning of a refused body is waited for, in which the id of a JSON-RPC call may stand.
HEAD_SECONDS: Final = 1.0

Reply = Answer | StreamAnswer


class HttpConsumer(AsyncConsumer):  # type: ignore[misc]  # Channels has no types
    """Answers one request; the subclasses say how."""

    #: Errors before the body has arrived that are told with something from its beginning.
    told_with_head: ClassVar[bool] = False

    def __init__(self, address: site.Address, visit: site.Visit, headers: Mapping[str, str], query: str) -> None:
        self.address = address
        self.visit = visit
        self.headers = headers
        self.query = query
        self._pieces: list[bytes] = []
        self._size = 0
        #: The body has arrived; the answer is being made; it is refused; the last message of the answer is on its way.
        self._whole = self._answering = self._refused = self._finished = False
        #: The caller is gone.
        self._left = False

    # ------------------------------------------------------------------------------------------------ for subclasses

    async def at_once(self) -> Answer | None:
        """Return an answer for which neither caller nor body matter."""
        return None

    async def identify(self) -> Identity:
        """Return who is calling. Raises what ``authenticate`` raises."""
        return await self.caller()

    async def handle(self, exchange: Exchange) -> Reply:
        """Let the binding answer."""
        raise NotImplementedError

    def path(self) -> tuple[str, ...]:
        """Return the segments of the path that the binding looks at."""
        return ()

    def refuse(self, error: Exception, head: bytes) -> Answer:
        """Return the answer for an error before the body has arrived; ``head`` is what has arrived of it."""
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------------ events

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request.

        Not Channels' own loop: that needs two tasks and a channel layer's queue for each message, asks a thread about
        database connections that consumers like these do not have, and hears nothing while a message is dealt with.
        """
        self.scope, self.receive, self.base_send = scope, receive, send
        self.method: str = scope["method"].upper()
        task = self._task = cast("asyncio.Task[None]", asyncio.current_task())
        try:
            await self._respond()
        except StopConsumer:
            pass
        except asyncio.CancelledError:
            if not self._left:
                raise
            task.uncancel()

    async def dispatch(self, message: Message) -> None:
        """Hand a message of the server to its handler."""
        if message["type"] == "http.request":
            await self.http_request(message)
        elif message["type"] == "http.disconnect":
            await self.http_disconnect(message)

    async def http_request(self, message: Message) -> None:
        """Take in a piece of the body. Raises ``RequestTooLargeError`` at the first byte too many."""
        body: bytes = message.get("body", b"")
        if body:
            self._pieces.append(body)
            self._size += len(body)
        self._whole = not message.get("more_body", False)
        if not self._refused:
            self._check_size(self._size)

    async def http_disconnect(self, message: Message) -> None:
        """The caller is gone, and what is done for the answer is no longer wanted."""
        self._left = True
        if self._answering and not self._finished:
            self._task.cancel()
        raise StopConsumer

    # ------------------------------------------------------------------------------------------------ the way

    async def _respond(self) -> None:
        listener: asyncio.Task[None] | None = None
        reply: Reply | None
        try:
            # Whatever is thread-sensitive in the site's access classes gets a thread of a pool, and not the one that
            # asgiref has for the whole process.
            async with database.access_database():
                reply = await self.at_once() or await self._take_in()
                if reply is None:
                    self._answering = True
                    listener = asyncio.ensure_future(self._listen())
                    reply = await self._handled()
            if isinstance(reply, Answer):
                await self._send_answer(reply)
            else:
                await self._send_stream(reply)
        finally:
            if listener is not None:
                listener.cancel()

    async def _take_in(self) -> Answer | None:
        """Find out who is calling, and take in the body; return what there is to say against the one or the other."""
        try:
            self._identity = await self.identify()
            self._check_size(announced(self.headers))
            await self._take_body()
        except StopConsumer:
            raise
        except Exception as error:
            if self.told_with_head:
                self._refused = True
                with suppress(TimeoutError):  # whoever is refused need not be waited for
                    async with asyncio.timeout(HEAD_SECONDS):
                        await self._take_body(HEAD_BYTES)
            return self.refuse(error, self._head())
        return None

    async def _take_body(self, enough: int | None = None) -> None:
        while not self._whole and (enough is None or self._size < enough):
            await self.dispatch(await self.receive())

    async def _listen(self) -> None:
        with suppress(StopConsumer):
            await self.dispatch(await self.receive())

    async def _handled(self) -> Reply:
        exchange = Exchange(
            method=self.method,
            path=self.path(),
            query=self.query,
            headers=self.headers,
            body=b"".join(self._pieces),
            identity=self._identity,
            base=self.base(),
        )
        # A stream may follow and last for hours; nothing of the request is kept for so long.
        del self._pieces, self._identity, self.headers
        return await self.handle(exchange)

    def base(self) -> CardBase:
        """Return where the site is reached: ``BASE_URL``, else as this request reached it."""
        url = a2a_settings.BASE_URL
        return addresses.base_at(self.visit.url if url is None else url, self.address.endpoint, True)

    def _check_size(self, size: int) -> None:
        limit = a2a_settings.MAX_BODY_BYTES
        if size > limit:
            raise RequestTooLargeError(f"Request body too large: {limit} bytes are the limit")

    def _head(self) -> bytes:
        head = b""
        for piece in self._pieces:
            head += piece[: HEAD_BYTES - len(head)]
            if len(head) == HEAD_BYTES:
                break
        return head

    # ------------------------------------------------------------------------------------------------ access

    async def caller(self) -> Identity:
        """Return who is calling, without a thread and without a request of Django's where that can be."""
        identity = recognise(LazyRequest(self.scope))
        if identity is not None:
            return identity
        if not site.reads_body():
            body = Unread()
            try:
                identity = await self._ask(body)
            except Exception:
                if not body.touched:
                    raise
            else:
                if not body.touched:
                    return identity
            site.note_that_it_reads_the_body()  # as those do that check a signature over it; so now with the body
        self._check_size(announced(self.headers))
        await self._take_body()
        return await self._ask(BytesIO(b"".join(self._pieces)))

    async def _ask(self, body: Unread | BytesIO) -> Identity:
        request = full_request(self.scope, body)
        request.resolver_match = self.address.match
        site.knows_users(request)
        return await authenticate(request, self.policy_view(request))

    def policy_view(self, request: HttpRequest) -> APIView | None:
        """Return the REST framework view that permission and throttle classes see."""
        return None

    # ------------------------------------------------------------------------------------------------ sending

    async def _send_answer(self, answer: Answer) -> None:
        headers = encoded(tuple(answer.headers.items()))
        if "Content-Length" not in answer.headers:
            headers = (*headers, (b"Content-Length", b"%d" % len(answer.body)))
        if self._whole or not has_body(self.headers):
            await self._send_head(answer.status, (*headers, *self.visit.headers))
            await self._send_last(answer.body)
            return
        # Answered before the body has arrived, of which so much may come that it is better not to wait for the end.
        if self.scope.get("http_version", "1.1").startswith("1."):
            headers = (*headers, (b"Connection", b"close"))
        await self._send_head(answer.status, (*headers, *self.visit.headers))
        await self.send({"type": "http.response.body", "body": answer.body, "more_body": True})
        await self._linger()
        await self._send_last(b"")

    async def _linger(self) -> None:
        left = a2a_settings.MAX_BODY_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                more = True
                while more and left > 0:
                    message = await self.receive()
                    left -= len(message.get("body", b""))
                    more = message.get("more_body", False)

    async def _send_stream(self, answer: StreamAnswer) -> None:
        try:
            await self._send_head(200, (*encoded(tuple(answer.headers.items())), *self.visit.headers))
            await Stream(self.send).run(answer.frames)
            await self._send_last(b"")
        finally:
            await answer.frames.aclose()

    async def _send_head(self, status: int, headers: site.RawHeaders) -> None:
        await self.send({"type": "http.response.start", "status": status, "headers": list(headers)})

    async def _send_last(self, body: bytes) -> None:
        self._finished = True
        await self.send({"type": "http.response.body", "body": body, "more_body": False})


def announced(headers: Mapping[str, str]) -> int:
    """Return the length of the body as the request announces it, 0 where it does not."""
    try:
        return int(headers.get("content-length") or 0)
    except ValueError:
        return 0


def has_body(headers: Mapping[str, str]) -> bool:
    """Return whether a request of HTTP/1 has a body."""
    return announced(headers) > 0 or "transfer-encoding" in headers


@lru_cache(maxsize=256)
def encoded(headers: tuple[tuple[str, str], ...]) -> site.RawHeaders:
    """Return headers as Django writes them."""
    return tuple(
        (name.encode("ascii"), value.encode("latin1")) for name, value in ResponseHeaders(dict(headers)).items()
    )
