"""Clients of 0.3: agents, messages and calls without a version."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.test import AsyncClient

from a2a_django import Agent, Skill
from a2a_django.agents import TaskContext
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import envelope, events


class Scripted(Agent):
    """Does what the first word says."""

    abstract = True
    push_notifications = True
    extended_agent_card = True
    skills = [Skill("script", "Script", "Does it", tags=["test"])]

    #: Told to go on, and whether a run is waiting for that.
    go = asyncio.Event()

    async def run(self, ctx: TaskContext) -> AsyncIterator[Any]:
        """Ask back, wait, answer in pieces, answer with data, or say it again."""
        word, __, rest = ctx.text.partition(" ")
        if word == "ask":
            await ctx.input_required("yes?")
        elif word == "wait":
            await ctx.working("at it")
            await self.go.wait()
        elif word == "pieces":
            for piece in rest.split():
                yield piece
        elif word == "data":
            yield [1, {"a": 2}]
        else:
            yield ctx.text

    def extended_card(self, user: Any) -> Any:
        """Return a card with one skill more."""
        return self.card(skills=[*self.skills, Skill("more", "More", "More", tags=["x"])])


class Talker(Agent):
    """Answers with one message."""

    abstract = True
    mode = "message"

    async def run(self, ctx: TaskContext) -> None:
        """Say hello."""
        await ctx.reply("hello")


@pytest.fixture
def agent(register: Callable[[Agent], Agent]) -> Agent:
    """A site with one agent."""
    made = register(Scripted())
    Scripted.go = asyncio.Event()
    return made


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    """Each carrier in turn."""
    return carrier.client(enforce_csrf_checks=True)


def say(text: str, **members: Any) -> dict[str, Any]:
    """A user's message."""
    part = {"kind": "text", "text": text}
    return {"kind": "message", "messageId": f"m-{text}", "role": "user", "parts": [part], **members}


async def post(client: AsyncClient, method: str, params: Any = None, *, path: str = "/a2a/", **headers: str) -> Any:
    """Call a method as a client of 0.3 does: without a version."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post(path, data=envelope(method, params), content_type="application/json", headers=sent)


async def call(client: AsyncClient, method: str, params: Any = None, **more: str) -> Any:
    """Return the result of a method."""
    response = await post(client, method, params, **more)
    body = json.loads(response.content)
    assert response.status_code == 200, body
    assert set(body) == {"jsonrpc", "id", "result"}, body
    assert (body["jsonrpc"], body["id"]) == ("2.0", "t1")
    return body["result"]


async def refusal(client: AsyncClient, method: str, params: Any = None, *, status: int = 200, **more: str) -> Any:
    """Return the error of a method."""
    response = await post(client, method, params, **more)
    body = json.loads(response.content)
    assert response.status_code == status, body
    assert response.headers["Content-Type"] == "application/json"
    assert set(body) == {"jsonrpc", "id", "error"}, body
    assert body["id"] == "t1"
    return body["error"]


async def stream(client: AsyncClient, method: str, params: Any, **more: str) -> list[dict[str, Any]]:
    """Return the events of a stream, read to its end."""
    found = await events(await post(client, method, params, **more))
    assert all((each["jsonrpc"], each["id"]) == ("2.0", "t1") for each in found)
    return [each["result"] for each in found]


async def until(client: AsyncClient, task_id: str, *states: str) -> dict[str, Any]:
    """Wait until a task is in one of the states."""
    async with asyncio.timeout(20):
        while True:
            task: dict[str, Any] = await call(client, "tasks/get", {"id": task_id})
            if task["status"]["state"] in states:
                return task
            await asyncio.sleep(0.02)


def texts(parts: list[dict[str, Any]]) -> list[str]:
    """The texts of parts of 0.3."""
    assert all(part["kind"] == "text" for part in parts)
    return [part["text"] for part in parts]
