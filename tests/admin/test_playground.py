"""The playground's doors: the bindings for the operator, and for nobody else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from asgiref.sync import SyncToAsync
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.handlers.asgi import ASGIHandler
from django.test import AsyncClient, Client
from pytest_django import Settings
from rest_framework.permissions import BasePermission

from a2a_django import Agent
from a2a_django.access import create_api_key
from a2a_django.models import APIKey, Task
from tests.bindings.conftest import Echo, envelope, events, message, register

__all__ = ["register"]

pytestmark = pytest.mark.django_db(transaction=True)

DOOR = "/admin/a2a_django/agentsetting/playground/jsonrpc/"
REST = "/admin/a2a_django/agentsetting/playground/rest/"


class Never(BasePermission):
    """Lets nobody in."""

    message = "Not even you"

    def has_permission(self, request: Any, view: Any) -> bool:
        return False


class OnlyStaff(BasePermission):
    """Lets staff in."""

    def has_permission(self, request: Any, view: Any) -> bool:
        return bool(request.user.is_staff and request.auth is None)


@pytest.fixture(autouse=True)
def site(settings: Settings, register: Callable[[Agent], Agent]) -> None:
    """A site whose callers need a key, as sites have it where nothing is set."""
    settings.A2A = {"SHUTDOWN_SECONDS": 0}
    register(Echo())
    register(Echo(slug="closed", permissions=[Never]))


def player(name: str = "player", *, staff: bool = True, permission: bool = True) -> Any:
    user = get_user_model().objects.create_user(name, password="x", is_staff=staff)
    if permission:
        user.user_permissions.add(Permission.objects.get(codename="use_playground"))
    return user


async def signed_in(user: Any, **options: Any) -> AsyncClient:
    client = AsyncClient(**options)
    await client.aforce_login(user)
    return client


async def rpc(client: Any, method: str, params: Any, **headers: str) -> Any:
    """POST a call to the door."""
    sent = {"A2A-Version": "1.0"} | headers
    return await client.post(DOOR, data=envelope(method, params), content_type="application/json", headers=sent)


@pytest.fixture
def user() -> Any:
    return player()


async def test_a_call_is_the_operators_own(user: Any) -> None:
    client = await signed_in(user)
    response = await rpc(client, "SendMessage", {"tenant": "echo", "message": message("ask")})
    assert response.headers["Cache-Control"] == "no-store"
    task_id = response.json()["result"]["task"]["id"]
    row = await Task.objects.aget()
    assert (row.pk, row.owner, row.user, row.agent) == (task_id, str(user.pk), str(user.pk), "echo")
    got = await client.get(f"{REST}echo/tasks/{task_id}", headers={"A2A-Version": "1.0"})
    assert got.json()["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    other = await signed_in(await asyncio.to_thread(player, "other"))
    missing = await rpc(other, "GetTask", {"tenant": "echo", "id": task_id})
    assert missing.json()["error"]["code"] == -32001
    # The public address does not know the session.
    refused = await client.post("/a2a/", data=envelope("GetTask", {"id": task_id}), content_type="application/json")
    assert refused.status_code == 401


@pytest.mark.parametrize("binding", ["jsonrpc", "rest", "0.3"])
async def test_streams_over_each_binding(user: Any, binding: str) -> None:
    client = await signed_in(user)
    sent = {"message": message("hello"), "tenant": "echo"}
    if binding == "jsonrpc":
        found = await events(await rpc(client, "SendStreamingMessage", sent))
        assert found[-1]["result"]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    elif binding == "rest":
        body = json.dumps(sent)
        response = await client.post(f"{REST}echo/message:stream", data=body, content_type="application/a2a+json")
        assert (await events(response))[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    else:
        old = {"messageId": "m", "role": "user", "kind": "message", "parts": [{"kind": "text", "text": "hi"}]}
        call = envelope("message/stream", {"message": old})
        response = await client.post(f"{DOOR}?tenant=echo", data=call, content_type="application/json")
        assert (await events(response))[-1]["result"]["status"]["state"] == "completed"


async def test_cancel_watch_and_errors_are_those_of_the_binding(user: Any) -> None:
    client = await signed_in(user)
    asked = await rpc(client, "SendMessage", {"tenant": "echo", "message": message("ask")})
    task_id = asked.json()["result"]["task"]["id"]
    cancelled = await client.post(f"{REST}echo/tasks/{task_id}:cancel", data=b"{}", content_type="application/json")
    assert cancelled.json()["status"]["state"] == "TASK_STATE_CANCELED"
    assert (await rpc(client, "SubscribeToTask", {"tenant": "echo", "id": task_id})).json()["error"]["code"] == -32004
    assert (await rpc(client, "No", {})).json()["error"]["code"] == -32601
    assert (await client.get(f"{REST}nothing/here")).status_code == 404
    assert (await client.get(DOOR)).status_code == 405
    assert (await rpc(client, "SendMessage", {"tenant": "nobody", "message": message("x")})).json()["error"][
        "code"
    ] == -32602


@pytest.mark.parametrize(("staff", "permission"), [(False, True), (True, False)])
async def test_the_doors_are_closed_to_others(staff: bool, permission: bool) -> None:
    user = await asyncio.to_thread(lambda: player(staff=staff, permission=permission))
    client = await signed_in(user)
    assert (await rpc(client, "SendMessage", {"tenant": "echo", "message": message("x")})).status_code == 403
    assert (await client.get(f"{REST}echo/tasks")).status_code == 403
    assert not await Task.objects.aexists()


async def test_the_doors_are_closed_to_nobody_and_to_keys(user: Any) -> None:
    _, text = await asyncio.to_thread(create_api_key, user)
    for headers in ({}, {"Authorization": f"Bearer {text}"}):
        response = await rpc(AsyncClient(), "SendMessage", {"message": message("x")}, **headers)
        assert response.status_code == 401
        assert response.json()["id"] == "t1"
    assert (await APIKey.objects.aget()).last_used_at is None
    user.is_active = False
    client = await signed_in(user)
    await user.asave()
    assert (await rpc(client, "SendMessage", {"message": message("x")})).status_code == 401


async def test_a_token_against_forged_requests_is_needed(user: Any) -> None:
    client = await signed_in(user, enforce_csrf_checks=True)
    assert (await rpc(client, "SendMessage", {"tenant": "echo", "message": message("x")})).status_code == 403
    assert (
        await client.post(f"{REST}echo/message:send", data=b"{}", content_type="application/json")
    ).status_code == 403
    await client.get("/admin/a2a_django/agentsetting/playground/")
    token = client.cookies["csrftoken"].value
    sent = await rpc(client, "SendMessage", {"tenant": "echo", "message": message("x")}, **{"X-CSRFToken": token})
    assert sent.json()["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_permissions_of_site_and_agent_are_asked(user: Any, settings: Settings) -> None:
    client = await signed_in(user)
    closed = await rpc(client, "SendMessage", {"tenant": "closed", "message": message("x")})
    assert (closed.status_code, closed.json()["error"]["message"]) == (403, "Not even you")
    settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": ["tests.admin.test_playground.OnlyStaff"]}
    assert "result" in (await rpc(client, "SendMessage", {"tenant": "echo", "message": message("x")})).json()
    settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": ["tests.admin.test_playground.Never"]}
    assert (await rpc(client, "SendMessage", {"tenant": "echo", "message": message("x")})).status_code == 403
    settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": [], "MAX_BODY_BYTES": 1000}
    large = await rpc(client, "SendMessage", {"tenant": "echo", "message": message("x" * 2000)})
    assert "too large" in large.json()["error"]["message"]


def test_under_wsgi_there_is_all_but_streams(user: Any) -> None:
    client = Client()
    client.force_login(user)
    page = client.get("/admin/a2a_django/agentsetting/playground/").content.decode()
    assert 'value="stream"' not in page
    sent = {"tenant": "echo", "message": message("ask"), "configuration": {"returnImmediately": True}}
    answer = client.post(DOOR, data=envelope("SendMessage", sent), content_type="application/json")
    task_id = answer.json()["result"]["task"]["id"]
    assert client.get(f"{REST}echo/tasks/{task_id}").json()["id"] == task_id
    stream = client.post(DOOR, data=envelope("SendStreamingMessage", sent), content_type="application/json")
    assert stream.json()["error"]["code"] == -32004


async def test_a_stream_holds_no_thread_of_the_request(user: Any, register: Callable[[Agent], Agent]) -> None:
    """Through Django's own ASGI handler, which gives each request a thread."""
    gate = asyncio.Event()

    class Slow(Agent):
        """Waits."""

        abstract = True

        async def run(self, ctx: Any) -> Any:
            yield "first"
            await gate.wait()

    register(Slow(slug="slow"))
    client = await signed_in(user)
    body = envelope("SendStreamingMessage", {"tenant": "slow", "message": message("x")}).encode()
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    await client.get("/admin/a2a_django/agentsetting/playground/")
    token = client.cookies["csrftoken"].value
    headers = {"content-type": "application/json", "content-length": str(len(body)), "host": "testserver"}
    headers |= {"cookie": f"{cookie}; csrftoken={token}", "x-csrftoken": token, "a2a-version": "1.0"}
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "path": DOOR}
    scope |= {"raw_path": DOOR.encode(), "query_string": b"", "scheme": "http", "root_path": ""}
    scope["headers"] = [(name.encode(), value.encode()) for name, value in headers.items()]
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    inbox.put_nowait({"type": "http.request", "body": body, "more_body": False})
    seen = asyncio.Event()

    async def send(part: dict[str, Any]) -> None:
        if b"first" in part.get("body", b""):
            seen.set()

    serving = asyncio.create_task(ASGIHandler()(scope, inbox.get, send))
    async with asyncio.timeout(15):
        await seen.wait()
        executors = list(SyncToAsync.context_to_thread_executor.values())
    gate.set()
    async with asyncio.timeout(15):
        await serving
    assert not any(isinstance(each, ThreadPoolExecutor) for each in executors)
