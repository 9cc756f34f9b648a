"""Each system check: when it speaks, and that it is silent otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.checks import CheckMessage, run_checks
from django.db import connections
from pytest_django import Settings

from a2a_django import Agent, Skill, checks
from a2a_django.agents import registry
from a2a_django.conf import DEFAULTS

# From Django 6.1 on the checks of JSON fields ask the database what it can.
pytestmark = pytest.mark.django_db


class Good(Agent):
    """Has all that a card needs."""

    abstract = True
    skills = [Skill("a", "A", "Does A", tags=["x"])]


@pytest.fixture(autouse=True)
def good_site(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})
    monkeypatch.setattr(registry, "duplicates", [])
    registry.add(Good())
    settings.A2A = {}
    settings.ASGI_APPLICATION = "example_project.asgi.application"


def found(*, deploy: bool = False) -> dict[str, CheckMessage]:
    """The messages of this package by the end of their ids."""
    messages = run_checks(include_deployment_checks=deploy)
    return {
        str(message.id).removeprefix("a2a_django."): message for message in messages if "a2a_django" in str(message.id)
    }


def test_a_good_site_hears_nothing() -> None:
    assert found(deploy=True) == {}


def test_every_key_has_a_rule_that_its_default_fits() -> None:
    assert set(checks.RULES) == set(DEFAULTS)
    assert [key for key, value in DEFAULTS.items() if not checks.RULES[key].fits(value)] == []


def test_every_message_has_a_hint_and_an_id(settings: Settings) -> None:
    settings.A2A = {"BASEURL": "x", "MAX_STREAMS": 0, "OWNER_RESOLVER": "no.where", "GRPC_URL": "https://x:1"}
    messages = found()
    assert set(messages) == {"E002", "E003", "E004", "E005"}
    assert all(message.hint for message in messages.values())


@pytest.mark.parametrize("value", [[], "x", None])
def test_e001_the_setting_is_a_dict(settings: Settings, value: Any) -> None:
    settings.A2A = value
    assert set(found()) == {"E001"}


def test_e002_unknown_keys(settings: Settings) -> None:
    settings.A2A = {"BASEURL": "https://shop.example"}
    assert found()["E002"].hint == "Did you mean 'BASE_URL'?"
    settings.A2A = {7: 1}
    assert "BASE_URL" in str(found()["E002"].hint)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("MAX_STREAMS", 0),
        ("MAX_STREAMS", True),
        ("MAX_STREAMS", "10"),
        ("MAX_BODY_BYTES", 1.5),
        ("LEASE_SECONDS", -1),
        ("KEEPALIVE_SECONDS", None),
        ("STRICT_VERSION", "no"),
        ("AUTHENTICATION_CLASSES", "a2a_django.access.APIKeyAuthentication"),
        ("PERMISSION_CLASSES", [1]),
        ("OWNER_RESOLVER", 1),
        ("DEFAULT_AGENT", 1),
        ("BASE_URL", ""),
        ("REST_MEDIA_TYPE", "text/plain"),
        ("API_KEY_CACHE_SECONDS", -1),
    ],
)
def test_e003_values_of_the_wrong_kind(settings: Settings, key: str, value: Any) -> None:
    settings.A2A = {key: value}
    assert repr(value) in found()["E003"].msg


@pytest.mark.parametrize(
    "value",
    [
        {"AUTHENTICATION_CLASSES": ["no.such.Class"]},
        {"PERMISSION_CLASSES": ["rest_framework.permissions.Nobody"]},
        {"THROTTLE_CLASSES": ["x"]},
        {"TENANT_RESOLVER": "tests.nowhere.f"},
    ],
)
def test_e004_paths_that_lead_nowhere(settings: Settings, value: dict[str, Any]) -> None:
    settings.A2A = value
    assert "E004" in found(deploy=True)


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ("agents.example:50051", False),
        ("127.0.0.1:1", False),
        ("[::1]:50051", False),
        ("https://agents.example:50051", True),
        ("agents.example", True),
        ("agents.example:50051/", True),
        ("dns:///agents.example:50051", True),
    ],
)
def test_e005_the_address_of_grpc(settings: Settings, value: str, wrong: bool) -> None:
    settings.A2A = {"GRPC_URL": value}
    assert ("E005" in found()) is wrong


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ("https://shop.example", False),
        ("https://shop.example/prefix/", False),
        ("shop.example", True),
        ("ftp://shop.example", True),
        ("https://", True),
        ("https://shop.example/?x=1", True),
    ],
)
def test_e006_the_address_of_the_site(settings: Settings, value: str, wrong: bool) -> None:
    settings.A2A = {"BASE_URL": value}
    assert ("E006" in found()) is wrong


def test_w010_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    assert set(found()) == {"W010"}


def test_w011_e012_which_of_several_agents(settings: Settings) -> None:
    registry.add(Good(name="Other"))
    assert set(found()) == {"W011"}
    settings.A2A = {"DEFAULT_AGENT": "other"}
    assert set(found()) == set()
    settings.A2A = {"DEFAULT_AGENT": "nobody"}
    assert "'good', 'other'" in str(found()["E012"].hint)


def test_e013_two_agents_with_one_slug() -> None:
    registry.add(Good())
    assert "'good'" in found()["E013"].msg


@pytest.mark.parametrize("slug", ["tasks", "message:send", "v1", "a/b", "a b", "a?b"])
def test_e014_slugs_that_are_no_tenants(settings: Settings, slug: str) -> None:
    settings.A2A = {"DEFAULT_AGENT": "good"}
    registry.add(Good(slug=slug))
    assert set(found()) == {"E014"}


class Bare(Agent):
    abstract = True
    input_modes = []
    version = ""


def test_w015_w016_what_a_card_should_not_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Bare())
    messages = found()
    assert set(messages) == {"W015", "W016"}
    assert messages["W015"].msg == "<Bare bare> has no skills, input_modes."
    assert messages["W016"].msg == "<Bare bare> has no description, version."


def test_e017_permissions_of_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Good(permissions=["no.such.Permission"]))
    assert set(found()) == {"E017"}


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


def test_w031_push_is_not_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Good(streaming=False, push_notifications=True))
    assert set(found()) == {"W031"}


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
