"""``manage.py a2a_rotate_keys``: seal the secrets of all webhooks under the first key."""

from __future__ import annotations

from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import router, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from a2a_django.models import PushConfig
from a2a_django.sealing import UndecryptableError, reseal

#: So many ids are named; of more there is only the number.
NAMED: Final = 100


class Command(BaseCommand):
    """May run while the site serves, and be stopped and started again: what is done already costs a look only."""

    help = (
        "Seal the secrets of all webhooks anew under the first of the keys (A2A['ENCRYPTION_KEYS'], or SECRET_KEY), "
        "so that the others can be taken away."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the size of a batch."""
        parser.add_argument("--batch", type=int, default=500, help="Rows of one transaction (500).")

    def handle(self, *args: Any, **options: Any) -> None:
        """Go through all rows. Raises ``CommandError`` when some could not be unsealed, once all others are done."""
        if options["batch"] < 1:
            raise CommandError(_("--batch has to be above 0."))
        using = router.db_for_write(PushConfig)
        rows = PushConfig.objects.using(using).exclude(sealed="").order_by("pk")
        done, current, lost, last = 0, 0, list[int](), 0
        while True:
            with transaction.atomic(using=using):
                batch = list(rows.filter(pk__gt=last).values_list("pk", "sealed")[: options["batch"]])
                for pk, sealed in batch:
                    try:
                        new = reseal(sealed)
                    except UndecryptableError:
                        lost.append(pk)
                        continue
                    if new is None:
                        current += 1
                    else:
                        done += _replace(rows, pk, sealed, new)
            if not batch:
                break
            last = batch[-1][0]
        counts = {"done": done, "current": current}
        self.stdout.write(_("%(done)d sealed anew, %(current)d were under the first key already.") % counts)
        if lost:
            ids = ", ".join(map(str, lost[:NAMED])) + (", ..." if len(lost) > NAMED else "")
            told = {"count": len(lost), "ids": ids, "reason": UndecryptableError()}
            raise CommandError(
                _("%(count)d cannot be unsealed with any of the site's keys: push configurations %(ids)s. %(reason)s")
                % told
            )


def _replace(rows: QuerySet[PushConfig], pk: int, old: str, new: str) -> int:
    """Write the new form, unless the webhook has got other secrets meanwhile: those are right as they are."""
    return rows.filter(pk=pk, sealed=old).update(sealed=new)
