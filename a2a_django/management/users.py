"""Users as commands name them."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError
from django.utils.translation import gettext as _


def user_named(name: str) -> Any:
    """Return the user who logs in as ``name``. Raises ``CommandError`` when there is none."""
    model = get_user_model()
    user = model._default_manager.filter(**{model.USERNAME_FIELD: name}).first()
    if user is None:
        raise CommandError(_("There is no user %(name)r.") % {"name": name})
    return user
