"""The example site as the acceptance tests need it: one scripted agent, two users with API keys, no debugging.

EXAMPLE_VARIANT chooses what the card promises: "main" everything, "plain" neither streams nor webhooks nor an extended
card, "strict" a required extension, an extended card that nobody gets, and webhooks at public addresses only, "lasting"
what "main" does; its runs are begun again when their process dies.
"""

from __future__ import annotations

import os

from example_project.environment import runner, words
from example_project.settings import *  # noqa: F403
from example_project.settings import INSTALLED_APPS

DEBUG = False
INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "example_project.shop"] + ["example_project.scripted"]
ROOT_URLCONF = "example_project.scripted.urls"

SCRIPTED_VARIANT = os.environ.get("EXAMPLE_VARIANT", "main")

# The package's defaults: an API key for every call.
A2A = {
    "BASE_URL": os.environ.get("EXAMPLE_BASE_URL") or None,
    "RUNNER": runner("EXAMPLE_RUNNER"),
    "GRPC_URL": os.environ.get("EXAMPLE_GRPC_URL") or None,
    # The path of a private key; with it cards are signed.
    "SIGNING_KEYS": [f"file:{path}" for path in words("EXAMPLE_SIGNING_KEYS", "")],
    # Where the tests receive what webhooks are told.
    "WEBHOOK_ALLOWED_HOSTS": [] if SCRIPTED_VARIANT == "strict" else ["127.0.0.1", "localhost"],
}

# A faulty answer of the package has to be seen in the log of the server, whatever DEBUG says.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
