"""What a worker of the site's queue does with the id of a task: take it, run it, wait until it rests.

The run is one like any other, under the engine of the worker's process (the same journal, leases and watch), on its
background loop. The worker only waits for it, so as many tasks as it carries out at a time are as many runs.

A worker that is told to stop lets its runs go on for ``SHUTDOWN_SECONDS`` and then leaves them to others. Where it says
so by a signal to the thread that waits here, that is heard while it waits; other workers call ``stop``.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from enum import StrEnum
from types import FrameType
from typing import Final

from a2a_django import engine
from a2a_django.agents import registry
from a2a_django.engine import bridge, database
from a2a_django.engine.dispatch import take_back
from a2a_django.engine.queue import ClaimOne
from a2a_django.engine.quotas import Place
from a2a_django.models import Task
from a2a_django.protocol.states import TERMINAL

logger = logging.getLogger("a2a_django.engine")

#: How long a worker waits for a task that was to be written as soon as the queue had it, and how often it looks.
PATIENCE_SECONDS: Final = 3.0
FIRST_PAUSE_SECONDS: Final = 0.02
PAUSE_SECONDS: Final = 0.25
#: How long what is to be told to other processes may take.
FLUSH_SECONDS: Final = 2.0


class Outcome(StrEnum):
    """What a worker has to say of a task; for its log."""

    DONE = "has come to a rest"
    NOTHING = "did not wait for a run"
    LEFT = "is left to other workers"
    STARTED = "has been begun in this process"


_enqueuing = threading.local()
_under_way: set[Future[Outcome]] = set()


@contextmanager
def enqueuing() -> Iterator[None]:
    """Inside, tasks are given to a queue. One that carries them out at once begins them, and does not wait."""
    _enqueuing.now = True
    try:
        yield
    finally:
        _enqueuing.now = False


def run_task(task_id: str) -> Outcome:
    """Run a task that waits, with all messages that wait; returns when it has come to a rest, or is left to others.

    For the code of workers, in a thread without a running loop. It may be called any number of times for a task: who
    has the lease runs it. Exceptions that are raised while it waits (the limits of a queue, say) leave the task to
    others and are passed on.
    """
    future = asyncio.run_coroutine_threadsafe(_carry_out(task_id), bridge.background_loop())
    if getattr(_enqueuing, "now", False):
        future.add_done_callback(_log_failure)
        return Outcome.STARTED
    _under_way.add(future)
    try:
        with _hearing_signals():
            try:
                return future.result()
            except CancelledError:
                return Outcome.LEFT
            except BaseException:
                if not future.done():  # raised while it waited
                    engine.get().runner.leave(task_id)
                raise
            finally:
                engine.get().watch.flush(FLUSH_SECONDS)
    finally:
        _under_way.discard(future)


def stop() -> None:
    """The worker is to end: let runs end for a while, leave the others to other workers. Blocks for that long."""
    here = engine.current()
    if here is None:
        return
    here.watch.stop_looking()
    here.runner.close(here.seconds())
    for future in list(_under_way):
        future.cancel()


async def _carry_out(task_id: str) -> Outcome:
    here = engine.get()
    if here.runner.closing:
        await database.run(take_back, [task_id])  # the queue's message is used up
        return Outcome.LEFT
    row = await _waiting(here, task_id)
    if row is None:
        return Outcome.NOTHING
    agent = registry.get(row.agent)
    if agent is None:
        logger.error("Task %s waits for the agent %r, which is not here", task_id, row.agent)
        return Outcome.NOTHING
    with here.runner.taking():
        accepted = await here.journal.submit(ClaimOne(task_id, here.journal.holder))
        if accepted is None:
            return Outcome.NOTHING  # somebody was faster
        rest = here.runner.leaving.at_rest(task_id)
        here.runner.begin_soon(agent, accepted, Place())
    return Outcome.LEFT if await rest else Outcome.DONE


async def _waiting(here: engine.Engine, task_id: str) -> Task | None:
    """Return the task if it waits for a run. One that is about to be written is waited for."""
    loop = asyncio.get_running_loop()
    until = loop.time() + PATIENCE_SECONDS
    pause = FIRST_PAUSE_SECONDS
    while True:
        task = await database.read(_row, task_id)
        if task is not None and task.queued_at is not None:
            return task
        if task is not None and (task.lease_holder or task.state in TERMINAL):
            return None
        if here.dispatcher is None or not here.dispatcher.refuses or loop.time() > until:
            return None
        await asyncio.sleep(pause)
        pause = min(2 * pause, PAUSE_SECONDS)


def _row(task_id: str) -> Task | None:
    return Task.objects.using(database.alias()).filter(pk=task_id).first()


def _log_failure(future: Future[Outcome]) -> None:
    if not future.cancelled() and (error := future.exception()) is not None:
        logger.error("A task could not be begun", exc_info=error)


@contextmanager
def _hearing_signals() -> Iterator[None]:
    """Inside, the signals that tell the worker to stop are heard here, too; they do what they did before besides."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    deadly: list[int] = []

    def hear(number: int, frame: FrameType | None) -> None:
        threading.Thread(target=stop, name="a2a-stop", daemon=True).start()
        usual = before[signal.Signals(number)]
        if callable(usual):
            usual(number, frame)
        else:
            deadly.append(number)

    heard = [
        number
        for number, usual in before.items()
        if (callable(usual) and usual is not signal.default_int_handler)
        or (usual is signal.SIG_DFL and number == signal.SIGTERM)
    ]
    for number in heard:
        signal.signal(number, hear)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
        if deadly:
            os.kill(os.getpid(), deadly[0])


def _after_fork() -> None:
    _under_way.clear()
    _enqueuing.now = False


os.register_at_fork(after_in_child=_after_fork)
