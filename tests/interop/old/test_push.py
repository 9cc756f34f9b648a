"""Webhooks of clients of version 0.3: the four operations, and what arrives."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.interop.old.clients import OldClient, OldClientError
from tests.push.receiver import Hook, receiving

SECONDS = 30


async def told(hook: Hook, state: str) -> list[Any]:
    """Wait until a webhook was told of a state, and return all the tasks that it got."""
    async with asyncio.timeout(SECONDS):
        while state not in [post.json["status"]["state"] for post in hook.accepted()]:  # noqa: ASYNC110 - it has a loop of its own
            await asyncio.sleep(0.05)
    return [post.json for post in hook.accepted()]


def check_delivery(hook: Hook, task_id: str) -> None:
    """Every delivery is the whole task in 0.3's form, with the token and the credentials."""
    for post in hook.posts:
        headers = {name.lower(): value for name, value in post.headers.items()}
        assert (post.json["kind"], post.json["id"]) == ("task", task_id)
        assert headers["content-type"].partition(";")[0] == "application/json"
        assert headers["x-a2a-notification-token"] == "tok"
        assert headers["authorization"] == "Bearer cred"


def bare(value: Any) -> Any:
    """Return a value without empty texts, which clients put in the place of what is not there."""
    if isinstance(value, dict):
        return {name: bare(item) for name, item in value.items() if item != ""}
    return [bare(item) for item in value] if isinstance(value, list) else value


async def test_webhooks_are_registered_read_listed_and_deleted(old: OldClient) -> None:
    task = await old.send("ask")
    config = {
        "id": "c1",
        "url": "https://93.184.215.14/a",
        "token": "tok",
        "authentication": {"schemes": ["Bearer"], "credentials": "cred"},
    }
    whole = {"taskId": task["id"], "pushNotificationConfig": config}
    assert bare(await old.call("push_set", **whole)) == whole
    named = {"id": task["id"], "pushNotificationConfigId": "c1"}
    assert bare(await old.call("push_get", **named)) == whole
    second = {"taskId": task["id"], "pushNotificationConfig": {"id": "c2", "url": "https://93.184.215.14/b"}}
    assert bare(await old.call("push_set", **second)) == second
    assert bare(await old.call("push_list", id=task["id"])) == [whole, second]
    assert await old.call("push_delete", **named) is None
    assert bare(await old.call("push_list", id=task["id"])) == [second]
    with pytest.raises(OldClientError):
        await old.call("push_get", **named)
    await old.call("cancel", id=task["id"])


async def test_a_webhook_that_comes_with_the_message_is_told(old: OldClient) -> None:
    with receiving() as receiver:
        hook = receiver.hook()
        config = {
            "url": hook.url,
            "token": "tok",
            "authentication": {"schemes": ["Bearer"], "credentials": "cred"},
        }
        task = await old.send("slow 2", blocking=False, pushNotificationConfig=config)
        tasks = await told(hook, "completed")
        check_delivery(hook, task["id"])
        assert [part["text"] for part in tasks[-1]["artifacts"][0]["parts"]] == ["tick-0", "tick-1"]


async def test_a_webhook_that_is_registered_later_is_told(old: OldClient) -> None:
    with receiving() as receiver:
        hook = receiver.hook()
        task = await old.send("ask")
        config = {
            "id": "later",
            "url": hook.url,
            "token": "tok",
            "authentication": {"schemes": ["Bearer"], "credentials": "cred"},
        }
        await old.call("push_set", taskId=task["id"], pushNotificationConfig=config)
        await old.send("blue", task=task)
        await told(hook, "completed")
        check_delivery(hook, task["id"])
