"""Tasks that this process leaves to others before their runs are over, and who waits until nothing is left here."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from a2a_django.engine.queue import PutBack
from a2a_django.engine.recovery import HandOver, Outcome
from a2a_django.engine.run import Run

if TYPE_CHECKING:
    from a2a_django.engine.journal import Journal

logger = logging.getLogger("a2a_django.engine")

#: How long the database has for it.
HAND_OVER_SECONDS = 5.0


class Leaving:
    """See the module."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        #: Who waits here until no run of a task is left in this process.
        self._resting: dict[str, asyncio.Future[bool]] = {}
        #: Tasks that are just being left to others.
        self._tasks: set[str] = set()
        #: What becomes of tasks on which nobody works here any more, written with the next that are left.
        self._jobs: list[HandOver | PutBack] = []

    def at_rest(self, task_id: str) -> asyncio.Future[bool]:
        """Return what is done when no run of a task is left here, with whether it was left to others; for a task that
        was taken, before it is begun, on the loop of its runs."""
        self._end(task_id)  # of a run that has lost its lease, which has come back here
        self._resting[task_id] = future = asyncio.get_running_loop().create_future()
        return future

    def rests(self, task_id: str) -> None:
        """No run of the task is left here; on the loop of its runs."""
        if task_id not in self._tasks:
            self._end(task_id)

    def _end(self, task_id: str, *, left: bool = False) -> None:
        self._tasks.discard(task_id)
        if (future := self._resting.pop(task_id, None)) is not None and not future.done():
            future.set_result(left)

    def later(self, job: HandOver | PutBack) -> None:
        """Have a job carried out at the end of the process."""
        self._jobs.append(job)

    def leave(self, runs: list[Run]) -> None:
        """Take the word from runs and leave their tasks to others; not on their loops."""
        self._tasks.update(run.task_id for run in runs)
        for run in runs:
            run.give_up()
        try:
            self._write(runs)
        finally:
            for run in runs:
                with suppress(RuntimeError):  # its loop is closed, and nobody waits there
                    run.loop.call_soon_threadsafe(partial(self._end, run.task_id, left=True))

    def _write(self, runs: list[Run]) -> None:
        jobs, self._jobs = self._jobs, []
        jobs += [HandOver(run.task_id, run.attempt, run.agent.max_attempts) for run in runs if run.task is not None]
        dropped = [drop for run in runs if (drop := run.dropping()) is not None]
        try:
            done = self._journal.write_all([*jobs, *dropped], HAND_OVER_SECONDS)
        except RuntimeError as error:  # the journal is closed, or threads cannot be started any more
            logger.warning("%d tasks could not be handed over: %s", len(jobs), error)
            return
        for job in jobs:
            if job.result is Outcome.FAILED:
                logger.warning("Task %s was at work when the process ended, and has failed", job.task_id)
            elif job.result in (Outcome.RUN, Outcome.NEXT, True):
                logger.info("Task %s was at work when the process ended, and is left to others", job.task_id)
        if not done:
            logger.warning("Tasks could not be handed over: the database does not answer")
