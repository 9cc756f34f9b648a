"""What HTTP+JSON of 0.3 has beside the operations: paths, bodies in all their forms, errors, tenants."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import AsyncClient, Client
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.bindings.v0_3.rest import find_route, route
from a2a_django.models import PushConfig, Task
from a2a_django.protocol.errors import MethodNotFoundError
from tests.bindings.conftest import events
from tests.bindings.v0_3.conftest import Scripted
from tests.bindings.v0_3.doors import say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agent"), pytest.mark.spec("A")]

HOOK = {"url": "https://93.184.215.14/hook"}
CONFIGS = "pushNotificationConfigs"


async def request(
    client: AsyncClient,
    verb: str,
    path: str,
    body: Any = None,
    *,
    raw: bytes | None = None,
    content_type: str = "application/json",
    **headers: str,
) -> Any:
    """Send a request below ``/a2a`` as a client of 0.3 does: without a version."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    data = raw if raw is not None else (b"" if body is None else json.dumps(body).encode())
    return await client.generic(verb, f"/a2a{path}", data=data, content_type=content_type, headers=sent)


async def ok(client: AsyncClient, verb: str, path: str, body: Any = None, **more: Any) -> Any:
    response = await request(client, verb, path, body, **more)
    assert response.status_code == 200, response.content
    assert response.headers["Content-Type"] == "application/json"
    return json.loads(response.content)


async def refused(client: AsyncClient, verb: str, path: str, status: int, body: Any = None, **more: Any) -> Any:
    """Return an error, which is there for both kinds of readers."""
    response = await request(client, verb, path, body, **more)
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/json"), response.content
    found = json.loads(response.content)
    assert set(found) == {"code", "message", "data", "error"}
    assert set(found["error"]) == {"code", "status", "message", "details"}
    assert found["error"]["code"] == status
    assert (found["error"]["message"], found["error"]["details"]) == (found["message"], found["data"])
    return found


async def start(client: AsyncClient, text: str = "ask") -> str:
    body = {"message": say(text), "configuration": {"blocking": True}}
    task_id: str = (await ok(client, "POST", "/v1/message:send", body))["task"]["id"]
    return task_id


# -- paths


@pytest.mark.parametrize(
    ("path", "verbs", "fields"),
    [
        (("message:send",), {"POST"}, {}),
        (("message:stream",), {"POST"}, {}),
        (("card",), {"GET"}, {}),
        (("tasks", "a"), {"GET"}, {"name": "tasks/a"}),
        (("tasks", "a:b:cancel"), {"POST"}, {"name": "tasks/a:b"}),
        (("tasks", "a:subscribe"), {"GET", "POST"}, {"name": "tasks/a"}),
        (("tasks", "a", CONFIGS), {"GET", "POST"}, {"parent": "tasks/a"}),
        (("tasks", "a", CONFIGS, "c"), {"GET", "DELETE"}, {"name": f"tasks/a/{CONFIGS}/c"}),
        (("tasks", "a", CONFIGS, "c/d"), {"GET", "DELETE"}, {"name": f"tasks/a/{CONFIGS}/c/d"}),
        (("tasks", "a", CONFIGS, "c", "d"), {"GET", "DELETE"}, {"name": f"tasks/a/{CONFIGS}/c/d"}),
    ],
)
def test_what_a_path_stands_for(path: tuple[str, ...], verbs: set[str], fields: dict[str, str]) -> None:
    found = route(path)
    assert found is not None
    assert (set(found.verbs), found.fields) == (verbs, fields)
    assert find_route(("v1", *path)) == ("", found)
    assert find_route(("shop", "v1", *path)) == ("shop", found)


