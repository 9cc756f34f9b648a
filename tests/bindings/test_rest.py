"""The HTTP+JSON binding, through Django's views and the real operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from a2a_django import Agent, Extension
from a2a_django.bindings import sse
from a2a_django.bindings.rest import route
from tests.bindings.asgi import AsgiCall
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import Echo, events, message, rest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("echo"), pytest.mark.spec("11")]


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client(enforce_csrf_checks=True)


def error_of(response: Any, status: int, reason: str | None = None) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/json"
    error: dict[str, Any] = json.loads(response.content)["error"]
    assert set(error) == {"code", "status", "message", "details"}
    assert error["code"] == status
    assert error["details"][0]["domain"] == "a2a-protocol.org"
    assert reason is None or error["details"][0]["reason"] == reason
    return error


def field_of(error: dict[str, Any]) -> str:
    field: str = error["details"][1]["fieldViolations"][0]["field"]
    return field


async def start(client: AsyncClient, text: str = "ask", **kw: Any) -> str:
    response = await rest(client, "POST", "/message:send", {"message": message(text, **kw)})
    assert response.status_code == 200, response.content
    task_id: str = json.loads(response.content)["task"]["id"]
    return task_id


# -- paths


@pytest.mark.spec("5.3")
@pytest.mark.parametrize(
    ("path", "verbs", "fields"),
    [
        (("message:send",), {"POST"}, {}),
        (("message:stream",), {"POST"}, {}),
        (("extendedAgentCard",), {"GET"}, {}),
        (("tasks",), {"GET"}, {}),
        (("tasks", "a"), {"GET"}, {"id": "a"}),
        (("tasks", "a:b"), {"GET"}, {"id": "a:b"}),
        (("tasks", "cancel"), {"GET"}, {"id": "cancel"}),
        (("tasks", "a:b:cancel"), {"POST"}, {"id": "a:b"}),
        (("tasks", ":cancel"), {"POST"}, {"id": ""}),
        (("tasks", "a:subscribe"), {"GET", "POST"}, {"id": "a"}),
        (("tasks", "a/b"), {"GET"}, {"id": "a/b"}),
        (("tasks", "a", "pushNotificationConfigs"), {"GET", "POST"}, {"taskId": "a"}),
        (("tasks", "a", "pushNotificationConfigs", "c"), {"GET", "DELETE"}, {"taskId": "a", "id": "c"}),
    ],
)
def test_what_a_path_stands_for(path: tuple[str, ...], verbs: set[str], fields: dict[str, str]) -> None:
    found = route(path)
    assert found is not None
    assert (set(found.verbs), found.fields) == (verbs, fields)


@pytest.mark.parametrize(
    "path",
    [("",), ("tasks", ""), ("", "tasks"), ("nosuch",), ("tasks", "a", "b"), ("message:send", ""), ("v1", "tasks")],
)
def test_paths_that_stand_for_nothing(path: tuple[str, ...]) -> None:
    assert route(path) is None


@pytest.mark.parametrize(
    ("verb", "path", "allow"),
    [
        ("GET", "/message:send", "POST, OPTIONS"),
        ("POST", "/tasks", "GET, HEAD, OPTIONS"),
        ("DELETE", "/tasks/x", "GET, HEAD, OPTIONS"),
        ("PUT", "/tasks/x", "GET, HEAD, OPTIONS"),
        ("POST", "/tasks/x:frobnicate", "GET, HEAD, OPTIONS"),
        ("GET", "/tasks/x:cancel", "POST, OPTIONS"),
        ("HEAD", "/tasks/x:subscribe", "POST, GET, OPTIONS"),
        ("PATCH", "/tasks/x/pushNotificationConfigs", "POST, GET, HEAD, OPTIONS"),
        ("GET", "/echo/message:send", "POST, OPTIONS"),
    ],
)
async def test_wrong_verbs_are_405_with_allow(client: AsyncClient, verb: str, path: str, allow: str) -> None:
    response = await rest(client, verb, path)
    assert (response.status_code, response.headers["Allow"]) == (405, allow)
    if verb != "HEAD":
        error_of(response, 405)
    options = await rest(client, "OPTIONS", path)
    assert (options.status_code, options.headers["Allow"], options.content) == (200, allow, b"")


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/nosuch"),
        ("GET", "/tasks/x/nosuch"),
        ("POST", "/message:send/"),
        ("POST", "/tasks/x:cancel/"),
        ("GET", "/tasks/"),
        ("GET", "//tasks"),
        ("POST", "/message:send/message:send"),
        ("GET", "/nobody/tasks"),
        ("GET", "/tasks/tasks/tasks"),
        ("GET", "/x%0Ay/z"),
        ("OPTIONS", "/nosuch"),
    ],
)
async def test_unknown_paths_are_json_and_no_redirect(client: AsyncClient, verb: str, path: str) -> None:
    error_of(await rest(client, verb, path), 404, "METHOD_NOT_FOUND")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        ("tasks/a%2Fb", "TASK_NOT_FOUND"),
        ("tasks/a%2FpushNotificationConfigs", "TASK_NOT_FOUND"),
        ("tasks/..%2Fx", "TASK_NOT_FOUND"),
        ("tasks/%E2%82%AC", "TASK_NOT_FOUND"),
        ("tasks%2Fx", "METHOD_NOT_FOUND"),
    ],
)
@pytest.mark.parametrize("prefix", ["/a2a/", "/%61%32a/", "/pre%2Ffix/a2a/"])
async def test_the_path_as_the_server_received_it_decides(carrier: Carrier, raw: str, reason: str, prefix: str) -> None:
    """Django's path is decoded; raw_path is what servers give beside it."""
    async with AsgiCall(carrier.application(), "GET", f"/a2a/{unquote(raw)}", raw_path=prefix + raw) as call:
        assert (await call.head())[0] == 404
        assert json.loads(await call.body())["error"]["details"][0]["reason"] == reason


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/tasks/a:b", 404),
        ("/tasks/%20", 404),
        ("/tasks/%00", 400),
        ("/tasks/" + "x" * 8000, 400),
        ("/tasks/%C3%A4", 404),
    ],
)
async def test_odd_ids(client: AsyncClient, path: str, status: int) -> None:
    error_of(await rest(client, "GET", path), status)


