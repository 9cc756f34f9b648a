"""The site's access classes behind the consumers: the same rules, on threads that close their connections."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
import threading
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import UnreadablePostError
from django.test import AsyncClient
from pytest_django import Settings
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from a2a_django import Agent
from a2a_django.bindings.consumers.application import Application
from a2a_django.bindings.consumers.requests import LazyRequest
from a2a_django.engine import database
from tests.bindings.asgi import AsgiCall
from tests.bindings.conftest import envelope

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("echo")]

#: What the classes below have seen.
seen: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    seen.clear()


def here(name: str) -> str:
    return f"{__name__}.{name}"


async def call(application: Application, path: str = "/a2a/", method: str = "POST", **options: Any) -> tuple[int, Any]:
    if method == "POST":
        options.setdefault("body", envelope("ListTasks").encode())
    async with AsgiCall(application, method, path, **options) as one:
        status, __ = await one.head()
        return status, json.loads(await one.body())


class Database(BaseAuthentication):
    """Asks the database."""

    def authenticate(self, request: Request) -> tuple[User, None]:
        user, __ = User.objects.get_or_create(username="alice")
        seen.append((threading.current_thread().name, connection))
        return user, None


async def test_authenticators_run_on_threads_that_close_their_connections(
    application: Application, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "IDLE_SECONDS", 0.1)
    settings.A2A = {"AUTHENTICATION_CLASSES": [here("Database")]}
    for answer in await asyncio.gather(*(call(application) for _ in range(20))):
        assert answer[0] == 200
        assert "result" in answer[1]
    assert {name for name, __ in seen} == {"a2a-access"}
    async with asyncio.timeout(10):
        while any(thread.name == "a2a-access" for thread in threading.enumerate()):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert not any(each.connection for __, each in seen)


class Signature(BaseAuthentication):
    """Checks a signature over the body, as webhooks have it."""

    def authenticate(self, request: Request) -> tuple[User, None]:
        seen.append(request.path)
        if hashlib.sha256(request.body).hexdigest() != request.headers.get("X-Signature"):
            raise AuthenticationFailed("Wrong signature")
        return User(username="signed", pk=7), None


class Careless(Signature):
    """Takes everything that goes wrong for nobody's call."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:  # type: ignore[override]
        try:
            return super().authenticate(request)
        except Exception:
            return None


@pytest.mark.parametrize("name", ["Signature", "Careless"])
async def test_authenticators_may_read_the_body(application: Application, settings: Settings, name: str) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [here(name)], "MAX_BODY_BYTES": 5000}
    body = envelope("ListTasks").encode()
    right = {"x-signature": hashlib.sha256(body).hexdigest()}
    for attempt in range(3):
        status, answer = await call(application, body=body, headers=right)
        assert status == 200
        assert "result" in answer
        assert len(seen) == 2 + attempt  # the first time it was not known that it wants the body
    assert (await call(application, body=body, headers={"x-signature": "x"}))[0] in (401, 403)
    assert (await call(application, body=body + b" ", headers=right))[0] in (401, 403)
    rest = {"path": "/a2a/tasks", "method": "GET"}
    assert (await call(application, headers={"x-signature": hashlib.sha256(b"").hexdigest()}, **rest))[0] == 200
    status, answer = await call(application, body=envelope("x" * 6000).encode(), headers=right)
    assert answer["error"]["message"].startswith("Request body too large")
    # One who leaves before the body is there.
    async with AsgiCall(application, "POST", "/a2a/", body=None, headers=right) as one:
        one.send(b"{", more=True)
    assert one._sent.empty()


class Watching(BasePermission, BaseThrottle):
    """Lets everything through and looks at the view."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        match = request._request.resolver_match
        seen.append((type(view).__name__, match and match.url_name, view.kwargs, view.request is request))
        return True

    def allow_request(self, request: Request, view: APIView) -> bool:
        return self.has_permission(request, view)


@pytest.mark.parametrize("key", ["PERMISSION_CLASSES", "THROTTLE_CLASSES"])
async def test_permissions_and_throttles_see_the_view_of_the_address(
    application: Application, settings: Settings, key: str
) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [], "PERMISSION_CLASSES": [], key: [here("Watching")]}
    await call(application)
    await call(application, "/a2a/echo/tasks/t:cancel", body=b"")
    await call(application, "/a2a/nosuch", "GET")
    assert seen == [
        ("PolicyView", "jsonrpc", {}, True),
        ("CancelView", "tenant-task-cancel", {"tenant": "echo", "task_id": "t"}, True),
        ("RestView", "unknown", {"rest": "nosuch"}, True),
    ]


async def test_sessions_and_their_csrf_check(application: Application, settings: Settings) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": ["rest_framework.authentication.SessionAuthentication"]}
    user = await User.objects.acreate(username="alice")
    client = AsyncClient()
    await client.aforce_login(user)
    session = client.cookies["sessionid"].value
    token = "a" * 32
    cookie = {"cookie": f"sessionid={session}; csrftoken={token}"}
    status, answer = await call(application, "/a2a/tasks", "GET", headers=cookie)
    assert (status, answer["tasks"]) == (200, [])
    assert (await call(application, headers=cookie))[0] == 403
    status, answer = await call(application, headers={**cookie, "x-csrftoken": token})
    assert (status, "result" in answer) == (200, True)
    assert (await call(application, "/a2a/tasks", "GET", headers={"cookie": "sessionid=nobody"}))[0] == 401
    settings.MIDDLEWARE = ["django.contrib.auth.middleware.AuthenticationMiddleware"]  # sessions come from elsewhere
    assert (await call(application, "/a2a/tasks", "GET", headers=cookie))[0] == 401
    settings.MIDDLEWARE = []  # a site without sessions
    assert (await call(application, "/a2a/tasks", "GET", headers=cookie))[0] == 401


def test_a_request_is_made_when_it_is_looked_at() -> None:
    scope = AsgiCall(None, "POST", "/a2a/", query="x=1", headers={"x-api-key": "k"})._scope
    request = LazyRequest(scope)
    assert set(request.__dict__) == {"scope"}
    assert not hasattr(copy.copy(request), "nothing")
    assert (request.path, request.method, request.GET["x"]) == ("/a2a/", "POST", "1")
    assert request.headers["X-API-Key"] == "k"
    assert request.get_host() == "testserver"
    assert not hasattr(request, "session")
    assert copy.copy(request).META == request.META
    with pytest.raises(UnreadablePostError):
        request.read()


class OnlyAlice(BasePermission):
    """One user and no other; needs a thread."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        seen.append(threading.current_thread().name)
        seen.append(request.META["REMOTE_ADDR"])
        return User.objects.filter(username="alice").exists()


async def test_permissions_of_an_agent(application: Application, echo: Agent) -> None:
    echo.permissions = [OnlyAlice]
    assert (await call(application))[0] == 401
    await User.objects.acreate(username="alice")
    assert (await call(application))[0] == 200
    assert set(seen) == {"a2a-access", "127.0.0.1"}


def resolver(tenant: str) -> str | None:
    seen.append(threading.current_thread().name)
    return "echo" if User.objects.filter(username=tenant).exists() else None


async def test_a_tenant_resolver_that_asks_the_database(application: Application, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "TENANT_RESOLVER": here("resolver")}
    await User.objects.acreate(username="acme")
    assert (await call(application, "/a2a/acme/tasks", "GET"))[0] == 200
    assert (await call(application, "/a2a/nobody/tasks", "GET"))[0] == 404
    assert (await call(application, "/a2a/acme/.well-known/agent-card.json", "GET"))[0] == 200
    assert set(seen) == {"a2a-access"}
