"""All operations of 0.3 over HTTP+JSON, on both carriers, and over gRPC."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from pytest_django import Settings

from a2a_django import Agent, Extension
from a2a_django.access import create_api_key
from a2a_django.models import PushConfig, Task
from tests.bindings.conftest import Echo, message, rest
from tests.bindings.v0_3.conftest import Scripted, Talker
from tests.bindings.v0_3.doors import STREAMS, Door, door, say, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agent"), pytest.mark.spec("A")]

__all__ = ["door", "serve"]

HOOK = "https://93.184.215.14/hook"
BLOCKING = {"configuration": {"blocking": True}}
STATUSES = {"HTTP+JSON": {"missing": 404, "wrong": 400, "failed": 400}}
STATUSES["GRPC"] = {"missing": "NOT_FOUND", "wrong": "INVALID_ARGUMENT", "failed": "FAILED_PRECONDITION"}


async def send(door: Door, text: str, *, blocking: bool = True, **members: Any) -> dict[str, Any]:
    request = {"message": say(text, **members), "configuration": {"blocking": blocking}}
    task: dict[str, Any] = (await door.ok("SendMessage", request))["task"]
    return task


def name_of(task: dict[str, Any]) -> str:
    return f"tasks/{task['id']}"


async def until(door: Door, name: str, state: str) -> dict[str, Any]:
    async with asyncio.timeout(20):
        while True:
            task: dict[str, Any] = await door.ok("GetTask", {"name": name})
            if task["status"]["state"] == state:
                return task
            await asyncio.sleep(0.02)


# -- messages and tasks


async def test_a_call_that_blocks_is_answered_with_the_ended_task(door: Door) -> None:
    task = await send(door, "hi")
    assert set(task) == {"id", "contextId", "status", "artifacts", "history"}
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    (artifact,) = task["artifacts"]
    assert artifact["parts"] == [{"text": "hi"}]
    (asked,) = task["history"]
    assert asked == say("hi") | {"contextId": task["contextId"], "taskId": task["id"]}
    assert await door.ok("GetTask", {"name": name_of(task)}) == task


async def test_without_configuration_a_call_blocks(door: Door) -> None:
    task = (await door.ok("SendMessage", {"message": say("hi")}))["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize("configuration", [{"blocking": False}, {"acceptedOutputModes": ["text/plain"]}])
async def test_a_call_that_does_not_block_is_answered_at_once(door: Door, configuration: dict[str, Any]) -> None:
    """The proto's default of ``blocking`` is false."""
    task = (await door.ok("SendMessage", {"message": say("wait"), "configuration": configuration}))["task"]
    assert task["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
    Scripted.go.set()
    assert (await until(door, name_of(task), "TASK_STATE_COMPLETED"))["history"][0]["role"] == "ROLE_USER"


async def test_a_task_is_continued(door: Door) -> None:
    task = await send(door, "ask")
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    asks = task["status"]["message"]
    assert (asks["role"], asks["content"]) == ("ROLE_AGENT", [{"text": "yes?"}])
    again = await send(door, "yes", taskId=task["id"], contextId=task["contextId"])
    assert (again["id"], again["status"]["state"]) == (task["id"], "TASK_STATE_COMPLETED")
    assert [m["role"] for m in again["history"]] == ["ROLE_USER", "ROLE_AGENT", "ROLE_USER"]


@pytest.mark.parametrize(("given", "wanted"), [(None, 3), (0, 3), (1, 1), (2, 2)])
async def test_history_length(door: Door, given: int | None, wanted: int) -> None:
    task = await send(door, "ask")
    await send(door, "yes", taskId=task["id"])
    request = {"name": name_of(task)} | ({} if given is None else {"historyLength": given})
    assert len((await door.ok("GetTask", request))["history"]) == wanted


async def test_a_message_may_be_the_answer(door: Door, register: Callable[[Agent], Agent], settings: Settings) -> None:
    register(Talker())
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "talker"}
    answer = (await door.ok("SendMessage", {"message": say("hi")}))["message"]
    assert (answer["role"], answer["content"]) == ("ROLE_AGENT", [{"text": "hello"}])
    (only,) = await door.stream("SendStreamingMessage", {"message": say("hi")})
    assert only["message"]["content"] == [{"text": "hello"}]


