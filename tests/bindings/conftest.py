"""What the tests of the bindings share: agents of their own, and calls through Django's test client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from pytest_django import Settings

from a2a_django import Agent, Skill
from a2a_django.access import create_api_key
from a2a_django.agents import TaskContext, registry
from tests.bindings.carriers import CARRIERS, Carrier

VERSION = {"A2A-Version": "1.0"}


@pytest.fixture(params=list(CARRIERS))
def carrier(request: pytest.FixtureRequest) -> Iterator[Carrier]:
    """Each carrier in turn. What the consumers may leave to the site, a test has to take out of ``passed_on``."""
    made = CARRIERS[request.param]()
    yield made
    assert not made.passed_on


class Echo(Agent):
    """Says it again; asks back when it is told to."""

    skills = [Skill("echo", "Echo", "Says it again", tags=["test"])]

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        """Do what the first word says."""
        if ctx.text == "ask":
            await ctx.input_required("yes?")
        else:
            yield ctx.text


@pytest.fixture
def register() -> Iterator[Callable[[Agent], Agent]]:
    """Return the function that adds an agent; the registry is empty before and as it was after the test."""
    before = dict(registry._agents), list(registry.duplicates)
    registry.all()
    registry._agents.clear()

    def add(agent: Agent) -> Agent:
        registry.add(agent)
        return agent

    yield add
    registry._agents.clear()
    registry._agents.update(before[0])
    registry.duplicates[:] = before[1]


@pytest.fixture
def echo(register: Callable[[Agent], Agent]) -> Agent:
    """A site with one agent."""
    return register(Echo())


def message(text: str, **members: Any) -> dict[str, Any]:
    """A user's message."""
    return {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}], **members}


def envelope(method: str, params: Any = None, **members: Any) -> str:
    """The text of a JSON-RPC request."""
    body = {"jsonrpc": "2.0", "id": "t1", "method": method, **members}
    if params is not None:
        body["params"] = params
    return json.dumps(body)


async def rpc(client: AsyncClient, raw: str | bytes, *, path: str = "/a2a/", **headers: str) -> Any:
    """POST a JSON-RPC body."""
    sent = VERSION | {name.replace("_", "-"): value for name, value in headers.items()}
    return await client.post(path, data=raw, content_type="application/json", headers=sent)


async def rest(
    client: AsyncClient,
    verb: str,
    path: str,
    body: Any = None,
    *,
    raw: bytes | None = None,
    content_type: str = "application/json",
    **headers: str,
) -> Any:
    """Send an HTTP+JSON request below /a2a."""
    sent = VERSION | {name.replace("_", "-"): value for name, value in headers.items()}
    data = raw if raw is not None else (json.dumps(body).encode() if body is not None else b"")
    return await client.generic(verb, f"/a2a{path}", data=data, content_type=content_type, headers=sent)


async def events(response: Any) -> list[dict[str, Any]]:
    """The events of a stream, read to its end."""
    assert response.headers["Content-Type"] == "text/event-stream"
    text = b"".join([chunk async for chunk in response.streaming_content]).decode("ascii")
    return [event for _, event in numbered(text)]


def numbered(text: str) -> list[tuple[int | None, dict[str, Any]]]:
    """The events in the text of a stream with their numbers; comments and errors left out."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line[:1] != ":" and ": " in line)
        if "data" in fields and "event" not in fields:
            found.append((int(fields["id"]) if "id" in fields else None, json.loads(fields["data"])))
    return found


@pytest.fixture
async def keys(settings: Settings, serve: Any) -> dict[str, dict[str, str]]:
    """Alice's and Bob's credentials, on a site with the package's defaults."""
    settings.A2A = {}
    found = {}
    for name in ("alice", "bob"):
        user = await User.objects.acreate(username=name)
        found[name] = {"Authorization": f"Bearer {(await asyncio.to_thread(create_api_key, user))[1]}"}
    return found
