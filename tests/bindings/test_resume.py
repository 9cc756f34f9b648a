"""Streams that were cut off: numbers of events, and SubscribeToTask that goes on after one (R-065, R-067, D-06)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.test import AsyncClient

from a2a_django import Agent
from a2a_django.agents import TaskContext
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import envelope, message, numbered, rest, rpc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("3.5.2")]

BINDINGS = ("rpc", "rest")


class Steps(Agent):
    """Gets to work, says a word whenever it may, and ends after the sixth."""

    abstract = True

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Semaphore(0)

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        await ctx.working()
        for number in range(6):
            await self.go.acquire()
            yield str(number)


@pytest.fixture
def steps(register: Callable[[Agent], Agent]) -> Steps:
    agent = Steps()
    register(agent)
    return agent


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


async def start(client: AsyncClient) -> str:
    asked = {"message": message("go"), "configuration": {"returnImmediately": True}}
    answer = await rest(client, "POST", "/message:send", asked)
    return str(json.loads(answer.content)["task"]["id"])


async def subscribed(client: AsyncClient, binding: str, task_id: str, **headers: str) -> Any:
    if binding == "rpc":
        return await rpc(client, envelope("SubscribeToTask", {"id": task_id}), **headers)
    return await rest(client, "POST", f"/tasks/{task_id}:subscribe", {}, **headers)


async def sent(client: AsyncClient, binding: str, **headers: str) -> Any:
    if binding == "rpc":
        return await rpc(client, envelope("SendStreamingMessage", {"message": message("go")}), **headers)
    return await rest(client, "POST", "/message:stream", {"message": message("go")}, **headers)


async def whole(response: Any) -> str:
    async with asyncio.timeout(20):
        return b"".join([chunk async for chunk in response.streaming_content]).decode("ascii")


async def reached(client: AsyncClient, task_id: str, chunks: int) -> None:
    """Wait until the task has so many chunks."""
    async with asyncio.timeout(20):
        while True:
            task = json.loads((await rest(client, "GET", f"/tasks/{task_id}")).content)
            if sum(len(each["parts"]) for each in task.get("artifacts", ())) == chunks:
                return


def told(event: dict[str, Any]) -> tuple[str, str]:
    """The kind of an event, and its state or its word."""
    event = event.get("result", event)
    ((kind, value),) = event.items()
    if kind == "artifactUpdate":
        return kind, value["artifact"]["parts"][0].get("text", "")
    return kind, value["status"]["state"].removeprefix("TASK_STATE_")


@pytest.mark.parametrize("binding", BINDINGS)
async def test_events_are_numbered_from_the_task_on(client: AsyncClient, steps: Steps, binding: str) -> None:
    for _ in range(6):
        steps.go.release()
    events = numbered(await whole(await sent(client, binding)))
    numbers = [number for number, _ in events]
    assert numbers == list(range(numbers[0] or 0, len(numbers)))
    assert numbers[0] == 0
    assert told(events[0][1])[0] == "task"


@pytest.mark.parametrize("binding", BINDINGS)
async def test_it_goes_on_after_the_event_that_was_the_last(client: AsyncClient, steps: Steps, binding: str) -> None:
    task_id = await start(client)
    before = await subscribed(client, binding, task_id, Last_Event_ID="0")
    for _ in range(3):
        steps.go.release()
    await reached(client, task_id, 3)
    again = [await subscribed(client, binding, task_id, Last_Event_ID=str(number)) for number in range(4)]
    for _ in range(3):
        steps.go.release()
    everything = numbered(await whole(before))
    for number, response in enumerate(again):
        found = numbered(await whole(response))
        (first, task), missed = found[0], found[1:]
        assert first == number
        assert told(task) == ("task", "WORKING")  # as it is now, not as it was
        inner = task.get("result", task)["task"]
        assert "artifacts" not in inner
        assert "history" not in inner
        assert missed == [each for each in everything if (each[0] or 0) > number]


@pytest.mark.parametrize("binding", BINDINGS)
@pytest.mark.parametrize("value", ["", "nonsense", "-1", "1.5", "99", "9" * 40, "\xb2", "1,1"])
async def test_an_id_that_is_none_of_the_task_is_ignored(
    client: AsyncClient, steps: Steps, binding: str, value: str
) -> None:
    task_id = await start(client)
    steps.go.release()
    await reached(client, task_id, 1)
    response = await subscribed(client, binding, task_id, Last_Event_ID=value)
    for _ in range(5):
        steps.go.release()
    (first, task), *others = numbered(await whole(response))
    inner = task.get("result", task)["task"]
    assert inner["artifacts"][0]["parts"][0]["text"] == "0"
    assert [part["text"] for part in inner["history"][0]["parts"]] == ["go"]
    assert first is not None
    assert [number for number, _ in others] == list(range(first + 1, first + 1 + len(others)))


@pytest.mark.spec("3.1.6")
@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_task_that_has_ended_is_refused(client: AsyncClient, steps: Steps, binding: str) -> None:
    for _ in range(6):
        steps.go.release()
    task = numbered(await whole(await sent(client, binding)))[0][1]
    task_id = task.get("result", task)["task"]["id"]
    answer = await subscribed(client, binding, task_id, Last_Event_ID="2")
    assert "UNSUPPORTED_OPERATION" in answer.content.decode()


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_message_is_sent_whatever_event_was_the_last(client: AsyncClient, steps: Steps, binding: str) -> None:
    for _ in range(6):
        steps.go.release()
    events = numbered(await whole(await sent(client, binding, Last_Event_ID="3")))
    assert [number for number, _ in events] == list(range(len(events)))
    task = events[0][1].get("result", events[0][1])["task"]
    assert "history" in task


@pytest.mark.parametrize("binding", BINDINGS)
async def test_a_bare_message_has_no_number(
    client: AsyncClient, register: Callable[[Agent], Agent], binding: str
) -> None:
    class Answering(Agent):
        """Answers without a task."""

        abstract = True
        mode = "message"

        async def run(self, ctx: TaskContext) -> str:
            return "hello"

    register(Answering())
    ((number, event),) = numbered(await whole(await sent(client, binding)))
    assert number is None
    assert "message" in event.get("result", event)


async def test_streams_of_0_3_have_no_numbers(client: AsyncClient, steps: Steps) -> None:
    old = {"kind": "message", "messageId": "m-1", "role": "user", "parts": [{"kind": "text", "text": "go"}]}
    for _ in range(6):
        steps.go.release()
    body = envelope("message/stream", {"message": old})
    response = await client.post("/a2a/", data=body, content_type="application/json", headers={"last-event-id": "1"})
    events = numbered(await whole(response))
    assert events
    assert all(number is None for number, _ in events)
