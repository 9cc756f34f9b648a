"""One call from its metadata to its status.

Invariants:

* The caller is known before the message is read: who may not call cannot make this process hold a large message.
* A caller who leaves, or whose deadline passes, ends the call and nothing else; the task goes on (R-130).
* Whatever goes wrong is an ``A2AError`` on the wire, with details, and one line in the log.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

import grpc
from django.urls import NoReverseMatch

from a2a_django.access import authenticate
from a2a_django.agents.cards import CardBase, endpoint_path
from a2a_django.bindings import calls, sse
from a2a_django.bindings.errors import as_a2a
from a2a_django.bindings.grpc.errors import Metadata, status_of
from a2a_django.bindings.grpc.metadata import GrpcRequest, Origin, headers_of
from a2a_django.bindings.grpc.methods import Frames, Method, services
from a2a_django.bindings.http import Exchange
from a2a_django.conf import a2a_settings
from a2a_django.engine import database
from a2a_django.operations import CallContext
from a2a_django.protocol.errors import (
    A2AError,
    InvalidRequestError,
    MethodNotFoundError,
    RequestTooLargeError,
    UnavailableError,
)
from a2a_django.protocol.wire import Wire

logger = logging.getLogger("a2a_django.grpc")

BINDING: Final = "GRPC"

Context = grpc.aio.ServicerContext[bytes, bytes]
Status = Callable[[A2AError], tuple[grpc.StatusCode, str, Metadata]]


class Servicer(grpc.GenericRpcHandler):
    """The service; also answers for every path that nobody else answers for, so that unknown methods get details.

    ``encrypted``: the server speaks TLS. To be made when the settings are final: it remembers where the site is.
    """

    def __init__(self, *, encrypted: bool = False) -> None:
        self._encrypted = encrypted
        self._origin = Origin.configured(encrypted=encrypted)
        self._base = base()
        self._calls: set[asyncio.Task[object]] = set()
        self._ending = False
        # Handlers that read the request themselves, also where it is a single message: see the invariants.
        self._handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {
            path: grpc.stream_stream_rpc_method_handler(self._stream(method))
            if method.operation.streaming
            else grpc.stream_unary_rpc_method_handler(self._unary(method))
            for methods in services().values()
            for path, method in methods.items()
        }

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[bytes, bytes]:
        """Return the handler for a path."""
        path = handler_call_details.method
        return self._handlers.get(path) or grpc.stream_stream_rpc_method_handler(_unknown(path))

    # ------------------------------------------------------------------------------------------------ the end

    async def idle(self, seconds: float) -> bool:
        """Wait until no call is in progress; False when that took too long."""
        try:
            async with asyncio.timeout(seconds):
                while self._calls:
                    await asyncio.wait(self._calls)
        except TimeoutError:
            return False
        return True

    def end_calls(self) -> None:
        """Answer all calls in progress with UNAVAILABLE, now; callers may try again elsewhere."""
        self._ending = True
        for call in self._calls:
            call.cancel()

    # ------------------------------------------------------------------------------------------------ handlers

    # Coroutine functions and not partial objects: gRPC asks of every call what kind of function its handler is.

    def _unary(self, method: Method) -> Callable[[object, Context], Awaitable[bytes]]:
        async def handle(messages: object, context: Context) -> bytes:
            answer = b""

            async def carry_out(exchange: Exchange) -> None:
                nonlocal answer
                call, request = await self._begin(method, exchange, context)
                answer = method.write(await calls.text_of(method.operation, call, request))
                await _echo_extensions(method, call, context)

            await self._guarded(method, context, carry_out)
            return answer

        return handle

    def _stream(self, method: Method) -> Callable[[object, Context], Awaitable[None]]:
        async def handle(messages: object, context: Context) -> None:
            async def carry_out(exchange: Exchange) -> None:
                call, request = await self._begin(method, exchange, context)
                place = sse.places.take(call.owner)
                try:
                    frames = method.frames(await calls.events_of(method.operation, call, request))
                    try:
                        await _echo_extensions(method, call, context)
                        await _send(frames, context)
                    finally:
                        await frames.aclose()
                finally:
                    place.release()

            await self._guarded(method, context, carry_out)

        return handle

    async def _guarded(
        self, method: Method, context: Context, carry_out: Callable[[Exchange], Awaitable[None]]
    ) -> None:
        """Carry out a call; what it raises becomes its status."""
        task = cast("asyncio.Task[object]", asyncio.current_task())
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)
        exchange: Exchange | None = None
        try:
            # Everything thread-sensitive in here, which is what the site's access classes need, gets a thread of a pool
            # and not the one thread that asgiref has for the whole process.
            async with database.access_database():
                exchange = await self._authenticate(method.path, context)
                await carry_out(exchange)
            return
        except asyncio.CancelledError:
            if not self._ending:
                raise
            task.uncancel()
            error: Exception = UnavailableError("The server is shutting down")
        except Exception as failure:
            error = calls.with_challenge(failure, exchange) if exchange is not None else failure
        await _refuse(as_a2a(error), method.path, context, method.status)

    def _request(self, *arguments: Any) -> GrpcRequest:
        return GrpcRequest(*arguments)

    async def _authenticate(self, path: str, context: Context) -> Exchange:
        headers = headers_of(context.invocation_metadata() or ())
        certificate = context.auth_context() if self._encrypted else None
        request = self._request(path, headers, context.peer(), self._origin, certificate)
        identity = await authenticate(request)
        return Exchange(method="POST", path=(), query="", headers=headers, body=b"", identity=identity, base=self._base)

    async def _begin(self, method: Method, exchange: Exchange, context: Context) -> tuple[CallContext, Wire]:
        """Read the message of a known caller and make the call's context, in the order of the other bindings."""
        version = calls.version_of(exchange, [], method.version)
        request = method.read(await _read(context))
        tenant = calls.tenant_of("", [], request)
        call = await calls.context(exchange, method.operation, binding=BINDING, version=version, tenant=tenant)
        return call, request


