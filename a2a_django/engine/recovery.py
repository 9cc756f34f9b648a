"""What happens to a task whose process died: its lease has run out (DESIGN 3). And to
those of a process that ends in order: it hands them over.

Any process may find it; the row's lock decides who acts. A task whose run had asked for input is released, or its next
message is run. One that was at work is run again when the agent allows another attempt (``max_attempts``), otherwise it
fails with a plain sentence; so is one whose run waited for a sign-in, after which it would have gone on by itself. What
the lost attempt has published stays; it cannot publish any more (fencing).

What is to be run again and has no room here waits for a run like others (``queue``), in the place in which it came.
"""

from __future__ import annotations

import asyncio
import logging
import math
import random
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from a2a_django.agents import registry
from a2a_django.engine import clock, database
from a2a_django.engine.batch import Batch
from a2a_django.engine.expiry import end_orphans, expire
from a2a_django.engine.jobs import Accepted, Job, has_expired
from a2a_django.engine.queue import any_waits
from a2a_django.engine.quotas import Place
from a2a_django.engine.statements import not_held
from a2a_django.models import Message, Task
from a2a_django.protocol.states import TERMINAL

if TYPE_CHECKING:
    from a2a_django.engine.runner import Runner

logger = logging.getLogger("a2a_django.engine")

#: Tasks taken up in one go, and how many are looked at for that.
AT_ONCE: Final = 50
LOOK_AT: Final = 500

LOST_TEXT = "The process that worked on the task was lost, and the agent does not begin such work again."
STOPPED_TEXT = "The server was stopped before the agent had finished, and the agent does not begin such work again."
LOST_AGAIN_TEXT = "The process that worked on the task was lost, {tries} times in a row."
NO_AGENT_TEXT = "The process that worked on the task was lost, and the agent is no longer here to go on."


