"""The example site with the agents of this folder, open to everybody; leases are short. RUNNERS_KIND says where agents
run, RUNNERS_BROKER_URL at which broker, RUNNERS_WHEN_DOWN what happens without it."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from example_project.settings import *  # noqa: F403
from example_project.settings import INSTALLED_APPS

DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "example_project.shop"] + ["tests.runners.site"]
ROOT_URLCONF = "example_project.scripted.urls"
SILENCED_SYSTEM_CHECKS = ["a2a_django.I088"]

KIND = os.environ.get("RUNNERS_KIND", "in_process")
BROKER_URL = os.environ.get("RUNNERS_BROKER_URL", "")
_RUNNER: dict[str, Any] = {
    "WHEN_DOWN": os.environ.get("RUNNERS_WHEN_DOWN", "wait"),
    "AGAIN_SECONDS": float(os.environ.get("RUNNERS_AGAIN_SECONDS", "2")),
}

RUNNER: Any = "in_process"
if KIND == "celery":
    RUNNER = {**_RUNNER, "BACKEND": "celery", "QUEUE": "agents", "OPTIONS": {"APP": "tests.runners.site.celery.app"}}
    CELERY_BROKER_URL = BROKER_URL
    CELERY_WORKER_PREFETCH_MULTIPLIER = 1
elif KIND == "tasks-db":
    RUNNER = {**_RUNNER, "BACKEND": "django_tasks"}
    INSTALLED_APPS += ["django_tasks_db"]
    TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
elif KIND == "tasks-rq":
    RUNNER = {**_RUNNER, "BACKEND": "django_tasks", "QUEUES": {"plain": "slow"}}
    INSTALLED_APPS += ["django_rq"]
    TASKS = {"default": {"BACKEND": "django_tasks_rq.RQBackend", "QUEUES": ["default", "slow"]}}
    RQ_QUEUES = {name: {"URL": BROKER_URL, "DEFAULT_TIMEOUT": -1} for name in ("default", "slow")}
elif KIND == "tasks-immediate":
    RUNNER = {**_RUNNER, "BACKEND": "django_tasks"}
if find_spec("django.tasks") is None and RUNNER != "in_process":
    INSTALLED_APPS += ["django_tasks"]

A2A = {
    "AUTHENTICATION_CLASSES": [],
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_AGENT": "steady",
    "LEASE_SECONDS": float(os.environ.get("RUNNERS_LEASE_SECONDS", "2")),
    "SHUTDOWN_SECONDS": float(os.environ.get("RUNNERS_SHUTDOWN_SECONDS", "0")),
    "RUNNER": RUNNER,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