async def test_parts_are_kept(door: Door) -> None:
    content = [
        {"text": "hi", "metadata": {"a": 1.0}},
        {"file": {"fileWithBytes": base64.b64encode(b"eHl6").decode(), "mimeType": "text/plain", "name": "a.txt"}},
        {"file": {"fileWithUri": "https://x.example/y"}},
        {"data": {"data": {"n": 1.0, "l": [None, True]}}},
    ]
    (asked,) = (await send(door, "hi", content=content, metadata={"k": [1.0]}))["history"]
    assert (asked["content"], asked["metadata"]) == (content, {"k": [1.0]})


async def test_data_that_is_no_object_is_wrapped(door: Door) -> None:
    (artifact,) = (await send(door, "data"))["artifacts"]
    assert artifact["parts"] == [
        {"data": {"data": {"value": [1.0, {"a": 2.0}]}}, "metadata": {"data_part_compat": True}}
    ]


async def test_cancel(door: Door) -> None:
    task = await send(door, "wait", blocking=False)
    cancelled = await door.ok("CancelTask", {"name": name_of(task)})
    assert cancelled["status"]["state"] == "TASK_STATE_CANCELLED"
    again = await door.ok("CancelTask", {"name": name_of(task)})
    assert again["status"]["state"] == "TASK_STATE_CANCELLED"
    ended = await send(door, "hi")
    refused = await door.call("CancelTask", {"name": name_of(ended)})
    assert (refused.status, refused.reason) == (STATUSES[door.name]["failed"], "TASK_NOT_CANCELABLE")


# -- streams


def kinds(events: list[dict[str, Any]]) -> list[str]:
    found = []
    for event in events:
        (kind,) = event
        found.append(kind)
    return found


