"""Streams behind an ASGI application: no thread, no connection, and nothing left when the client leaves."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.test import AsyncClient
from pytest_django import Settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.bindings import sse
from a2a_django.bindings.views.carrier import EventStreamResponse
from a2a_django.engine import database
from tests.bindings.asgi import AsgiCall
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import Echo, envelope, message, rpc

pytestmark = pytest.mark.django_db(transaction=True)

#: The connections that the authenticator below used, each in the thread of its request.
used: list[Any] = []


class QueryingAuthentication(BaseAuthentication):
    """Lets everybody in after a look into the database."""

    def authenticate(self, request: Request) -> tuple[User, None]:
        user, __ = User.objects.get_or_create(username="alice")
        assert connection.connection is not None
        used.append(connections["default"])
        return user, None


class Patient(Agent):
    """Works until it is stopped."""

    abstract = True
    stopped = 0

    async def run(self, ctx: TaskContext) -> None:
        await ctx.working()
        await asyncio.sleep(60)


@pytest.fixture
def patient(register: Callable[[Agent], Agent]) -> Agent:
    used.clear()
    return register(Patient())


def stream(carrier: Carrier, text: str = "go") -> AsgiCall:
    body = envelope("SendStreamingMessage", {"message": message(text)}).encode()
    return AsgiCall(carrier.application(), "POST", "/a2a/", body=body)


def request_threads() -> int:
    """Threads that asgiref made for requests, and those of the consumers' access classes."""
    return sum(thread.name.startswith(("ThreadPoolExecutor", "a2a-access")) for thread in threading.enumerate())


async def settle(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - threads have no event to wait for
            await asyncio.sleep(0.01)


SYNC_MIDDLEWARE = "tests.bindings.test_streams.synchronous"


def synchronous(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """A middleware of the old kind, in whose thread everything behind it is waited for."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    return middleware


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("middleware", [[], [SYNC_MIDDLEWARE]])
async def test_open_streams_hold_neither_threads_nor_connections(
    carrier: Carrier, settings: Settings, middleware: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "IDLE_SECONDS", 0.1)
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, *middleware]
    settings.A2A = {
        **settings.A2A,
        "AUTHENTICATION_CLASSES": ["tests.bindings.test_streams.QueryingAuthentication"],
    }
    before = request_threads()
    async with AsyncExitStack() as stack:
        for _ in range(12):
            call = await stack.enter_async_context(stream(carrier))
            status, headers = await call.head()
            assert (status, headers["content-type"]) == (200, "text/event-stream")
            assert b'"task"' in await call.chunk()
        await settle(lambda: request_threads() <= before)
        assert len(used) == 12
        assert all(each.connection is None for each in used)
        assert sse.places.taken == 12
        async with AsgiCall(carrier.application(), "POST", "/a2a/", body=envelope("ListTasks").encode()) as call:
            assert (await call.head())[0] == 200
            assert json.loads(await call.body())["result"]["totalSize"] == 12
    await settle(lambda: sse.places.taken == 0)
    await settle(lambda: request_threads() <= before)


@pytest.mark.usefixtures("patient")
async def test_a_client_that_leaves_while_the_stream_waits_is_noticed(carrier: Carrier) -> None:
    async with stream(carrier) as call:
        await call.head()
        assert b'"task"' in await call.chunk()
        assert sse.places.taken == 1
    assert sse.places.taken == 0


@pytest.mark.usefixtures("patient")
async def test_a_client_that_left_before_the_first_frame_leaves_nothing_behind(carrier: Carrier) -> None:
    call = stream(carrier)
    call._sent = asyncio.Queue(maxsize=1)  # the server takes the head and nothing more
    async with call:
        await settle(lambda: call._sent.full())
    await settle(lambda: sse.places.taken == 0)


@pytest.mark.usefixtures("patient")
async def test_a_response_that_a_middleware_throws_away_is_closed(client_dropping: AsyncClient) -> None:
    response = await rpc(client_dropping, envelope("SendStreamingMessage", {"message": message("go")}))
    assert response.status_code == 204
    await settle(lambda: sse.places.taken == 0)


@pytest.fixture
def client_dropping(settings: Settings) -> AsyncClient:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.bindings.test_streams.dropping"]
    return AsyncClient()


def dropping(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """A middleware that answers something else in the place of streams."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        return HttpResponse(status=204) if isinstance(response, EventStreamResponse) else response

    return middleware


async def test_gzip_leaves_streams_alone(
    carrier: Carrier, register: Callable[[Agent], Agent], settings: Settings
) -> None:
    register(Echo())
    settings.MIDDLEWARE = ["django.middleware.gzip.GZipMiddleware", *settings.MIDDLEWARE]
    sent = {"accept-encoding": "gzip"}
    body = envelope("SendStreamingMessage", {"message": message("hi " * 1000)}).encode()
    async with AsgiCall(carrier.application(), "POST", "/a2a/", body=body, headers=sent) as call:
        assert (await call.head())[1]["content-encoding"] == "identity"
        assert (await call.body()).startswith(b"id: 0\ndata: {")


@pytest.mark.usefixtures("patient")
async def test_a_silent_stream_says_that_it_is_alive(carrier: Carrier, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "KEEPALIVE_SECONDS": 0.05}
    async with stream(carrier) as call:
        await call.head()
        while (await call.chunk()) != sse.KEEPALIVE:
            pass


async def test_under_the_test_client_the_threads_connection_stays_open(register: Callable[[Agent], Agent]) -> None:
    """There the thread belongs to the test, and closing its connection would end the test's transaction."""
    register(Echo())
    await User.objects.acreate(username="bob")
    response = await rpc(AsyncClient(), envelope("SendStreamingMessage", {"message": message("hi")}))
    assert b"".join([chunk async for chunk in response.streaming_content])
    assert await User.objects.filter(username="bob").aexists()
