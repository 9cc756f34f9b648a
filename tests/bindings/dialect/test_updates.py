"""``GET /sse?taskId=`` on both carriers (facts 10.4)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.agents import TaskContext
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import envelope, message, rpc

pytestmark = pytest.mark.django_db(transaction=True)


class Teller(Agent):
    """Does what it is told to, when the test opens the gate."""

    abstract = True
    gate: asyncio.Event

    async def run(self, ctx: TaskContext) -> None:
        await ctx.working("on my way")
        if ctx.text == "wait":
            await self.gate.wait()
        if ctx.text == "ask":
            await ctx.input_required("which?")
            return
        await ctx.artifact("one", artifact_id="a", name="answer")
        await ctx.artifact("two", artifact_id="a", append=True, last_chunk=True)
        await ctx.complete("done")


@pytest.fixture
def teller(register: Callable[[Agent], Agent], settings: Settings) -> Agent:
    settings.A2A = {**settings.A2A, "TUTORIAL_DIALECT": True}
    agent = Teller()
    agent.gate = asyncio.Event()
    return register(agent)


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


async def started(client: AsyncClient, text: str, *, wait: bool = False) -> str:
    params = {"message": message(text), "configuration": {"returnImmediately": not wait}}
    answer = json.loads((await rpc(client, envelope("SendMessage", params))).content)
    return str(answer["result"]["task"]["id"])


def parsed(text: str) -> list[tuple[str, Any]]:
    """The events of a stream: the id and the data of each, comments left out."""
    found = []
    for block in text.split("\n\n"):
        if not block or block.startswith(":"):
            continue
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        assert fields.keys() == {"event", "id", "data"}
        assert fields["event"] == "task_update"
        found.append((fields["id"], json.loads(fields["data"])))
    return found


async def followed(client: AsyncClient, query: str, path: str = "/sse", **headers: str) -> list[tuple[str, Any]]:
    response = await client.get(f"{path}?{query}", headers={n.replace("_", "-"): v for n, v in headers.items()})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/event-stream"
    assert "no-cache" in response.headers["Cache-Control"]
    assert response.headers["X-Accel-Buffering"] == "no"
    async with asyncio.timeout(20):
        return parsed(b"".join([chunk async for chunk in response.streaming_content]).decode("ascii"))


def said(data: Any) -> str:
    return "".join(part["text"] for part in data.get("message", {"parts": []})["parts"])


async def test_everything_from_the_state_on_connect_to_the_end(client: AsyncClient, teller: Any) -> None:
    task_id = await started(client, "wait")
    reading = asyncio.ensure_future(followed(client, f"taskId={task_id}"))
    await asyncio.sleep(0.2)
    teller.gate.set()
    events = await reading
    datas = [data for __, data in events]
    assert [data["state"] for data in datas[-4:]] == ["working", "working", "working", "completed"]
    assert [said(data) for data in datas[-4:]] == ["on my way", "one", "two", "done"]
    assert {data["taskId"] for data in datas} == {task_id}
    assert all(data["contextId"] for data in datas)
    first, second = datas[-3:-1]
    assert first["artifact"] == {"artifactId": "a", "name": "answer", "append": False, "lastChunk": False}
    assert second["artifact"]["append"] is second["artifact"]["lastChunk"] is True
    assert (first["message"]["kind"], first["message"]["role"]) == ("message", "agent")
    assert first["message"]["parts"] == [{"kind": "text", "text": "one"}]
    assert "artifact" not in datas[-1]
    numbers = [int(number) for number, __ in events]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


@pytest.mark.parametrize("path", ["/sse", "/a2a/sse"])
@pytest.mark.parametrize("name", ["taskId", "id"])
@pytest.mark.usefixtures("teller")
async def test_a_task_that_has_ended_is_one_event(client: AsyncClient, path: str, name: str) -> None:
    task_id = await started(client, "go", wait=True)
    ((__, data),) = await followed(client, f"{name}={task_id}", path)
    assert (data["state"], said(data)) == ("completed", "done")


@pytest.mark.usefixtures("teller")
async def test_a_browser_that_comes_back_after_the_end_is_told_to_stay_away(client: AsyncClient) -> None:
    task_id = await started(client, "go", wait=True)
    ((number, __),) = await followed(client, f"taskId={task_id}")
    response = await client.get(f"/sse?taskId={task_id}", headers={"Last-Event-ID": number})
    assert (response.status_code, response.content) == (204, b"")
    assert "Content-Type" not in response.headers
    for other in ("0", "99999", "x", "-1", "", "9" * 400):
        assert len(await followed(client, f"taskId={task_id}", Last_Event_ID=other)) == 1


async def test_a_browser_that_lost_its_connection_gets_what_it_missed(client: AsyncClient, teller: Any) -> None:
    task_id = await started(client, "wait")
    async with asyncio.timeout(20):
        while (await state_of(client, task_id)) != "TASK_STATE_WORKING":  # noqa: ASYNC110 - over HTTP there is no event
            await asyncio.sleep(0.01)
    reading = asyncio.ensure_future(followed(client, f"taskId={task_id}", Last_Event_ID="0"))
    await asyncio.sleep(0.2)
    teller.gate.set()
    events = await reading
    assert [number for number, __ in events] == [str(i) for i in range(1, len(events) + 1)]
    assert [said(data) for __, data in events][-4:] == ["on my way", "one", "two", "done"]


async def state_of(client: AsyncClient, task_id: str) -> str:
    answer = json.loads((await rpc(client, envelope("GetTask", {"id": task_id}))).content)
    return str(answer["result"]["status"]["state"])


@pytest.mark.usefixtures("teller")
async def test_a_question_keeps_the_stream_open(client: AsyncClient) -> None:
    task_id = await started(client, "ask", wait=True)
    reading = asyncio.ensure_future(followed(client, f"taskId={task_id}"))
    await asyncio.sleep(0.2)
    assert not reading.done()
    await rpc(client, envelope("CancelTask", {"id": task_id}))
    events = await reading
    assert [data["state"] for __, data in events] == ["input-required", "canceled"]
    assert said(events[0][1]) == "which?"


@pytest.mark.parametrize(
    ("query", "status", "reason"),
    [
        ("", 400, "INVALID_PARAMS"),
        ("taskId=", 400, "INVALID_PARAMS"),
        ("taskId=a&id=b", 400, "INVALID_PARAMS"),
        ("taskId=nobody-has-this-id", 404, "TASK_NOT_FOUND"),
        ("taskId=a&tenant=nobody", 400, "INVALID_PARAMS"),
        ("taskId=a&A2A-Version=1.0", 400, "VERSION_NOT_SUPPORTED"),
    ],
)
@pytest.mark.usefixtures("teller")
async def test_what_is_wrong_is_an_ordinary_answer(client: AsyncClient, query: str, status: int, reason: str) -> None:
    response = await client.get(f"/sse?{query}", headers={"Accept": "text/event-stream"})
    error = json.loads(response.content)["error"]
    assert (response.status_code, error["code"], error["details"][0]["reason"]) == (status, status, reason)


async def test_an_agent_that_does_not_stream(client: AsyncClient, teller: Any) -> None:
    task_id = await started(client, "go", wait=True)
    teller.streaming = False
    response = await client.get(f"/sse?taskId={task_id}")
    assert response.status_code == 400
    assert json.loads(response.content)["error"]["details"][0]["reason"] == "UNSUPPORTED_OPERATION"


@pytest.mark.usefixtures("teller")
async def test_who_may_not_call_gets_no_stream(client: AsyncClient, settings: Settings) -> None:
    task_id = await started(client, "go", wait=True)
    settings.A2A = {"TUTORIAL_DIALECT": True}
    response = await client.get(f"/sse?taskId={task_id}")
    assert response.status_code == 401
    assert response.headers["WWW-Authenticate"]
    assert json.loads(response.content)["error"]["code"] == 401


@pytest.mark.usefixtures("teller")
async def test_other_verbs(client: AsyncClient) -> None:
    assert (await client.options("/sse")).headers["Allow"] == "GET, OPTIONS"
    response = await client.post("/sse?taskId=x", data="{}", content_type="application/json")
    assert (response.status_code, response.headers["Allow"]) == (405, "GET, OPTIONS")