@pytest.mark.parametrize(
    "path",
    [
        (),
        ("v1",),
        ("v1", ""),
        ("v1", "tasks"),
        ("v1", "tasks", ""),
        ("v1", "extendedAgentCard"),
        ("v1", "v1", "card"),
        ("tasks", "v1", "card"),
        ("", "v1", "card"),
        ("shop", "card"),
        ("v2", "card"),
    ],
)
def test_paths_that_stand_for_nothing(path: tuple[str, ...]) -> None:
    with pytest.raises(MethodNotFoundError):
        find_route(path)


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/v1"),
        ("GET", "/v1/"),
        ("GET", "/v1/tasks"),
        ("GET", "/v1/nosuch"),
        ("POST", "/v1/message:send/"),
        ("GET", "/v1/extendedAgentCard"),
        ("GET", "/nobody/v1/card"),
        ("GET", "/scripted/v1/tasks"),
        ("OPTIONS", "/v1/nosuch"),
    ],
)
async def test_unknown_paths_are_told_in_the_form_of_0_3(client: AsyncClient, verb: str, path: str) -> None:
    found = await refused(client, verb, path, 404)
    assert (found["code"], found["data"][0]["reason"]) == (-32601, "METHOD_NOT_FOUND")


async def test_a_task_that_is_called_v1_is_one_of_1_0(client: AsyncClient) -> None:
    response = await request(client, "GET", "/tasks/v1", A2A_Version="1.0")
    assert response.status_code == 404
    assert set(json.loads(response.content)) == {"error"}


