"""Settings of the bench site. The database comes from the environment (see `benchmarks.databases`)."""

from __future__ import annotations

import os
from typing import Any

from benchmarks.databases import POOL_SIZE, Database

SECRET_KEY = "only-for-benchmarks-on-this-machine"  # noqa: S105 - nothing to protect
DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "testserver"]  # the second is what Django's test client calls itself, see fill.py
ROOT_URLCONF = "benchmarks.site.urls"
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "rest_framework",
    "channels",
    "a2a_django",
    "benchmarks.site",
]
MIDDLEWARE: list[str] = []
ASGI_APPLICATION = "benchmarks.site.consumers.application"
# A killed Redis is part of a measurement.
LOGGING = {"version": 1, "disable_existing_loggers": False, "loggers": {"channels_redis": {"level": "CRITICAL"}}}

A2A = {
    "AUTHENTICATION_CLASSES": [f"benchmarks.site.callers.{os.environ.get('BENCH_CALLERS', 'Load')}"],
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_AGENT": "echo",
    # All the load comes from one caller.
    "MAX_STREAMS_PER_OWNER": 10_000,
    "MAX_RUNS_PER_OWNER": 1_000,
    "WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1"],
    "GRPC_URL": "127.0.0.1:50051",  # of no importance here, but `rungrpc` warns without
}


def _database(database: Database) -> dict[str, Any]:
    if database.kind == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": database.name,
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            },
        }
    user, _, address = database.address.rpartition("/")[0].rpartition("@")
    name, _, password = user.partition(":")
    host, _, port = address.partition(":")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": database.name,
        "USER": name,
        "PASSWORD": password,
        "HOST": host,
        "PORT": port,
        "CONN_MAX_AGE": 0,
        "OPTIONS": {"pool": {"min_size": 1, "max_size": POOL_SIZE, "timeout": 60}},
    }


DATABASES = {"default": _database(Database.from_environment(os.environ))}

# Redis between processes where there are several and the measurement wants it; otherwise they look at the database.
if redis := os.environ.get("BENCH_REDIS"):
    CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [redis]}}
    }