# -- operations


async def test_send_get_list_and_cancel(client: AsyncClient) -> None:
    task_id = await start(client)
    got = json.loads((await rest(client, "GET", f"/tasks/{task_id}?historyLength=0")).content)
    assert got["id"] == task_id
    assert "history" not in got
    query = f"pageSize=1&A2A-Version=1.0&x=y&contextId={got['contextId']}"
    page = json.loads((await rest(client, "GET", f"/tasks?{query}")).content)
    assert [task["id"] for task in page["tasks"]] == [task_id]
    cancelled = await rest(client, "POST", f"/tasks/{task_id}%3Acancel?x=1", {"metadata": {"why": "test"}})
    assert json.loads(cancelled.content)["status"]["state"] == "TASK_STATE_CANCELED"
    error_of(await rest(client, "GET", "/tasks/nobody"), 404, "TASK_NOT_FOUND")
    error = error_of(await rest(client, "GET", "/tasks?pageSize=0"), 400, "INVALID_PARAMS")
    assert field_of(error) == "page_size"


@pytest.mark.parametrize("raw", [b"", b"{}", b"null", b"  "])
async def test_a_cancel_may_say_nothing(client: AsyncClient, raw: bytes) -> None:
    task_id = await start(client)
    response = await rest(client, "POST", f"/tasks/{task_id}:cancel", raw=raw)
    assert json.loads(response.content)["status"]["state"] == "TASK_STATE_CANCELED"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "JSON_PARSE"),
        (b"{", "JSON_PARSE"),
        (b"\xff", "JSON_PARSE"),
        (b"null", "INVALID_PARAMS"),
        (b"[]", "INVALID_PARAMS"),
        (b'"x"', "INVALID_PARAMS"),
        (b"{}", "INVALID_PARAMS"),
    ],
)
async def test_a_message_has_to_say_something(client: AsyncClient, raw: bytes, reason: str) -> None:
    error_of(await rest(client, "POST", "/message:send", raw=raw), 400, reason)


