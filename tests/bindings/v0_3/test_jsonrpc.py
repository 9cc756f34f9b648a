"""JSON-RPC of 0.3 on both carriers: what its methods take and answer, and what is refused in its form."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from a2a.compat.v0_3 import types
from django.test import AsyncClient, Client
from pytest_django import Settings

from a2a_django import Agent, Extension
from a2a_django.models import PushConfig
from tests.bindings.conftest import envelope, rpc
from tests.bindings.conftest import message as new_message
from tests.bindings.v0_3.conftest import Scripted, Talker, call, post, refusal, say, stream, texts, until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agent"), pytest.mark.spec("A")]

HOOK = "https://93.184.215.14/hook"
PUSH = "tasks/pushNotificationConfig/"


async def send(client: AsyncClient, text: str, *, blocking: bool | None = True, **members: Any) -> dict[str, Any]:
    configuration = {"acceptedOutputModes": []} | ({} if blocking is None else {"blocking": blocking})
    task: dict[str, Any] = await call(
        client, "message/send", {"message": say(text, **members), "configuration": configuration}
    )
    types.Task.model_validate(task)
    return task


# -- message/send, tasks/get, tasks/cancel


@pytest.mark.parametrize("blocking", [True, None])
async def test_a_call_that_blocks_is_answered_with_the_ended_task(client: AsyncClient, blocking: bool | None) -> None:
    task = await send(client, "hi", blocking=blocking)
    assert set(task) == {"kind", "id", "contextId", "status", "artifacts", "history"}
    assert (task["kind"], task["status"]["state"]) == ("task", "completed")
    (artifact,) = task["artifacts"]
    assert artifact["parts"] == [{"kind": "text", "text": "hi"}]
    (asked,) = task["history"]
    assert asked == say("hi") | {"contextId": task["contextId"], "taskId": task["id"]}
    assert await call(client, "tasks/get", {"id": task["id"]}) == task


async def test_without_configuration_a_call_blocks(client: AsyncClient) -> None:
    assert (await call(client, "message/send", {"message": say("hi")}))["status"]["state"] == "completed"


async def test_a_call_that_does_not_block_is_answered_at_once(client: AsyncClient) -> None:
    task = await send(client, "wait", blocking=False)
    assert task["status"]["state"] in ("submitted", "working")
    Scripted.go.set()
    assert (await until(client, task["id"], "completed"))["history"][0]["role"] == "user"


async def test_a_task_is_continued(client: AsyncClient) -> None:
    task = await send(client, "ask")
    assert task["status"]["state"] == "input-required"
    asks = task["status"]["message"]
    assert (asks["kind"], asks["role"], texts(asks["parts"])) == ("message", "agent", ["yes?"])
    again = await send(client, "yes", taskId=task["id"], contextId=task["contextId"])
    assert (again["id"], again["status"]["state"]) == (task["id"], "completed")
    assert [m["role"] for m in again["history"]] == ["user", "agent", "user"]


async def test_history_length(client: AsyncClient) -> None:
    task = await send(client, "ask")
    await send(client, "yes", taskId=task["id"])
    for given, wanted in ((None, 3), (0, 3), (1, 1), (2, 2)):
        found = await call(client, "tasks/get", {"id": task["id"], "historyLength": given})
        assert len(found["history"]) == wanted, given


async def test_a_message_may_be_the_answer(client: AsyncClient, register: Callable[[Agent], Agent]) -> None:
    register(Talker())
    answer = await call(client, "message/send", {"message": say("hi")}, path="/a2a/?tenant=talker")
    types.Message.model_validate(answer)
    assert (answer["kind"], answer["role"], texts(answer["parts"])) == ("message", "agent", ["hello"])
    only = await stream(client, "message/stream", {"message": say("hi")}, path="/a2a/?tenant=talker")
    assert [texts(one["parts"]) for one in only] == [["hello"]]


async def test_data_that_is_no_object_is_wrapped(client: AsyncClient) -> None:
    (artifact,) = (await send(client, "data"))["artifacts"]
    (part,) = artifact["parts"]
    assert part == {"kind": "data", "data": {"value": [1, {"a": 2}]}, "metadata": {"data_part_compat": True}}


async def test_files_and_data_are_kept(client: AsyncClient) -> None:
    parts = [
        {"kind": "text", "text": "hi"},
        {"kind": "file", "file": {"bytes": "eHl6", "name": "a.txt", "mimeType": "text/plain"}},
        {"kind": "file", "file": {"uri": "https://x.example/y"}, "metadata": {"a": 1}},
        {"kind": "data", "data": {"n": 1, "f": 0.5, "l": [None, True]}},
    ]
    (asked,) = (await send(client, "hi", parts=parts, metadata={"k": [1]}))["history"]
    assert asked["parts"] == parts
    assert asked["metadata"] == {"k": [1]}


async def test_cancel(client: AsyncClient) -> None:
    task = await send(client, "wait", blocking=False)
    assert (await call(client, "tasks/cancel", {"id": task["id"]}))["status"]["state"] == "canceled"
    ended = await send(client, "hi")
    error = await refusal(client, "tasks/cancel", {"id": ended["id"]})
    assert (error["code"], error["data"][0]["reason"]) == (-32002, "TASK_NOT_CANCELABLE")


# -- streams


async def test_a_stream(client: AsyncClient) -> None:
    first, *rest = await stream(client, "message/stream", {"message": say("pieces a b c")})
    types.Task.model_validate(first)
    assert (first["kind"], first["status"]["state"]) == ("task", "submitted")
    pieces = [event for event in rest if event["kind"] == "artifact-update"]
    for event in pieces:
        types.TaskArtifactUpdateEvent.model_validate(event)
    assert [texts(event["artifact"]["parts"]) for event in pieces if event["artifact"]["parts"]][:3] == [
        ["a"],
        ["b"],
        ["c"],
    ]
    assert [event["append"] for event in pieces][:3] == [False, True, True]
    statuses = [event for event in rest if event["kind"] == "status-update"]
    for event in statuses:
        types.TaskStatusUpdateEvent.model_validate(event)
    assert [event["final"] for event in statuses] == [False] * (len(statuses) - 1) + [True]
    assert rest[-1] == statuses[-1]
    assert rest[-1]["status"]["state"] == "completed"


async def test_a_stream_that_ends_with_a_question_says_that_it_ends(client: AsyncClient) -> None:
    found = await stream(client, "message/stream", {"message": say("ask")})
    statuses = [event for event in found if event["kind"] == "status-update"]
    assert [event["final"] for event in statuses] == [False] * (len(statuses) - 1) + [True]
    assert found[-1]["status"]["state"] == "input-required"
    assert texts(found[-1]["status"]["message"]["parts"]) == ["yes?"]


async def test_resubscribe_to_a_running_task(client: AsyncClient) -> None:
    task = await send(client, "wait", blocking=False)
    await until(client, task["id"], "working")
    response = await post(client, "tasks/resubscribe", {"id": task["id"], "metadata": {"a": 1}})
    chunks = aiter(response.streaming_content)
    first = json.loads((await anext(chunks)).decode().removeprefix("data: "))["result"]
    assert (first["kind"], first["id"], first["status"]["state"]) == ("task", task["id"], "working")
    Scripted.go.set()
    rest = b"".join([chunk async for chunk in chunks]).decode()
    last = [json.loads(block.removeprefix("data: "))["result"] for block in rest.split("\n\n") if block][-1]
    assert (last["kind"], last["status"]["state"], last["final"]) == ("status-update", "completed", True)


async def test_resubscribe_to_a_task_that_has_ended(client: AsyncClient) -> None:
    task = await send(client, "hi")
    first, last = await stream(client, "tasks/resubscribe", {"id": task["id"]})
    assert first == task
    types.TaskStatusUpdateEvent.model_validate(last)
    assert last == {
        "kind": "status-update",
        "taskId": task["id"],
        "contextId": task["contextId"],
        "status": task["status"],
        "final": True,
    }


async def test_what_goes_wrong_before_a_stream_is_an_answer(client: AsyncClient) -> None:
    ended = await send(client, "hi")
    assert (await refusal(client, "tasks/resubscribe", {"id": "nobody"}))["code"] == -32001
    assert (await refusal(client, "message/stream", {"message": say("x", taskId=ended["id"])}))["code"] == -32004
    assert (await refusal(client, "message/stream", {"message": {}}))["code"] == -32602


async def test_without_streaming_there_are_no_streams(client: AsyncClient, agent: Agent) -> None:
    ended = await send(client, "hi")
    agent.streaming = False
    try:
        for method, params in (("message/stream", {"message": say("x")}), ("tasks/resubscribe", {"id": ended["id"]})):
            assert (await refusal(client, method, params))["code"] == -32004
    finally:
        agent.streaming = True


def test_under_wsgi_there_are_answers_and_no_streams() -> None:
    def ask(method: str) -> Any:
        raw = envelope(method, {"message": say("hi")})
        return json.loads(Client().post("/a2a/", data=raw, content_type="application/json").content)

    assert ask("message/send")["result"]["status"]["state"] == "completed"
    assert ask("message/stream")["error"]["code"] == -32004


# -- webhooks


async def test_the_life_of_a_webhook(client: AsyncClient) -> None:
    task_id = (await send(client, "ask"))["id"]
    config = {
        "id": "c-1",
        "url": HOOK,
        "token": "tok",
        "authentication": {"schemes": ["Bearer"], "credentials": "secret"},
    }
    wanted = {"taskId": task_id, "pushNotificationConfig": config}
    assert await call(client, PUSH + "set", wanted) == wanted
    assert (await PushConfig.objects.aget()).protocol_version == "0.3"
    assert await call(client, PUSH + "get", {"id": task_id, "pushNotificationConfigId": "c-1"}) == wanted
    assert await call(client, PUSH + "get", {"id": task_id}) == wanted
    assert await call(client, PUSH + "list", {"id": task_id}) == [wanted]
    other = {"taskId": task_id, "pushNotificationConfig": {"url": HOOK}}
    made = await call(client, PUSH + "set", other)
    assert made["pushNotificationConfig"].pop("id") not in ("", "c-1")
    assert made == other
    assert len(await call(client, PUSH + "list", {"id": task_id})) == 2
    assert await call(client, PUSH + "get", {"id": task_id}) == wanted  # the oldest
    own = {"taskId": task_id, "pushNotificationConfig": {"url": HOOK, "id": task_id}}
    assert await call(client, PUSH + "set", own) == own
    assert await call(client, PUSH + "get", {"id": task_id}) == own
    for __ in range(2):
        gone = {"id": task_id, "pushNotificationConfigId": "c-1"}
        response = await post(client, PUSH + "delete", gone)
        assert json.loads(response.content) == {"jsonrpc": "2.0", "id": "t1", "result": None}
    assert (await refusal(client, PUSH + "get", gone))["code"] == -32001


async def test_a_webhook_that_is_not_there(client: AsyncClient) -> None:
    task_id = (await send(client, "ask"))["id"]
    assert await call(client, PUSH + "list", {"id": task_id}) == []
    for params in ({"id": task_id}, {"id": task_id, "pushNotificationConfigId": "x"}, {"id": "nobody"}):
        assert (await refusal(client, PUSH + "get", params))["code"] == -32001
    assert (await refusal(client, PUSH + "list", {"id": "nobody"}))["code"] == -32001


async def test_all_webhooks_are_listed(
    client: AsyncClient, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("a2a_django.bindings.v0_3.operations._PAGE", 2)
    task_id = (await send(client, "ask"))["id"]
    for number in range(5):
        config = {"id": str(number), "url": HOOK}
        await call(client, PUSH + "set", {"taskId": task_id, "pushNotificationConfig": config})
    found = await call(client, PUSH + "list", {"id": task_id})
    assert [one["pushNotificationConfig"]["id"] for one in found] == list("01234")


async def test_a_webhook_with_a_message(client: AsyncClient) -> None:
    configuration = {"blocking": True, "pushNotificationConfig": {"url": HOOK}}
    task = await call(client, "message/send", {"message": say("ask"), "configuration": configuration})
    row = await PushConfig.objects.aget()
    assert (row.task_id, row.protocol_version, row.url) == (task["id"], "0.3", HOOK)


async def test_an_agent_without_webhooks(client: AsyncClient, register: Callable[[Agent], Agent]) -> None:
    register(Talker())
    path = "/a2a/?tenant=talker"
    params = {"taskId": "x", "pushNotificationConfig": {"url": HOOK}}
    assert (await refusal(client, PUSH + "set", params, path=path))["code"] == -32003


# -- both versions at once


async def test_a_task_of_one_version_is_continued_by_the_other(client: AsyncClient) -> None:
    old = await send(client, "ask")
    request = {"message": new_message("red", taskId=old["id"])}
    new = json.loads((await rpc(client, envelope("SendMessage", request))).content)["result"]["task"]
    assert (new["id"], new["status"]["state"]) == (old["id"], "TASK_STATE_COMPLETED")
    assert [m["role"] for m in new["history"]] == ["ROLE_USER", "ROLE_AGENT", "ROLE_USER"]

    request = {"message": new_message("ask")}
    new = json.loads((await rpc(client, envelope("SendMessage", request))).content)["result"]["task"]
    old = await send(client, "blue", taskId=new["id"], contextId=new["contextId"])
    assert (old["id"], old["status"]["state"]) == (new["id"], "completed")
    assert [texts(m["parts"]) for m in old["history"] if m["role"] == "user"] == [["ask"], ["blue"]]


# -- refusals


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("message/send", {}, "message"),
        ("message/send", None, "message"),
        ("message/send", {"message": {**say("x"), "kind": "msg"}}, "message.kind"),
        ("message/send", {"message": {**say("x"), "parts": []}}, "message.parts"),
        ("message/send", {"message": {**say("x"), "parts": [{"text": "x"}]}}, "message.parts[0].kind"),
        ("message/send", {"message": {**say("x"), "role": "agent"}}, "message.role"),
        ("message/send", {"message": {**say("x"), "messageId": ""}}, "message.message_id"),
        ("tasks/get", {"taskId": "x"}, "id"),
        ("tasks/cancel", {}, "id"),
        (PUSH + "set", {"taskId": "x", "pushNotificationConfig": {}}, "url"),
        (PUSH + "set", {"pushNotificationConfig": {"url": HOOK}}, "task_id"),
        (PUSH + "delete", {"id": "x"}, "pushNotificationConfigId"),
    ],
)
async def test_wrong_params_are_named(client: AsyncClient, method: str, params: Any, field: str) -> None:
    error = await refusal(client, method, params)
    assert error["code"] == -32602
    assert [one["field"] for one in error["data"][1]["fieldViolations"]] == [field]


@pytest.mark.parametrize("method", ["tasks/list", "message/", "/", "Tasks/Get", "messages/list", "tasks/subscribe"])
async def test_unknown_methods(client: AsyncClient, method: str) -> None:
    assert await refusal(client, method, {}) == {"code": -32601, "message": "Method not found"}


async def test_an_unknown_method_without_slash_and_version_has_the_old_form(client: AsyncClient) -> None:
    assert await refusal(client, "Foo", {}) == {"code": -32601, "message": "Method not found"}
    assert (await refusal(client, "Foo", {}, A2A_Version="1.0"))["data"][0]["reason"] == "METHOD_NOT_FOUND"


async def test_unknown_tasks_look_alike(client: AsyncClient) -> None:
    for method in ("tasks/get", "tasks/cancel"):
        assert (await refusal(client, method, {"id": "nobody"}))["code"] == -32001
    assert (await refusal(client, "message/send", {"message": say("x", taskId="nobody")}))["code"] == -32001


async def test_who_may_not_call_is_told_by_http(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {
        **settings.A2A,
        "AUTHENTICATION_CLASSES": ["a2a_django.access.APIKeyAuthentication"],
        "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    }
    response = await post(client, "tasks/get", {"id": "x"})
    assert (response.status_code, response.headers["WWW-Authenticate"][:6]) == (401, "Bearer")


async def test_an_error_of_ours_tells_nothing(client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(task: Any) -> Any:
        raise RuntimeError("a secret")

    ended = await send(client, "hi")
    monkeypatch.setattr("a2a_django.bindings.v0_3.jsonrpc.WRITER.task", broken)
    error = await refusal(client, "tasks/get", {"id": ended["id"]})
    assert (error["code"], error["message"]) == (-32603, "Internal error")
    assert "secret" not in json.dumps(error)


# -- extensions


A, B = "https://e.example/a", "https://e.example/b"


async def test_extensions(client: AsyncClient, agent: Agent) -> None:
    agent.extensions = [Extension(A, "", required=True), Extension(B)]
    try:
        error = await refusal(client, "message/send", {"message": say("hi")})
        assert (error["code"], A in error["message"]) == (-32004, True)
        for name in ("X_A2A_Extensions", "A2A_Extensions"):
            response = await post(client, "message/send", {"message": say("hi")}, **{name: f"{A}, https://other"})
            assert json.loads(response.content)["result"]["status"]["state"] == "completed"
            assert response.headers["X-A2A-Extensions"] == A
            assert "A2A-Extensions" not in response.headers
        response = await post(client, "message/stream", {"message": say("hi")}, X_A2A_Extensions=f"{A},{B}")
        assert response.headers["X-A2A-Extensions"] == f"{A}, {B}"
        assert b'"final":true' in b"".join([chunk async for chunk in response.streaming_content])
    finally:
        del agent.extensions
