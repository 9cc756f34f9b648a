from __future__ import annotations

from django.apps import AppConfig


class RunnersSiteConfig(AppConfig):
    name = "tests.runners.site"
    label = "runners_site"
