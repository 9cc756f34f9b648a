"""``manage.py a2a_export``: everything that belongs to one owner, as lines of JSON."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from a2a_django.access import owner_at
from a2a_django.retention import owners


class Command(BaseCommand):
    """May run while the site serves. docs/retention.md says what the lines are."""

    help = "Write everything of one owner as lines of JSON: tasks, messages, artifacts, events, webhooks, files."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the owner and where to write."""
        parser.add_argument("owner", help="The owner as the tasks have it; by default the primary key of the user.")
        parser.add_argument("--tenant", help="With a TENANT_RESOLVER: the tenant at which it is the owner.")
        parser.add_argument("--with-files", action="store_true", help="The bytes of stored files, too.")
        parser.add_argument("--output", help="A file, which must not exist; default: standard output.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the lines. Raises ``CommandError`` when the file is there already or cannot be written."""
        owner = options["owner"] if options["tenant"] is None else owner_at(options["tenant"], options["owner"])
        lines = owners.export(owner, with_files=options["with_files"])
        if not options["output"]:
            self._print(owner, lines)
            return
        try:
            # Nobody else's business: readable for the one who runs the command only.
            number = os.open(options["output"], os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as error:
            raise CommandError(
                _("Cannot write %(file)s: %(reason)s") % {"file": options["output"], "reason": error.strerror}
            ) from None
        count = 0
        with os.fdopen(number, "w", encoding="ascii") as file:
            for line in lines:
                file.write(line + "\n")
                count += 1
        self.stdout.write(_("%(count)d lines written to %(file)s.") % {"count": count, "file": options["output"]})
        self._say_if_nothing(owner, count)

    def _print(self, owner: str, lines: Iterator[str]) -> None:
        count = 0
        try:
            for line in lines:
                self.stdout.write(line)
                count += 1
            self.stdout.flush()
        except BrokenPipeError:  # whoever reads has enough; Python would write what is left once more at its end
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
        self._say_if_nothing(owner, count)

    def _say_if_nothing(self, owner: str, count: int) -> None:
        if not count:
            self.stderr.write(_("Nothing belongs to the owner %(owner)r.") % {"owner": owner})
