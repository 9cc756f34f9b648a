"""The checks of the setting: when each speaks, and that it is silent otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from a2a_django.checks.setting import RULES
from a2a_django.conf import DEFAULTS, A2ASettings
from tests.checks.kit import found


def test_every_key_has_a_rule_that_its_default_fits() -> None:
    assert set(RULES) == set(DEFAULTS)
    assert [key for key, value in DEFAULTS.items() if not RULES[key].fits(value)] == []


def test_what_is_used_as_a_whole_number_has_to_be_one() -> None:
    whole = {key for key, kind in A2ASettings.__annotations__.items() if kind == "int"}
    assert whole >= {"CARD_MAX_AGE", "MAX_STREAMS"}
    assert [key for key in whole if RULES[key].fits(60.0)] == []


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
        ("EXTENDED_CARD_FOR_ALL", "yes"),
        ("STRICT_VERSION", "no"),
        ("TUTORIAL_DIALECT", 1),
        ("TUTORIAL_WAITS", "immediate"),
        ("AUTHENTICATION_CLASSES", "a2a_django.access.APIKeyAuthentication"),
        ("PERMISSION_CLASSES", [1]),
        ("OWNER_RESOLVER", 1),
        ("DEFAULT_AGENT", 1),
        ("BASE_URL", ""),
        ("DEFAULT_AGENT", ["good"]),
        ("PERMISSION_CLASSES", None),
        ("PERMISSION_CLASSES", "rest_framework.permissions.AllowAny"),
        ("REST_MEDIA_TYPE", "text/plain"),
        ("CARD_MAX_AGE", 1.5),
        ("STREAM_SECONDS", float("inf")),
        ("API_KEY_CACHE_SECONDS", -1),
        ("THROTTLE_RATES", {"user": 100}),
        ("CARD_CORS_ORIGINS", "*"),
        ("CARD_CORS_ORIGINS", ["https://app.example/"]),
        ("AGENT_CACHE_SECONDS", None),
        ("THROTTLE_RATES", {"user": "100 a minute"}),
        ("MAX_RUNS_PER_OWNER", 0),
        ("WEBHOOK_SIGNATURES", "jwt"),
        ("WEBHOOK_SIGNATURES", ["rsa"]),
        ("WEBHOOK_SIGNATURES", [["jwt"]]),
    ],
)
def test_e003_values_of_the_wrong_kind(settings: Settings, key: str, value: Any) -> None:
    settings.A2A = {key: value}
    assert repr(value) in found(deploy=True)["E003"].msg


@pytest.mark.parametrize(
    "value",
    [
        {"AUTHENTICATION_CLASSES": ["no.such.Class"]},
        {"PERMISSION_CLASSES": ["rest_framework.permissions.Nobody"]},
        {"THROTTLE_CLASSES": ["x"]},
        {"PERMISSION_CLASSES": [".permissions.Mine"]},
        {"AUTHENTICATION_CLASSES": ["..access.Mine", "access..Mine", ""]},
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
        ("https://[shop.example", True),
        ("https://shop.example/?x=1", True),
    ],
)
def test_e006_the_address_of_the_site(settings: Settings, value: str, wrong: bool) -> None:
    settings.A2A = {"BASE_URL": value}
    assert ("E006" in found()) is wrong


@pytest.mark.parametrize("value", ["s3cret" * 8, ["s3cret" * 8, 1], {"s3cret": 1}])
@pytest.mark.parametrize("key", ["ENCRYPTION_KEYS", "SIGNING_KEYS"])
def test_messages_show_no_secrets(settings: Settings, key: str, value: Any) -> None:
    settings.A2A = {key: value}
    assert "s3cret" not in str(found(deploy=True)["E003"])


@pytest.mark.parametrize(
    ("attempt", "lease", "warned"), [(10, 30, False), (15, 30, False), (16, 30, True), ("x", 30, False)]
)
def test_an_attempt_at_a_webhook_ends_before_its_lease(attempt: Any, lease: float, warned: bool, settings: Any) -> None:
    settings.A2A = {"PUSH_TIMEOUT_SECONDS": attempt, "LEASE_SECONDS": lease}
    assert ("W005" in found()) is warned
