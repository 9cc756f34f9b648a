"""The site of the chaos, with leases so short that runs change hands."""

from __future__ import annotations

import os

from example_project.scripted.settings import *  # noqa: F403
from example_project.scripted.settings import A2A as SCRIPTED
from example_project.scripted.settings import INSTALLED_APPS

INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "example_project.scripted"] + ["tests.chaos.site"]

A2A = {
    **SCRIPTED,
    "DEFAULT_AGENT": "talker",
    "WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1"],
    "LEASE_SECONDS": float(os.environ.get("CHAOS_LEASE_SECONDS", "6")),
    "SHUTDOWN_SECONDS": 1,
    # So few that some tasks wait for a run while processes are away; those of mode "auto" are refused then.
    "MAX_RUNS": 12,
    "PUSH_RETRY_SECONDS": 0.2,
    "PUSH_MAX_RETRY_SECONDS": 2,
    "PUSH_TIMEOUT_SECONDS": 3,
}
