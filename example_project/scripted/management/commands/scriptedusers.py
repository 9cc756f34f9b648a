from __future__ import annotations

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandParser

from a2a_django.access import create_api_key


class Command(BaseCommand):
    help = "Makes a user for each API key; the key's prefix becomes the user's name."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("keys", nargs="+", metavar="name.secret")

    def handle(self, *args: Any, keys: list[str], **options: Any) -> None:
        for key in keys:
            user = get_user_model().objects.create_user(key.partition(".")[0])
            create_api_key(user, "acceptance", key)
