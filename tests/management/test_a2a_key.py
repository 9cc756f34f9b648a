"""``manage.py a2a_key``."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command
from django.test import AsyncRequestFactory

from a2a_django.access import authenticate
from a2a_django.models import APIKey

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
