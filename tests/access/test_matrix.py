"""{every binding on every carrier} x {every operation} x {every kind of caller}: no cell tells of another's task.

An answer about a task that the caller may not see is, byte for byte, the one about a task that does not exist; the
owner's cells show that it is there.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import grpc
import pytest
from a2a.types import a2a_pb2
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from google.protobuf import json_format
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.access import create_api_key
from a2a_django.agents import TaskContext
from a2a_django.models import PushConfig, Task
from a2a_django.models.fields import uuid7
from a2a_django.operations import OPERATIONS
from tests.bindings.conftest import VERSION, Echo, message, register
from tests.bindings.doors import Door, door, serve

__all__ = ["door", "register", "serve"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("13.1", "7.4", "5.1")]

HOOK = "http://127.0.0.1:9/hook"

#: Who calls: the name of the user whose key is shown, and the tenant under which the call is made.
CALLERS = {
    "anonymous": ("", ""),
    "other user": ("bob", ""),
    "staff": ("root", ""),
    "other tenant": ("alice", "second"),
    "owner": ("alice", ""),
}

KINDS = ("live", "waiting", "ended")


class Held(Echo):
    """Works until it is released."""

    abstract = True
    slug = "held"
    push_notifications = True
    extended_agent_card = True
    release: asyncio.Event

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        """Do what the first word says."""
        if ctx.text == "hold":
            yield "held"
            await self.release.wait()
        elif ctx.text == "ask":
            await ctx.input_required("yes?")
        yield "over"

    def extended_card(self, user: Any) -> dict[str, Any]:
        """Return the public card, for whoever is known."""
        return self.card()


class Second(Held):
    """Another agent of the site, of another tenant."""

    abstract = True
    slug = "second"


@dataclass
class Stage:
    """A site with tasks of Alice's in all kinds of states, each with a webhook."""

    door: Door
    keys: dict[str, str]
    agent: Held
    tasks: dict[str, dict[str, Any]]

    def headers(self, caller: str) -> dict[str, str]:
        name = CALLERS[caller][0]
        return VERSION | ({"Authorization": f"Bearer {self.keys[name]}"} if name else {})

    async def ask(self, caller: str, operation: str, request: dict[str, Any]) -> bytes:
        """Return all that a caller sees: status, headers or metadata, body; of a stream the beginning."""
        tenant = CALLERS[caller][1]
        headers = self.headers(caller)
        if self.door.name == "GRPC":
            return await self._grpc(operation, request | ({"tenant": tenant} if tenant else {}), headers)
        if tenant and self.door.name == "JSONRPC":
            request = request | {"tenant": tenant}
        call = self.door._http_call(operation, dict(request), tenant, {}, headers)
        await call.__aenter__()
        status, found = await call.head()
        is_stream = found["content-type"] == "text/event-stream"
        body = await call.chunk() if is_stream else await call.body()
        await call.leave()
        return repr((status, sorted(found.items()))).encode() + body

    async def _grpc(self, operation: str, request: dict[str, Any], headers: dict[str, str]) -> bytes:
        assert self.door.live is not None
        sent = json_format.ParseDict(request, getattr(a2a_pb2, OPERATIONS[operation].request)())
        metadata = tuple((name.lower(), value) for name, value in headers.items())
        call = getattr(self.door.live.stub(), operation)(sent, metadata=metadata)
        try:
            answer = await (anext(aiter(call)) if OPERATIONS[operation].streaming else call)
        except grpc.aio.AioRpcError as error:
            told = (error.code(), error.details(), error.initial_metadata(), error.trailing_metadata())
            return repr(told).encode()
        call.cancel()
        return json_format.MessageToJson(answer).encode()


def request_for(operation: str, task_id: str, context_id: str) -> dict[str, Any]:
    """A request about a task, or about its context where it is not about one task."""
    match operation:
        case "SendMessage" | "SendStreamingMessage":
            return {"message": message("more", taskId=task_id), "configuration": {"returnImmediately": True}}
        case "ListTasks":
            return {"contextId": context_id}
        case "GetExtendedAgentCard":
            return {}
        case "CreateTaskPushNotificationConfig":
            return {"taskId": task_id, "id": "theirs", "url": HOOK}
        case "GetTaskPushNotificationConfig" | "DeleteTaskPushNotificationConfig":
            return {"taskId": task_id, "id": "hook"}
        case "ListTaskPushNotificationConfigs":
            return {"taskId": task_id}
    return {"id": task_id}