async def test_a_stream(door: Door) -> None:
    first, *rest = await door.stream("SendStreamingMessage", {"message": say("pieces a b c")})
    assert first["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"
    chunks = [event["artifactUpdate"] for event in rest if "artifactUpdate" in event]
    assert [chunk["artifact"]["parts"] for chunk in chunks] == [[{"text": text}] for text in "abc"]
    assert [chunk.get("append", False) for chunk in chunks] == [False, True, True]
    assert kinds(rest)[-1] == "statusUpdate"
    assert rest[-1]["statusUpdate"]["final"] is True
    assert rest[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert not any("final" in event["statusUpdate"] for event in rest[:-1] if "statusUpdate" in event)


async def test_the_stream_of_an_agent_that_asks_back_ends_with_final(door: Door) -> None:
    *_, last = await door.stream("SendStreamingMessage", {"message": say("ask")})
    assert last["statusUpdate"]["final"] is True
    assert last["statusUpdate"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert last["statusUpdate"]["status"]["message"]["content"] == [{"text": "yes?"}]


async def test_subscribe(door: Door) -> None:
    task = await send(door, "wait", blocking=False)
    stream = door.events("TaskSubscription", {"name": name_of(task)})
    assert (await anext(stream))["task"]["id"] == task["id"]
    Scripted.go.set()
    rest = [event async for event in stream]
    assert rest[-1]["statusUpdate"]["final"] is True
    assert rest[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_subscribe_to_a_task_that_has_ended(door: Door) -> None:
    """1.0 has an error for it; 0.3 sends the task, says that this is all, and closes."""
    task = await send(door, "hi")
    first, last = await door.stream("TaskSubscription", {"name": name_of(task)})
    assert first == {"task": task}
    update = last["statusUpdate"]
    assert (update["taskId"], update["final"], update["status"]) == (task["id"], True, task["status"])


# -- webhooks


async def test_webhooks(door: Door) -> None:
    task = await send(door, "ask")
    name = name_of(task)
    webhook = {
        "id": "one",
        "url": HOOK,
        "token": "secret",
        "authentication": {"schemes": ["Bearer"], "credentials": "c"},
    }
    create = {"parent": name, "configId": "one", "config": {"pushNotificationConfig": webhook}}
    made = await door.ok("CreateTaskPushNotificationConfig", create)
    assert made == {"name": f"{name}/pushNotificationConfigs/one", "pushNotificationConfig": webhook}
    row = await PushConfig.objects.aget()
    assert (row.task_id, row.config_id, row.protocol_version) == (task["id"], "one", "0.3")

    assert await door.ok("GetTaskPushNotificationConfig", {"name": made["name"]}) == made
    assert await door.ok("ListTaskPushNotificationConfig", {"parent": name}) == {"configs": [made]}
    assert await door.ok("DeleteTaskPushNotificationConfig", {"name": made["name"]}) == {}
    assert (await door.ok("ListTaskPushNotificationConfig", {"parent": name})).get("configs", []) == []
    gone = await door.call("GetTaskPushNotificationConfig", {"name": made["name"]})
    assert (gone.status, gone.reason) == (STATUSES[door.name]["missing"], "TASK_NOT_FOUND")


async def test_a_list_of_webhooks_has_pages(door: Door) -> None:
    name = name_of(await send(door, "ask"))
    for number in range(3):
        webhook = {"url": f"{HOOK}/{number}"}
        await door.ok(
            "CreateTaskPushNotificationConfig", {"parent": name, "config": {"pushNotificationConfig": webhook}}
        )
    urls, token = [], ""
    for _ in range(2):
        page = await door.ok("ListTaskPushNotificationConfig", {"parent": name, "pageSize": 2, "pageToken": token})
        urls += [config["pushNotificationConfig"]["url"] for config in page["configs"]]
        token = page.get("nextPageToken", "")
    assert (urls, token) == ([f"{HOOK}/{number}" for number in range(3)], "")


async def test_a_webhook_comes_with_a_message(door: Door) -> None:
    configuration = {"blocking": True, "pushNotification": {"id": "c", "url": HOOK}}
    task = (await door.ok("SendMessage", {"message": say("ask"), "configuration": configuration}))["task"]
    row = await PushConfig.objects.aget()
    assert (row.task_id, row.config_id, row.url, row.protocol_version) == (task["id"], "c", HOOK, "0.3")


async def test_a_webhook_whose_id_has_a_slash(door: Door) -> None:
    name = name_of(await send(door, "ask"))
    config = {"pushNotificationConfig": {"id": "a/b", "url": HOOK}}
    made = await door.ok("CreateTaskPushNotificationConfig", {"parent": name, "config": config})
    assert made["name"] == f"{name}/pushNotificationConfigs/a/b"
    assert await door.ok("GetTaskPushNotificationConfig", {"name": made["name"]}) == made
    assert (await door.ok("ListTaskPushNotificationConfig", {"parent": name}))["configs"] == [made]


# -- the card


async def test_the_extended_card(door: Door, serve: Any, settings: Settings) -> None:
    user = await User.objects.acreate(username="alice")
    key = (await asyncio.to_thread(create_api_key, user))[1]
    settings.A2A = {**settings.A2A, "BASE_URL": "https://shop.example", "GRPC_URL": "shop.example:50051"}
    settings.A2A |= {"AUTHENTICATION_CLASSES": ["a2a_django.access.APIKeyAuthentication"]}
    if door.is_grpc:
        door.live = await serve()  # where the site is a server knows when it starts
    card = await door.ok("GetAgentCard", {}, Authorization=f"Bearer {key}")
    assert card["protocolVersion"] == "0.3.0"
    assert (card["url"], card["preferredTransport"]) == ("https://shop.example/a2a/", "JSONRPC")
    assert [each["transport"] for each in card["additionalInterfaces"]] == ["JSONRPC", "HTTP+JSON", "GRPC"]
    assert [skill["id"] for skill in card["skills"]] == ["script", "more"]
    assert card["supportsAuthenticatedExtendedCard"] is True
    assert "supportedInterfaces" not in card
    (scheme,) = card["securitySchemes"].values()
    if door.is_grpc:
        assert scheme == {"httpAuthSecurityScheme": {"scheme": "Bearer"}} | scheme
        assert "type" not in scheme
    else:  # both forms: clients differ in which they read
        assert (scheme["type"], scheme["scheme"].lower()) == ("http", "bearer")
        assert scheme["httpAuthSecurityScheme"]["scheme"] == scheme["scheme"]


async def test_an_anonymous_caller_gets_no_extended_card(door: Door) -> None:
    refused = await door.call("GetAgentCard")
    assert refused.reason == "UNAUTHENTICATED"
    assert refused.status == ("UNAUTHENTICATED" if door.is_grpc else 401)


# -- errors


UNKNOWN = "tasks/00000000-0000-7000-8000-000000000000"


@pytest.mark.parametrize(
    ("rpc", "request_"),
    [
        ("GetTask", {"name": UNKNOWN}),
        ("CancelTask", {"name": UNKNOWN}),
        ("TaskSubscription", {"name": UNKNOWN}),
        ("SendMessage", {"message": say("x", taskId=UNKNOWN.removeprefix("tasks/"))}),
        ("SendStreamingMessage", {"message": say("x", taskId=UNKNOWN.removeprefix("tasks/"))}),
        (
            "CreateTaskPushNotificationConfig",
            {"parent": UNKNOWN, "configId": "c", "config": {"pushNotificationConfig": {"url": HOOK}}},
        ),
        ("GetTaskPushNotificationConfig", {"name": f"{UNKNOWN}/pushNotificationConfigs/c"}),
        ("ListTaskPushNotificationConfig", {"parent": UNKNOWN}),
        ("DeleteTaskPushNotificationConfig", {"name": f"{UNKNOWN}/pushNotificationConfigs/c"}),
    ],
)
async def test_tasks_that_are_not_there(door: Door, rpc: str, request_: dict[str, Any]) -> None:
    refused = await door.call(rpc, request_)
    assert (refused.status, refused.reason) == (STATUSES[door.name]["missing"], "TASK_NOT_FOUND")
    if door.is_grpc:
        assert refused.message == "TaskNotFoundError: Task not found"
    else:
        assert refused.value["code"] == -32001


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"messageId": ""}, "message.message_id"),
        ({"role": "ROLE_UNSPECIFIED"}, "message.role"),
        ({"role": "ROLE_AGENT"}, "message.role"),
        ({"content": []}, "message.content"),
        ({"content": [{}]}, "message.content[0]"),
        ({"content": [{"file": {}}]}, "message.content[0].file"),
    ],
)
@pytest.mark.parametrize("rpc", ["SendMessage", "SendStreamingMessage"])
async def test_messages_that_are_none(door: Door, rpc: str, change: dict[str, Any], field: str) -> None:
    refused = await door.call(rpc, {"message": {**say("x"), **change}})
    assert (refused.status, refused.reason, refused.fields) == (STATUSES[door.name]["wrong"], "INVALID_PARAMS", [field])
    assert await Task.objects.acount() == 0


