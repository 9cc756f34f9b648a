"""The checks of what is open: when each speaks, and that it is silent otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django.access import UserThrottle
from a2a_django.agents import registry
from tests.checks.kit import Good, found, messages

USER, ANON = "a2a_django.access.UserThrottle", "a2a_django.access.AnonThrottle"


class Burst(UserThrottle):
    """A throttle of a site's own."""

    scope = "burst"


class Fixed(UserThrottle):
    """Has its rate in code."""

    scope = "fixed"
    rate = "1/min"


@pytest.fixture
def pushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent with webhooks."""
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Good(push_notifications=True))


@pytest.mark.parametrize(
    ("classes", "rates", "said"),
    [
        ([], {}, []),
        ([USER], {"user": "1/min"}, []),
        ([USER, ANON], {"user": "1/min", "anon": "1/min"}, []),
        ([Burst, Fixed], {"burst": "1/min"}, []),
        ([Fixed], {"fixed": "2/min"}, []),
        (["rest_framework.throttling.ScopedRateThrottle"], {}, []),
        ([USER], {}, ["UserThrottle has no rate"]),
        ([USER, Burst], {"user": "1/min"}, ["Burst has no rate"]),
        ([], {"user": "1/min"}, ["no class in THROTTLE_CLASSES goes by it"]),
        ([USER], {"user": "1/min", "usr": "1/min"}, ["'usr'"]),
        ([USER], {"usr": "1/min"}, ["UserThrottle has no rate", "'usr'"]),
        ("nonsense", {"user": "1/min"}, []),  # E003 says so
        ([USER], {"user": 1}, []),
    ],
)
def test_w035_rates(settings: Settings, classes: Any, rates: Any, said: list[str]) -> None:
    settings.A2A = {"THROTTLE_CLASSES": classes, "THROTTLE_RATES": rates}
    heard = [str(message.msg) for message in messages() if str(message.id).endswith("W035")]
    assert len(heard) == len(said)
    assert all(part in text for part, text in zip(said, heard, strict=True))


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent with an extended card."""
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(Good(extended_agent_card=True))


def test_w037_extended_cards_for_nobody(settings: Settings, graded: None) -> None:
    assert "W037" not in found()
    settings.A2A = {"AUTHENTICATION_CLASSES": []}
    assert "(good)" in found()["W037"].msg
    settings.A2A = {"AUTHENTICATION_CLASSES": [], "EXTENDED_CARD_FOR_ALL": True}
    assert "W037" not in found()


def test_w048_extended_cards_for_all(settings: Settings, graded: None) -> None:
    assert "W048" not in found(deploy=True)
    settings.A2A = {"EXTENDED_CARD_FOR_ALL": True}
    assert "W048" in found(deploy=True)
    assert "W048" not in found()


def test_who_has_no_extended_card_hears_nothing_of_them(settings: Settings) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [], "EXTENDED_CARD_FOR_ALL": True}
    assert not {"W037", "W048"} & set(found(deploy=True))


def test_w043_secrets_without_a_key(settings: Settings, pushing: None) -> None:
    assert "W043" in found(deploy=True)
    assert "W043" not in found()
    settings.A2A = {"ENCRYPTION_KEYS": ["k" * 40]}
    assert "W043" not in found(deploy=True)


def test_w044_webhooks_inside_or_unencrypted(settings: Settings, pushing: None) -> None:
    assert "W044" not in found(deploy=True)
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": ["10.0.0.0/8", "hooks.local"]}
    assert "10.0.0.0/8, hooks.local" in found(deploy=True)["W044"].msg
    assert "W044" not in found()
    settings.A2A = {"WEBHOOK_HTTPS_ONLY": False}
    assert "anywhere" in found(deploy=True)["W044"].msg


def test_who_sends_no_webhooks_hears_nothing_of_them(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": ["10.0.0.0/8"], "WEBHOOK_HTTPS_ONLY": False}
    assert found(deploy=True) == {}


def test_w036_a_dialect_without_its_binding(settings: Settings) -> None:
    settings.A2A = {"TUTORIAL_DIALECT": True}
    assert "W036" not in found()
    settings.A2A = {"TUTORIAL_DIALECT": True, "PROTOCOL_0_3": False}
    assert "PROTOCOL_0_3" in found()["W036"].hint
    settings.A2A = {"PROTOCOL_0_3": False}
    assert found() == {}


def test_w047_the_tutorials_dialect(settings: Settings) -> None:
    assert "W047" not in found(deploy=True)
    settings.A2A = {"TUTORIAL_DIALECT": True}
    assert "W047" in found(deploy=True)
    assert "W047" not in found()


def test_w045_a_layer_for_one_process(settings: Settings) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    assert set(found(deploy=True)) == {"W045"}
    assert found() == {}
    for layers in ({}, None, {"other": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}):
        settings.CHANNEL_LAYERS = layers
        assert found(deploy=True) == {}


@pytest.mark.parametrize(
    ("backend", "wrong"),
    [
        ("django.core.cache.backends.locmem.LocMemCache", True),
        ("django.core.cache.backends.dummy.DummyCache", True),
        ("django.core.cache.backends.filebased.FileBasedCache", False),
    ],
)
def test_w046_a_cache_for_one_process(settings: Settings, tmp_path: Path, backend: str, wrong: bool) -> None:
    settings.CACHES = {"default": {"BACKEND": backend, "LOCATION": str(tmp_path)}}
    assert found(deploy=True) == {}
    settings.A2A = {"THROTTLE_CLASSES": [USER], "THROTTLE_RATES": {"user": "1/min"}}
    assert set(found(deploy=True)) == ({"W046"} if wrong else set())
    assert found() == {}


def test_every_message_says_what_to_do(settings: Settings, pushing: None) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    registry.add(Good(slug="graded", extended_agent_card=True))
    settings.A2A = {
        "AUTHENTICATION_CLASSES": [],
        "THROTTLE_CLASSES": [USER],
        "WEBHOOK_ALLOWED_HOSTS": ["x"],
        "WEBHOOK_HTTPS_ONLY": False,
    }
    heard = found(deploy=True)
    assert set(heard) >= {"W035", "W037", "W043", "W044", "W045", "W046"}
    assert all(message.hint for message in heard.values())
