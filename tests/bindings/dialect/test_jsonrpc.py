"""The tutorials' JSON-RPC on both carriers (facts 10), and that it is refused while it is off."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from tests.bindings.carriers import Carrier
from tests.bindings.conftest import envelope, events

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("echo")]

HOOK = "https://93.184.215.14/hook"


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


@pytest.fixture
def dialect(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "TUTORIAL_DIALECT": True}


async def post(client: AsyncClient, method: str, params: Any, path: str = "/") -> Any:
    """POST without a version, as the tutorials do; the response."""
    return await client.post(path, data=envelope(method, params), content_type="application/json")


async def call(client: AsyncClient, method: str, params: Any, path: str = "/") -> Any:
    """The answer's body; errors, too, have the status 200."""
    response = await post(client, method, params, path)
    assert response.status_code == 200
    body = json.loads(response.content)
    assert body["id"] == "t1"
    return body


def short(text: str, **more: Any) -> dict[str, Any]:
    return {"message": {"role": "user", "parts": [{"text": text}]}, **more}


async def sent(client: AsyncClient, text: str, **more: Any) -> Any:
    return (await call(client, "message/send", short(text, **more)))["result"]


async def rested(client: AsyncClient, task_id: str, *states: str) -> Any:
    """The task, once it has one of the states."""
    async with asyncio.timeout(20):
        while True:
            task = (await call(client, "tasks/get", {"taskId": task_id}))["result"]
            if task["status"]["state"] in states:
                return task
            await asyncio.sleep(0.01)


def said(messages: list[Any]) -> list[tuple[str, str]]:
    return [(each["role"], each["parts"][0]["text"]) for each in messages]


@pytest.mark.parametrize("path", ["/", "/a2a", "/a2a/"])
@pytest.mark.usefixtures("dialect")
async def test_a_short_message_is_answered_with_the_task_at_once(client: AsyncClient, path: str) -> None:
    task = (await call(client, "message/send", short("hello"), path))["result"]
    assert (task["kind"], task["status"]["state"]) == ("task", "submitted")
    assert task["id"]
    assert task["contextId"]
    assert task["history"][0]["parts"] == [{"kind": "text", "text": "hello"}]
    ended = await rested(client, task["id"], "completed")
    assert ended["artifacts"][0]["parts"] == [{"kind": "text", "text": "hello"}]


@pytest.mark.usefixtures("dialect")
async def test_a_short_message_waits_where_the_site_wants_it(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "TUTORIAL_WAITS": True}
    assert (await sent(client, "hello"))["status"]["state"] == "completed"


@pytest.mark.usefixtures("dialect")
async def test_a_whole_conversation(client: AsyncClient) -> None:
    task = await sent(client, "ask")
    asked = await rested(client, task["id"], "input-required")
    assert said([asked["status"]["message"]]) == [("agent", "yes?")]
    listed = (await call(client, "messages/list", {"taskId": task["id"]}))["result"]
    assert said(listed) == [("user", "ask"), ("agent", "yes?")]
    assert all(each["kind"] == "message" for each in listed)
    answered = await sent(client, "yes", taskId=task["id"])
    assert answered["id"] == task["id"]
    await rested(client, task["id"], "completed")
    whole = (await call(client, "messages/list", {"taskId": task["id"]}))["result"]
    assert said(whole) == [("user", "ask"), ("agent", "yes?"), ("user", "yes")]
    last = (await call(client, "messages/list", {"taskId": task["id"], "historyLength": 1}))["result"]
    assert said(last) == [("user", "yes")]
    read = (await call(client, "tasks/get", {"taskId": task["id"], "historyLength": 2}))["result"]
    assert said(read["history"]) == said(whole)[-2:]


@pytest.mark.usefixtures("dialect")
async def test_a_cancel(client: AsyncClient) -> None:
    task = await sent(client, "ask")
    await rested(client, task["id"], "input-required")
    for _ in range(2):  # a second one changes nothing
        canceled = (await call(client, "tasks/cancel", {"taskId": task["id"]}))["result"]
        assert canceled["status"]["state"] == "canceled"
    done = await sent(client, "hello")
    await rested(client, done["id"], "completed")
    assert (await call(client, "tasks/cancel", {"taskId": done["id"]}))["error"]["code"] == -32002


@pytest.mark.usefixtures("dialect")
async def test_a_stream_of_a_short_message(client: AsyncClient) -> None:
    found = [each["result"] for each in await events(await post(client, "message/stream", short("hello")))]
    assert found[0]["kind"] == "task"
    assert (found[-1]["status"]["state"], found[-1]["final"]) == ("completed", True)


