"""Callers who are turned away: what the log says, and how often they may try."""

from __future__ import annotations

import asyncio
import base64
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpRequest
from django.test import AsyncClient, AsyncRequestFactory
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.access import HasScope, authenticate, create_api_key, failures
from a2a_django.protocol.errors import A2AError, PermissionDeniedError, ThrottledError, UnauthenticatedError
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import carrier, echo, envelope, register, rest, rpc  # noqa: F401 - fixtures

KEYS = "a2a_django.access.APIKeyAuthentication"
BASIC = "rest_framework.authentication.BasicAuthentication"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("13.4")]


@pytest.fixture(autouse=True)
def few(settings: Settings, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three wrong attempts are enough; no minute ends within a test."""
    caplog.set_level(logging.INFO, "a2a_django.access")
    monkeypatch.setattr(failures, "WINDOW_SECONDS", 10**6)
    settings.A2A = {"AUTH_FAILURES_PER_MINUTE": 3}
    cache.clear()
    yield
    cache.clear()


def sent(text: str = "", address: str = "192.0.2.1", **headers: str) -> HttpRequest:
    if text:
        headers["Authorization"] = f"Bearer {text}"
    made: HttpRequest = AsyncRequestFactory().post("/a2a/", headers=headers)
    made.META["REMOTE_ADDR"] = address
    return made


async def outcome(request: HttpRequest) -> type[A2AError] | str:
    try:
        return (await authenticate(request)).owner
    except A2AError as error:
        return type(error)


async def good_key(name: str = "alice") -> str:
    user = await User.objects.acreate(username=name)
    return (await asyncio.to_thread(create_api_key, user))[1]


async def test_one_line_in_the_log_and_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    assert await outcome(sent("nobody.top-secret")) is UnauthenticatedError
    assert await outcome(sent()) is UnauthenticatedError
    (wrong, none) = (record for record in caplog.records if record.name == "a2a_django.access")
    assert wrong.getMessage() == "Unauthenticated: '/a2a/' from 192.0.2.1: 'Invalid API key'"
    assert (
        none.getMessage() == "Unauthenticated: '/a2a/' from 192.0.2.1: 'Authentication credentials were not provided.'"
    )
    assert (wrong.levelname, none.levelname) == ("WARNING", "INFO")
    assert "top-secret" not in caplog.text


async def test_a_caller_cannot_write_lines_of_his_own(caplog: pytest.LogCaptureFixture) -> None:
    request = sent("nobody.x")
    request.path = "/a2a/\nAll is well"
    await outcome(request)
    assert "\n" not in caplog.records[-1].getMessage()


async def test_who_is_forbidden_is_named(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    settings.A2A = {"PERMISSION_CLASSES": [f"{__name__}.Orders"]}
    key = await good_key()
    user = await User.objects.aget()
    with pytest.raises(PermissionDeniedError, match="scope orders") as caught:
        await authenticate(sent(key))
    assert caught.value.challenge == 'Bearer error="insufficient_scope", scope="orders"'
    assert f"Forbidden: '/a2a/' from 192.0.2.1, user {user.pk}:" in caplog.text


class Orders(HasScope):
    """Asks for what keys without scopes do not have."""

    required_scopes = ("orders",)


async def test_wrong_credentials_are_looked_at_so_often_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    late = await good_key()
    for number in range(3):
        assert await outcome(sent(f"nobody.{number}")) is UnauthenticatedError
    with pytest.raises(ThrottledError) as caught:
        await authenticate(sent("nobody.4"))
    assert caught.value.retry_after
    assert "Slowed '/a2a/' from 192.0.2.1" in caplog.text
    # Or trying on would tell which are good.
    assert await outcome(sent(late)) is ThrottledError
    assert await outcome(sent("x", **{"X-API-Key": late})) is ThrottledError
    # Others are not meant, and who shows no credentials tries none.
    assert await outcome(sent(late, address="192.0.2.2")) not in (ThrottledError, UnauthenticatedError)
    assert await outcome(sent()) is UnauthenticatedError


async def test_passwords_count_as_well(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AUTHENTICATION_CLASSES": [BASIC]}
    await asyncio.to_thread(User.objects.create_user, "alice", password="right")

    def basic(password: str) -> HttpRequest:
        return sent(Authorization="Basic " + base64.b64encode(f"alice:{password}".encode()).decode())

    outcomes = [await outcome(basic(guess)) for guess in ("a", "b", "c", "d", "right")]
    assert outcomes == [UnauthenticatedError] * 3 + [ThrottledError] * 2


@pytest.mark.parametrize("text", ["opaque", "a.b.c"])
async def test_credentials_that_nobody_knows_count_as_well(text: str) -> None:
    for _ in range(3):
        assert await outcome(sent(text)) is UnauthenticatedError
    assert await outcome(sent(text)) is ThrottledError


async def test_who_was_good_is_not_locked_out_by_a_neighbour(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "API_KEY_CACHE_SECONDS": 0}
    key = await good_key()
    owner = await outcome(sent(key))
    for _ in range(5):
        await outcome(sent("nobody.x"))
    assert await outcome(sent("nobody.x")) is ThrottledError
    assert await outcome(sent(key)) == owner
    await User.objects.aupdate(is_active=False)
    assert await outcome(sent(key)) is UnauthenticatedError  # the memory opens no door


async def test_good_callers_do_not_count(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "API_KEY_CACHE_SECONDS": 0, "PERMISSION_CLASSES": [f"{__name__}.Orders"]}
    key = await good_key()
    assert [await outcome(sent(key)) for _ in range(6)] == [PermissionDeniedError] * 6
    assert [await outcome(sent()) for _ in range(6)] == [UnauthenticatedError] * 6


async def test_no_limit(settings: Settings) -> None:
    settings.A2A = {"AUTH_FAILURES_PER_MINUTE": 0}
    assert {await outcome(sent("nobody.x")) for _ in range(70)} == {UnauthenticatedError}


async def test_the_next_minute_is_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000_050.0
    monkeypatch.setattr(failures, "WINDOW_SECONDS", 60)
    monkeypatch.setattr(failures.time, "time", lambda: now)
    for _ in range(3):
        await outcome(sent("nobody.x"))
    with pytest.raises(ThrottledError) as caught:
        await authenticate(sent("nobody.x"))
    assert caught.value.retry_after == 60 - 1_000_000_050 % 60
    now += caught.value.retry_after
    assert await outcome(sent("nobody.x")) is UnauthenticatedError


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (None, "203.0.113.9", "192.0.2.1"),  # anybody can send it
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "198.51.100.7, 203.0.113.9", "203.0.113.9"),
        (2, "198.51.100.7, 203.0.113.9", "198.51.100.7"),
        (3, "198.51.100.7, 203.0.113.9", "198.51.100.7"),
        (1, "", "192.0.2.1"),
        (1, " , ", "192.0.2.1"),
    ],
)
def test_behind_proxies(settings: Settings, proxies: int | None, forwarded: str, address: str) -> None:
    settings.REST_FRAMEWORK = {"NUM_PROXIES": proxies}
    assert failures.address_of(sent(**{"X-Forwarded-For": forwarded})) == address


async def test_without_an_address_nobody_is_slowed() -> None:
    """All who come through a Unix socket would be the same caller."""
    assert {await outcome(sent("nobody.x", address="")) for _ in range(10)} == {UnauthenticatedError}


class Broken:
    """A cache that is away."""

    def __getattr__(self, name: str) -> Any:
        raise ConnectionError("no cache")


async def test_a_cache_that_is_away_neither_opens_nor_shuts_the_door(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    key = await good_key()
    monkeypatch.setattr(failures, "cache", Broken())
    for _ in range(5):
        assert await outcome(sent("nobody.x")) is UnauthenticatedError
    assert re.fullmatch(r"\d+", str(await outcome(sent(key))))
    assert "the cache does not answer" in caplog.text
    monkeypatch.undo()


def test_the_memory_of_good_credentials_is_bounded(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "GOOD_LIMIT", 3)
    for number in range(10):
        failures.note_good(sent(f"a.{number}"))
        assert len(failures._good) <= 3
    failures.note_good(sent())
    settings.A2A = {"AUTH_FAILURES_PER_MINUTE": 0}
    failures.forget()
    failures.note_good(sent("a.b"))
    assert not failures._good


# -- on the wire


async def test_over_http(carrier: Carrier, echo: Agent, settings: Settings) -> None:  # noqa: F811
    settings.A2A = {"AUTH_FAILURES_PER_MINUTE": 2}
    client: AsyncClient = carrier.client()
    key = {"Authorization": "Bearer nobody.x"}
    for _ in range(2):
        assert (await rpc(client, envelope("ListTasks"), **key)).status_code == 401
    for response in (await rpc(client, envelope("ListTasks"), **key), await rest(client, "GET", "/tasks", **key)):
        assert response.status_code == 429
        assert int(response.headers["Retry-After"]) > 0
        assert b"RESOURCE_EXHAUSTED" in response.content


async def test_a_missing_scope_over_http(carrier: Carrier, echo: Agent, settings: Settings) -> None:  # noqa: F811
    """403 says with WWW-Authenticate what is missing (RFC 6750), for the site's permissions and for the agent's."""
    settings.A2A = {}
    key = {"Authorization": f"Bearer {await good_key()}"}
    client = carrier.client()
    echo.permissions = [HasScope.of("orders", "stock")]
    for response in (await rpc(client, envelope("ListTasks"), **key), await rest(client, "GET", "/tasks", **key)):
        assert response.status_code == 403
        assert response.headers["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="orders stock"'
        assert b"The credentials need the scope orders stock" in response.content
