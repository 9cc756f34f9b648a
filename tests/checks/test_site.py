"""The checks of the site around: when each speaks, and that it is silent otherwise."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from django.db import connections
from django.urls import include, path
from django.utils.translation import gettext_lazy
from pytest_django import Settings
from rest_framework.permissions import AllowAny, IsAdminUser, IsAuthenticated

from a2a_django.agents import registry
from tests.checks.kit import Good, found


def test_a_good_site_hears_nothing() -> None:
    assert found(deploy=True) == {}


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        ({}, True),
        ({"transaction_mode": "IMMEDIATE"}, True),
        ({"init_command": "PRAGMA journal_mode=WAL"}, True),
        (
            {"transaction_mode": "immediate", "init_command": "PRAGMA journal_mode = wal; PRAGMA synchronous=NORMAL"},
            False,
        ),
    ],
)
def test_w020_sqlite(monkeypatch: pytest.MonkeyPatch, options: dict[str, str], wrong: bool) -> None:
    database = {**connections.settings["default"], "ENGINE": "django.db.backends.sqlite3", "OPTIONS": options}
    monkeypatch.setitem(connections.settings, "default", database)
    assert ("W020" in found()) is wrong
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.postgresql")
    assert "W020" not in found()


def test_w030_streams_without_asgi(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ASGI_APPLICATION = None
    assert set(found()) == {"W030"}
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Good(streaming=False))
    assert found() == {}


def test_w040_open_access_before_deployment(settings: Settings) -> None:
    settings.A2A = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
    assert found() == {}
    assert set(found(deploy=True)) == {"W040"}
    settings.A2A = {"PERMISSION_CLASSES": []}
    assert set(found(deploy=True)) == {"W040"}


@pytest.mark.parametrize("age", [None, 60])
def test_w041_lasting_connections_before_deployment(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, age: int | None
) -> None:
    monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", age)
    assert set(found(deploy=True)) == {"W041"}
    settings.ASGI_APPLICATION = None
    assert "W041" not in found(deploy=True)


def test_w042_unencrypted_before_deployment(settings: Settings) -> None:
    settings.A2A = {"BASE_URL": "http://shop.example"}
    assert set(found(deploy=True)) == {"W042"}


def urlconf(*patterns: Any) -> ModuleType:
    made = ModuleType("urls_of_a_check")
    made.urlpatterns = list(patterns)  # type: ignore[attr-defined]
    return made


def test_w032_addresses_that_are_not_included(settings: Settings) -> None:
    settings.ROOT_URLCONF = urlconf()
    assert set(found()) == {"W032"}
    settings.ROOT_URLCONF = urlconf(path("below/", include("a2a_django.urls", namespace="other")))
    assert found() == {}
    settings.ROOT_URLCONF = None
    assert found() == {}


OWN = "tests.checks.middleware"
ASGI = "tests.checks.applications"


@pytest.mark.parametrize(
    ("middleware", "wrong"),
    [
        ("django.middleware.locale.LocaleMiddleware", False),
        ("django.middleware.gzip.GZipMiddleware", False),
        (f"{OWN}.stamped", True),
        (f"{OWN}.Counting", True),
        (f"{OWN}.SameSecurity", False),
        (f"{OWN}.OtherSecurity", True),
        (f"{OWN}.OtherHeaders", True),
        (f"{OWN}.OwnSession", False),
        (f"{OWN}.OwnSessionCookie", True),
        (f"{OWN}.OwnUser", False),
        (f"{OWN}.is_not_there", False),
    ],
)
def test_w034_middleware_without_part(settings: Settings, middleware: str, wrong: bool) -> None:
    assert "W034" not in found()
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, middleware]
    assert ("W034" in found()) is wrong
    if wrong:
        message = found()["W034"]
        assert message.msg.endswith(f" this middleware: {middleware}.")
        settings.SILENCED_SYSTEM_CHECKS = ["a2a_django.W034"]
        assert message.is_silenced()


@pytest.mark.parametrize(
    ("application", "wrong"),
    [
        (f"{ASGI}.consumers", True),
        (f"{ASGI}.routed", True),
        (f"{ASGI}.routed_elsewhere", False),
        (f"{ASGI}.django", False),
        (f"{ASGI}.is_not_there", False),
        ("tests.checks.broken.application", False),
        (None, False),
    ],
)
def test_w034_is_about_the_consumers(settings: Settings, application: str | None, wrong: bool) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, f"{OWN}.stamped"]
    settings.ASGI_APPLICATION = application
    assert ("W034" in found()) is wrong


class Anew(IsAuthenticated):
    def has_permission(self, request: Any, view: Any) -> bool:
        """Let everybody in."""
        return True


class Again(IsAuthenticated):
    """Has another name only."""


@pytest.mark.parametrize(
    ("a2a", "wrong"),
    [
        ({}, True),
        ({"PERMISSION_CLASSES": [IsAdminUser]}, True),
        ({"PERMISSION_CLASSES": [AllowAny, Again]}, True),
        ({"PERMISSION_CLASSES": []}, False),
        ({"PERMISSION_CLASSES": [Anew]}, False),
        ({"PERMISSION_CLASSES": [AllowAny]}, False),
        ({"PERMISSION_CLASSES": ["no.where"]}, False),
    ],
)
def test_w033_users_who_cannot_say_who_they_are(settings: Settings, a2a: dict[str, Any], wrong: bool) -> None:
    settings.A2A = {**a2a, "AUTHENTICATION_CLASSES": []}
    assert ("W033" in found()) is wrong
    settings.A2A = a2a
    assert "W033" not in found()


def test_w033_users_for_one_agent(settings: Settings) -> None:
    registry.add(Good(name="Closed", permissions=["rest_framework.permissions.IsAuthenticated"]))
    settings.A2A = {"AUTHENTICATION_CLASSES": [], "PERMISSION_CLASSES": [], "DEFAULT_AGENT": "good"}
    assert "(<Good closed>)" in found()["W033"].msg


def test_names_of_agents_may_be_translated(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Good(name=gettext_lazy("Good")))
    settings.ASGI_APPLICATION = None
    assert "(Good)" in found()["W030"].msg


def test_e021_times_without_zones(settings: Settings) -> None:
    assert "E021" not in found()
    settings.USE_TZ = False
    assert found()["E021"].hint
