"""Calls of a site inside its process: an HTTP request through Django's handler and middleware, and a gRPC call handed
to the servicer. Nothing goes over a network."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.test import AsyncClient
from django.test.client import AsyncClientHandler
from google.rpc import error_details_pb2, status_pb2

from a2a_django.bindings.grpc.errors import DETAILS
from a2a_django.bindings.grpc.metadata import GrpcRequest
from a2a_django.bindings.grpc.servicer import Servicer
from a2a_django.protocol.errors import A2AError, InternalError, Violation
from a2a_django.protocol.wire import Wire

_user: contextvars.ContextVar[Any] = contextvars.ContextVar("a2a_django.testing.user", default=None)


class UnexpectedAnswer(AssertionError):
    """The site has answered something that is not of the protocol: a redirect, a page of its own."""


@contextmanager
def calling_as(user: Any) -> Iterator[None]:
    """Inside, calls are those of ``user``, whatever the site's authenticators say; None leaves it to them."""
    token = _user.set(user)
    try:
        yield
    finally:
        _user.reset(token)


def _force(request: Any) -> None:
    """What REST framework's own test client does."""
    if (user := _user.get()) is not None:
        request._force_auth_user = user


class _Handler(AsyncClientHandler):
    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        _force(request)
        return await super().get_response_async(request)


class Site:
    """The site over HTTP."""

    def __init__(self) -> None:
        self._client = AsyncClient()
        self._client.handler = _Handler(enforce_csrf_checks=False)

    async def request(
        self, verb: str, path: str, *, headers: Mapping[str, str], body: bytes = b"", content_type: str = ""
    ) -> Any:
        """Return Django's response."""
        return await self._client.generic(
            verb,
            path,
            body,
            content_type or "application/json",
            secure=bool(settings.SECURE_SSL_REDIRECT),
            headers=dict(headers),
        )


async def events(response: Any) -> AsyncGenerator[tuple[str, str], None]:
    """Return name and data of the events of a stream, as they come; comments are left out."""
    rest = b""
    content = response.streaming_content
    try:
        async for chunk in content:
            *blocks, rest = (rest + chunk).split(b"\n\n")
            for block in blocks:
                fields = dict(line.split(": ", 1) for line in block.decode().split("\n") if not line.startswith(":"))
                if "data" in fields:
                    yield fields.get("event", ""), fields["data"]
    finally:
        await content.aclose()
        response.close()


# -- errors


def _kinds(kind: type[A2AError] = A2AError) -> Iterator[type[A2AError]]:
    for each in kind.__subclasses__():
        yield from _kinds(each)
        yield each


def error_of(reason: str, message: str, violations: list[Violation], retry_after: int | None = None) -> A2AError:
    """Return the error that an answer tells of, an instance of the class in ``a2a_django.protocol.errors``."""
    kind = next((each for each in _kinds() if getattr(each, "reason", "") == reason), InternalError)
    error = kind.__new__(kind)
    said = "; ".join(f"{each.field}: {each.description}" for each in violations)
    A2AError.__init__(error, message if not said or said in message else f"{message} ({said})", violations=violations)
    if retry_after is not None:
        error.retry_after = retry_after
    return error


def error_in(details: list[Wire], message: str) -> A2AError:
    """Return the error of google.rpc details in ProtoJSON."""
    reason, violations, retry = "", [], None
    for each in details:
        reason = reason or each.get("reason", "")
        found = each.get("fieldViolations", ())
        violations += [Violation(one["field"], one["description"]) for one in found]
        if "retryDelay" in each:
            retry = int(str(each["retryDelay"]).removesuffix("s"))
    return error_of(reason, message, violations, retry)


# -- gRPC


@dataclass
class _Aborted(Exception):
    message: str
    trailing: dict[str, Any]

    def error(self) -> A2AError:
        status = status_pb2.Status.FromString(self.trailing.get(DETAILS, b""))
        reason, violations = "", []
        info, bad, retry = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
        seconds = None
        for packed in status.details:
            if packed.Unpack(info):
                reason = info.reason
            elif packed.Unpack(bad):
                violations += [Violation(each.field, each.description) for each in bad.field_violations]
            elif packed.Unpack(retry):
                seconds = int(retry.retry_delay.seconds)
        return error_of(reason, self.message, violations, seconds)


class _Servicer(Servicer):
    def _request(self, *arguments: Any) -> GrpcRequest:
        request = super()._request(*arguments)
        _force(request)
        return request


@dataclass
class _Context:
    """What a handler of gRPC sees of a call."""

    frame: bytes
    metadata: tuple[tuple[str, str], ...]
    written: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)

    async def read(self) -> bytes:
        return self.frame

    async def write(self, frame: bytes) -> None:
        await self.written.put(frame)

    async def send_initial_metadata(self, metadata: Any) -> None:
        """Extensions are told; nobody here asks."""

    async def abort(self, code: grpc.StatusCode, message: str, trailing: Any = ()) -> None:
        raise _Aborted(message, dict(trailing))

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return self.metadata

    def auth_context(self) -> dict[str, Any]:
        return {}

    def peer(self) -> str:
        return "ipv4:127.0.0.1:1"


@dataclass
class _Details:
    method: str
    invocation_metadata: Any = ()


def _call(path: str, frame: bytes, headers: Mapping[str, str]) -> tuple[Any, _Context]:
    context = _Context(frame, tuple((name.lower(), value) for name, value in headers.items()))
    return _Servicer().service(_Details(path)), context


async def rpc(path: str, frame: bytes, headers: Mapping[str, str]) -> bytes:
    """Carry out an RPC that does not stream. Raises ``A2AError``."""
    handler, context = _call(path, frame, headers)
    try:
        answer: bytes = await handler.stream_unary(None, context)
    except _Aborted as aborted:
        raise aborted.error() from None
    return answer


async def rpc_events(path: str, frame: bytes, headers: Mapping[str, str]) -> AsyncGenerator[bytes, None]:
    """Carry out an RPC that streams, and return the frames as they come. Raises ``A2AError``."""
    handler, context = _call(path, frame, headers)

    async def carry_out() -> None:
        try:
            await handler.stream_stream(None, context)
        finally:
            await context.written.put(None)

    call = asyncio.ensure_future(carry_out())
    try:
        while (found := await context.written.get()) is not None:
            yield found
        await call
    except _Aborted as aborted:
        raise aborted.error() from None
    finally:
        call.cancel()
        await asyncio.wait({call})
