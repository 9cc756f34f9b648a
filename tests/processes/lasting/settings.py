"""The example site with other agents, open to everybody; leases are short."""

from __future__ import annotations

import os

from example_project.settings import *  # noqa: F403
from example_project.settings import INSTALLED_APPS

DEBUG = False
ALLOWED_HOSTS = ["*"]
INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "example_project.shop"] + ["tests.processes.lasting"]
ROOT_URLCONF = "example_project.scripted.urls"

A2A = {
    "AUTHENTICATION_CLASSES": [],
    "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_AGENT": "steady",
    "OWNER_RESOLVER": os.environ.get("LASTING_OWNER_RESOLVER"),
    "AUTO_GRACE_SECONDS": float(os.environ.get("LASTING_AUTO_GRACE_SECONDS", "1")),
    "LEASE_SECONDS": float(os.environ.get("LASTING_LEASE_SECONDS", "2")),
    "SHUTDOWN_SECONDS": float(os.environ.get("LASTING_SHUTDOWN_SECONDS", "0")),
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
