"""Settings of the example site.

Everything that a first try needs is open here. Comments that begin with "Production:" say what a real site does
instead.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import django

from example_project.environment import channel_layers, database, flag, runner, words

BASE_DIR = Path(__file__).resolve().parent.parent
# Database and password of the demo; not in the repository.
DATA_DIR = Path(os.environ.get("EXAMPLE_DATA_DIR", BASE_DIR / ".demo"))
DATA_DIR.mkdir(exist_ok=True)

# Production: a secret of your own, from the environment or a file, and EXAMPLE_DEBUG=0.
SECRET_KEY = os.environ.get("EXAMPLE_SECRET_KEY", "the-example-sites-key-is-public-never-use-it-for-anything-else")
DEBUG = flag("EXAMPLE_DEBUG", default=True)
# Production: the names under which the site is reached.
ALLOWED_HOSTS = words("EXAMPLE_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")

INSTALLED_APPS = [
    # First, so that `runserver` speaks ASGI and can stream.
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "channels",
    "a2a_django",
    # Its agents.py is found at start-up, as admin.py is.
    "example_project.shop",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "example_project.urls"
WSGI_APPLICATION = "example_project.wsgi.application"
ASGI_APPLICATION = "example_project.asgi.application"

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

# EXAMPLE_DATABASE_URL=postgres://user:password@host:port/name for PostgreSQL.
DATABASES = {"default": database("EXAMPLE_DATABASE_URL", default=DATA_DIR / "site.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# One process needs no layer between processes. EXAMPLE_REDIS_URL=redis://host:port/0 where there are several.
CHANNEL_LAYERS = channel_layers("EXAMPLE_REDIS_URL")

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"

# What agents of other sites have to send to /notifications/: the token that was registered with the webhook, or a token
# signed with one of the keys that the other site publishes, or both.
# Production: a secret of your own.
SHOP_WEBHOOK_TOKEN = os.environ.get("EXAMPLE_WEBHOOK_TOKEN", "the-example-sites-token-is-public")
SHOP_WEBHOOK_JWKS_URL = os.environ.get("EXAMPLE_WEBHOOK_JWKS_URL", "")

# For EXAMPLE_RUNNER, see below.
CELERY_BROKER_URL = os.environ.get("EXAMPLE_BROKER_URL", "redis://127.0.0.1:6379/0")
CELERY_TASK_DEFAULT_QUEUE = os.environ.get("EXAMPLE_QUEUE", "celery")
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
if os.environ.get("EXAMPLE_RUNNER") == "django_tasks":
    INSTALLED_APPS += ["django_tasks_db"] if django.VERSION >= (6, 0) else ["django_tasks", "django_tasks_db"]
    TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}

A2A: dict[str, Any] = {
    # Anybody may talk to the order desk. Production: leave both lines out. Then callers need an API key, made with
    # `manage.py a2a_key USERNAME`; or list the REST framework classes that your site has already.
    "AUTHENTICATION_CLASSES": [],
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    # Where the site is reached from outside; needed for cards that are asked for over gRPC.
    "BASE_URL": os.environ.get("EXAMPLE_BASE_URL") or None,
    # Programs written after tutorials may call, too. Production: leave it out unless such programs call your site.
    "TUTORIAL_DIALECT": True,
    # EXAMPLE_RUNNER=celery or django_tasks has agents run on workers: `celery -A example_project worker` (the broker's
    # address is EXAMPLE_BROKER_URL), or `manage.py db_worker`.
    "RUNNER": runner("EXAMPLE_RUNNER"),
    # Where `manage.py rungrpc` is reached from outside; with it the card lists gRPC.
    "GRPC_URL": os.environ.get("EXAMPLE_GRPC_URL") or None,
}
