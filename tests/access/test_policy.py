"""Who is let in, and how the site's REST framework classes say no."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, User
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import Http404, HttpRequest
from django.test import AsyncRequestFactory
from django.utils import translation
from pytest_django import Settings
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory, force_authenticate
from rest_framework.throttling import AnonRateThrottle
from rest_framework.views import APIView

from a2a_django.access import Identity, authenticate, challenge_for, create_api_key, owner_of, permit, policy
from a2a_django.agents.callers import Application
from a2a_django.protocol.errors import (
    A2AError,
    MethodNotFoundError,
    PermissionDeniedError,
    ThrottledError,
    UnauthenticatedError,
    UnavailableError,
)

HERE = "tests.access.test_policy."
KEYS = "a2a_django.access.APIKeyAuthentication"
ALLOW, DEMAND = "rest_framework.permissions.AllowAny", "rest_framework.permissions.IsAuthenticated"


def request(**headers: str) -> HttpRequest:
    made: HttpRequest = AsyncRequestFactory().post("/a2a/", headers=headers)
    return made


def use(
    settings: Settings,
    authentication: list[str],
    permission: list[str],
    throttle: list[str] | None = None,
    **more: Any,
) -> None:
    settings.A2A = {
        "AUTHENTICATION_CLASSES": authentication,
        "PERMISSION_CLASSES": permission,
        "THROTTLE_CLASSES": throttle or [],
        **more,
    }


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(function: Callable[..., Any]) -> Any:
        raise AssertionError("a thread was asked for")

    monkeypatch.setattr(policy, "sync_to_async", refuse)


@pytest.mark.usefixtures("no_threads")
async def test_open_access_needs_no_thread(settings: Settings) -> None:
    use(settings, [], [ALLOW])
    asked = request()
    assert await authenticate(asked) == Identity(AnonymousUser(), "", None, asked)


@pytest.mark.django_db(transaction=True)
async def test_a_known_key_needs_no_thread(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    use(settings, [KEYS], [DEMAND])
    user = await User.objects.acreate(username="alice")
    row, text = await asyncio.to_thread(create_api_key, user)
    asked = request(Authorization=f"Bearer {text}")
    expected = Identity(user, str(user.pk), row, asked)
    assert await authenticate(asked) == expected
    monkeypatch.setattr(policy, "sync_to_async", None)
    assert await authenticate(asked) == expected


@pytest.mark.spec("7.4")
@pytest.mark.django_db
async def test_nobody_is_asked_for_a_key(settings: Settings) -> None:
    use(settings, [KEYS], [DEMAND])
    for headers in ({}, {"Authorization": "Bearer nobody.secret"}, {"X-API-Key": "junk"}):
        with pytest.raises(UnauthenticatedError) as caught:
            await authenticate(request(**headers))
        assert caught.value.challenge == "Bearer"
    use(settings, [KEYS], [ALLOW])
    assert (await authenticate(request())).owner == ""
    with pytest.raises(UnauthenticatedError):  # a wrong key is wrong also where none is needed
        await authenticate(request(Authorization="Bearer nobody.secret"))


class Known(BaseAuthentication):
    """Knows everybody by name; has no challenge."""

    thread = 0

    def authenticate(self, request: Request) -> tuple[User, str] | None:
        Known.thread = threading.get_ident()
        name = request.META.get("HTTP_X_NAME")
        return (User(pk=len(name), username=name), f"auth of {name}") if name else None


class OnlyAlice(BasePermission):
    """One user and no other."""

    message = "Alice only"

    def has_permission(self, request: Request, view: APIView) -> bool:
        assert isinstance(view, APIView)
        return bool(request.user.username == "alice")


class Raises(BasePermission):
    """Raises what the test says."""

    error: Exception

    def has_permission(self, request: Request, view: APIView) -> bool:
        raise self.error


async def test_a_sites_own_classes_run_in_a_thread(settings: Settings) -> None:
    use(settings, [HERE + "Known"], [HERE + "OnlyAlice"])
    identity = await authenticate(request(**{"X-Name": "alice"}))
    assert (identity.owner, identity.auth, identity.user.username) == ("5", "auth of alice", "alice")
    assert Known.thread != threading.get_ident()
    with pytest.raises(PermissionDeniedError, match="Alice only"):
        await authenticate(request(**{"X-Name": "bob"}))
    with pytest.raises(UnauthenticatedError) as caught:
        await authenticate(request())
    assert caught.value.challenge is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (exceptions.NotAuthenticated(), UnauthenticatedError),
        (exceptions.AuthenticationFailed("token expired"), UnauthenticatedError),
        (exceptions.PermissionDenied("not you"), PermissionDeniedError),
        (PermissionDenied("not you"), PermissionDeniedError),
        (exceptions.Throttled(wait=2.4), ThrottledError),
        (Http404(), MethodNotFoundError),
    ],
)
async def test_errors_of_the_framework_become_errors_of_the_protocol(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: type[A2AError]
) -> None:
    use(settings, [], [HERE + "Raises"])
    monkeypatch.setattr(Raises, "error", error, raising=False)
    with translation.override("de"), pytest.raises(kind) as caught:
        await authenticate(request())
    if isinstance(error, exceptions.Throttled):
        assert caught.value.retry_after == 3


async def test_a_service_that_is_down_is_not_a_denial(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    class Down(exceptions.APIException):
        status_code = 503

    use(settings, [], [HERE + "Raises"])
    monkeypatch.setattr(Raises, "error", Down("try later"), raising=False)
    with pytest.raises(UnavailableError, match="try later"):
        await authenticate(request())
    monkeypatch.setattr(Raises, "error", ZeroDivisionError(), raising=False)
    with pytest.raises(ZeroDivisionError):
        await authenticate(request())


async def test_errors_on_the_wire_are_english(settings: Settings) -> None:
    use(settings, [], [DEMAND])
    with translation.override("de"), pytest.raises(PermissionDeniedError) as caught:
        await authenticate(request())
    assert caught.value.message == "You do not have permission to perform this action."


class Once(AnonRateThrottle):
    """One call a minute."""

    rate = "1/min"


async def test_throttles(settings: Settings) -> None:
    cache.clear()
    use(settings, [], [ALLOW], [HERE + "Once"])
    await authenticate(request())
    with pytest.raises(ThrottledError) as caught:
        await authenticate(request())
    assert 0 < (caught.value.retry_after or 0) <= 60
    cache.clear()


@pytest.mark.parametrize("permission", [ALLOW, DEMAND])
async def test_the_frameworks_own_test_client_may_force_a_user(settings: Settings, permission: str) -> None:
    use(settings, [KEYS] if permission == DEMAND else [], [permission])
    asked = APIRequestFactory().post("/a2a/")
    force_authenticate(asked, User(pk=7, username="forced"))
    identity = await authenticate(asked)
    assert (identity.owner, identity.user.username) == ("7", "forced")


def resolver(user: Any, auth: Any) -> str:
    return f"{user.username}/{auth}"


@pytest.mark.spec("13.1")
async def test_the_site_may_decide_who_owns_what(settings: Settings) -> None:
    use(settings, [HERE + "Known"], [ALLOW], OWNER_RESOLVER=HERE + "resolver")
    assert (await authenticate(request(**{"X-Name": "alice"}))).owner == "alice/auth of alice"
    assert (await authenticate(request())).owner == "/None"


@pytest.mark.spec("13.1")
def test_owners() -> None:
    assert owner_of(None) == owner_of(AnonymousUser()) == ""
    assert owner_of(User(pk=42)) == "42"
    with pytest.raises(ImproperlyConfigured, match="OWNER_RESOLVER"):  # must not fall in with the anonymous
        owner_of(User())


async def test_permissions_of_a_single_agent(settings: Settings) -> None:
    use(settings, [KEYS], [ALLOW])
    alice, bob = Identity(User(pk=1, username="alice"), "1"), Identity(User(pk=2, username="bob"), "2")
    await permit(alice, ())
    for permissions in ([OnlyAlice], [HERE + "OnlyAlice", ALLOW]):
        await permit(alice, permissions)
        with pytest.raises(PermissionDeniedError):
            await permit(bob, permissions)
        with pytest.raises(UnauthenticatedError) as caught:
            await permit(Identity(AnonymousUser(), "", None, request()), permissions)
        assert caught.value.challenge == "Bearer"


@pytest.mark.spec("7.4")
def test_the_challenge_names_all_that_the_site_takes(settings: Settings) -> None:
    identity = Identity(AnonymousUser(), "")
    basic = "rest_framework.authentication.BasicAuthentication"
    use(settings, [basic, KEYS, "a2a_django.access.OIDCAuthentication"], [])
    assert challenge_for(identity) == 'Basic realm="api", Bearer'
    use(settings, ["rest_framework.authentication.SessionAuthentication", KEYS], [])
    assert challenge_for(identity) == "Bearer"
    use(settings, [], [])
    assert challenge_for(identity) is None


class OnlyCredentials(BaseAuthentication):
    """Knows a program, and no user."""

    def authenticate(self, request: Request) -> tuple[None, Any] | None:
        client_id = request.META.get("HTTP_X_PROGRAM")
        if client_id is None:
            return None
        return None, SimpleNamespace(application=SimpleNamespace(client_id=client_id) if client_id else None)


async def test_credentials_of_a_program_are_somebody(settings: Settings) -> None:
    """They must not fall in with the anonymous, nor with a user whose key they resemble."""
    use(settings, [HERE + "OnlyCredentials"], [DEMAND])
    identity = await authenticate(request(**{"X-Program": "5"}))
    assert (identity.owner, identity.user) == ("app:5", Application("5"))
    assert not identity.user.has_perm("auth.add_user")
    with pytest.raises(UnauthenticatedError):
        await authenticate(request())
    use(settings, [HERE + "OnlyCredentials"], [ALLOW])
    with pytest.raises(ImproperlyConfigured, match="OWNER_RESOLVER"):
        await authenticate(request(**{"X-Program": ""}))
    use(settings, [HERE + "OnlyCredentials"], [ALLOW], OWNER_RESOLVER=HERE + "team_of")
    assert (await authenticate(request(**{"X-Program": ""}))).owner == "team"


def team_of(user: Any, auth: Any) -> str:
    return "team"
