"""Scopes of all kinds of credentials, and keys that are for single agents."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.http import HttpRequest
from pytest_django import Settings
from rest_framework.request import Request
from rest_framework.views import APIView
from rest_framework_simplejwt.tokens import AccessToken

from a2a_django import Agent
from a2a_django.access import HasScope, create_api_key
from a2a_django.access.scopes import scope_challenge, scopes_of
from a2a_django.models import APIKey
from tests.bindings.conftest import Echo, message, register
from tests.bindings.doors import Door, door, serve

pytestmark = pytest.mark.spec("7.5")

__all__ = ["door", "register", "serve"]


def simple_token(**claims: Any) -> AccessToken:
    token = AccessToken()
    for name, value in claims.items():
        token[name] = value
    return token


@pytest.mark.parametrize(
    ("auth", "scopes"),
    [
        (None, set()),
        ("opaque", set()),
        (object(), set()),
        ({}, set()),
        ({"scope": "a b"}, {"a", "b"}),
        ({"scp": ["a", "b"]}, {"a", "b"}),
        (APIKey(scopes=["a"]), {"a"}),
        (APIKey(), set()),
        (SimpleNamespace(scope="a  b", scopes={"a": "See a"}), {"a", "b"}),
        (SimpleNamespace(scope="", scopes={"a": "See a"}), set()),
        (simple_token(scope="a b"), {"a", "b"}),
        (simple_token(), set()),
    ],
)
def test_scopes_in_all_forms(auth: Any, scopes: set[str]) -> None:
    assert scopes_of(auth) == scopes


class Orders(HasScope):
    """Asks for two."""

    required_scopes = ("orders", "stock")


@pytest.mark.parametrize(
    ("scopes", "allowed"),
    [([], False), (["orders"], False), (["stock", "orders"], True), (["orders", "stock", "x"], True)],
)
def test_all_are_needed(scopes: list[str], allowed: bool) -> None:
    request = Request(HttpRequest())
    request.auth = APIKey(scopes=scopes)
    for permission in (Orders(), HasScope.of("orders", "stock")()):
        assert permission.has_permission(request, APIView()) is allowed
        challenge = None if allowed else 'Bearer error="insufficient_scope", scope="orders stock"'
        assert scope_challenge([permission], request.auth) == challenge
    assert HasScope().has_permission(request, APIView())


@pytest.mark.django_db(transaction=True)
async def test_a_key_for_one_agent(door: Door, register: Callable[[Agent], Agent], settings: Settings) -> None:
    class Second(Echo):
        pass

    register(Echo())
    register(Second())
    settings.A2A = {"DEFAULT_AGENT": "echo"}
    user = await User.objects.acreate(username="alice")
    __, one = await sync_to_async(create_api_key)(user, agents=["second"])
    __, all_of_them = await sync_to_async(create_api_key)(user)
    sent = {"message": message("x")}
    for key, tenant, reason in (
        (one, "second", ""),
        (one, "", "PERMISSION_DENIED"),
        (one, "echo", "PERMISSION_DENIED"),
        (all_of_them, "second", ""),
        (all_of_them, "", ""),
    ):
        request = sent | ({"tenant": tenant} if tenant else {})
        outcome = await door.call("SendMessage", request, headers={"Authorization": f"Bearer {key}"})
        assert outcome.reason == reason
        for operation in ("ListTasks", "SendStreamingMessage"):
            request = (sent if operation != "ListTasks" else {}) | ({"tenant": tenant} if tenant else {})
            assert (await door.call(operation, request, headers={"Authorization": f"Bearer {key}"})).reason == reason
