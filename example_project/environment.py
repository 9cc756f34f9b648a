"""Reads the few environment variables that the settings of the example site obey."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

#: What SQLite needs where several threads write: without IMMEDIATE a transaction that reads first and writes then fails
#: with "database is locked" as soon as somebody else wrote in between, and without WAL readers wait for writers.
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
}


def flag(name: str, default: bool) -> bool:
    """Return the variable as a yes or no ("1", "true", "yes", "on" are yes)."""
    value = os.environ.get(name)
    return default if value is None else value.strip().lower() in {"1", "true", "yes", "on"}


def words(name: str, default: str) -> list[str]:
    """Return the variable as a list, split at commas."""
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def database(name: str, default: Path) -> dict[str, Any]:
    """Return Django's settings for the database that the variable names.

    ``sqlite:////absolute/path`` or ``postgres://user:password@host:port/name``; without the variable SQLite at
    ``default``. Raises ``ImproperlyConfigured`` for anything else.
    """
    url = os.environ.get(name)
    if not url:
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": default, "OPTIONS": SQLITE_OPTIONS}
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": unquote(parts.path[1:]), "OPTIONS": SQLITE_OPTIONS}
    if parts.scheme in {"postgres", "postgresql"}:
        return {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": unquote(parts.path[1:]),
            "USER": unquote(parts.username or ""),
            "PASSWORD": unquote(parts.password or ""),
            "HOST": parts.hostname or "",
            "PORT": str(parts.port or ""),
            # A pool instead of persistent connections: under ASGI each request may run in another thread.
            "CONN_MAX_AGE": 0,
            "CONN_HEALTH_CHECKS": True,
            "OPTIONS": {"pool": {"min_size": 1, "max_size": 16, "timeout": 20}},
        }
    raise ImproperlyConfigured(f"{name}: expected sqlite:///path or postgres://user:password@host:port/name")


def channel_layers(name: str) -> dict[str, dict[str, Any]]:
    """Return CHANNEL_LAYERS: Redis where the variable gives its address, else the layer inside this one process."""
    url = os.environ.get(name)
    if not url:
        return {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    return {"default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [url]}}}


def runner(name: str) -> str | dict[str, Any]:
    """Return A2A["RUNNER"], "in_process" without the variable. Raises ``ImproperlyConfigured`` for anything unknown."""
    value = os.environ.get(name) or "in_process"
    if value == "celery":
        return {"BACKEND": "celery", "OPTIONS": {"APP": "example_project.celery.app"}}
    if value in {"in_process", "django_tasks"}:
        return value
    raise ImproperlyConfigured(f"{name}: expected celery, django_tasks or in_process")
