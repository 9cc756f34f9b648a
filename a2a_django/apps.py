"""The app's entry into a site."""

from __future__ import annotations

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class A2ADjangoConfig(AppConfig):
    """Finds the site's agents and registers the system checks; touches no database."""

    name = "a2a_django"
    label = "a2a_django"
    verbose_name = _("Agent2Agent")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Register checks and receivers, then import every app's ``agents.py``."""
        from a2a_django import checks, receivers  # noqa: F401
        from a2a_django.agents import directory, registry
        from a2a_django.engine import runners

        directory.connect()
        registry.discover()
        runners.announce()