@pytest.mark.parametrize(
    ("query", "body"),
    [
        ("?id=other", {}),
        ("", {"id": "other"}),
        ("", {"id": 7}),
        ("?id=other", {"id": "other"}),
    ],
)
async def test_an_id_beside_the_path_must_be_the_same(client: AsyncClient, query: str, body: dict[str, Any]) -> None:
    task_id = await start(client)
    error = error_of(await rest(client, "POST", f"/tasks/{task_id}:cancel{query}", body), 400, "INVALID_PARAMS")
    assert field_of(error) == "id"
    error_of(await rest(client, "GET", f"/tasks/{task_id}?id=other"), 400, "INVALID_PARAMS")
    state = json.loads((await rest(client, "GET", f"/tasks/{task_id}?id={task_id}")).content)["status"]["state"]
    assert state == "TASK_STATE_INPUT_REQUIRED"
    same = await rest(client, "POST", f"/tasks/{task_id}:cancel?id={task_id}", {"id": task_id})
    assert same.status_code == 200


@pytest.mark.parametrize("name", ["taskId", "task_id"])
async def test_the_task_of_a_push_config_is_the_one_of_the_path(client: AsyncClient, name: str) -> None:
    path = "/tasks/a/pushNotificationConfigs"
    error = error_of(await rest(client, "POST", path, {name: "b", "url": "https://x.example"}), 400, "INVALID_PARAMS")
    assert field_of(error) == "task_id"
    error_of(await rest(client, "POST", path, {"url": "https://x.example"}), 400, "PUSH_NOTIFICATION_NOT_SUPPORTED")
    error_of(await rest(client, "DELETE", path + "/c"), 400, "PUSH_NOTIFICATION_NOT_SUPPORTED")


async def test_head_is_get_without_the_body(client: AsyncClient) -> None:
    task_id = await start(client)
    get, head = await rest(client, "GET", f"/tasks/{task_id}"), await rest(client, "HEAD", f"/tasks/{task_id}")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(get.content))
    assert (await rest(client, "HEAD", "/tasks/nobody")).status_code == 404


async def test_content_types(client: AsyncClient) -> None:
    body = {"message": message("hi")}
    for sent, accept, expected in (
        ("application/json", "*/*", "application/json"),
        ("application/a2a+json", "*/*", "application/a2a+json"),
        ("application/json", "application/a2a+json, application/json", "application/a2a+json"),
        ("application/vnd.x+json; charset=utf-8", "text/event-stream", "application/a2a+json"),
    ):
        response = await rest(client, "POST", "/message:send", body, content_type=sent, Accept=accept)
        assert response.status_code == 200
        assert response.headers["Content-Type"] == expected
    response = await rest(client, "POST", "/message:send", body, content_type="text/plain")
    error_of(response, 400, "CONTENT_TYPE_NOT_SUPPORTED")
    response = await rest(client, "GET", "/tasks/nobody", Accept="application/a2a+json")
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/a2a+json")


