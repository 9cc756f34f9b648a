"""For the type checker's Django plugin only: every app and every setting that the code uses, in one place."""

from __future__ import annotations

from example_project.scripted.settings import *  # noqa: F403
from example_project.scripted.settings import INSTALLED_APPS

INSTALLED_APPS = [*INSTALLED_APPS, "example_project.shop"]