@pytest.fixture
async def stage(settings: Settings, register: Callable[[Agent], Agent], transactional_db: None, door: Door) -> Stage:
    settings.A2A = {"DEFAULT_AGENT": "held", "WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1"], "PUSH_IN_PROCESS": False}
    agent = Held()
    agent.release = asyncio.Event()
    register(agent)
    register(Second())
    keys = {}
    for name in ("alice", "bob", "root"):
        is_root = name == "root"
        user = await User.objects.acreate(username=name, is_staff=is_root, is_superuser=is_root)
        keys[name] = (await sync_to_async(create_api_key)(user))[1]
    made = Stage(door, keys, agent, {})
    for kind, text in zip(KINDS, ("hold", "ask", "end"), strict=True):
        configuration = {"returnImmediately": kind == "live"}
        request = {"message": message(text), "configuration": configuration}
        task = (await door.call("SendMessage", request, headers=made.headers("owner"))).task
        made.tasks[kind] = task
        config = {"taskId": task["id"], "id": "hook", "url": HOOK, "token": f"token-of-{kind}"}
        assert not (await door.call("CreateTaskPushNotificationConfig", config, headers=made.headers("owner"))).reason
    return made


async def state_of_things() -> Any:
    """All that a caller could have changed."""
    tasks = [
        row async for row in Task.objects.order_by("pk").values("pk", "owner", "state", "last_seq", "message_count")
    ]
    hooks = [row async for row in PushConfig.objects.order_by("pk").values("task_id", "config_id")]
    return tasks, hooks


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_no_cell_tells_of_anothers_task(stage: Stage, operation: str) -> None:
    async with asyncio.timeout(20):
        # It is at work, and will not change any more.
        while not await Task.objects.filter(pk=stage.tasks["live"]["id"], artifact_count=1).aexists():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    before = await state_of_things()
    for kind, task in stage.tasks.items():
        absent = request_for(operation, uuid7(), uuid7())
        there = request_for(operation, task["id"], task["contextId"])
        for caller in CALLERS:
            if caller == "owner":
                continue
            seen = [await stage.ask(caller, operation, request) for request in (absent, there)]
            where = f"{caller} {operation} {kind}"
            if operation == "GetExtendedAgentCard":  # it is about no task
                assert (b"UNAUTHENTICATED" in seen[0]) == (caller == "anonymous"), where
                continue
            assert seen[0] == seen[1], where
            if caller == "anonymous":
                assert b"UNAUTHENTICATED" in seen[1], where
            elif operation != "ListTasks":
                assert b"TASK_NOT_FOUND" in seen[1], where
            for secret in (task["id"], task["contextId"], "token-of", "held", "hook"):
                if secret != "held" or caller != "other tenant":
                    assert secret.encode() not in seen[1], where
    if operation == "ListTasks":
        for caller in ("other user", "staff", "other tenant"):
            everything = await stage.ask(caller, operation, {})
            assert not any(task["id"].encode() in everything for task in stage.tasks.values()), caller
    assert await state_of_things() == before
    # And it is all there, for the owner.
    for kind, task in stage.tasks.items():
        seen = [await stage.ask("owner", operation, request_for(operation, task["id"], task["contextId"]))]
        where = f"owner {operation} {kind}"
        assert b"NOT_FOUND" not in seen[0], where
        assert b"UNAUTHENTICATED" not in seen[0], where
        reads = ("GetTask", "ListTasks", "GetTaskPushNotificationConfig", "ListTaskPushNotificationConfigs")
        if operation in reads:
            assert task["id"].encode() in seen[0], where


async def test_a_live_stream_is_not_touched_by_others(stage: Stage) -> None:
    """While the owner watches, everybody else tries everything; the stream goes on to its end."""
    task = stage.tasks["live"]
    stream = await stage.door.call("SubscribeToTask", {"id": task["id"]}, headers=stage.headers("owner"), keep=True)
    assert stream.task["id"] == task["id"]
    for caller in CALLERS:
        if caller != "owner":
            for operation in OPERATIONS:
                await stage.ask(caller, operation, request_for(operation, task["id"], task["contextId"]))
    stage.agent.release.set()
    text = ""
    async with asyncio.timeout(20):
        if stage.door.name == "GRPC":
            async for event in stream.stream:
                text += json.dumps(json_format.MessageToDict(event))
        else:
            while piece := await stream.stream.chunk():
                text += piece.decode()
    assert "TASK_STATE_COMPLETED" in text
    assert "more" not in text
    await stage.door.leave(stream)
    row = await Task.objects.aget(pk=task["id"])
    assert (row.state, row.message_count) == ("TASK_STATE_COMPLETED", 1)
