"""Throttles and quotas on every binding: the same refusal, and no place that is lost (D-35)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from a2a_django import Agent, engine
from a2a_django.agents import TaskContext
from a2a_django.bindings import sse
from a2a_django.models import Task
from tests.bindings.conftest import Echo, message
from tests.bindings.doors import Door, door, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("13.4")]

__all__ = ["door", "serve"]


class Waiting(Echo):
    """Works until it is let go; asks for a sign-in first when it is told to, and waits for it inside the run."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.ended = 0

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        """Wait, then say something."""
        if ctx.text == "sign in":
            await ctx.auth_required("who are you?")
        elif ctx.text == "fail":
            raise ZeroDivisionError
        else:
            await ctx.working()
        await self.go.wait()
        yield "at last"
        self.ended += 1


@pytest.fixture
async def waiting(register: Callable[[Agent], Agent]) -> Waiting:
    agent = Waiting()
    register(agent)
    return agent


def limited(settings: Settings, **limits: Any) -> None:
    settings.A2A = {**settings.A2A, **limits}


def ask(text: str = "go", **members: Any) -> dict[str, Any]:
    return {"message": message(text, **members), "configuration": {"returnImmediately": True}}


async def when(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


def nothing_taken() -> bool:
    return not (sse.places.taken or sse.places.quota._taken or engine.get().runner.quota._taken)


async def test_running_tasks_of_one_owner(
    door: Door, waiting: Waiting, keys: dict[str, dict[str, str]], settings: Settings
) -> None:
    limited(settings, MAX_RUNS_PER_OWNER=2, MAX_QUEUED_PER_OWNER=0)
    alice, bob = keys["alice"], keys["bob"]
    tasks = [(await door.call("SendMessage", ask(), headers=alice)).task for _ in range(2)]
    for operation in ("SendMessage", "SendStreamingMessage"):
        refused = await door.call(operation, ask(), headers=alice)
        assert refused.status == (429 if door.name != "GRPC" else "RESOURCE_EXHAUSTED")
        assert (refused.reason, refused.retry) == ("RESOURCE_EXHAUSTED", 1)
    assert await Task.objects.acount() == 2  # refused before anything was kept
    assert sse.places.quota.taken("") == sse.places.taken == 0
    assert (await door.call("SendMessage", ask(), headers=bob)).task  # somebody else's are not in the way
    assert (await door.call("CancelTask", {"id": tasks[0]["id"]}, headers=alice)).value
    owner = (await Task.objects.aget(pk=tasks[0]["id"])).owner
    await when(lambda: engine.get().runner.quota.taken(owner) == 1)
    assert (await door.call("SendMessage", ask(), headers=alice)).task
    waiting.go.set()
    await when(nothing_taken)


async def test_tasks_that_wait_for_room(door: Door, waiting: Waiting, settings: Settings) -> None:
    """What there is no room for is taken in and waits; more than may wait is refused."""
    limited(settings, MAX_RUNS_PER_OWNER=1, MAX_QUEUED_PER_OWNER=1)
    tasks = [(await door.call("SendMessage", ask())).task for _ in range(2)]
    assert tasks[1]["status"]["state"] == "TASK_STATE_SUBMITTED"
    for operation in ("SendMessage", "SendStreamingMessage"):
        refused = await door.call(operation, ask())
        assert refused.status == (429 if door.name != "GRPC" else "RESOURCE_EXHAUSTED")
        assert (refused.reason, refused.retry) == ("RESOURCE_EXHAUSTED", 1)
    assert await Task.objects.acount() == 2  # refused before anything was kept
    waiting.go.set()
    await when(lambda: waiting.ended == 2)
    await when(nothing_taken)


async def test_parked_tasks_are_not_counted(door: Door, waiting: Waiting, settings: Settings) -> None:
    """Also while their run goes on inside, waiting for the caller's sign-in."""
    limited(settings, MAX_RUNS_PER_OWNER=1, MAX_QUEUED_PER_OWNER=0)
    for _ in range(3):
        assert (await door.call("SendMessage", ask("sign in"))).task
        await when(lambda: not engine.get().runner.quota.taken(""))
    assert len(engine.get().runner._runs) == 3
    assert (await door.call("SendMessage", ask())).task
    assert (await door.call("SendMessage", ask())).reason == "RESOURCE_EXHAUSTED"
    waiting.go.set()
    await when(nothing_taken)


async def test_open_streams_of_one_owner(
    door: Door, waiting: Waiting, keys: dict[str, dict[str, str]], settings: Settings
) -> None:
    limited(settings, MAX_STREAMS_PER_OWNER=2)
    alice, bob = keys["alice"], keys["bob"]
    first = await door.call("SendStreamingMessage", ask(), headers=alice, keep=True)
    again = {"id": first.value["task"]["id"]}
    second = await door.call("SubscribeToTask", again, headers=alice, keep=True)
    for operation, request in (("SendStreamingMessage", ask()), ("SubscribeToTask", again)):
        refused = await door.call(operation, request, headers=alice)
        assert refused.status == (429 if door.name != "GRPC" else "RESOURCE_EXHAUSTED")
        assert (refused.reason, refused.retry) == ("RESOURCE_EXHAUSTED", 1)
    assert await Task.objects.acount() == 1
    third = await door.call("SendStreamingMessage", ask(), headers=bob, keep=True)
    assert (await door.call("GetTask", again, headers=alice)).value  # other calls need no place
    await door.leave(second)
    await when(lambda: sse.places.taken == 2)
    fourth = await door.call("SubscribeToTask", again, headers=alice, keep=True)
    for stream in (first, third, fourth):
        await door.leave(stream)
    waiting.go.set()
    await when(nothing_taken)


async def test_a_stream_that_is_refused_or_fails_keeps_no_place(
    door: Door, waiting: Waiting, settings: Settings
) -> None:
    limited(settings, MAX_STREAMS_PER_OWNER=1, MAX_RUNS_PER_OWNER=1, MAX_PARTS=1)
    many = {"message": message("x") | {"parts": [{"text": "x"}] * 2}}
    for _ in range(2):
        assert (await door.call("SubscribeToTask", {"id": "nobody"})).reason == "TASK_NOT_FOUND"
        assert (await door.call("SendStreamingMessage", many)).fields == ["message.parts"]
        assert (await door.call("SendStreamingMessage", ask("x", taskId="nobody"))).reason == "TASK_NOT_FOUND"
        assert (await door.call("SendStreamingMessage", ask("fail"))).value["task"]
        await when(nothing_taken)
    waiting.go.set()


async def test_parts_of_a_message(door: Door, waiting: Waiting, settings: Settings) -> None:
    limited(settings, MAX_PARTS=3)
    waiting.go.set()
    for count in (3, 4):
        outcome = await door.call("SendMessage", {"message": message("x") | {"parts": [{"text": "x"}] * count}})
        assert (outcome.reason, outcome.fields) == (("", []) if count == 3 else ("INVALID_PARAMS", ["message.parts"]))
    assert await Task.objects.acount() == 1


async def test_a_history_that_is_full(door: Door, register: Callable[[Agent], Agent], settings: Settings) -> None:
    register(Echo())
    limited(settings, MAX_HISTORY=4)
    task = (await door.call("SendMessage", ask("ask"))).task
    again = ask("ask", taskId=task["id"])
    await when(nothing_taken)
    assert (await door.call("SendMessage", again)).task
    await when(nothing_taken)
    outcome = await door.call("SendMessage", again)
    assert (outcome.reason, outcome.fields) == ("INVALID_PARAMS", ["message.task_id"])
    row = await Task.objects.aget()
    assert (row.state, row.message_count) == ("TASK_STATE_INPUT_REQUIRED", 3)
    assert (await door.call("CancelTask", {"id": task["id"]})).value  # it can still be ended
    await when(nothing_taken)


async def test_throttles_answer_alike_on_all_bindings(door: Door, waiting: Waiting, settings: Settings) -> None:
    cache.clear()
    waiting.go.set()
    limited(settings, THROTTLE_CLASSES=["a2a_django.access.AnonThrottle"], THROTTLE_RATES={"anon": "2/hour"})
    outcomes = [await door.call("ListTasks"), await door.call("SendStreamingMessage", ask())]
    assert not any(each.reason for each in outcomes)
    for operation, request in (
        ("SendMessage", ask()),
        ("SendStreamingMessage", ask()),
        ("SubscribeToTask", {"id": "nobody"}),
        ("GetExtendedAgentCard", {}),
    ):
        refused = await door.call(operation, request)
        assert refused.status == (429 if door.name != "GRPC" else "RESOURCE_EXHAUSTED")
        assert refused.reason == "RESOURCE_EXHAUSTED"
        assert refused.retry is not None
        assert 3000 < refused.retry <= 3600
    cache.clear()
    await when(nothing_taken)


async def test_throttles_tell_callers_apart(
    door: Door, waiting: Waiting, keys: dict[str, dict[str, str]], settings: Settings
) -> None:
    cache.clear()
    limited(settings, THROTTLE_CLASSES=["a2a_django.access.UserThrottle"], THROTTLE_RATES={"user": "1/min"})
    alice, bob = keys["alice"], keys["bob"]
    assert not (await door.call("ListTasks", headers=alice)).reason
    assert (await door.call("ListTasks", headers=alice)).reason == "RESOURCE_EXHAUSTED"
    assert not (await door.call("ListTasks", headers=bob)).reason
    cache.clear()
