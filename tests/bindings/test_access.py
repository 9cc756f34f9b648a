"""Access over HTTP: the caller first, the body after; other people's tasks do not exist."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import AsyncClient
from pytest_django import Settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from a2a_django import Agent
from a2a_django.access import create_api_key
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import envelope, message, rest, rpc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("echo")]


@pytest.fixture(autouse=True)
def closed(settings: Settings) -> None:
    """The package's defaults: an API key for every call."""
    settings.A2A = {}


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


async def key_of(name: str) -> dict[str, str]:
    user = await User.objects.acreate(username=name)
    __, text = await asyncio.to_thread(create_api_key, user)
    return {"Authorization": f"Bearer {text}"}


def refused(response: Any, status: int, reason: str) -> dict[str, Any]:
    assert response.status_code == status, response.content
    assert response.headers["Content-Type"] == "application/json"
    body: dict[str, Any] = json.loads(response.content)
    error = body["error"]
    assert (error.get("data") or error.get("details"))[0]["reason"] == reason
    return body


@pytest.mark.spec("7.4")
@pytest.mark.parametrize(
    ("raw", "id"),
    [
        (envelope("ListTasks").encode(), "t1"),
        (envelope("Frobnicate", id=7).encode(), 7),
        (b"{", None),
        (b"\xff", None),
        (b'{"id":1.5}', None),
        (b"[]", None),
    ],
)
async def test_nobody_gets_no_further_than_401(client: AsyncClient, raw: bytes, id: Any) -> None:
    for headers in ({}, {"Authorization": "Bearer nobody.secret"}):
        response = await rpc(client, raw, A2A_Version="9.9", **headers)
        body = refused(response, 401, "UNAUTHENTICATED")
        assert response.headers["WWW-Authenticate"] == "Bearer"
        assert (body["id"], body["error"]["code"]) == (id, -31401)


@pytest.mark.spec("7.4")
async def test_a_body_that_nobody_may_send_is_not_read(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {"MAX_BODY_BYTES": 100}
    assert refused(await rpc(client, envelope("x" * 200)), 401, "UNAUTHENTICATED")["id"] == "t1"


@pytest.mark.spec("7.4")
@pytest.mark.parametrize(
    ("verb", "path", "raw"),
    [
        ("GET", "/tasks", b""),
        ("GET", "/nosuch", b""),
        ("PUT", "/tasks", b""),
        ("POST", "/message:send", b"{"),
        ("GET", "/nobody/tasks", b""),
        ("GET", "/extendedAgentCard", b""),
    ],
)
async def test_the_same_over_http_json(client: AsyncClient, verb: str, path: str, raw: bytes) -> None:
    response = await rest(client, verb, path, raw=raw)
    assert refused(response, 401, "UNAUTHENTICATED")["error"]["status"] == "UNAUTHENTICATED"
    assert response.headers["WWW-Authenticate"] == "Bearer"


async def test_the_card_and_the_verbs_are_public(client: AsyncClient) -> None:
    card = json.loads((await client.get("/.well-known/agent-card.json")).content)
    assert card["securityRequirements"] == [{"schemes": {"bearer": {}}}]
    assert (await client.options("/a2a/tasks")).status_code == 200
    assert (await client.get("/a2a/")).status_code == 405


@pytest.mark.spec("13.1")
async def test_other_peoples_tasks_do_not_exist(client: AsyncClient) -> None:
    alice, bob = await key_of("alice"), await key_of("bob")
    sent = await rpc(client, envelope("SendMessage", {"message": message("ask")}), **alice)
    task_id = json.loads(sent.content)["result"]["task"]["id"]
    for method in ("GetTask", "CancelTask", "SubscribeToTask"):
        answers = [
            refused(await rpc(client, envelope(method, {"id": id}), **bob), 200, "TASK_NOT_FOUND")
            for id in (task_id, "nobody")
        ]
        assert answers[0] == answers[1]
    follow_up = envelope("SendMessage", {"message": message("blue", taskId=task_id)})
    refused(await rpc(client, follow_up, **bob), 200, "TASK_NOT_FOUND")
    refused(await rest(client, "GET", f"/tasks/{task_id}", **bob), 404, "TASK_NOT_FOUND")
    assert json.loads((await rest(client, "GET", "/tasks", **bob)).content)["totalSize"] == 0
    assert json.loads((await rest(client, "GET", f"/tasks/{task_id}", **alice)).content)["id"] == task_id


@pytest.mark.spec("3.1.11", "13.3")
async def test_the_extended_card_is_for_known_users(
    client: AsyncClient, echo: Agent, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = await key_of("alice")
    call = envelope("GetExtendedAgentCard")
    refused(await rpc(client, call, **key), 200, "UNSUPPORTED_OPERATION")
    echo.extended_agent_card = True
    refused(await rpc(client, call, **key), 200, "EXTENDED_AGENT_CARD_NOT_CONFIGURED")
    monkeypatch.setattr(type(echo), "extended_card", lambda self, user: self.card(description=f"For {user.username}"))
    response = await rest(client, "GET", "/extendedAgentCard", **key)
    assert response.headers["Cache-Control"] == "no-store"
    card = json.loads(response.content)
    assert card["description"] == "For alice"
    assert card["supportedInterfaces"][0]["url"] == "http://testserver/a2a/"
    settings.A2A = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
    response = await rpc(client, call)
    refused(response, 401, "UNAUTHENTICATED")
    assert response.headers["WWW-Authenticate"] == "Bearer"


class OnlyAlice(BasePermission):
    """One user and no other."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.username == "alice")


@pytest.mark.spec("7.5")
async def test_permissions_of_an_agent(client: AsyncClient, echo: Agent) -> None:
    alice, bob = await key_of("alice"), await key_of("bob")
    echo.permissions = [OnlyAlice]
    assert (await rest(client, "GET", "/tasks", **alice)).status_code == 200
    refused(await rest(client, "GET", "/tasks", **bob), 403, "PERMISSION_DENIED")
    body = refused(await rpc(client, envelope("ListTasks"), **bob), 403, "PERMISSION_DENIED")
    assert (body["id"], body["error"]["code"]) == ("t1", -31403)


@pytest.mark.spec("13.4")
async def test_throttles_answer_429(client: AsyncClient, settings: Settings) -> None:
    cache.clear()
    settings.A2A = {
        "AUTHENTICATION_CLASSES": [],
        "PERMISSION_CLASSES": [],
        "THROTTLE_CLASSES": ["tests.access.test_policy.Once"],
    }
    assert (await rpc(client, envelope("ListTasks"))).status_code == 200
    for response in (await rpc(client, envelope("ListTasks")), await rest(client, "GET", "/tasks")):
        refused(response, 429, "RESOURCE_EXHAUSTED")
        assert 0 < int(response.headers["Retry-After"]) <= 60
    cache.clear()


class Broken(BasePermission):
    """Stands for access classes whose database is away."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        raise RuntimeError("the database is away")


async def test_a_call_whose_caller_cannot_be_found_out_gets_its_id_back(
    client: AsyncClient, settings: Settings
) -> None:
    settings.A2A = {"PERMISSION_CLASSES": [f"{__name__}.Broken"]}
    raw = envelope("GetTask", {"id": "t"}, id="my-id")
    answer = json.loads((await client.post("/a2a/", raw, content_type="application/json")).content)
    assert answer["id"] == "my-id"
    assert answer["error"]["code"] == -32603
    assert "away" not in json.dumps(answer)
