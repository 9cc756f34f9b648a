"""What the rooms for agents, keys and webhooks have in common: a style sheet beside that of the desk."""

from __future__ import annotations

from a2a_django.admin.base import DeskAdmin


class ConsoleAdmin(DeskAdmin):
    """A room with the style of the console."""

    class Media:
        css = {"all": ["a2a_django/admin/console.css"]}