@pytest.mark.parametrize(
    "more",
    [
        {"pushNotificationConfig": {"url": HOOK}},
        {"url": HOOK},
    ],
)
async def test_a_webhook(client: AsyncClient, dialect: None, echo: Any, more: Any) -> None:
    echo.push_notifications = True
    task = await sent(client, "ask")
    answer = await call(client, "tasks/pushNotificationConfig", {"taskId": task["id"], **more})
    found = answer["result"]
    assert (found["taskId"], found["pushNotificationConfig"]["url"]) == (task["id"], HOOK)
    assert found["pushNotificationConfig"]["id"]
    listed = (await call(client, "tasks/pushNotificationConfig/list", {"taskId": task["id"]}))["result"]
    assert listed == [found]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("messages/list", {}, -32602),
        ("messages/list", {"taskId": "nobody-has-this-id"}, -32001),
        ("messages/list", {"taskId": "a", "id": "b"}, -32602),
        ("messages/list", {"taskId": "a", "historyLength": -1}, -32602),
        ("tasks/get", {"taskId": 7}, -32602),
        ("tasks/list", {}, -32601),
        ("message/send", {"message": {"role": "user", "parts": []}}, -32602),
        ("message/send", {"message": {"role": "user"}}, -32602),
        ("message/send", {"message": {"role": "user", "parts": [{"kind": "text"}]}}, -32602),
        ("message/send", {"message": {"role": "user", "parts": [{"kind": "data", "data": [1]}]}}, -32602),
        ("message/send", {"message": {"role": "user", "parts": [{"data": [1]}]}}, -32602),
        ("message/send", {"message": {"role": "user", "parts": [{"kind": "film", "text": "x"}]}}, -32602),
        ("message/send", {"message": {"kind": "letter", "role": "user", "parts": [{"text": "x"}]}}, -32602),
        ("message/send", {"message": {"parts": [{"text": "x"}]}}, -32602),
        ("message/send", short("x", taskId="nobody-has-this-id"), -32001),
    ],
)
@pytest.mark.usefixtures("dialect")
async def test_what_is_wrong_stays_wrong(client: AsyncClient, method: str, params: Any, code: int) -> None:
    body = await call(client, method, params)
    assert body["error"]["code"] == code, body


@pytest.mark.parametrize(
    "params",
    [
        {**short("x"), "taskId": "t"},
        {"message": {"role": "ROLE_USER", "parts": [{"text": "x"}]}},
        {"message": {"messageId": "m", "role": "user", "parts": [{"text": "x"}]}},
    ],
)
@pytest.mark.usefixtures("dialect")
async def test_version_1_0_stays_strict(client: AsyncClient, params: Any) -> None:
    assert (await call(client, "SendMessage", params, "/a2a/"))["error"]["code"] == -32602


WHOLE = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]}

#: Every form of the dialect, and what 0.3 says to it.
FORMS = [
    ("message/send", short("x"), -32602),
    ("message/send", {"message": {**WHOLE, "kind": None}}, -32602),
    ("message/send", {"message": {**WHOLE, "messageId": None}}, -32602),
    ("message/send", {"message": {**WHOLE, "parts": [{"text": "x"}]}}, -32602),
    ("message/send", {"message": {**WHOLE, "parts": [{"url": "https://e.example"}]}}, -32602),
    ("message/send", {"message": {**WHOLE, "role": "ROLE_USER"}}, -32602),
    ("message/stream", short("x"), -32602),
    ("tasks/get", {"taskId": "x"}, -32602),
    ("tasks/cancel", {"taskId": "x"}, -32602),
    ("tasks/resubscribe", {"taskId": "x"}, -32602),
    ("tasks/pushNotificationConfig", {"taskId": "x", "pushNotificationConfig": {"url": HOOK}}, -32601),
    ("tasks/pushNotificationConfig/get", {"taskId": "x"}, -32602),
    ("tasks/pushNotificationConfig/list", {"taskId": "x"}, -32602),
    ("tasks/subscribe", {"id": "x"}, -32601),
    ("messages/list", {"taskId": "x"}, -32601),
]


@pytest.mark.parametrize(("method", "params", "code"), FORMS)
async def test_with_the_dialect_off_its_forms_are_errors(
    client: AsyncClient, method: str, params: Any, code: int
) -> None:
    assert (await call(client, method, params, "/a2a/"))["error"]["code"] == code


@pytest.mark.parametrize(("method", "params"), [form[:2] for form in FORMS] + [("message/send", {"message": WHOLE})])
async def test_with_0_3_and_the_dialect_off_there_are_no_such_methods(
    client: AsyncClient, settings: Settings, method: str, params: Any
) -> None:
    settings.A2A = {**settings.A2A, "PROTOCOL_0_3": False}
    assert (await call(client, method, params, "/a2a/"))["error"]["code"] == -32601
