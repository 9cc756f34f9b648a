"""Webhooks with the Python client: the four operations, and what arrives at an address of its own."""

from __future__ import annotations

import asyncio

import pytest
from a2a.types import (
    AuthenticationInfo,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    StreamResponse,
    TaskNotFoundError,
    TaskPushNotificationConfig,
)
from google.protobuf import json_format

from tests.interop.python.sdk import SECONDS, Connect, collect, request, sent
from tests.push.receiver import receiving

BEARER = AuthenticationInfo(scheme="Bearer", credentials="cred")


def config(**members: object) -> TaskPushNotificationConfig:
    return TaskPushNotificationConfig(**members)  # type: ignore[arg-type]


async def test_webhooks_are_registered_read_listed_replaced_and_deleted(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "ask")
    whole = config(id="c1", task_id=task.id, url="https://93.184.215.14/a", token="tok", authentication=BEARER)
    assert await client.create_task_push_notification_config(whole) == whole
    named = GetTaskPushNotificationConfigRequest(task_id=task.id, id="c1")
    assert await client.get_task_push_notification_config(named) == whole
    changed = config(id="c1", task_id=task.id, url="https://93.184.215.14/b")
    assert await client.create_task_push_notification_config(changed) == changed
    own = await client.create_task_push_notification_config(config(task_id=task.id, url="https://93.184.215.14/c"))
    assert own.id not in ("", "c1")
    everything = ListTaskPushNotificationConfigsRequest(task_id=task.id)
    assert list((await client.list_task_push_notification_configs(everything)).configs) == [changed, own]
    for _ in range(2):
        await client.delete_task_push_notification_config(
            DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="c1")
        )
    assert list((await client.list_task_push_notification_configs(everything)).configs) == [own]
    with pytest.raises(TaskNotFoundError):
        await client.get_task_push_notification_config(named)


async def test_a_webhook_that_comes_with_a_message_is_told_everything(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    with receiving() as receiver:
        hook = receiver.hook()
        given = config(url=hook.url, token="tok", authentication=BEARER)
        await collect(client.send_message(request("echo hello", task_push_notification_config=given)))
        async with asyncio.timeout(SECONDS):
            while "COMPLETED" not in hook.states():  # noqa: ASYNC110 - the receiver has a loop of its own
                await asyncio.sleep(0.05)
        assert hook.states()[-1] == "COMPLETED"
        assert hook.texts() == ["hello"]
        for post in hook.posts:
            event = json_format.ParseDict(post.json, StreamResponse())
            assert event.WhichOneof("payload")
            headers = {name.lower(): value for name, value in post.headers.items()}
            assert (headers["authorization"], headers["x-a2a-notification-token"]) == ("Bearer cred", "tok")
