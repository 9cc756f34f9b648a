"""The consumers answer what the views answer, byte for byte: status, headers and their order, body."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler
from pytest_django import Settings

from a2a_django import Agent, Extension
from a2a_django.asgi import get_asgi_application
from tests.bindings.asgi import AsgiCall
from tests.bindings.conftest import Echo, envelope, message

pytestmark = pytest.mark.django_db(transaction=True)

#: What is different in every answer that has it.
CHANGING = re.compile(rb"[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z")

Raw = tuple[int, list[tuple[bytes, bytes]], bytes]


async def answer(application: Any, method: str, path: str, **options: Any) -> Raw:
    async with AsgiCall(application, method, path, **options) as call:
        start = await call._next()
        body = await call.body()
    return start["status"], start["headers"], CHANGING.sub(b"*", body)


async def same(method: str, path: str, **options: Any) -> Raw:
    """Both answers, which are one."""

    async def site(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError(f"{scope['path']} was left to the site")

    views = await answer(ASGIHandler(), method, path, **options)
    assert await answer(get_asgi_application(site), method, path, **options) == views
    return views


@pytest.fixture
def agents(register: Callable[[Agent], Agent], settings: Settings) -> None:
    register(Echo())
    register(Echo(name="Other", extensions=[Extension("https://e.example/ä", required=True)]))
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "echo"}


SENDING = {"message": message("hi")}


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (envelope("SendMessage", SENDING), 200),
        (envelope("SendStreamingMessage", SENDING), 200),
        (envelope("SendStreamingMessage", {**SENDING, "tenant": "nobody"}), 200),
        (envelope("ListTasks"), 200),
        (envelope("GetTask", {"id": "nobody"}), 200),
        (envelope("SubscribeToTask", {"id": "nobody"}), 200),
        (envelope("SendMessage", {"message": {"parts": [{}]}}), 200),
        (envelope("DeleteTaskPushNotificationConfig", {"taskId": "a", "id": "b"}), 200),
        (envelope("GetExtendedAgentCard"), 200),
        (envelope("Frobnicate"), 200),
        ("[]", 200),
        ("{", 200),
        ("", 200),
        ("\xff", 200),
    ],
)
async def test_jsonrpc(raw: str, status: int) -> None:
    for path in ("/a2a/", "/a2a"):
        assert (await same("POST", path, body=raw.encode("latin1")))[0] == status


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "post"])
@pytest.mark.parametrize("path", ["/a2a/", "/a2a/tasks", "/.well-known/agent-card.json", "/a2a/nosuch"])
async def test_verbs(method: str, path: str) -> None:
    await same(method, path)


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/a2a/message:send", SENDING, 200),
        ("POST", "/a2a/message:stream", SENDING, 200),
        ("POST", "/a2a/other/message:stream", SENDING, 400),
        ("POST", "/a2a/nobody/message:stream", SENDING, 404),
        ("GET", "/a2a/tasks", None, 200),
        ("GET", "/a2a/other/tasks", None, 200),
        ("GET", "/a2a/tasks/nobody", None, 404),
        ("GET", "/a2a/tasks/" + "x" * 8000, None, 400),
        ("POST", "/a2a/tasks/nobody:cancel", None, 404),
        ("GET", "/a2a/tasks/nobody:subscribe", None, 404),
        ("DELETE", "/a2a/tasks/a/pushNotificationConfigs/b", None, 400),
        ("GET", "/a2a/tasks/", None, 404),
        ("GET", "/a2a//", None, 404),
        ("GET", "/a2a/other/.well-known/agent-card.json", None, 200),
        ("GET", "/a2a/nobody/.well-known/agent-card.json", None, 404),
    ],
)
async def test_http_json(method: str, path: str, body: Any, status: int) -> None:
    for accept in ("*/*", "application/a2a+json", "text/html"):
        raw = b"" if body is None else json.dumps(body).encode()
        found = await same(method, path, body=raw, headers={"accept": accept})
        assert found[0] == status, found


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize(
    "headers",
    [
        {"a2a-version": "9.9"},
        {"content-type": "text/plain"},
        {"content-type": "application/json; charset=nonsense"},
        {"a2a-extensions": "https://e.example/ä, x"},
        {"a2a_version": "9.9", "a2a-version": ""},
        {"content-length": "nonsense"},
        {"content-length": "-5"},
        {"transfer-encoding": "chunked"},
        {"x-forwarded-host": "other.example", "x-forwarded-proto": "https"},
        {"if-none-match": "*"},
        {"host": "testserver:8000"},
        {"cookie": "language=de; csrftoken=" + "a" * 32},
        {"origin": "https://evil.example"},
    ],
)
@pytest.mark.parametrize("query", ["", "tenant=other", "A2A-Version=9.9", "x=%FF", "pageSize=1"])
async def test_headers_and_queries(headers: dict[str, str], query: str) -> None:
    await same("POST", "/a2a/", body=envelope("ListTasks").encode(), headers=headers, query=query)
    await same("GET", "/a2a/tasks", headers=headers, query=query)
    without_body = {name: value for name, value in headers.items() if name != "transfer-encoding"}
    await same("GET", "/.well-known/agent-card.json", headers=without_body, query=query)


@pytest.mark.usefixtures("agents")
async def test_names_and_values_of_headers_beyond_ascii(settings: Settings) -> None:
    extension = "https://e.example/ä"
    body = envelope("SendMessage", {**SENDING, "tenant": "other"}).encode()
    status, headers, text = await same("POST", "/a2a/", body=body, headers={"a2a-extensions": extension})
    assert status == 200
    assert b"result" in text
    assert dict(headers)[b"A2A-Extensions"] == extension.encode("latin1")


@pytest.mark.usefixtures("agents")
async def test_the_sites_security_headers(settings: Settings) -> None:
    settings.SECURE_HSTS_SECONDS = 60
    settings.SECURE_HSTS_PRELOAD = True
    settings.SECURE_REFERRER_POLICY = "no-referrer, same-origin"
    settings.X_FRAME_OPTIONS = "SAMEORIGIN"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    for proto, secure in (("https", True), ("http", False), ("", False)):
        for method, path in (("POST", "/a2a/"), ("GET", "/.well-known/agent-card.json"), ("GET", "/a2a/tasks/x")):
            sent = {"x-forwarded-proto": proto}
            headers = dict((await same(method, path, body=envelope("ListTasks").encode(), headers=sent))[1])
            assert (b"Strict-Transport-Security" in headers) is secure
            assert headers[b"Referrer-Policy"] == b"no-referrer,same-origin"
            assert headers[b"X-Frame-Options"] == b"SAMEORIGIN"
    settings.MIDDLEWARE = []
    assert b"Referrer-Policy" not in dict((await same("GET", "/a2a/tasks"))[1])


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("authenticators", [[], ["rest_framework.authentication.BasicAuthentication"]])
async def test_refusals(settings: Settings, authenticators: list[str]) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": authenticators} if authenticators else {}
    for headers in ({}, {"authorization": "Bearer no.body"}, {"authorization": "Basic !"}, {"x-api-key": "x"}):
        for raw in (envelope("ListTasks"), envelope("x" * 5000, id=7), "nonsense"):
            assert (await same("POST", "/a2a/", body=raw.encode(), headers=headers))[0] == 401
        assert (await same("GET", "/a2a/tasks", headers=headers))[0] == 401
        assert (await same("OPTIONS", "/a2a/tasks", headers=headers))[0] == 200


@pytest.mark.usefixtures("agents")
async def test_sites_under_a_script_prefix(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.bindings.urls_prefix"
    settings.FORCE_SCRIPT_NAME = "/shop"
    for path in ("/.well-known/agent-card.json", "/a2a/echo/.well-known/agent-card.json", "/a2a/tasks", "/a2a/nosuch"):
        for prefix in ("", "/shop"):
            await same("GET", f"{prefix}/agents/x{path}")