async def test_verbs(client: AsyncClient) -> None:
    found = await request(client, "DELETE", "/v1/tasks/a")
    assert (found.status_code, found.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert json.loads(found.content)["code"] == -32601
    found = await request(client, "OPTIONS", "/v1/message:send")
    assert (found.status_code, found.headers["Allow"]) == (200, "POST, OPTIONS")
    task_id = await start(client)
    head = await request(client, "HEAD", f"/v1/tasks/{task_id}")
    assert (head.status_code, head.content) == (200, b"")


async def test_the_paths_of_1_0_stay_what_they_are(client: AsyncClient) -> None:
    task_id = await start(client)
    new = await request(client, "GET", f"/tasks/{task_id}", A2A_Version="1.0")
    assert json.loads(new.content)["history"][0]["parts"] == [{"text": "ask"}]
    old = await request(client, "GET", f"/tasks/{task_id}", A2A_Version="0.3")
    assert old.status_code == 400
    assert json.loads(old.content)["error"]["details"][0]["reason"] == "VERSION_NOT_SUPPORTED"


async def test_the_version_may_be_in_the_query(client: AsyncClient) -> None:
    task_id = await start(client)
    await ok(client, "GET", f"/v1/tasks/{task_id}?A2A-Version=0.3")
    found = await refused(client, "GET", f"/v1/tasks/{task_id}?A2A-Version=1.0", 400)
    assert (found["code"], found["data"][0]["metadata"]) == (-32009, {"supportedVersions": "1.0, 0.3"})


# -- bodies


@pytest.mark.parametrize("raw", [b"", b"null", b"{}", b'{"name": "tasks/%s"}', b'{"name": ""}'])
async def test_bodies_that_say_nothing_beside_the_path(client: AsyncClient, raw: bytes) -> None:
    task_id = await start(client)
    raw = raw.replace(b"%s", task_id.encode())
    stream = await request(client, "POST", f"/v1/tasks/{task_id}:subscribe", raw=raw)
    assert stream.headers["Content-Type"] == "text/event-stream"
    cancelled = await ok(client, "POST", f"/v1/tasks/{task_id}:cancel", raw=raw)
    assert cancelled["status"]["state"] == "TASK_STATE_CANCELLED"
    *_, last = await events(stream)
    assert last["statusUpdate"]["final"] is True


async def test_a_body_that_contradicts_the_path(client: AsyncClient) -> None:
    task_id = await start(client)
    for verb, path, body, field in (
        ("POST", f"/v1/tasks/{task_id}:cancel", {"name": "tasks/other"}, "name"),
        ("POST", f"/v1/tasks/{task_id}/{CONFIGS}", {"parent": "tasks/other", "config": {}}, "parent"),
    ):
        found = await refused(client, verb, path, 400, body)
        assert found["data"][1]["fieldViolations"][0]["field"] == field
    assert (await ok(client, "GET", f"/v1/tasks/{task_id}"))["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"


@pytest.mark.parametrize(
    ("body", "config_id"),
    [
        ({"parent": "tasks/T", "configId": "a", "config": {"name": "tasks/T", "pushNotificationConfig": HOOK}}, "a"),
        ({"parent": f"tasks/T/{CONFIGS}", "config_id": "a", "config": {"push_notification_config": HOOK}}, "a"),
        ({"config": {"pushNotificationConfig": {**HOOK, "id": "a"}}}, "a"),
        ({"name": f"tasks/T/{CONFIGS}/a", "pushNotificationConfig": HOOK}, "a"),
        ({"name": f"tasks/T/{CONFIGS}/b", "pushNotificationConfig": {**HOOK, "id": "a"}}, "a"),
        ({"name": f"tasks/T/{CONFIGS}/", "pushNotificationConfig": HOOK}, None),
        ({"pushNotificationConfig": HOOK}, None),
    ],
)
async def test_all_forms_in_which_clients_create_webhooks(
    client: AsyncClient, body: dict[str, Any], config_id: str | None
) -> None:
    task_id = await start(client)
    sent = json.loads(json.dumps(body).replace("tasks/T", f"tasks/{task_id}"))
    made = await ok(client, "POST", f"/v1/tasks/{task_id}/{CONFIGS}", sent)
    row = await PushConfig.objects.aget()
    assert (row.task_id, row.url) == (task_id, HOOK["url"])
    assert config_id in (None, row.config_id)
    assert made == {
        "name": f"tasks/{task_id}/{CONFIGS}/{row.config_id}",
        "pushNotificationConfig": {"id": row.config_id, **HOOK},
    }


async def test_a_webhook_whose_id_has_a_slash(client: AsyncClient) -> None:
    path = f"/v1/tasks/{await start(client)}/{CONFIGS}"
    made = await ok(client, "POST", path, {"pushNotificationConfig": {**HOOK, "id": "a/b"}})
    assert await ok(client, "GET", f"{path}/a/b") == made
    assert await ok(client, "GET", f"{path}/a%2Fb") == made
    assert await ok(client, "DELETE", f"{path}/a%2Fb") == {}
    assert await ok(client, "GET", path) == {"configs": []}


@pytest.mark.parametrize("name", ["historyLength", "history_length"])
async def test_names_of_query_parameters(client: AsyncClient, name: str) -> None:
    task_id = await start(client)
    assert len((await ok(client, "GET", f"/v1/tasks/{task_id}?{name}=1"))["history"]) == 1
    found = await refused(client, "GET", f"/v1/tasks/{task_id}?{name}=-1", 400)
    assert found["data"][1]["fieldViolations"][0]["field"] == "history_length"


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b'{"message": NaN}', -32700),
        (b"null", -32602),
        (b"[]", -32602),
        (b'"x"', -32602),
        (b"{}", -32602),
        (b"[" * 1000, -32602),
        (b'{"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"text": "x"}]}}', -32602),
        (b'{"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}}', -32602),
    ],
)
@pytest.mark.parametrize("verb", ["message:send", "message:stream"])
async def test_bodies_that_are_no_request(client: AsyncClient, verb: str, raw: bytes, code: int) -> None:
    """The last two are requests of other forms: JSON-RPC of 0.3, and 1.0."""
    assert (await refused(client, "POST", f"/v1/{verb}", 400, raw=raw))["code"] == code
    assert await Task.objects.acount() == 0


async def test_media_types(client: AsyncClient) -> None:
    raw = json.dumps({"message": say("hi")}).encode()
    await ok(client, "POST", "/v1/message:send", raw=raw, content_type="application/json; charset=utf-8")
    found = await refused(client, "POST", "/v1/message:send", 400, raw=raw, content_type="text/plain")
    assert found["code"] == -32005
    # What 0.3 answers is always application/json, whatever is asked for.
    await ok(client, "POST", "/v1/message:send", raw=raw, Accept="application/a2a+json")


