"""Tasks that have waited too long for their sender: they fail with a plain sentence (``INPUT_REQUIRED_SECONDS``).

Only tasks that nobody works on: a run that waits for a sign-in by itself has its own limit, the agent's ``timeout``.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import random
from typing import Final

from a2a_django.conf import a2a_settings
from a2a_django.engine import clock, database
from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Job
from a2a_django.engine.journal import Journal
from a2a_django.models import Task
from a2a_django.protocol.states import INTERRUPTED

logger = logging.getLogger("a2a_django.engine")

#: Tasks ended in one go, and how many are looked at for that: processes that look at the same moment share them.
AT_ONCE: Final = 50
LOOK_AT: Final = 500

EXPIRED_TEXT = "The task waited too long for an answer."


class ExpireTask(Job[bool]):
    """End a task that has waited since ``before`` for its sender; the answer says whether it has."""

    def __init__(self, task_id: str, before: dt.datetime) -> None:
        super().__init__()
        self.task_id = task_id
        self.before = before

    def apply(self, batch: Batch) -> bool:
        task = batch.task(self.task_id)
        if task is None or task.state not in INTERRUPTED or task.status_timestamp > self.before:
            return False  # somebody was faster
        if task.lease_holder or task.queued_at is not None:
            return False  # an answer has come
        batch.fail(task, EXPIRED_TEXT)
        return True


async def expire(journal: Journal) -> None:
    """End all tasks that have waited too long; nothing by default."""
    seconds = a2a_settings.INPUT_REQUIRED_SECONDS
    while seconds:
        before, found = await database.read(_waiting, seconds)
        some = random.sample(found, min(len(found), AT_ONCE))
        done = await asyncio.gather(*(journal.submit(ExpireTask(task_id, before)) for task_id in some))
        for task_id, ended in zip(some, done, strict=True):
            if ended:
                logger.info("Task %s has waited %s s for its sender, and has failed", task_id, seconds)
        if len(found) <= AT_ONCE:
            return


def _waiting(seconds: float) -> tuple[dt.datetime, list[str]]:
    using = database.alias()
    before = clock.read(using) - dt.timedelta(seconds=seconds)
    tasks = Task.objects.using(using).filter(state__in=sorted(INTERRUPTED), status_timestamp__lte=before)
    rows = tasks.filter(lease_holder="", queued_at__isnull=True).order_by("status_timestamp")
    return before, list(rows.values_list("pk", flat=True)[:LOOK_AT])