def _unknown(path: str) -> Callable[[object, Context], Awaitable[None]]:
    async def handle(messages: object, context: Context) -> None:
        await _refuse(MethodNotFoundError(), path, context)

    return handle


def base() -> CardBase:
    """Return where the site's HTTP endpoints are, for cards that are built during a call; url "" when that is unknown:
    a gRPC call does not tell under which address the site is reached over HTTP."""
    url = (a2a_settings.BASE_URL or "").rstrip("/")
    try:
        return CardBase(url, endpoint_path())
    except NoReverseMatch:  # a site without the urls
        return CardBase("", "")


async def _read(context: Context) -> bytes:
    """Return the bytes of the request. Raises ``RequestTooLargeError`` (D-35) and ``InvalidRequestError``.

    Of a message beyond the transport's own limit nothing is seen here; the transport has refused the call by then.
    """
    frame = await context.read()
    if not isinstance(frame, bytes):
        raise InvalidRequestError("The call carries no message that could be read")
    if len(frame) > a2a_settings.MAX_BODY_BYTES:
        raise RequestTooLargeError(f"Request too large: {a2a_settings.MAX_BODY_BYTES} bytes are the limit")
    return frame


async def _echo_extensions(method: Method, call: CallContext, context: Context) -> None:
    """Tell in the initial metadata which extensions are active, if there are any (D-10)."""
    if active := call.activated():
        await context.send_initial_metadata(((method.extensions_key, ", ".join(active)),))


async def _send(frames: Frames, context: Context) -> None:
    """Write what happens until the stream ends, or quietly for ``STREAM_SECONDS`` (R-175).

    A write waits for a caller who reads slowly; the feed keeps nothing for such a caller but its place.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + a2a_settings.STREAM_SECONDS
    while (left := end - loop.time()) > 0:
        try:
            async with asyncio.timeout(left) as limit:
                ready = await frames.__anext__()
        except StopAsyncIteration:
            return
        except TimeoutError:
            if limit.expired():
                return
            raise
        for frame in ready:
            try:
                await context.write(frame)
            except grpc.aio.InternalError as error:
                # The caller has left; gRPC cancels the call as soon as it knows, and does not know yet.
                raise asyncio.CancelledError from error


async def _refuse(error: A2AError, path: str, context: Context, status: Status = status_of) -> None:
    """End a call with an error, as ``status`` tells it."""
    logger.warning("%s from %s: %s %s: %r", path, context.peer(), error.grpc_status, error.reason, error.message)
    code, message, trailing = status(error)
    await context.abort(code, message, tuple(trailing))
