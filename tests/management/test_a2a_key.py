"""``manage.py a2a_key``."""

from __future__ import annotations

import datetime as dt
from io import StringIO
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import AsyncRequestFactory
from django.utils import timezone

from a2a_django.access import authenticate, create_api_key
from a2a_django.models import APIKey
from a2a_django.protocol.errors import UnauthenticatedError

pytestmark = pytest.mark.django_db(transaction=True)


async def test_the_printed_key_lets_its_user_in(settings: Any) -> None:
    settings.A2A = {}  # keys are asked for by default
    user = await get_user_model().objects.acreate(username="alice")
    out = StringIO()
    await sync_to_async(call_command)("a2a_key", "alice", name="laptop", stdout=out)
    key = out.getvalue().strip()
    row = await APIKey.objects.aget()
    assert row.user_id == user.pk
    assert row.name == "laptop"
    assert key.startswith(row.prefix)
    assert key.partition(".")[2] not in row.digest
    identity = await authenticate(AsyncRequestFactory().post("/a2a/", headers={"Authorization": f"Bearer {key}"}))
    assert identity.user == user


def test_an_unknown_user_is_an_error() -> None:
    with pytest.raises(CommandError, match="nobody"):
        call_command("a2a_key", "nobody")


def said(*args: str) -> list[str]:
    out = StringIO()
    call_command("a2a_key", *args, stdout=out)
    return out.getvalue().splitlines()


def test_what_a_key_is_for() -> None:
    get_user_model().objects.create_user("alice")
    said("alice", "--scope", "orders:read", "--scope", "stock", "--days", "30")
    key = APIKey.objects.get()
    assert (key.scopes, key.agents) == (["orders:read", "stock"], [])
    assert key.expires_at is not None
    assert dt.timedelta(days=29) < key.expires_at - timezone.now() <= dt.timedelta(days=30)
    for wrong, words in (
        (["alice", "--agent", "nosuch"], "agent 'nosuch'"),
        (["alice", "--days", "0"], "--days"),
        ([], "user"),
        (["--list", "nobody"], "user 'nobody'"),
        (["--revoke", "nosuch"], "key 'nosuch'"),
    ):
        with pytest.raises(CommandError, match=words):
            said(*wrong)
    assert APIKey.objects.count() == 1


def test_keys_are_listed_without_their_secrets() -> None:
    alice, bob = (get_user_model().objects.create_user(name) for name in ("alice", "bob"))
    past = timezone.now() - dt.timedelta(days=1)
    texts = [
        create_api_key(alice, "laptop", scopes=["a", "b"], agents=["echo"])[1],
        create_api_key(bob, expires_at=past)[1],
        create_api_key(bob, expires_at=timezone.now() + dt.timedelta(days=1))[1],
    ]
    lines = said("--list")
    assert len(lines) == 3
    assert not any(text.partition(".")[2] in line for text in texts for line in lines)
    (line,) = said("--list", "alice")
    assert line == f"{texts[0].partition('.')[0]}  alice  valid  never used  laptop  scopes: a b  agents: echo"
    assert [word for line in said("--list", "bob") for word in ("expired", "until") if word in line] == [
        "until",
        "expired",
    ]


async def test_a_revoked_key_lets_nobody_in(settings: Any) -> None:
    settings.A2A = {}
    user = await get_user_model().objects.acreate(username="alice")
    row, text = await sync_to_async(create_api_key)(user)
    request = AsyncRequestFactory().post("/a2a/", headers={"Authorization": f"Bearer {text}"})
    assert (await authenticate(request)).user == user
    assert await sync_to_async(said)("--revoke", row.prefix) == [f"Revoked {row.prefix} of alice."]
    with pytest.raises(UnauthenticatedError):
        await authenticate(request)
    first = (await APIKey.objects.aget()).revoked_at
    await sync_to_async(said)("--revoke", text)  # the whole key does as well, and once is enough
    assert (await APIKey.objects.aget()).revoked_at == first
    assert "revoked" in (await sync_to_async(said)("--list"))[0]
