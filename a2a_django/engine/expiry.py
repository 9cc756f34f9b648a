"""Tasks that have waited too long: they fail with a plain sentence.

For their sender (``INPUT_REQUIRED_SECONDS``): only tasks that nobody works on; a run that waits for a sign-in by itself
has its own limit, the agent's ``timeout``. And for an agent that is no longer here: no process would ever take them.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import random
from collections.abc import Collection
from typing import Final

from a2a_django.agents import registry
from a2a_django.conf import a2a_settings
from a2a_django.engine import clock, database
from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Job
from a2a_django.engine.journal import Journal
from a2a_django.engine.statements import not_held
from a2a_django.models import Task
from a2a_django.protocol.states import INTERRUPTED

logger = logging.getLogger("a2a_django.engine")

#: Tasks ended in one go, and how many are looked at for that: processes that look at the same moment share them.
AT_ONCE: Final = 50
LOOK_AT: Final = 500

#: So long a task may wait for a process that knows its agent: processes of another version of the site may do.
NO_AGENT_SECONDS: Final = 3600.0

NO_AGENT_TEXT = "The agent is no longer here."
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
        some = await database.read(not_held, random.sample(found, min(len(found), AT_ONCE)))
        done = await asyncio.gather(*(journal.submit(ExpireTask(task_id, before)) for task_id in some))
        for task_id, ended in zip(some, done, strict=True):
            if ended:
                logger.info("Task %s has waited %s s for its sender, and has failed", task_id, seconds)
        if len(found) <= AT_ONCE or not some:
            return


def _waiting(seconds: float) -> tuple[dt.datetime, list[str]]:
    using = database.alias()
    before = clock.read(using) - dt.timedelta(seconds=seconds)
    tasks = Task.objects.using(using).filter(state__in=sorted(INTERRUPTED), status_timestamp__lte=before)
    rows = tasks.filter(lease_holder="", queued_at__isnull=True).order_by("status_timestamp")
    return before, list(rows.values_list("pk", flat=True)[:LOOK_AT])


class EndOrphan(Job[bool]):
    """End a task that has waited since ``before`` for a run of an agent that is not among ``agents``."""

    def __init__(self, task_id: str, before: dt.datetime, agents: Collection[str]) -> None:
        super().__init__()
        self.task_id = task_id
        self.before = before
        self.agents = agents

    def apply(self, batch: Batch) -> bool:
        task = batch.task(self.task_id)
        if task is None or task.queued_at is None or task.queued_at > self.before or task.agent in self.agents:
            return False
        batch.fail(task, NO_AGENT_TEXT)
        return True


async def end_orphans(journal: Journal) -> None:
    """End the tasks that have waited too long for an agent that is not here; some of them, if there are many."""
    agents = [agent.slug for agent in registry.all()]
    before, found = await database.read(_orphans, agents)
    found = await database.read(not_held, found)
    done = await asyncio.gather(*(journal.submit(EndOrphan(task_id, before, agents)) for task_id in found))
    if ended := sum(done):
        logger.warning("%d tasks waited for agents that are no longer here, and have failed", ended)


def _orphans(agents: Collection[str]) -> tuple[dt.datetime, list[str]]:
    using = database.alias()
    before = clock.read(using) - dt.timedelta(seconds=NO_AGENT_SECONDS)
    waiting = Task.objects.using(using).filter(queued_owner__isnull=False, queued_at__lte=before)
    return before, list(waiting.exclude(agent__in=agents).values_list("pk", flat=True)[:LOOK_AT])
