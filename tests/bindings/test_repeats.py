"""The same message again, over every binding and from one to the other (R-086, D-32)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from django.test import AsyncClient

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.models import MessageReceipt, Task
from tests.bindings.carriers import CARRIERS
from tests.bindings.conftest import Echo, envelope, message
from tests.bindings.doors import Door, door, serve
from tests.bindings.v0_3.doors import Door as OldDoor
from tests.bindings.v0_3.doors import door as old_door
from tests.bindings.v0_3.doors import say

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["door", "old_door", "serve"]


class Once(Echo):
    """Counts its runs."""

    deduplicate = True
    mode = "auto"

    def __init__(self) -> None:
        super().__init__()
        self.runs = 0

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        """Reply to "reply", and answer everything else within a task."""
        self.runs += 1
        if ctx.text == "reply":
            await ctx.reply(f"reply {self.runs}")
        else:
            yield f"answer {self.runs}"


@pytest.fixture
async def once(register: Callable[[Agent], Agent]) -> Once:
    agent = Once()
    register(agent)
    return agent


async def test_over_each_binding(door: Door, once: Once, keys: dict[str, dict[str, str]]) -> None:
    async def send(text: str, who: str = "alice", operation: str = "SendMessage") -> Any:
        found = await door.call(operation, {"message": message(text)}, headers=keys[who])
        assert not found.reason, found
        return found.value

    first = await send("task")
    assert first["task"]["artifacts"][0]["parts"] == [{"text": "answer 1"}]
    assert await send("task") == first
    assert await send("task", operation="SendStreamingMessage") == first
    other = await send("task", "bob")
    assert other["task"]["id"] != first["task"]["id"]
    assert (once.runs, await Task.objects.acount()) == (2, 2)
    changed = await door.call("SendMessage", {"message": message("other")}, headers=keys["alice"])
    assert (changed.reason, changed.fields) == ("INVALID_PARAMS", ["message.message_id"])

    request = {"message": message("reply", messageId="m-2")}
    replies = [(await door.call("SendMessage", request, headers=keys["alice"])).value for _ in range(2)]
    replies.append((await door.call("SendStreamingMessage", request, headers=keys["alice"])).value)
    assert replies[0]["message"]["parts"] == [{"text": "reply 3"}]
    assert replies[1:] == replies[:1] * 2


async def test_at_the_same_moment(door: Door, once: Once, keys: dict[str, dict[str, str]]) -> None:
    for number, text in enumerate(("task", "reply")):
        request = {"message": message(text, messageId=f"m-{number}")}
        ways = ("SendMessage", "SendStreamingMessage") * 4
        found = await asyncio.gather(*(door.call(way, request, headers=keys["alice"]) for way in ways))
        names = {
            (each.value.get("task") or {"id": each.value.get("message", {}).get("messageId")})["id"] for each in found
        }
        assert len(names) == 1, found
    assert once.runs == 2


async def test_nobody_in_particular_is_not_told_apart(door: Door, once: Once) -> None:
    found = [await door.call("SendMessage", {"message": message("task")}) for _ in range(2)]
    assert len({each.task["id"] for each in found}) == 2
    assert not await MessageReceipt.objects.aexists()


async def test_from_one_version_to_the_other(old_door: OldDoor, once: Once, keys: dict[str, dict[str, str]]) -> None:
    """A client that has come by 0.3 and does not know whether it was heard may ask again by 1.0, or the other way."""
    alice = keys["alice"]
    json_rpc = Door("JSONRPC", CARRIERS["consumers"]().application())
    first = await json_rpc.call("SendMessage", {"message": message("task", messageId="m-task")}, headers=alice)
    request = {"request": say("task"), "configuration": {"blocking": True}}
    old = [await old_door.call("SendMessage", request, **alice) for _ in range(2)]
    assert [each.value["task"]["id"] for each in old] == [first.task["id"]] * 2
    changed = await old_door.call("SendMessage", {"request": {**say("task"), "metadata": {"a": 1}}}, **alice)
    assert changed.status in (400, "INVALID_ARGUMENT"), changed

    said = {"kind": "message", "messageId": "m-task", "role": "user", "parts": [{"kind": "text", "text": "task"}]}
    params = {"message": said, "configuration": {"blocking": True}}
    answer = await AsyncClient().post(
        "/a2a/", data=envelope("message/send", params), content_type="application/json", headers=alice
    )
    assert answer.json()["result"]["id"] == first.task["id"]
    assert once.runs == 1
