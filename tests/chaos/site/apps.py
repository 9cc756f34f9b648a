from __future__ import annotations

from django.apps import AppConfig


class ChaosSiteConfig(AppConfig):
    name = "tests.chaos.site"
    label = "chaos"
    default_auto_field = "django.db.models.BigAutoField"
