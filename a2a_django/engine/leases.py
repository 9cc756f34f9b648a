"""The leases of this process's runs are renewed, a loop's at a time, for as long as it has runs."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from typing import TYPE_CHECKING

from django.db import DatabaseError, InterfaceError, transaction

from a2a_django.conf import a2a_settings
from a2a_django.engine import clock, database, receipts
from a2a_django.engine.statements import passing_over
from a2a_django.models import Task

if TYPE_CHECKING:
    from a2a_django.engine.runner import Runner

logger = logging.getLogger("a2a_django.engine")


class Keeper:
    """Keeps a runner's leases, and stops runs that have lost theirs."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._timers: dict[asyncio.AbstractEventLoop, asyncio.Task[None]] = {}

    @property
    def timers(self) -> list[asyncio.Task[None]]:
        """The timers, one of each loop that has runs or had some until now."""
        return list(self._timers.values())

    def keep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin with the runs of a loop, unless that is done; on the loop."""
        timer = self._timers.get(loop)
        if timer is None or timer.done():
            self._timers = {known: task for known, task in self._timers.items() if not known.is_closed()}
            self._timers[loop] = loop.create_task(self._keep(loop), context=contextvars.Context())

    async def _keep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Renew the leases of a loop's runs, until there are none."""
        holder = self._runner.journal.holder
        while True:
            await asyncio.sleep(a2a_settings.LEASE_SECONDS / 3)
            mine = self._runner.runs_on(loop)
            if not mine:
                self._timers.pop(loop, None)
                return
            attempts = {pk: run.attempt for pk, run in mine.items() if run.task is not None}
            claims = {pk: claim for pk, run in mine.items() if (claim := run.held_claim()) is not None}
            try:
                lost = await database.run(renew, attempts, holder)
                if claims:
                    lost += await database.run(receipts.renew, claims)
            except (DatabaseError, InterfaceError):
                logger.warning("The leases of %d runs could not be renewed", len(attempts), exc_info=True)
                continue
            for pk in lost:
                if self._runner.has(mine[pk]):
                    mine[pk].stop()


def renew(attempts: dict[str, int], holder: str) -> list[str]:
    """Renew leases; the tasks that are no longer run by their attempt are returned.

    Rows that another transaction holds (a site's own may be long) keep the lease that they have, instead of holding up
    all others: as long as they are held, nobody else takes them either.
    """
    lost = []
    ids = list(attempts)
    using = database.alias()
    clock.read(using)
    for start in range(0, len(ids), 500):
        some = ids[start : start + 500]
        rows = Task.objects.using(using).filter(pk__in=some, lease_holder=holder)
        with transaction.atomic(using=using):
            free = list(passing_over(rows.order_by("pk")).values_list("pk", flat=True))
            rows.filter(pk__in=free).update(lease_expires_at=clock.lease_end(using))
        held = dict(rows.values_list("pk", "attempt"))
        lost += [pk for pk in some if held.get(pk) != attempts[pk]]
    return lost
