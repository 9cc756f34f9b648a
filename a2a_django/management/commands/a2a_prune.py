"""``manage.py a2a_prune``: delete tasks that ended long ago, and events that nobody needs any more."""

from __future__ import annotations

import datetime as dt
import time
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _

from a2a_django.conf import a2a_settings
from a2a_django.files import store
from a2a_django.retention.prune import BATCH, NAMES, Ages, Pruned, Pruning, ages

#: Seconds between two lines of progress.
PROGRESS_SECONDS: Final = 5.0


class Command(BaseCommand):
    """May run while the site serves, be stopped and started again, and run several times at once."""

    help = (
        "Delete tasks that are older than A2A['RETENTION'] allows, and the events of others that are older than "
        "A2A['EVENT_RETENTION_DAYS']. The time counts from the end of a task; those that have not ended stay. Also "
        "replies without a task that are older than A2A['REPLY_RETENTION_DAYS'], which agents with deduplicate keep."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do in the place of the settings, and how."""
        parser.add_argument("--dry-run", action="store_true", help="Only say what would be deleted.")
        parser.add_argument("--days", type=float, help="In the place of the settings: how long tasks stay.")
        parser.add_argument(
            "--state", action="append", choices=sorted(NAMES), help="With --days: tasks that ended so only; repeatable."
        )
        parser.add_argument(
            "--force",
            action="store_true",
            help="Also tasks that have ended only now (STREAM_SECONDS), and those whose webhooks wait to be told.",
        )
        parser.add_argument("--batch", type=int, default=BATCH, help=f"Tasks of one transaction ({BATCH}).")
        parser.add_argument(
            "--rest", type=float, default=1.0, help="The pause after each transaction, in lengths of it (1); 0: none."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Prune. Raises ``CommandError`` for arguments that make no sense, and when nothing says what may go."""
        limits = _limits(options)
        if options["batch"] < 1 or options["rest"] < 0:
            raise CommandError(_("--batch has to be above 0, and --rest not below it."))
        shown = time.monotonic()

        def show(done: Pruned) -> None:
            nonlocal shown
            if time.monotonic() - shown >= PROGRESS_SECONDS:
                shown = time.monotonic()
                self.stdout.write(_told(done))
                self.stdout.flush()

        pruning = Pruning(limits, force=options["force"], batch=options["batch"], rest=options["rest"], progress=show)
        if options["dry_run"]:
            self.stdout.write(_("Would be deleted: ") + _told(pruning.look()))
        else:
            self.stdout.write(_("Deleted: ") + _told(pruning.run()))
            if pruning.done.protected:
                kept = {"count": pruning.done.protected}
                self.stdout.write(_("%(count)d tasks are kept by rows of the site's own models.") % kept)
            if left := store.waiting():
                self.stdout.write(
                    _("%(count)d files could not be removed from their storage, and are tried again later.")
                    % {"count": left}
                )
        if not options["force"] and (waiting := pruning.waiting()):
            self.stdout.write(
                _("%(count)d tasks stay because their webhooks have not been told everything.") % {"count": waiting}
            )


def _limits(options: dict[str, Any]) -> Ages:
    """Return how old things may become."""
    if options["days"] is None:
        if options["state"]:
            raise CommandError(_("--state goes with --days."))
        if not (limits := ages()) and not a2a_settings.FILE_STORAGE:
            raise CommandError(
                _("Everything is kept for ever: set A2A['RETENTION'] or A2A['EVENT_RETENTION_DAYS'], or give --days.")
            )
        return limits
    if not 0 <= options["days"] < 36_500:
        raise CommandError(_("--days has to be a number of days, 0 or more."))
    age = dt.timedelta(days=options["days"])
    return Ages({NAMES[name]: age for name in options["state"] or NAMES}, replies=None if options["state"] else age)


def _told(done: Pruned) -> str:
    names = {state: name for name, state in NAMES.items()}
    states = ", ".join(f"{names[state]} {count}" for state, count in sorted(done.tasks.items()))
    counts = {"tasks": sum(done.tasks.values()), "states": f" ({states})" if states else "", "events": done.events}
    told = _("%(tasks)d tasks%(states)s, %(events)d events of other tasks.") % counts
    if done.files:
        told += " " + _("%(files)d files.") % {"files": done.files}
    if done.replies:
        told += " " + _("%(replies)d replies without a task.") % {"replies": done.replies}
    return told
