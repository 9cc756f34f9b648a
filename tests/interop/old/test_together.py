"""Clients of both versions with the same tasks, on the same site, at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from a2a.client import Client
from a2a.types import GetTaskRequest, StreamResponse, SubscribeToTaskRequest

from tests.interop.live_site import Live
from tests.interop.old.clients import OldClient, message, texts
from tests.interop.python.sdk import collect, connected, replay, request, sent, state_of, states
from tests.interop.python.sdk import texts as new_texts
from tests.push.receiver import receiving

LONG = 8


@pytest.fixture(params=["JSONRPC", "HTTP+JSON", "GRPC"], ids=["jsonrpc", "rest", "grpc"])
async def new(request: pytest.FixtureRequest, live: Live) -> AsyncIterator[Client]:
    """The 1.x client of the same user; it does not stream unless it subscribes."""
    async with connected(live, "main", request.param, streaming=False) as connection:
        yield connection.client


@pytest.fixture
async def newest(live: Live) -> AsyncIterator[Client]:
    """A 1.x client that streams."""
    async with connected(live, "main", "JSONRPC") as connection:
        yield connection.client


async def test_a_task_that_an_old_client_began_is_finished_by_a_new_one(old: OldClient, new: Client) -> None:
    asked = await old.send("ask 2")
    task = await new.get_task(GetTaskRequest(id=asked["id"]))
    assert (task.context_id, state_of(task.status.state)) == (asked["contextId"], "INPUT_REQUIRED")
    assert [part.text for part in task.status.message.parts] == ["which colour?"]
    assert state_of((await sent(new, "red", task=task)).status.state) == "INPUT_REQUIRED"
    ended = await sent(new, "blue", task=task)
    assert state_of(ended.status.state) == "COMPLETED"
    read = await old.call("get", id=asked["id"])
    assert read["status"]["state"] == "completed"
    assert [texts(each) for each in read["history"] if each["role"] == "user"] == [["ask 2"], ["red"], ["blue"]]
    assert texts(read["artifacts"][0]) == ["blue"]


async def test_a_task_that_a_new_client_began_is_finished_by_an_old_one(old: OldClient, new: Client) -> None:
    asked = await sent(new, "ask")
    read = await old.call("get", id=asked.id)
    assert (read["contextId"], read["status"]["state"]) == (asked.context_id, "input-required")
    answered = await old.send("blue", task=read)
    assert (answered["id"], answered["status"]["state"]) == (asked.id, "completed")
    ended = await new.get_task(GetTaskRequest(id=asked.id))
    assert state_of(ended.status.state) == "COMPLETED"
    assert new_texts(ended.artifacts[0]) == ["blue"]


async def test_both_follow_the_same_task(old: OldClient, newest: Client) -> None:
    task = await old.send(f"slow {LONG}", blocking=False)

    async def followed() -> list[StreamResponse]:
        return await collect(newest.subscribe(SubscribeToTaskRequest(id=task["id"])))

    events, new_events = await asyncio.gather(old.whole("resubscribe", id=task["id"]), followed())
    assert (events[-1]["status"]["state"], states(new_events)[-1]) == ("completed", "COMPLETED")
    assert new_texts(replay(new_events).artifacts[0]) == [f"tick-{i}" for i in range(LONG)]
    chunks = [text for artifact in events[0].get("artifacts", []) for text in texts(artifact)]
    chunks += [text for each in events if each["kind"] == "artifact-update" for text in texts(each["artifact"])]
    assert chunks == [f"tick-{i}" for i in range(LONG)]


async def test_each_webhook_is_told_in_its_own_version(old: OldClient, newest: Client) -> None:
    from a2a.types import TaskPushNotificationConfig

    with receiving() as receiver:
        old_hook, new_hook = receiver.hook(), receiver.hook()
        task = await old.send("slow 4", blocking=False, pushNotificationConfig={"url": old_hook.url})
        await newest.create_task_push_notification_config(
            TaskPushNotificationConfig(task_id=task["id"], url=new_hook.url)
        )
        async with asyncio.timeout(30):
            while "COMPLETED" not in new_hook.states() or not _ended(old_hook.accepted()):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert {post.json["kind"] for post in old_hook.posts} == {"task"}
        assert all("kind" not in post.json for post in new_hook.posts)


def _ended(posts: list[Any]) -> bool:
    return bool(posts) and posts[-1].json["status"]["state"] == "completed"


async def test_both_at_the_same_time(old: OldClient, newest: Client) -> None:
    """Many of each, streams and single calls mixed."""

    async def old_stream(i: int) -> str:
        events = await old.whole("stream", message=message(f"burst {i + 1}"), configuration={"blocking": True})
        return str(events[-1]["status"]["state"])

    async def new_stream(i: int) -> str:
        return states(await collect(newest.send_message(request(f"burst {i + 1}"))))[-1].lower()

    async def old_call(i: int) -> str:
        return str((await old.send(f"echo {i}"))["status"]["state"])

    found = await asyncio.gather(*(call(i) for i in range(5) for call in (old_stream, new_stream, old_call)))
    assert set(found) == {"completed"}
