"""``manage.py a2a_key``: make API keys, list them, revoke them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.translation import gettext as _

from a2a_django.access import create_api_key, revoke_api_key
from a2a_django.agents import registry
from a2a_django.management.users import user_named
from a2a_django.models import APIKey


class Command(BaseCommand):
    """Prints a new key, which cannot be shown again; or what is known of the keys there are."""

    help = "Make an API key for a user and print it. The key cannot be shown again; only a digest of it is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the user and what the key is for, or what else to do."""
        parser.add_argument("username", nargs="?", help="Whose key it is.")
        parser.add_argument("--name", default="", help="A name to tell keys apart.")
        parser.add_argument("--scope", action="append", default=[], dest="scopes", help="A scope; may be repeated.")
        parser.add_argument(
            "--agent", action="append", default=[], dest="agents", help="An agent it is for; none: all."
        )
        parser.add_argument("--days", type=float, help="How long it may be used; without, until it is revoked.")
        parser.add_argument("--list", action="store_true", help="List the keys, of the user or of all.")
        parser.add_argument("--revoke", metavar="PREFIX", help="Revoke a key, named by what stands before its dot.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it. Raises ``CommandError`` when there is no such user, key or agent."""
        if options["revoke"]:
            self._revoke(options["revoke"])
        elif options["list"]:
            self._list(options["username"])
        elif options["username"]:
            self._make(user_named(options["username"]), options)
        else:
            raise CommandError(_("Say for which user the key is."))

    def _make(self, user: Any, options: dict[str, Any]) -> None:
        for slug in options["agents"]:
            if registry.get(slug) is None:
                raise CommandError(_("There is no agent %(name)r.") % {"name": slug})
        days = options["days"]
        expires_at = None
        if days is not None:
            if not 0 < days < 100_000:
                raise CommandError(_("--days has to be above 0."))
            expires_at = timezone.now() + dt.timedelta(days=days)
        _key, text = create_api_key(
            user, options["name"], scopes=options["scopes"], agents=options["agents"], expires_at=expires_at
        )
        self.stdout.write(text)

    def _list(self, username: str | None) -> None:
        keys = APIKey.objects.select_related("user").order_by("-created_at")
        if username:
            keys = keys.filter(user=user_named(username))
        for key in keys:
            if key.revoked_at is not None:
                state = f"revoked {key.revoked_at:%Y-%m-%d}"
            elif not key.is_usable():
                state = f"expired {key.expires_at:%Y-%m-%d}"
            else:
                state = f"until {key.expires_at:%Y-%m-%d}" if key.expires_at else "valid"
            used = f"used {key.last_used_at:%Y-%m-%d}" if key.last_used_at else "never used"
            columns = [key.prefix, key.user.get_username(), state, used, key.name]
            columns += [f"scopes: {' '.join(key.scopes)}"] * bool(key.scopes)
            columns += [f"agents: {' '.join(key.agents)}"] * bool(key.agents)
            self.stdout.write("  ".join(filter(None, columns)))

    def _revoke(self, prefix: str) -> None:
        try:
            key = revoke_api_key(prefix.partition(".")[0])
        except APIKey.DoesNotExist:
            raise CommandError(_("There is no key %(name)r.") % {"name": prefix.partition(".")[0]}) from None
        self.stdout.write(
            _("Revoked %(prefix)s of %(user)s.") % {"prefix": key.prefix, "user": key.user.get_username()}
        )