async def test_bodies_that_are_too_large(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_BODY_BYTES": 2000}
    found = await refused(client, "POST", "/v1/message:send", 413, {"message": say("x" * 3000)})
    assert (found["code"], found["data"][0]["reason"]) == (-32600, "REQUEST_TOO_LARGE")


async def test_callers_who_are_not_known(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {}
    for raw in (b"{", json.dumps({"message": say("hi")}).encode()):
        found = await refused(client, "POST", "/v1/message:send", 401, raw=raw)
        assert found["data"][0]["reason"] == "UNAUTHENTICATED"
    response = await request(client, "POST", "/v1/message:send", raw=b"{")
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


# -- streams


async def test_an_error_in_a_stream(client: AsyncClient, register: Callable[[Agent], Agent], monkeypatch: Any) -> None:
    from a2a_django.operations.streams import EventStream

    response = await request(client, "POST", "/v1/message:stream", {"message": say("wait")})

    async def fail(self: EventStream) -> list[str]:
        raise OSError("secret")

    monkeypatch.setattr(EventStream, "__anext__", fail)
    text = b"".join([chunk async for chunk in response.streaming_content]).decode("ascii")
    Scripted.go.set()
    last = text.rstrip().split("\n\n")[-1]
    kind, data = last.split("\n")
    assert kind == "event: error"
    found = json.loads(data.removeprefix("data: "))
    assert (found["code"], found["message"], found["error"]["status"]) == (-32603, "Internal error", "INTERNAL")
    assert "secret" not in text


# -- several agents


async def test_the_address_says_which_agent_is_meant(client: AsyncClient, register: Callable[[Agent], Agent]) -> None:
    class Other(Scripted):
        pass

    register(Other())
    body = {"message": say("ask"), "configuration": {"blocking": True}}
    task = (await ok(client, "POST", "/other/v1/message:send", body))["task"]
    row = await Task.objects.aget()
    assert (row.agent, row.tenant) == ("other", "other")
    assert (await ok(client, "GET", f"/other/v1/tasks/{task['id']}"))["id"] == task["id"]
    await refused(client, "GET", f"/scripted/v1/tasks/{task['id']}", 404)
    made = await ok(
        client, "POST", f"/other/v1/tasks/{task['id']}/{CONFIGS}", {"pushNotificationConfig": {**HOOK, "id": "a"}}
    )
    assert made["name"] == f"tasks/{task['id']}/{CONFIGS}/a"
    found = await refused(client, "GET", f"/other/v1/tasks/{task['id']}?tenant=scripted", 400)
    assert found["data"][1]["fieldViolations"][0]["field"] == "tenant"


async def test_the_cards_address_is_the_one_that_answers(
    client: AsyncClient, register: Callable[[Agent], Agent]
) -> None:
    class Other(Scripted):
        pass

    register(Other())
    card = await ok(client, "GET", "/other/.well-known/agent-card.json")
    (url,) = [each["url"] for each in card["additionalInterfaces"] if each["transport"] == "HTTP+JSON"]
    assert url == "http://testserver/a2a/other"
    task = await ok(
        client, "POST", url.removeprefix("http://testserver/a2a") + "/v1/message:send", {"message": say("hi")}
    )
    assert task["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


# -- off, and WSGI


@pytest.mark.parametrize(
    ("verb", "path"),
    [("POST", "/v1/message:send"), ("GET", "/v1/card"), ("GET", "/v1/x"), ("GET", "/scripted/v1/card")],
)
async def test_off_its_paths_are_unknown_ones_of_1_0(
    client: AsyncClient, settings: Settings, verb: str, path: str
) -> None:
    settings.A2A = {**settings.A2A, "PROTOCOL_0_3": False}
    for version in ("", "0.3", "1.0"):
        response = await request(client, verb, path, {"message": say("hi")}, A2A_Version=version)
        assert (response.status_code, set(json.loads(response.content))) == (404, {"error"})


def test_it_answers_under_wsgi() -> None:
    client = Client()
    sent = {"message": say("hi")}
    task = client.post("/a2a/v1/message:send", data=sent, content_type="application/json").json()["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    refusal = client.post("/a2a/v1/message:stream", data=sent, content_type="application/json")
    assert (refusal.status_code, refusal.json()["code"]) == (400, -32004)
