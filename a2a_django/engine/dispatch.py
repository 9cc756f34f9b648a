"""Gives tasks to the site's queue, where the setting ``RUNNER`` names one.

Invariants:

* The rows are the truth. A task that waits has ``queued_at``; ``handed_in_at`` says when the queue was given it last,
  and is null while the queue has yet to get it. A task is written as handed in before it is, so that this costs no
  write of its own; where the queue then does not take it, the moment is taken back.
* What the queue did not take, or has lost, is found by a look at the rows, in any process: what has no moment at once,
  the oldest of the others once in ``AGAIN_SECONDS``. So a task waits at most that much longer, and however many wait,
  and however many processes look, there are never more than ``AGAIN_AT_ONCE`` further messages in that time.
* The queue is talked to in threads of its own, outside of transactions, and no longer than ``ENQUEUE_SECONDS``.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final

from django.db import DatabaseError, InterfaceError, models, transaction

from a2a_django.engine import bridge, clock, database
from a2a_django.engine.batch import Committed
from a2a_django.engine.runners import QueueError, RunnerBackend
from a2a_django.engine.runners.base import REFUSE
from a2a_django.engine.statements import passing_over
from a2a_django.models import Task
from a2a_django.protocol.errors import UnavailableError

logger = logging.getLogger("a2a_django.engine")

THREADS: Final = 4
FLUSH_SECONDS: Final = 0.01
#: How long the queue is left alone after it has failed.
DOWN_SECONDS: Final = 1.0
#: Tasks given to the queue in one go by a look, and those that are given to it once more at the same time.
AT_ONCE: Final = 200
AGAIN_AT_ONCE: Final = 100

DOWN_TEXT: Final = "The agents cannot be reached at the moment, please try again later"


class Dispatcher:
    """The process's way to the queue of ``runner``. ``on_failure`` is called when a task has to be looked for later."""

    def __init__(self, runner: RunnerBackend, on_failure: Callable[[], None]) -> None:
        self._runner = runner
        self._on_failure = on_failure
        self._lock = threading.Lock()
        #: Tasks on their way, with their agents.
        self._pending: dict[str, str] = {}
        #: Tasks that the queue has got already.
        self._asked: set[str] = set()
        self._sending = False
        self._down_until = 0.0
        self._is_down = False

    @property
    def refuses(self) -> bool:
        """Whether calls are refused while the queue is down."""
        return self._runner.options.when_down == REFUSE

    @asynccontextmanager
    async def asking(self, task_id: str, agent: str) -> AsyncIterator[None]:
        """Inside, a task comes to wait. Where calls are refused while the queue is down, it is given the task before; a
        worker that is faster waits for it.

        Raises ``UnavailableError`` when the queue does not take it: nothing has been kept then.
        """
        if not self.refuses:
            yield
            return
        try:
            await self._enqueue(task_id, agent)
        except QueueError as error:
            raise UnavailableError(DOWN_TEXT) from error
        self._asked.add(task_id)
        try:
            yield
        finally:
            self._asked.discard(task_id)

    def give(self, done: Iterable[Committed]) -> None:
        """Give the queue the tasks that have just come to wait, in the background; from any thread. If it fails, a look
        does it later."""
        with self._lock:
            for one in done:
                if one.hand_in is not None:
                    if one.task_id not in self._asked:
                        self._pending[one.task_id] = one.hand_in
                    one.queued = None  # nobody else has to see to it
            if self._sending or not self._pending:
                return
            self._sending = True
        bridge.spawn(self._send)

    async def _send(self) -> None:
        while True:
            with self._lock:
                some, self._pending = self._pending, {}
                if not some:
                    self._sending = False
                    return
            if not await self._give(some):
                self._on_failure()

    def flush(self, seconds: float) -> None:
        """Wait until the queue has been given what it was to be given, ``seconds`` at most; not on the background loop.
        What is left is found by others, when it has waited too long."""
        until = time.monotonic() + seconds
        while self._sending and time.monotonic() < until:
            time.sleep(FLUSH_SECONDS)

    async def look(self) -> None:
        """Give the queue what waits and has not been given to it, or too long ago."""
        while time.monotonic() >= self._down_until:
            limit = 1 if self._is_down else AT_ONCE
            found = await database.run(take_waiting, limit, self._runner.options.again_seconds)
            if (found and not await self._give(found)) or len(found) < limit:
                return

    async def _give(self, some: Mapping[str, str]) -> bool:
        """Give the queue tasks, by their agents; returns whether it took all. The others are left to a look."""
        room = asyncio.Semaphore(THREADS)
        left: list[str] = []

        async def give(task_id: str, agent: str) -> None:
            async with room:
                try:
                    await self._enqueue(task_id, agent)
                except QueueError:
                    left.append(task_id)

        await asyncio.gather(*(give(task_id, agent) for task_id, agent in some.items()))
        if left:
            try:
                await database.run(take_back, left)
            except (DatabaseError, InterfaceError):
                # They are taken for handed in, and looked for when that was too long ago.
                logger.warning("%d tasks could not be left to a later look", len(left), exc_info=True)
        return not left

    async def _enqueue(self, task_id: str, agent: str) -> None:
        options = self._runner.options
        if time.monotonic() < self._down_until:
            raise QueueError("The queue has just failed")
        future = database.pools.get("enqueue", THREADS).submit(
            self._runner.enqueue, task_id, queue=options.queue_of(agent)
        )
        try:
            async with asyncio.timeout(options.enqueue_seconds):
                await asyncio.wrap_future(future)
        except Exception as error:  # whatever a queue raises when it is away
            self._failed(error)
            raise QueueError(str(error)) from error
        self._works()

    def _failed(self, error: Exception) -> None:
        """Leave the queue alone for a moment; say so once, not for every task."""
        self._down_until = time.monotonic() + DOWN_SECONDS
        if not self._is_down:
            self._is_down = True
            what = "calls are refused" if self.refuses else "tasks wait"
            logger.error("The queue of the agents is not to be had; until it is, %s", what, exc_info=error)

    def _works(self) -> None:
        if self._is_down:
            self._is_down = False
            logger.warning("The queue of the agents is there again")


def take_waiting(limit: int, again_seconds: float) -> dict[str, str]:
    """Return tasks that have to be given to the queue, by their agents, and take note that they are. Processes that do
    this at the same moment share the tasks."""
    using = database.alias()
    waiting = Task.objects.using(using).filter(queued_owner__isnull=False)
    found = _note(waiting.filter(handed_in_at__isnull=True), limit)
    rows = list(waiting.order_by("queued_at", "pk").values_list("pk", "handed_in_at")[:AGAIN_AT_ONCE])
    before = clock.read(using) - dt.timedelta(seconds=again_seconds)
    late = [pk for pk, moment in rows if moment is not None and moment <= before]
    if late and len(found) < limit:
        found |= _note(waiting.filter(pk__in=late, handed_in_at__lte=before), limit - len(found))
    return found


def _note(rows: models.QuerySet[Task], limit: int) -> dict[str, str]:
    """Write that tasks are handed in now; those that others have under lock are passed over."""
    with transaction.atomic(using=rows.db):
        found = dict(passing_over(rows.order_by("queued_at", "pk")).values_list("pk", "agent")[:limit])
        if found:
            Task.objects.using(rows.db).filter(pk__in=sorted(found)).update(handed_in_at=clock.now(rows.db))
    return found


def take_back(task_ids: Iterable[str]) -> None:
    """Write that tasks have not been given to the queue after all."""
    rows = Task.objects.using(database.alias()).filter(pk__in=sorted(task_ids), queued_at__isnull=False)
    rows.update(handed_in_at=None)
