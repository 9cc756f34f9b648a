"""API keys: made, found, refused, remembered."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.test import RequestFactory
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from a2a_django.access import APIKeyAuthentication, create_api_key, keys
from a2a_django.models import APIKey

pytestmark = [pytest.mark.django_db, pytest.mark.spec("7.4")]


@pytest.fixture
def user() -> User:
    return User.objects.create_user("alice")


def ask(**headers: str) -> Any:
    """What the authenticator says of a request with these headers."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return APIKeyAuthentication().authenticate(Request(RequestFactory().post("/a2a/", headers=sent)))


def bearer(text: str) -> Any:
    return ask(Authorization=f"Bearer {text}")


def test_of_a_new_key_only_the_digest_is_kept(user: User) -> None:
    row, text = create_api_key(user, "their agent")
    prefix, secret = text.split(".")
    assert (row.prefix, row.name, row.user) == (prefix, "their agent", user)
    assert len(secret) >= 43  # 256 bits
    assert row.digest == hashlib.sha256(text.encode()).hexdigest()
    assert secret not in str(APIKey.objects.filter(pk=row.pk).values().get())
    assert create_api_key(user)[1] != text


@pytest.mark.parametrize("text", ["alice.secret", "a-b_C.0~+/="])
def test_a_key_of_ones_own(user: User, text: str) -> None:
    assert create_api_key(user, key=text)[1] == text
    assert bearer(text)[0] == user


@pytest.mark.parametrize("text", ["", "alice", "alice.", ".secret", "a.b.c", "x" * 17 + ".y", "a.b c", "ä.b", "a.b\n"])
def test_what_cannot_be_a_key(user: User, text: str) -> None:
    with pytest.raises(ValueError):
        create_api_key(user, key=text)


def test_both_headers(user: User) -> None:
    row, text = create_api_key(user)
    for found in (bearer(text), ask(Authorization=f"bearer  {text} "), ask(X_API_Key=text)):
        assert found == (user, row)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Basic YTpi", "Bearer opaque-token", "Bearer head.body.signature", "Bearer a.b\x00"]
)
def test_what_is_no_key_of_ours_is_left_to_others(header: str) -> None:
    assert ask(Authorization=header) is None


def test_wrong_keys_are_refused_alike(user: User) -> None:
    row, text = create_api_key(user)
    for wrong in (text[:-1], text + "x", "nobody.secret"):
        with pytest.raises(AuthenticationFailed, match="Invalid API key"):
            bearer(wrong)
    for wrong in ("junk", "a.b.c", "\x00.x"):
        with pytest.raises(AuthenticationFailed, match="Invalid API key"):
            ask(X_API_Key=wrong)
    assert bearer(text)[1] == row


@pytest.mark.parametrize("change", ["revoked", "expired", "inactive"])
def test_keys_that_are_over(user: User, change: str) -> None:
    row, text = create_api_key(user)
    assert bearer(text)
    if change == "revoked":
        row.revoked_at = timezone.now()
        row.save()
    elif change == "expired":
        row.expires_at = timezone.now()
        row.save()
    else:
        user.is_active = False
        user.save()
    with pytest.raises(AuthenticationFailed):  # at once, where the change was saved
        bearer(text)


def test_a_known_key_costs_no_query(
    user: User, settings: Settings, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    __, text = create_api_key(user)
    bearer(text)
    request = RequestFactory().post("/", headers={"Authorization": f"Bearer {text}"})
    with django_assert_num_queries(0):
        first, second = bearer(text), APIKeyAuthentication.remembered(request)
    assert first == second
    assert first[0] is not second[0]  # requests run side by side
    settings.A2A = {**settings.A2A, "API_KEY_CACHE_SECONDS": 0}
    keys._known.forget()
    bearer(text)
    assert APIKeyAuthentication.remembered(request) is None
    assert APIKeyAuthentication.remembered(RequestFactory().post("/")) is None


def test_a_key_is_forgotten_after_some_seconds(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    row, text = create_api_key(user)
    bearer(text)
    APIKey.objects.filter(pk=row.pk).update(revoked_at=timezone.now())  # as another process would do it
    assert bearer(text)
    now = keys.time.monotonic()
    monkeypatch.setattr(keys.time, "monotonic", lambda: now + 6)
    with pytest.raises(AuthenticationFailed):
        bearer(text)


def test_a_key_is_not_remembered_beyond_its_end(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    row, text = create_api_key(user)
    row.expires_at = timezone.now() + dt.timedelta(seconds=2)
    row.save()
    bearer(text)
    now = keys.time.monotonic()
    monkeypatch.setattr(keys.time, "monotonic", lambda: now + 2.1)
    assert keys._known.get(text) is None


def test_memory_is_bounded(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys._Known, "LIMIT", 3)
    for _ in range(10):
        bearer(create_api_key(user)[1])
        assert len(keys._known._entries) <= 3


def test_the_last_use_is_noted_once_a_minute(user: User) -> None:
    row, text = create_api_key(user)

    def used() -> dt.datetime | None:
        keys._known.forget()
        bearer(text)
        return APIKey.objects.get(pk=row.pk).last_used_at

    first = used()
    assert first is not None
    assert used() == first
    earlier = first - dt.timedelta(minutes=2)
    APIKey.objects.filter(pk=row.pk).update(last_used_at=earlier)
    again = used()
    assert again is not None
    assert again > earlier


def test_a_note_that_cannot_be_made_turns_nobody_away(
    user: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    __, text = create_api_key(user)

    def fail(*args: object, **kwargs: object) -> None:
        raise DatabaseError("locked")

    monkeypatch.setattr("django.db.models.query.QuerySet.update", fail)
    assert bearer(text)[0] == user
    assert "Could not note the use" in caplog.text
    assert text not in caplog.text
