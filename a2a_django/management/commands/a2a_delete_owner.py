"""``manage.py a2a_delete_owner``: delete everything that belongs to one owner."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from a2a_django import engine
from a2a_django.access import owner_at
from a2a_django.files import store
from a2a_django.retention import owners


class Command(BaseCommand):
    """May run while the site serves."""

    help = "Delete all tasks of one owner, with messages, artifacts, events and webhooks. Webhooks are told no more."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the owner, and what is to become of tasks that have not ended."""
        parser.add_argument("owner", help="The owner as the tasks have it; by default the primary key of the user.")
        parser.add_argument("--tenant", help="With a TENANT_RESOLVER: the tenant at which it is the owner.")
        parser.add_argument("--cancel", action="store_true", help="Cancel tasks that have not ended, and delete them.")
        parser.add_argument("--yes", action="store_true", help="Do not ask.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Delete. Raises ``CommandError`` when there are tasks that have not ended (without ``--cancel``), when the
        answer is not yes, and when rows of the site's own models keep tasks."""
        owner = options["owner"] if options["tenant"] is None else owner_at(options["tenant"], options["owner"])
        total, active = owners.count(owner)
        if not total:  # most often somebody gave the name of a user, and must not take this for done
            self.stderr.write(
                _("%(owner)s has no tasks. By default the owner is the primary key of a user, not the name.")
                % {"owner": options["owner"]}
            )
        if active and not options["cancel"]:
            raise CommandError(
                _("%(count)d tasks have not ended. Wait for them, or cancel them with --cancel.") % {"count": active}
            )
        if not options["yes"]:
            told = {"count": total, "owner": options["owner"]}
            question = _("Delete %(count)d tasks of %(owner)s, and everything that belongs to them? Type yes: ") % told
            if input(question).strip() != "yes":
                raise CommandError(_("Nothing was deleted."))
        try:
            done = owners.delete(owner, cancel=options["cancel"])
        finally:
            engine.shutdown()
        self.stdout.write(_("%(count)d tasks deleted.") % {"count": sum(done.states.values())})
        if left := store.waiting():
            self.stderr.write(
                _("%(count)d files could not be removed from their storage; a2a_prune tries again.") % {"count": left}
            )
        if done.replies:
            self.stdout.write(_("%(count)d replies without a task deleted.") % {"count": done.replies})
        if done.protected:
            told = {"count": len(done.protected), "ids": ", ".join(done.protected[:100])}
            raise CommandError(_("%(count)d tasks are kept by rows of the site's own models: %(ids)s") % told)
        if left := owners.count(owner)[0]:
            raise CommandError(
                _("%(count)d tasks have come meanwhile. Take away the owner's access, then repeat.") % {"count": left}
            )