@pytest.mark.parametrize("version", ["1.0", "0.2", "2.0", "abc"])
@pytest.mark.parametrize("rpc", ["SendMessage", "SendStreamingMessage", "GetTask"])
async def test_other_versions(door: Door, rpc: str, version: str) -> None:
    request = {"name": UNKNOWN} if rpc == "GetTask" else {"message": say("x")}
    refused = await door.call(rpc, request, A2A_Version=version)
    assert (refused.status, refused.reason) == (STATUSES[door.name]["failed"], "VERSION_NOT_SUPPORTED")
    assert "1.0, 0.3" in refused.message
    assert await Task.objects.acount() == 0


@pytest.mark.parametrize("version", ["0.3", "0.3.0", " 0.3.9 ", "0.3, 1.0"])
async def test_its_own_version(door: Door, version: str, settings: Settings) -> None:
    await door.ok("SendMessage", {"message": say("x")}, A2A_Version=version)
    settings.A2A = {**settings.A2A, "STRICT_VERSION": True}
    await door.ok("SendMessage", {"message": say("x")})


async def test_extensions(door: Door, register: Callable[[Agent], Agent], settings: Settings) -> None:
    class Needing(Scripted):
        extensions = [Extension("https://e.example/a", required=True), Extension("https://e.example/b")]

    register(Needing())
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "needing"}
    refused = await door.call("SendMessage", {"message": say("x")})
    assert (refused.status, refused.reason) == (STATUSES[door.name]["failed"], "EXTENSION_SUPPORT_REQUIRED")
    if door.is_grpc:
        assert refused.message.startswith("UnsupportedOperationError: ")
    else:
        assert refused.value["code"] == -32004
    for header in ("X_A2A_Extensions", "A2A_Extensions"):
        found = await door.call(
            "SendMessage", {"message": say("x")}, **{header: "https://e.example/a,https://no.example"}
        )
        assert found.extensions == "https://e.example/a"