class Outcome(StrEnum):
    """What has become of a task that had lost its process."""

    RUN = "is run again"
    FAILED = "has failed"
    RELEASED = "waits for its sender, as before"
    NEXT = "goes on with the message that waited"
    #: Somebody was faster, or the run is alive after all.
    SPARED = "is in other hands"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What was decided about a task; ``accepted``: what the caller has to run now, the ``tries``-th time. Without it
    the task that is to be run waits for somebody who does it."""

    outcome: Outcome
    accepted: Accepted | None = None
    tries: int = 0


class HandOver(Job[Outcome]):
    """Leave a task to other processes because this one ends. What may not be run again ends here.

    The run counts as one of the ``max_attempts``: it may have done anything.
    """

    def __init__(self, task_id: str, attempt: int, max_attempts: int) -> None:
        super().__init__()
        self.task_id = task_id
        self.attempt = attempt
        self.max_attempts = max_attempts

    def apply(self, batch: Batch) -> Outcome:
        task = batch.task(self.task_id)
        if task is None or task.state in TERMINAL or task.attempt != self.attempt or not task.lease_holder:
            return Outcome.SPARED
        outcome = Outcome.RUN
        if batch.has_asked(task):
            message = batch.waiting_message(task)
            if message is None:
                batch.release(task)
                return Outcome.RELEASED
            outcome = Outcome.NEXT
        else:
            message = batch.message_of(task, task.attempt)
            if message is None or message.tries >= self.max_attempts:
                batch.fail(task, STOPPED_TEXT)
                return Outcome.FAILED
        batch.put_back(task, message)
        return outcome


class RecoverTask(Job[Recovered]):
    """Decide about a task whose lease has run out. ``max_attempts`` 0: there is no such agent any more. Without a
    ``holder`` what is to be run waits for somebody who has room."""

    def __init__(self, task_id: str, holder: str, max_attempts: int) -> None:
        super().__init__()
        self.task_id = task_id
        self.holder = holder
        self.max_attempts = max_attempts

    def apply(self, batch: Batch) -> Recovered:
        task = batch.task(self.task_id)
        if task is None or task.state in TERMINAL or not has_expired(batch, task):
            return Recovered(Outcome.SPARED)
        if batch.has_asked(task):
            message = batch.waiting_message(task)
            if message is None:
                batch.release(task)
                return Recovered(Outcome.RELEASED)
            if self.max_attempts:
                return self._take(batch, task, message, Outcome.NEXT)
        message = batch.message_of(task, task.attempt)
        if message is None or message.tries >= self.max_attempts:
            batch.fail(task, self._why(message))
            return Recovered(Outcome.FAILED)
        return self._take(batch, task, message, Outcome.RUN)

    def _take(self, batch: Batch, task: Task, message: Message, outcome: Outcome) -> Recovered:
        if not self.holder:
            batch.put_back(task, message)
            return Recovered(outcome, None, message.tries + 1)
        batch.take(task, message, self.holder, clock.lease_end(batch.using))
        accepted = Accepted(task, message, task.attempt, message, task.last_seq)
        return Recovered(outcome, accepted, message.tries)

    def _why(self, message: Message | None) -> str:
        if not self.max_attempts:
            return NO_AGENT_TEXT
        if message is not None and message.tries > 1:
            return LOST_AGAIN_TEXT.format(tries=message.tries)
        return LOST_TEXT


async def look(runner: Runner) -> float | None:
    """Do what has to be done now and then: take up lost tasks and those that wait for a run, end those that wait too
    long for their sender. Returns what ``recover`` returns, and infinity rather than None while a task waits."""
    until = await recover(runner)
    await expire(runner.journal)
    if not await database.read(any_waits):
        return until
    runner.queue.look()
    if runner.queue.may_have_orphans():
        await end_orphans(runner.journal)
    return math.inf if until is None else until


async def recover(runner: Runner) -> float | None:
    """Take up tasks whose leases have run out; runs begin on the running loop. Returns in how many seconds the next
    lease runs out unless it is renewed (infinity: there are only such as could not be taken up now), None when no task
    has one.

    Processes that do this at the same moment share the tasks: each takes some at random, and those that another one has
    under lock are passed over. What there is no room for is left waiting.
    """
    while True:
        expired, until = await database.read(_expired)
        some = dict(random.sample(expired, min(len(expired), AT_ONCE)))
        free = await database.read(not_held, list(some))
        await asyncio.gather(*(_recover(runner, task_id, some[task_id]) for task_id in free))
        if len(expired) <= AT_ONCE or not free:
            return until


async def _recover(runner: Runner, task_id: str, slug: str) -> None:
    places = runner.places(1) if runner.takes_tasks else []
    place = places[0] if places else Place()
    try:
        await _decide(runner, task_id, slug, place)
    finally:
        place.give_back()


async def _decide(runner: Runner, task_id: str, slug: str, place: Place) -> None:
    agent = registry.get(slug)
    holder = runner.journal.holder if place.is_free else ""
    done = await runner.journal.submit(RecoverTask(task_id, holder, agent.max_attempts if agent else 0))
    if done.outcome is Outcome.SPARED:
        logger.info("Task %s had lost its process and %s", task_id, done.outcome.value)
        return
    tries = f", try {done.tries}" if done.outcome is Outcome.RUN else ""
    logger.warning("Task %s had lost its process and %s%s", task_id, done.outcome.value, tries)
    if agent is not None and done.accepted is not None and done.accepted.start is not None:
        await runner.follow(agent, done.accepted.start)


def _expired() -> tuple[list[tuple[str, str]], float | None]:
    using = database.alias()
    now = clock.read(using)
    leased = Task.objects.using(using).filter(lease_expires_at__isnull=False).order_by("lease_expires_at")
    expired = list(leased.filter(lease_expires_at__lte=now).values_list("pk", "agent")[:LOOK_AT])
    following = leased.filter(lease_expires_at__gt=now).values_list("lease_expires_at", flat=True).first()
    if following is None:
        return expired, math.inf if expired else None
    return expired, (following - now).total_seconds()
