"""API keys in the admin: shown once and never again, given out by those who may, revoked for good."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.contrib.sessions.models import Session
from django.test import Client, RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.exceptions import AuthenticationFailed

from a2a_django import Agent
from a2a_django.access import APIKeyAuthentication, create_api_key
from a2a_django.models import APIKey
from tests.admin.kit import operator
from tests.bindings.conftest import Echo, register

__all__ = ["register"]

pytestmark = pytest.mark.django_db

LIST = "/admin/a2a_django/apikey/"
EVIL = "<script>alert(1)</script>\u202e"


@pytest.fixture(autouse=True)
def agents(register: Callable[[Agent], Agent]) -> None:
    """A site with two agents."""
    register(Echo())
    register(Echo(slug="other"))


def person(name: str, **more: Any) -> Any:
    return get_user_model().objects.create_user(name, **more)


def make(client: Client, user: Any, **fields: Any) -> Any:
    return client.post(f"{LIST}add/", {"user": user.pk, "name": "Partner", **fields})


def caller(text: str) -> Any:
    """Who calls with a key."""
    request = RequestFactory().post("/", headers={"Authorization": f"Bearer {text}"})
    return APIKeyAuthentication().authenticate(request)


def test_a_new_key_is_shown_once_and_nowhere_else() -> None:
    client = operator(superuser=True)
    alice = person("alice")
    response = make(client, alice, scopes="read  write read", agents=["echo"], name=EVIL)
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    page = response.content.decode()
    (text,) = re.findall(r'id="a2a-secret"[^>]*>([^<]+)<', page)
    assert "<script>alert" not in page
    user, row = caller(text)
    assert (user, row.scopes, row.agents) == (alice, ["read", "write"], ["echo"])
    secret = text.partition(".")[2]
    # Not in rows, not in the log, not in the session or its messages, not in a cookie, not on any page that follows.
    kept = [str(vars(each)) for each in (*APIKey.objects.all(), *LogEntry.objects.all())]
    kept += [str(each.get_decoded()) for each in Session.objects.all()]
    kept += [str(client.cookies), *response.headers.values()]
    for address in (LIST, f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/history/", "/admin/"):
        kept.append(client.get(address).content.decode())
    assert not any(secret in each for each in kept)
    assert not any(row.digest in each for each in kept[2:])
    assert LogEntry.objects.get().is_addition()


def test_a_key_of_somebody_else_is_for_those_who_may_change_users() -> None:
    alice, root = person("alice"), person("root", is_superuser=True)
    client = operator("view_apikey", "add_apikey", "change_apikey")
    me = get_user_model().objects.get(username="operator")
    assert "a2a-secret" in make(client, me).content.decode()
    for user in (alice, root):
        assert "You may not make a key of this user." in make(client, user).content.decode()
    me.user_permissions.add(Permission.objects.get(codename="change_user"))
    assert "a2a-secret" in make(client, alice).content.decode()
    assert "You may not make a key of this user." in make(client, root).content.decode()
    assert APIKey.objects.count() == 2
    # The same for changes: they could widen what a key is for.
    row, _text = create_api_key(root, scopes=["read"])
    assert client.post(f"{LIST}{row.pk}/change/", {"name": "x", "scopes": "admin"}).status_code == 403
    assert "admin" not in str(APIKey.objects.get(pk=row.pk).scopes)


def test_a_key_is_changed_but_neither_its_user_nor_its_secret() -> None:
    alice, bob = person("alice"), person("bob")
    row, text = create_api_key(alice, scopes=["read"], agents=["gone"])
    client = operator(superuser=True)
    assert "gone" in client.get(f"{LIST}{row.pk}/change/").content.decode()
    tomorrow = timezone.now().replace(microsecond=0) + dt.timedelta(days=1)
    sent = {"name": "New", "scopes": "a b", "agents": ["gone", "echo"], "user": bob.pk, "prefix": "x", "digest": "y"}
    sent |= {"expires_at_0": f"{tomorrow:%Y-%m-%d}", "expires_at_1": f"{tomorrow:%H:%M:%S}"}
    assert client.post(f"{LIST}{row.pk}/change/", sent).status_code == 302
    after = APIKey.objects.get()
    assert (after.name, after.scopes, after.agents, after.expires_at) == ("New", ["a", "b"], ["gone", "echo"], tomorrow)
    assert (after.user, after.prefix, after.digest) == (alice, row.prefix, row.digest)
    assert caller(text)[0] == alice
    sent |= {"expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}
    assert "This moment is over." in client.post(f"{LIST}{row.pk}/change/", sent).content.decode()
    assert "unknown is not one of" in str(make(client, alice, agents=["unknown"]).context["errors"])
    assert APIKey.objects.count() == 1


def test_keys_are_revoked_by_whoever_may_change_keys() -> None:
    row, text = create_api_key(person("root", is_superuser=True))
    other, _ = create_api_key(person("alice"))
    assert caller(text)
    assert operator("view_apikey", name="viewer").post(f"{LIST}{row.pk}/revoke/").status_code == 403
    client = operator("view_apikey", "change_apikey")
    assert client.get(f"{LIST}{row.pk}/revoke/").status_code == 405
    assert "Revoke this key" in client.get(f"{LIST}{row.pk}/change/").content.decode()
    client.post(f"{LIST}{row.pk}/revoke/")
    with pytest.raises(AuthenticationFailed):
        caller(text)
    assert "Revoke this key" not in client.get(f"{LIST}{row.pk}/change/").content.decode()
    selected = {"action": "revoke_selected", "_selected_action": [row.pk, other.pk]}
    assert "1 key was revoked." in client.post(LIST, selected, follow=True).content.decode()
    assert APIKey.objects.filter(revoked_at__isnull=True).count() == 0
    assert [entry.change_message for entry in LogEntry.objects.all()] == ["Revoked."] * 2


def test_the_list_tells_states_and_costs_the_same_however_long_it_is(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client = operator(superuser=True)
    now = timezone.now()
    for number in range(40):
        create_api_key(person(f"user-{number}"), name=f"valid-{number}")
    create_api_key(person("late"), name="expired-one", expires_at=now - dt.timedelta(days=1))
    revoked, _ = create_api_key(person("bad"), name="revoked-one")
    APIKey.objects.filter(pk=revoked.pk).update(revoked_at=now)
    with django_assert_max_num_queries(9):
        assert client.get(LIST).status_code == 200
    for state in ("expired", "revoked"):
        page = client.get(LIST, {"state": state}).content.decode()
        assert f"{state}-one" in page
        assert "valid-1<" not in page
    assert "valid-12" in client.get(LIST, {"state": "valid", "q": "user-12"}).content.decode()
    assert client.get(LIST, {"q": "\0"}).status_code == 200
