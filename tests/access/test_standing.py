"""Callers who lose their rights while a stream is open."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import grpc
import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db import OperationalError
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from google.protobuf import json_format
from pytest_django import Settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from a2a_django import Agent
from a2a_django.access import HasScope, Identity, create_api_key, standing
from a2a_django.access.oidc import OIDCToken
from a2a_django.access.standing import Standing, lapsed
from a2a_django.agents.callers import Application
from a2a_django.models import APIKey
from a2a_django.protocol.errors import InternalError, PermissionDeniedError, UnauthenticatedError
from tests.bindings.conftest import Echo, echo, message, register
from tests.bindings.doors import Door, Outcome, door, serve

__all__ = ["door", "echo", "register", "serve"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("13.1")]


class Buyers(BasePermission):
    """Members of a group."""

    message = "Buyers only"

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.groups.filter(name="buyers").exists())


@pytest.fixture
def often(settings: Settings) -> None:
    settings.A2A = {"STREAM_RECHECK_SECONDS": 0.1}


async def caller(name: str) -> dict[str, str]:
    user = await User.objects.acreate(username=name)
    await user.groups.aadd((await Group.objects.aget_or_create(name="buyers"))[0])
    __, key = await sync_to_async(create_api_key)(user, scopes=["orders"])
    return {"Authorization": f"Bearer {key}"}


async def watching(door: Door, headers: dict[str, str]) -> Outcome:
    task = (await door.call("SendMessage", {"message": message("ask")}, headers=headers)).task
    outcome = await door.call("SubscribeToTask", {"id": task["id"]}, headers=headers, keep=True)
    assert outcome.task["id"] == task["id"]
    return outcome


async def rest_of(door: Door, outcome: Outcome) -> str:
    """Read a stream to its end."""
    text = ""
    async with asyncio.timeout(20):
        if door.name == "GRPC":
            try:
                async for event in outcome.stream:
                    text += json.dumps(json_format.MessageToDict(event))
            except grpc.aio.AioRpcError as error:
                text += error.code().name
                text += str(error.trailing_metadata())
        else:
            while piece := await outcome.stream.chunk():
                text += piece.decode()
            await outcome.stream.leave()
    return text


async def lose(what: str) -> str:
    """Take something from Alice, as another process would; return what she is told then."""
    user = User.objects.filter(username="alice")
    keys = APIKey.objects.filter(user__username="alice")
    match what:
        case "the user is deactivated":
            await user.aupdate(is_active=False)
        case "the user is deleted":
            await user.adelete()
        case "the key is revoked":
            await keys.aupdate(revoked_at=timezone.now())
        case "the key expires":
            await keys.aupdate(expires_at=timezone.now() - dt.timedelta(seconds=1))
        case "the key is deleted":
            await keys.adelete()
        case "the scope is taken away":
            await keys.aupdate(scopes=[])
            return "PERMISSION_DENIED"
        case "the agent is taken away":
            await keys.aupdate(agents=["another"])
            return "PERMISSION_DENIED"
        case "the group is left":
            await (await user.aget()).groups.aclear()
            return "PERMISSION_DENIED"
    return "UNAUTHENTICATED"


LOSSES = [
    "the user is deactivated",
    "the user is deleted",
    "the key is revoked",
    "the key expires",
    "the key is deleted",
    "the scope is taken away",
    "the agent is taken away",
    "the group is left",
]


@pytest.mark.parametrize("what", LOSSES)
@pytest.mark.usefixtures("often")
async def test_the_stream_of_who_loses_the_right_ends_and_no_other(
    door: Door, echo: Agent, settings: Settings, what: str
) -> None:
    if "scope" in what:
        echo.permissions = [HasScope.of("orders")]
    elif "group" in what:
        settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": [f"{__name__}.Buyers"]}
    alice, bob = await caller("alice"), await caller("bob")
    hers, his = await watching(door, alice), await watching(door, bob)
    reason = await lose(what)
    end = await rest_of(door, hers)
    assert reason in end
    if door.name == "GRPC" and reason == "UNAUTHENTICATED":
        assert "www-authenticate" in end
    reply = {"message": message("over", taskId=his.task["id"])}
    assert not (await door.call("SendMessage", reply, headers=bob)).reason
    end = await rest_of(door, his)
    assert "TASK_STATE_COMPLETED" in end
    assert reason not in end


class Slow(Echo):
    """Goes on until it is told to stop."""

    slug = "slow"
    go_on: ClassVar[asyncio.Event]

    async def run(self, ctx: Any) -> Any:
        """Say something, wait, say more."""
        yield "first"
        await self.go_on.wait()
        yield "secret"


@pytest.mark.usefixtures("often")
async def test_nothing_is_told_any_more(door: Door, register: Callable[[Agent], Agent]) -> None:
    """The stream of the message itself; what happens afterwards is not for its sender. The task goes on (R-130)."""
    register(Slow())
    Slow.go_on = asyncio.Event()
    alice = await caller("alice")
    stream = await door.call("SendStreamingMessage", {"message": message("x")}, headers=alice, keep=True)
    await lose("the key is revoked")
    end = asyncio.ensure_future(rest_of(door, stream))
    assert "UNAUTHENTICATED" in await end
    Slow.go_on.set()
    assert "secret" not in end.result()


@pytest.mark.usefixtures("echo")
async def test_a_site_may_leave_it(door: Door, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.A2A = {"STREAM_RECHECK_SECONDS": 0}
    monkeypatch.setattr(standing, "_watch", None)  # would be called
    await door.leave(await watching(door, await caller("alice")))


def test_what_there_is_to_lose(settings: Settings) -> None:
    settings.A2A = {"PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"]}
    user, key = User(pk=7), APIKey(pk=8)
    found = Standing.of(Identity(user, "7", key), (), "")
    assert found == Standing((User, 7), (APIKey, 8), None, None, (), "")  # and nothing that costs memory
    lazy = SimpleLazyObject(lambda: user)  # as a session has it
    assert Standing.of(Identity(lazy, "7", key), (), "") == found
    assert Standing.of(Identity(AnonymousUser(), ""), (), "") is None
    assert Standing.of(Identity(Application("robot"), "app:robot"), (), "") is None
    identity = Identity(user, "7", key)
    found = Standing.of(identity, [Buyers], "acme")
    assert found is not None
    assert (found.identity, found.permissions, found.tenant) == (identity, (Buyers,), "acme")
    token = OIDCToken("https://id.example", "alice", frozenset(), 12.5, {})
    for auth, end in ((token, 12.5), (SimpleNamespace(payload={"exp": 13}), 13.0), ("opaque", None), ({}, None)):
        found = Standing.of(Identity(user, "7", auth), (), "")
        assert found is not None
        assert found.expires_at == end


def row_of(expires_at: float) -> Standing:
    return Standing(None, None, expires_at, None, (), "")


def test_tokens_without_a_row_end_when_they_say() -> None:
    now = time.time()
    (good, over) = lapsed([row_of(now + 100), row_of(now - 1)])
    assert good is None
    assert isinstance(over, UnauthenticatedError)


def test_a_look_costs_few_queries(django_assert_num_queries: Any) -> None:
    users = [User.objects.create(username=f"u{number}") for number in range(20)]
    keys = [create_api_key(user)[0] for user in users]
    standings = [Standing.of(Identity(user, "", key), (), "") for user, key in zip(users, keys, strict=True)]
    User.objects.filter(pk=users[3].pk).update(is_active=False)
    APIKey.objects.filter(pk=keys[5].pk).update(revoked_at=timezone.now())
    with django_assert_num_queries(2):
        wrong = lapsed([each for each in standings * 3 if each is not None])
    assert [place % 20 for place, error in enumerate(wrong) if error] == [3, 5] * 3


class Broken(BasePermission):
    """Stands for a bug, and for a database that is away."""

    error: Exception

    def has_permission(self, request: Request, view: APIView) -> bool:
        raise self.error


def test_permissions_that_fail_keep_no_stream_open(monkeypatch: pytest.MonkeyPatch) -> None:
    user = User.objects.create(username="alice")
    found = Standing.of(Identity(user, "1"), [Broken], "")
    assert found is not None
    monkeypatch.setattr(Broken, "error", ZeroDivisionError(), raising=False)
    (error,) = lapsed([found])
    assert isinstance(error, InternalError)
    monkeypatch.setattr(Broken, "error", OperationalError("away"), raising=False)
    with pytest.raises(OperationalError):  # to be tried again
        lapsed([found])
    found = Standing.of(Identity(user, "1"), [Buyers], "")
    assert found is not None
    (denied,) = lapsed([found])
    assert isinstance(denied, PermissionDeniedError)


class Told:
    """A stream that notes how it ends."""

    def __init__(self) -> None:
        self.ended: asyncio.Future[Exception] = asyncio.get_running_loop().create_future()

    def fail(self, error: Exception) -> None:
        self.ended.set_result(error)


@pytest.mark.usefixtures("often")
async def test_a_database_that_is_away_ends_no_stream(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    looks = 0

    def away(standings: Any) -> Any:
        nonlocal looks
        looks += 1
        if looks < 3:
            raise OperationalError("away")
        return [UnauthenticatedError() for _ in standings]

    monkeypatch.setattr(standing, "lapsed", away)
    monkeypatch.setattr(standing.database, "READ_TRIES", 1)
    stream = Told()
    standing.keep_watch(stream, Identity(User(pk=1), "1"))
    async with asyncio.timeout(20):
        await stream.ended
    assert "could not be looked at" in caplog.text


@pytest.mark.usefixtures("often")
async def test_streams_that_are_gone_cost_nothing() -> None:
    watch = standing._watch()
    stream = Told()
    standing.keep_watch(stream, Identity(User(pk=1), "1"))
    assert watch._timer is not None
    del stream
    async with asyncio.timeout(20):
        while watch._timer is not None or watch._look is not None:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
    assert not watch._streams
