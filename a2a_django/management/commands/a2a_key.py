"""``manage.py a2a_key USERNAME``: make an API key for a user."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from a2a_django.access import create_api_key


class Command(BaseCommand):
    """Prints the key; it cannot be shown again."""

    help = "Make an API key for a user and print it. The key cannot be shown again; only a digest of it is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the user and a name for the key."""
        parser.add_argument("username", help="Whose key it is.")
        parser.add_argument("--name", default="", help="A name to tell keys apart.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the key. Raises ``CommandError`` when there is no such user."""
        users = get_user_model()._default_manager
        user = users.filter(**{get_user_model().USERNAME_FIELD: options["username"]}).first()
        if user is None:
            raise CommandError(_("There is no user %(name)r.") % {"name": options["username"]})
        _key, text = create_api_key(user, options["name"])
        self.stdout.write(text)
