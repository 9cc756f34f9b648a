"""Which model is shown by which class. Each room has its list ``ROOMS``; a new room is added to ``_rooms``."""

from __future__ import annotations

from django.contrib.admin import AdminSite

from a2a_django.admin import agents, inbox, keys, push, tasks
from a2a_django.admin.base import Rooms


def _rooms() -> Rooms:
    return [*tasks.ROOMS, *inbox.ROOMS, *agents.ROOMS, *keys.ROOMS, *push.ROOMS]


def register(site: AdminSite) -> None:
    """Show everything of this package on an admin site. What the site has registered already stays as it is."""
    for model, room in _rooms():
        if not site.is_registered(model):
            site.register(model, room)
