from __future__ import annotations

import pytest
from pytest_django import Settings

from a2a_django.agents import registry
from tests.checks.kit import Good


@pytest.fixture(autouse=True)
def good_site(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site with one agent that no check has anything against.

    The database is there because from Django 6.1 on the checks of JSON fields ask it what it can.
    """
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})
    monkeypatch.setattr(registry, "duplicates", [])
    registry.add(Good())
    settings.A2A = {}
    settings.ASGI_APPLICATION = "example_project.asgi.application"
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer"}}
