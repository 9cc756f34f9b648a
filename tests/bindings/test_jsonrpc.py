"""The JSON-RPC binding, through Django's view and the real operations."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from a2a_django import Agent, Extension
from a2a_django.bindings import jsonrpc, sse
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import envelope, events, message, rpc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("echo"), pytest.mark.spec("9")]


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client(enforce_csrf_checks=True)


def error_of(response: Any, *, status: int = 200, id: Any = "t1") -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/json"
    body = json.loads(response.content)
    assert set(body) == {"jsonrpc", "id", "error"}
    assert body["jsonrpc"] == "2.0"
    assert body["id"] == id
    assert type(body["id"]) is type(id)
    assert set(body["error"]) == {"code", "message", "data"}
    error: dict[str, Any] = body["error"]
    return error


@pytest.mark.parametrize("path", ["/a2a/", "/a2a"])
async def test_a_call_is_answered_with_and_without_the_slash(client: AsyncClient, path: str) -> None:
    response = await rpc(client, envelope("SendMessage", {"message": message("hi")}), path=path)
    assert response.status_code == 200
    body = json.loads(response.content)
    assert set(body) == {"jsonrpc", "id", "result"}
    assert body["result"]["task"]["artifacts"][0]["parts"] == [{"text": "hi"}]


@pytest.mark.parametrize(
    ("sent", "id"),
    [('"t\\u00e4\\n"', "tä\n"), ("7", 7), ("-1", -1), ("null", None), ('""', ""), (str(2**70), 2**70), ("0", 0)],
)
async def test_the_id_comes_back_as_it_was_sent(client: AsyncClient, sent: str, id: Any) -> None:
    raw = f'{{"jsonrpc":"2.0","id":{sent},"method":"ListTasks"}}'
    body = json.loads((await rpc(client, raw)).content)
    assert body["id"] == id
    assert type(body["id"]) is type(id)
    assert body["result"]["tasks"] == []


async def test_a_call_without_id_is_answered_with_null(client: AsyncClient) -> None:
    body = json.loads((await rpc(client, '{"jsonrpc":"2.0","method":"ListTasks"}')).content)
    assert body["id"] is None
    assert "result" in body


@pytest.mark.parametrize("sent", ["1.5", "1.0", "true", "{}", "[]", "9" * 5000])
async def test_ids_of_other_kinds_are_refused_with_null(client: AsyncClient, sent: str) -> None:
    response = await rpc(client, f'{{"jsonrpc":"2.0","id":{sent},"method":"ListTasks"}}')
    assert error_of(response, id=None)["code"] == -32600


@pytest.mark.parametrize(
    ("raw", "code", "id"),
    [
        (b"{", -32700, None),
        (b"", -32700, None),
        (b"\xff", -32700, None),
        (b"\xef\xbb\xbf{}", -32700, None),
        (b'{"jsonrpc":"2.0","id":"t1","method":"ListTasks","params":{"pageSize":NaN}}', -32700, None),
        (b"[" * 100_000 + b"]" * 100_000, -32602, None),
        (b'{"jsonrpc":"2.0","id":"t1","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}", -32602, "t1"),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":"t1","method":"ListTasks"}]', -32600, None),
        (b"null", -32600, None),
        (b'"x"', -32600, None),
        (b"{}", -32600, None),
        (b'{"id":"t1","method":"ListTasks"}', -32600, "t1"),
        (b'{"jsonrpc":"1.0","id":"t1","method":"ListTasks"}', -32600, "t1"),
        (b'{"jsonrpc":2.0,"id":"t1","method":"ListTasks"}', -32600, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1"}', -32600, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":5}', -32600, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":""}', -32601, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"sendMessage"}', -32601, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"rpc.discover"}', -32601, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"messages","params":{}}', -32601, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"GetTask"}', -32602, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"GetTask","params":null}', -32602, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"GetTask","params":[]}', -32602, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"GetTask","params":"x"}', -32602, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"GetTask","params":{"id":"\\u0000"}}', -32602, "t1"),
        (b'{"jsonrpc":"2.0","id":"t1","method":"ListTasks","params":{"pageSize":1e400}}', -32602, "t1"),
    ],
)
async def test_what_is_no_right_call_gets_its_code(client: AsyncClient, raw: bytes, code: int, id: str | None) -> None:
    assert error_of(await rpc(client, raw), id=id)["code"] == code


async def test_wrong_fields_are_named(client: AsyncClient) -> None:
    response = await rpc(client, envelope("SendMessage", {"message": {"role": "ROLE_USER", "parts": [{}]}}))
    error = error_of(response)
    assert error["code"] == -32602
    fields = {violation["field"] for violation in error["data"][1]["fieldViolations"]}
    assert fields == {"message.message_id", "message.parts[0]"}


async def test_unknown_members_and_snake_case_are_accepted(client: AsyncClient) -> None:
    response = await rpc(client, envelope("ListTasks", {"page_size": 3, "shiny": 1}, extra={}))
    assert json.loads(response.content)["result"]["pageSize"] == 3


async def test_errors_of_operations_have_status_200(client: AsyncClient) -> None:
    error = error_of(await rpc(client, envelope("GetTask", {"id": "nobody"})))
    assert error["code"] == -32001
    assert error["data"][0]["reason"] == "TASK_NOT_FOUND"


@pytest.mark.parametrize("verb", ["GET", "HEAD", "PUT", "PATCH", "DELETE"])
async def test_other_verbs_are_not_allowed(client: AsyncClient, verb: str) -> None:
    response = await client.generic(verb, "/a2a/")
    assert response.status_code == 405
    assert response.headers["Allow"] == "POST, OPTIONS"
    assert response.headers["Content-Type"] == "application/json"


async def test_options_tells_the_verbs(client: AsyncClient) -> None:
    response = await client.options("/a2a/")
    assert (response.status_code, response.headers["Allow"]) == (200, "POST, OPTIONS")


@pytest.mark.spec("14.1")
@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_a_body_of_another_type_is_not_supported(client: AsyncClient, content_type: str) -> None:
    response = await client.post("/a2a/", data=envelope("ListTasks").encode(), content_type=content_type)
    assert error_of(response)["code"] == -32005


async def test_a_body_above_the_limit_is_refused_unread(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_BODY_BYTES": 100}
    response = await rpc(client, envelope("ListTasks", {"contextId": "x" * 200}))
    assert error_of(response)["code"] == -32600
    assert json.loads((await rpc(client, envelope("ListTasks"))).content)["result"]["tasks"] == []


async def test_djangos_limit_for_forms_does_not_cut_in(client: AsyncClient, settings: Settings) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 10
    response = await rpc(client, envelope("SendMessage", {"message": message("y" * 3_000_000)}))
    assert len(json.loads(response.content)["result"]["task"]["artifacts"][0]["parts"][0]["text"]) == 3_000_000


# -- versions


@pytest.mark.parametrize("version", ["1.0", " 1.0 ", "1.0.7", "1", "1.0, 0.3", "", " "])
async def test_versions_that_are_served(client: AsyncClient, version: str) -> None:
    response = await rpc(client, envelope("ListTasks"), A2A_Version=version)
    assert "result" in json.loads(response.content)


@pytest.mark.parametrize("version", ["1.1", "2.0", "0.3", "0.2", "v1.0", "abc", "1.0abc", "-1", "0.3, 1.0"])
async def test_versions_that_are_not(client: AsyncClient, version: str) -> None:
    error = error_of(await rpc(client, envelope("GetTask", {"id": "nobody"}), A2A_Version=version))
    assert error["code"] == -32009
    assert error["data"][0]["metadata"] == {"supportedVersions": "1.0, 0.3"}


async def test_the_version_in_the_query_counts_without_a_header(client: AsyncClient) -> None:
    async def code(query: str, headers: dict[str, str]) -> int | None:
        sent = {"data": envelope("ListTasks"), "content_type": "application/json", "headers": headers}
        body = json.loads((await client.post(f"/a2a/?{query}", **sent)).content)
        return body.get("error", {}).get("code")

    assert await code("A2A-Version=1.0", {}) is None
    assert await code("a2a-version=1.0", {}) is None
    assert await code("A2A-Version=9.9", {}) == -32009
    assert await code("A2A-Version=9.9", {"A2A-Version": "1.0"}) is None
    assert await code("A2A-Version=1.0", {"A2A-Version": "0.3"}) == -32009


async def test_strict_sites_take_no_version_for_the_old_one(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "STRICT_VERSION": True}
    assert error_of(await rpc(client, envelope("ListTasks"), A2A_Version=""))["code"] == -32009
    assert "result" in json.loads((await rpc(client, envelope("ListTasks"))).content)


# -- extensions


async def test_active_extensions_are_told_and_unknown_ones_ignored(client: AsyncClient, echo: Agent) -> None:
    echo.extensions = [Extension("https://e.example/a"), Extension("https://e.example/b")]
    response = await rpc(
        client,
        envelope("ListTasks"),
        A2A_Extensions="https://e.example/b, https://e.example/unknown",
        X_A2A_Extensions="https://e.example/a",
    )
    assert response.headers["A2A-Extensions"] == "https://e.example/b, https://e.example/a"
    assert "A2A-Extensions" not in (await rpc(client, envelope("ListTasks"))).headers


async def test_required_extensions_are_required_of_messages_only(
    client: AsyncClient, echo: Agent, settings: Settings
) -> None:
    echo.extensions = [Extension("https://e.example/a", required=True)]
    sending = envelope("SendMessage", {"message": message("hi")})
    assert error_of(await rpc(client, sending))["code"] == -32008
    assert "result" in json.loads((await rpc(client, envelope("ListTasks"))).content)
    response = await rpc(client, sending, A2A_Extensions="https://e.example/a")
    assert response.headers["A2A-Extensions"] == "https://e.example/a"
    settings.A2A = {**settings.A2A, "REQUIRE_EXTENSIONS_EVERYWHERE": True}
    assert error_of(await rpc(client, envelope("ListTasks")))["code"] == -32008


# -- tenants


async def test_a_tenant_is_the_slug_of_an_agent(client: AsyncClient) -> None:
    assert "result" in json.loads((await rpc(client, envelope("ListTasks", {"tenant": "echo"}))).content)
    assert "result" in json.loads((await rpc(client, envelope("ListTasks"), path="/a2a/?tenant=echo")).content)
    for tenant in ("nobody", "tasks", "..", "t" * 1024):
        for method, params in (("ListTasks", {}), ("GetTask", {"id": "x"}), ("SendMessage", {"message": message("x")})):
            error = error_of(await rpc(client, envelope(method, {**params, "tenant": tenant})))
            assert error["code"] == -32602
            assert error["data"][1]["fieldViolations"][0]["field"] == "tenant"


async def test_two_tenants_at_once_are_refused(client: AsyncClient) -> None:
    response = await rpc(client, envelope("ListTasks", {"tenant": "echo"}), path="/a2a/?tenant=other")
    assert error_of(response)["code"] == -32602


# -- streams


async def test_a_stream_repeats_the_envelope_around_every_event(client: AsyncClient) -> None:
    response = await rpc(client, envelope("SendStreamingMessage", {"message": message("hi")}, id=2**60))
    assert response.status_code == 200
    for name, value in sse.HEADERS.items():
        assert response.headers[name] == value
    assert "Connection" not in response.headers
    got = await events(response)
    assert {event["id"] for event in got} == {2**60}
    assert all(set(event) == {"jsonrpc", "id", "result"} for event in got)
    assert got[0]["result"]["task"]["status"]["state"] == "TASK_STATE_SUBMITTED"
    assert got[-1]["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_errors_before_the_first_event_are_plain_answers(client: AsyncClient, settings: Settings) -> None:
    for params, code in (
        ({"message": message("x", taskId="nobody")}, -32001),
        ({"message": {**message("x"), "parts": []}}, -32602),
    ):
        assert error_of(await rpc(client, envelope("SendStreamingMessage", params)))["code"] == code
    assert sse.places.taken == 0
    settings.A2A = {**settings.A2A, "MAX_STREAMS": 1}
    place = sse.places.take()
    response = await rpc(client, envelope("SendStreamingMessage", {"message": message("x")}))
    assert error_of(response, status=503)["data"][0]["reason"] == "UNAVAILABLE"
    assert response.headers["Retry-After"] == "1"
    place.release()
    assert json.loads((await rpc(client, envelope("ListTasks"))).content)["result"]["totalSize"] == 0


async def test_agents_that_do_not_stream_say_so(client: AsyncClient, echo: Agent) -> None:
    echo.streaming = False
    response = await rpc(client, envelope("SendStreamingMessage", {"message": message("x")}))
    assert error_of(response)["code"] == -32004
    assert sse.places.taken == 0


# -- what must not happen


async def test_an_unexpected_error_is_logged_and_not_shown(
    client: AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: Any) -> None:
        raise ZeroDivisionError("secret-7f3a")

    monkeypatch.setattr("a2a_django.engine.listing.page", fail)
    error = error_of(await rpc(client, envelope("ListTasks")))
    assert error["code"] == -32603
    assert error["message"] == "Internal error"
    assert "secret-7f3a" in caplog.text


async def test_a_host_that_is_not_served_is_a_client_error(
    client: AsyncClient, carrier: Carrier, settings: Settings
) -> None:
    settings.MIDDLEWARE = []
    settings.ALLOWED_HOSTS = ["shop.example"]
    assert error_of(await rpc(client, envelope("ListTasks")), id=None)["code"] == -32600
    carrier.passed_on.clear()
    settings.ALLOWED_HOSTS = ["testserver"]
    assert "result" in json.loads((await rpc(client, envelope("ListTasks"))).content)


@pytest.mark.parametrize(
    ("head", "id"),
    [
        (b'{"id":7}', "7"),
        (b' { "jsonrpc" : "2.0" ,\n "id" : "t\xc3\xa4" , "method":"x"', '"t\\u00e4"'),
        (b'{"id":null,"params":{"x":', "null"),
        (b'{"id":"a","params":{"text":"\xc3', '"a"'),
        (b'{"id":"a","params":{"text":"\xff', "null"),
        (b'{"params":{"id":7},"id":8}', "null"),
        (b'{"id":1.5,', "null"),
        (b'{"id":{"id":7},', "null"),
        (b'{"id":12', "null"),
        (b'{"id":12 ', "null"),
        (b'{"id":"12', "null"),
        (b'{"id"', "null"),
        (b'{"id":', "null"),
        (b'{"id":7 8', "null"),
        (b'{7:7,"id":8}', "null"),
        (b"{[[[", "null"),
        (b'[{"id":7}]', "null"),
        (b'{"x":' + b"9" * 5000 + b',"id":7}', "null"),
        (b"", "null"),
        (b"{", "null"),
    ],
)
def test_the_id_of_a_body_that_is_not_read(head: bytes, id: str) -> None:
    assert jsonrpc.peek_id(head) == id
