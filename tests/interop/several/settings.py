"""The scripted site with more agents; the scripted agent answers calls that name no tenant."""

from __future__ import annotations

from example_project.scripted.settings import *  # noqa: F403
from example_project.scripted.settings import A2A, INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "tests.interop.several"]
A2A = {**A2A, "DEFAULT_AGENT": "scripted-agent"}
