"""Bodies that arrive in pieces, too much of them, slowly or never; callers who leave."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings

from a2a_django import Agent, engine
from a2a_django.access import create_api_key
from a2a_django.agents import TaskContext
from a2a_django.bindings import sse
from a2a_django.bindings.consumers import consumer
from a2a_django.bindings.consumers.application import Application
from a2a_django.models import Task
from tests.bindings.asgi import AsgiCall
from tests.bindings.conftest import envelope, message

pytestmark = pytest.mark.django_db(transaction=True)

HEADERS = {"transfer-encoding": "chunked"}


class Patient(Agent):
    """Works until the test is over."""

    abstract = True

    async def run(self, ctx: TaskContext) -> None:
        await ctx.working()
        await asyncio.sleep(60)


async def still(call: AsgiCall) -> bool:
    """Whether nothing is answered although everything that can be done is done."""
    for _ in range(20):
        await asyncio.sleep(0)
    return call._sent.empty()


def error_of(body: bytes) -> tuple[Any, int]:
    answer = json.loads(body)
    return answer.get("id"), answer["error"]["code"]


@pytest.mark.usefixtures("echo")
async def test_a_body_in_pieces(application: Application) -> None:
    raw = envelope("SendMessage", {"message": message("hi")}).encode()
    async with AsgiCall(application, "POST", "/a2a/", body=None, headers=HEADERS) as call:
        for position in range(0, len(raw), 7):
            call.send(raw[position : position + 7], more=True)
            assert await still(call)
        call.send(b"")
        assert (await call.head())[0] == 200
        assert b"TASK_STATE_COMPLETED" in await call.body()


@pytest.mark.usefixtures("echo")
@pytest.mark.parametrize("headers", [HEADERS, {"content-length": "100"}])
async def test_the_first_byte_too_many_is_the_last_that_counts(
    application: Application, settings: Settings, headers: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "LINGER_SECONDS", 60)
    settings.A2A = {**settings.A2A, "MAX_BODY_BYTES": 5000}
    async with AsgiCall(application, "POST", "/a2a/", body=None, headers=headers) as call:
        call.send(b'{"id":7,"params":"' + b"x" * 4000, more=True)
        assert await still(call)
        call.send(b"x" * 1000, more=True)
        status, found = await call.head()
        assert (status, found["connection"]) == (200, "close")
        body = await call.chunk()
        assert len(body) == int(found["content-length"])
        assert error_of(body) == (7, -32600)
        assert call.task is not None
        call.send(b"x" * 4999, more=True)
        assert await still(call)
        call.send(b"xx", more=True)  # as much again as a body may have
        assert await call.chunk() == b""
        await call.task


@pytest.mark.usefixtures("echo")
async def test_what_is_announced_too_large_is_not_waited_for(application: Application, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_BODY_BYTES": 5000}
    headers = {"content-length": "5001"}
    async with AsgiCall(application, "POST", "/a2a/message:send", body=None, headers=headers) as call:
        status, found = await call.head()
        assert (status, found["connection"]) == (413, "close")
        assert json.loads(await call.chunk())["error"]["code"] == 413
    async with AsgiCall(application, "POST", "/a2a/", body=None, headers=headers) as call:
        call.send(b'{"id":7,', more=True)
        assert await still(call)  # the id may stand in what comes
        call.send(b'"method":"' + b"x" * 1024, more=True)
        assert (await call.head())[0] == 200
        assert error_of(await call.chunk()) == (7, -32600)


@pytest.mark.usefixtures("echo")
async def test_the_rest_of_a_refused_body_is_not_waited_for_for_ever(
    application: Application, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumer, "LINGER_SECONDS", 0.05)
    settings.A2A = {}
    async with AsgiCall(application, "POST", "/a2a/message:send", body=None, headers=HEADERS) as call:
        assert (await call.head())[0] == 401
        assert await call.chunk()
        assert await call.chunk() == b""
        assert call.task is not None
        await call.task


@pytest.mark.usefixtures("echo")
@pytest.mark.parametrize("version", ["2", "3"])
async def test_connections_of_later_versions_are_not_closed(application: Application, version: str) -> None:
    scope = {"http_version": version}
    async with AsgiCall(application, "PUT", "/a2a/", body=None, headers={"content-length": "5"}, scope=scope) as call:
        status, found = await call.head()
        assert (status, "connection" in found) == (405, False)


@pytest.mark.usefixtures("echo")
@pytest.mark.parametrize("method", ["GET", "OPTIONS", "PUT"])
async def test_what_needs_no_body_does_not_wait_for_one(application: Application, method: str) -> None:
    async with AsgiCall(application, method, "/a2a/", body=None) as call:
        assert "connection" not in (await call.head())[1]
        await call.body()
        assert call.task is not None
        await call.task


@pytest.mark.usefixtures("echo")
async def test_callers_who_leave_while_the_body_arrives(application: Application) -> None:
    threads = threading.active_count()
    calls = [AsgiCall(application, "POST", "/a2a/", body=None, headers=HEADERS) for _ in range(50)]
    for call in calls:
        await call.__aenter__()
        call.send(b'{"id":7,', more=True)
    assert all([await still(call) for call in calls])
    assert threading.active_count() < threads + 10  # the engine begins with the first request, and has a few
    for call in calls:
        await call.leave()
        assert call._sent.empty()


async def test_a_caller_who_leaves_ends_the_call_and_not_the_task(
    application: Application, register: Callable[[Agent], Agent]
) -> None:
    register(Patient())
    body = envelope("SendMessage", {"message": message("hi")}).encode()
    call = AsgiCall(application, "POST", "/a2a/", body=body)
    await call.__aenter__()
    async with asyncio.timeout(10):
        while not await Task.objects.filter(state="TASK_STATE_WORKING").aexists():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert engine.get().feed._readers
    await call.leave()  # waits for the end of the call
    assert call.task is not None
    assert call.task.cancelling() == 0
    assert call._sent.empty()
    assert not engine.get().feed._readers
    assert await Task.objects.filter(state="TASK_STATE_WORKING").aexists()


async def test_a_server_that_ends_a_call_ends_it(application: Application, register: Callable[[Agent], Agent]) -> None:
    register(Patient())
    for method in ("SendMessage", "SendStreamingMessage"):
        body = envelope(method, {"message": message("hi")}).encode()
        call = AsgiCall(application, "POST", "/a2a/", body=body)
        await call.__aenter__()
        assert call.task is not None
        if method == "SendStreamingMessage":
            await call.head()
            await call.chunk()
        else:
            await still(call)
        call.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call.task
        assert sse.places.taken == 0


@pytest.mark.usefixtures("echo")
@pytest.mark.parametrize("method", ["ListTasks", "SendStreamingMessage"])
async def test_the_end_of_an_answer_is_not_taken_for_a_caller_who_leaves(application: Application, method: str) -> None:
    """Servers say "disconnect" when the answer is complete, some before its last ``send`` has returned."""
    params = {"message": message("hi")} if method == "SendStreamingMessage" else {}
    call = AsgiCall(application, "POST", "/a2a/", body=envelope(method, params).encode())
    returned = []

    async def send(event: Any) -> None:
        last = event["type"] == "http.response.body" and not event["more_body"]
        if last:
            call._received.put_nowait({"type": "http.disconnect"})
        for _ in range(5):
            await asyncio.sleep(0)
        returned.append(last)

    await application(call._scope, call._received.get, send)
    assert returned[-1]


@pytest.mark.usefixtures("echo")
async def test_nothing_of_a_call_is_left_on_the_loop(application: Application) -> None:
    body = envelope("ListTasks").encode()
    for _ in range(3):
        async with AsgiCall(application, "POST", "/a2a/", body=body) as call:
            await call.head()
            await call.body()
            assert call.task is not None
            await call.task
            await asyncio.sleep(0)
            assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.usefixtures("echo")
async def test_open_access_and_known_keys_need_no_request_and_no_thread(
    application: Application, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they need is only what the operation itself reads."""

    def forbidden(*args: Any) -> None:
        raise AssertionError("a thread, or a request of Django's")

    async def card(path: str = "/a2a/extendedAgentCard", **headers: str) -> dict[str, Any]:
        async with AsgiCall(application, "GET", path, headers=headers) as call:
            await call.head()
            found: dict[str, Any] = json.loads(await call.body())
            return found

    monkeypatch.setattr(consumer, "full_request", forbidden)
    assert (await card())["error"]["details"][0]["reason"] == "UNSUPPORTED_OPERATION"
    monkeypatch.undo()
    settings.A2A = {}
    user = await User.objects.acreate(username="alice")
    __, text = await asyncio.to_thread(create_api_key, user)
    key = {"authorization": f"Bearer {text}"}
    assert (await card(**key))["error"]["details"][0]["reason"] == "UNSUPPORTED_OPERATION"
    monkeypatch.setattr(consumer, "full_request", forbidden)
    assert (await card(**key))["error"]["details"][0]["reason"] == "UNSUPPORTED_OPERATION"
    assert (await card(authorization="Bearer no.key"))["error"]["code"] == 500


async def test_a_stranger_whose_body_never_comes_is_refused_all_the_same(
    application: Application, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.A2A = {}
    monkeypatch.setattr(consumer, "HEAD_SECONDS", 0.01)
    monkeypatch.setattr(consumer, "LINGER_SECONDS", 0.01)
    async with AsgiCall(application, "POST", "/a2a/", body=None, headers={"content-length": "300"}) as call:
        assert (await call.head())[0] == 401
        assert error_of(await call.body()) == (None, -31401)
