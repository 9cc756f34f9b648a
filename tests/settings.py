"""Settings of the package's own tests.

A2A_TEST_DATABASE=postgres runs them on PostgreSQL (address from the PG* variables), =mysql on MySQL or MariaDB (address
from the MYSQL_* variables), A2A_TEST_REDIS=1 with channels-redis (address from A2A_TEST_REDIS_URL). The SQLite test
database is a file: the engine's threads have connections of their own, which would each see a different in-memory
database.

Access is open here because most tests are not about access; those that are set AUTHENTICATION_CLASSES and
PERMISSION_CLASSES.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

SECRET_KEY = "tests-only-tests-only-tests-only-tests-only-0123456789"
DEBUG = False
ALLOWED_HOSTS = ["*"]
USE_TZ = True
TIME_ZONE = "UTC"
ROOT_URLCONF = "tests.urls"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
STATIC_URL = "static/"

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "oauth2_provider",
    "channels",
    "a2a_django",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# One directory per run: two runs at the same time do not meet.
_RUN = os.environ.setdefault("A2A_TEST_RUN_DIR", tempfile.mkdtemp(prefix="a2a-django-tests-"))

DATABASES: dict[str, dict[str, Any]]
_KIND = os.environ.get("A2A_TEST_DATABASE", "sqlite")
if _KIND == "postgres":
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": os.environ.get("PGDATABASE", "postgres"),
            "USER": os.environ.get("PGUSER", "postgres"),
            "PASSWORD": os.environ.get("PGPASSWORD", ""),
            "HOST": os.environ.get("PGHOST", "127.0.0.1"),
            "PORT": os.environ.get("PGPORT", "5432"),
            "TEST": {"NAME": f"test_a2a_{os.environ.setdefault('A2A_TEST_RUN', str(os.getpid()))}"},
        }
    }
elif _KIND == "mysql":
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.mysql",
            "NAME": os.environ.get("MYSQL_DATABASE", "test"),
            "USER": os.environ.get("MYSQL_USER", "root"),
            "PASSWORD": os.environ.get("MYSQL_PASSWORD", ""),
            "HOST": os.environ.get("MYSQL_HOST", "127.0.0.1"),
            "PORT": os.environ.get("MYSQL_PORT", "3306"),
            "OPTIONS": {"charset": "utf8mb4"},
            "TEST": {
                "NAME": f"test_a2a_{os.environ.setdefault('A2A_TEST_RUN', str(os.getpid()))}",
                "CHARSET": "utf8mb4",
            },
        }
    }
else:
    DATABASES = {
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": str(Path(_RUN) / "site.sqlite3"),
            "OPTIONS": {
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
            },
            "TEST": {"NAME": str(Path(_RUN) / "test.sqlite3")},
        }
    }

if os.environ.get("A2A_TEST_REDIS") == "1":
    CHANNEL_LAYERS = {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {
                "hosts": [os.environ.get("A2A_TEST_REDIS_URL", "redis://127.0.0.1:6379/0")],
                "prefix": f"a2a-tests-{os.getpid()}",
            },
        }
    }
else:
    CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]

A2A: dict[str, Any] = {
    "AUTHENTICATION_CLASSES": [],
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    # The engine ends after every test; runs that a test has left are not waited for.
    "SHUTDOWN_SECONDS": 0,
}