async def test_an_agent_that_does_not_stream(
    door: Door, register: Callable[[Agent], Agent], settings: Settings
) -> None:
    class Slow(Echo):
        streaming = False

    register(Slow())
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "slow"}
    task = await send(door, "ask")
    for rpc, request in (
        ("SendStreamingMessage", {"message": say("x")}),
        ("TaskSubscription", {"name": name_of(task)}),
    ):
        refused = await door.call(rpc, request)
        assert (refused.status, refused.reason) == (STATUSES[door.name]["failed"], "UNSUPPORTED_OPERATION")


# -- between the versions


async def test_a_task_of_0_3_is_one_of_1_0_and_the_reverse(door: Door) -> None:
    client = AsyncClient()
    old = await send(door, "ask")
    new = json.loads((await rest(client, "GET", f"/tasks/{old['id']}")).content)
    assert (new["id"], new["status"]["state"]) == (old["id"], "TASK_STATE_INPUT_REQUIRED")
    assert new["history"][0]["parts"] == [{"text": "ask"}]
    answer = await rest(client, "POST", "/message:send", {"message": message("by 1.0", taskId=old["id"])})
    assert json.loads(answer.content)["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    history = (await door.ok("GetTask", {"name": name_of(old)}))["history"]
    assert [m["content"][0]["text"] for m in history] == ["ask", "yes?", "by 1.0"]

    answer = await rest(client, "POST", "/message:send", {"message": message("ask")})
    new = json.loads(answer.content)["task"]
    ended = await send(door, "by 0.3", taskId=new["id"], contextId=new["contextId"])
    assert (ended["id"], ended["status"]["state"]) == (new["id"], "TASK_STATE_COMPLETED")
    new = json.loads((await rest(client, "GET", f"/tasks/{new['id']}")).content)
    assert [m["parts"][0]["text"] for m in new["history"]] == ["ask", "yes?", "by 0.3"]


# -- off


@pytest.mark.parametrize("rpc", ["SendMessage", *sorted(STREAMS), "GetTask", "GetAgentCard"])
async def test_off_it_is_not_there(rpc: str, door: Door, serve: Any, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "PROTOCOL_0_3": False}
    if door.is_grpc:
        door.live = await serve()  # what a server speaks it knows when it starts
    request: dict[str, Any] = {"name": UNKNOWN} if rpc in ("GetTask", "TaskSubscription") else {"message": say("x")}
    if rpc == "GetAgentCard":
        request = {}
    if door.is_grpc:
        refused = await door.call(rpc, request)
        assert (refused.status, refused.reason) == ("UNIMPLEMENTED", "METHOD_NOT_FOUND")
    else:
        async with door._http(rpc, dict(request), {}) as call:
            status, _ = await call.head()
            body = json.loads(await call.body())
        assert (status, set(body)) == (404, {"error"})  # the form of 1.0
        assert body["error"]["details"][0]["reason"] == "METHOD_NOT_FOUND"
    assert await Task.objects.acount() == 0