async def test_a_body_above_the_limit_is_413(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_BODY_BYTES": 100}
    error_of(await rest(client, "POST", "/message:send", {"message": message("x" * 200)}), 413)


async def test_versions(client: AsyncClient) -> None:
    error_of(await rest(client, "GET", "/tasks/nobody", A2A_Version="0.3"), 400, "VERSION_NOT_SUPPORTED")
    error_of(await rest(client, "GET", "/tasks?A2A-Version=9.9", A2A_Version=""), 400, "VERSION_NOT_SUPPORTED")
    assert (await rest(client, "GET", "/tasks?a2a-version=1.0", A2A_Version="")).status_code == 200


async def test_extensions(client: AsyncClient, echo: Agent) -> None:
    echo.extensions = [Extension("https://e.example/a", required=True)]
    response = await rest(client, "POST", "/message:send", {"message": message("hi")})
    error_of(response, 400, "EXTENSION_SUPPORT_REQUIRED")
    asked = {"A2A_Extensions": "https://e.example/a"}
    response = await rest(client, "POST", "/message:stream", {"message": message("hi")}, **asked)
    assert response.headers["A2A-Extensions"] == "https://e.example/a"
    assert await events(response)


# -- tenants


async def test_tenants_in_path_query_and_body_agree(
    client: AsyncClient, register: Callable[[Agent], Agent], settings: Settings
) -> None:
    register(Echo(name="Other"))
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "echo"}
    mine = await start(client)
    for path, body in (
        ("/other/message:send", {}),
        ("/other/message:send", {"tenant": "other"}),
        ("/message:send", {"tenant": "other"}),
        ("/message:send?tenant=other", {}),
        ("/other/message:send?tenant=other", {"tenant": "other"}),
    ):
        response = await rest(client, "POST", path, {"message": message("hi"), **body})
        task_id = json.loads(response.content)["task"]["id"]
        assert (await rest(client, "GET", f"/other/tasks/{task_id}?tenant=other")).status_code == 200
        assert (await rest(client, "GET", f"/tasks/{task_id}?tenant=other")).status_code == 200
        error_of(await rest(client, "GET", f"/tasks/{task_id}"), 404, "TASK_NOT_FOUND")
        error_of(await rest(client, "GET", f"/nobody/tasks/{task_id}"), 404, "METHOD_NOT_FOUND")
    error_of(await rest(client, "GET", f"/other/tasks/{mine}"), 404, "TASK_NOT_FOUND")
    for path, body in (
        ("/other/message:send", {"tenant": "echo"}),
        ("/message:send?tenant=other", {"tenant": "echo"}),
        ("/other/message:send?tenant=echo", {}),
        ("/message:send", {"tenant": "nobody"}),
        ("/message:send?tenant=nobody", {}),
    ):
        response = await rest(client, "POST", path, {"message": message("hi"), **body})
        assert field_of(error_of(response, 400, "INVALID_PARAMS")) == "tenant"


# -- streams


async def test_a_stream_of_bare_events(client: AsyncClient) -> None:
    response = await rest(client, "POST", "/message:stream", {"message": message("hi")}, Accept="text/event-stream")
    got = await events(response)
    assert [next(iter(event)) for event in got] == ["task", "artifactUpdate", "statusUpdate"]


@pytest.mark.parametrize(("verb", "raw"), [("GET", b""), ("POST", b""), ("POST", b"{}"), ("POST", b"null")])
async def test_subscribe_with_both_verbs(client: AsyncClient, verb: str, raw: bytes) -> None:
    task_id = await start(client)
    response = await rest(client, verb, f"/tasks/{task_id}:subscribe", raw=raw)
    assert response.status_code == 200
    content = aiter(response.streaming_content)
    assert json.loads((await anext(content)).partition(b"data: ")[2])["task"]["id"] == task_id
    answered = await rest(client, "POST", "/message:send", {"message": message("blue", taskId=task_id)})
    assert json.loads(answered.content)["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    rest_of_it = b"".join([chunk async for chunk in content])
    assert rest_of_it.endswith(b"\n\n")
    assert b"TASK_STATE_COMPLETED" in rest_of_it
    error_of(await rest(client, verb, f"/tasks/{task_id}:subscribe", raw=raw), 400, "UNSUPPORTED_OPERATION")
    error_of(await rest(client, verb, "/tasks/nobody:subscribe", raw=raw), 404, "TASK_NOT_FOUND")
    assert sse.places.taken == 0


async def test_a_stream_that_cannot_begin_is_an_http_error(client: AsyncClient, settings: Settings) -> None:
    body = {"message": message("x", taskId="nobody")}
    error_of(await rest(client, "POST", "/message:stream", body), 404, "TASK_NOT_FOUND")
    settings.A2A = {**settings.A2A, "MAX_STREAMS": 1}
    place = sse.places.take()
    response = await rest(client, "POST", "/message:stream", {"message": message("x")})
    place.release()
    error_of(response, 503, "UNAVAILABLE")
    assert response.headers["Retry-After"] == "1"
