"""The engine: journal, feed and runner of this process, made on first use.

Nothing is started at import: a process that serves no A2A call has no thread, no timer and no connection of ours.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2a_django.engine.batch import Committed
    from a2a_django.engine.dispatch import Dispatcher
    from a2a_django.engine.feed import Deliveries, Feed
    from a2a_django.engine.journal import Journal
    from a2a_django.engine.runner import Runner
    from a2a_django.engine.watch import Watch
    from a2a_django.push.sender import Sender

#: So long the process waits at its end for what was cancelled.
EXIT_SECONDS = 2.0

_lock = threading.Lock()
_engine: Engine | None = None


class Engine:
    """What a process has one of."""

    def __init__(self) -> None:
        from a2a_django import telemetry
        from a2a_django.engine.announce import announce
        from a2a_django.engine.feed import Feed
        from a2a_django.engine.runner import Runner

        telemetry.observer()  # packages that are missing are said here, and not in the middle of a run
        self.feed: Feed = Feed()

        def deliver(done: list[Committed]) -> Deliveries:
            announce(done)
            if self.dispatcher is not None:
                self.dispatcher.give(done)
            self.watch.ring(done)
            if waiting := [one.queued for one in done if one.queued is not None]:
                self.runner.queue.told(waiting)
            if any(one.push for one in done):
                self.sender.wake()
            return self.feed.deliveries(done)

        self.journal: Journal = self._make_journal(deliver)
        self.sender: Sender = self._make_sender()
        self.runner: Runner = Runner(self.journal)
        self.dispatcher: Dispatcher | None = self._make_dispatcher()
        self.runner.runs_here = self.dispatcher is None
        self.watch: Watch = self._make_watch()
        self.feed.on_reader = self.watch.wake
        self.runner.on_run = self.watch.wake
        self._begin()

    # What ``immediate`` has other ones of.

    def _make_journal(self, deliver: Callable[[list[Committed]], Deliveries]) -> Journal:
        from a2a_django.engine.journal import Journal

        return Journal(deliver)

    def _make_sender(self) -> Sender:
        from a2a_django.conf import a2a_settings
        from a2a_django.push.sender import Sender

        return Sender(self.journal.holder, active=a2a_settings.PUSH_IN_PROCESS)

    def _make_dispatcher(self) -> Dispatcher | None:
        """Return the way to the site's queue, None where agents run in the serving processes."""
        from a2a_django.engine.dispatch import Dispatcher
        from a2a_django.engine.runners import get_runner

        where = get_runner()
        return None if where.runs_here else Dispatcher(where, self._look_soon)

    def _make_watch(self) -> Watch:
        from a2a_django.engine.watch import Watch

        return Watch(
            self.feed,
            self.journal.holder,
            runs=self.runner.attempts,
            lost=self.runner.lost,
            recover=self._look,
            waiting=self.runner.queue.look if self.dispatcher is None else self._look_soon,
        )

    def _begin(self) -> None:
        from a2a_django.agents import registry

        # Tasks may have lost their process, and webhooks their sender, while there was nobody to see it.
        self.watch.wake()
        if any(agent.push_notifications for agent in registry.all()):
            self.sender.wake()

    async def _look(self) -> float | None:
        """Do what has to be done now and then; returns what ``recovery.look`` returns."""
        from a2a_django.engine.recovery import look

        until = await look(self.runner)
        if self.dispatcher is not None:
            await self.dispatcher.look()
        return until

    def _look_soon(self) -> None:
        self.watch.look()

    def stop(self) -> None:
        """End what is at work, after the time that the site gives it, and write what waits."""
        self.watch.stop_looking()
        self.runner.close(self.seconds())
        self.watch.flush(EXIT_SECONDS)
        if self.dispatcher is not None:
            self.dispatcher.flush(EXIT_SECONDS)
        self.watch.stop()
        self.sender.stop()
        self.journal.close()

    @staticmethod
    def seconds() -> float:
        """Return how long runs may go on when the process is told to end."""
        from a2a_django.conf import a2a_settings

        return a2a_settings.SHUTDOWN_SECONDS


def get() -> Engine:
    """Return the process's engine."""
    global _engine
    if _engine is None:
        with _lock:
            if _engine is None:
                _engine = Engine()
                _in_child()
    return _engine


def install(engine: Engine | None) -> Engine | None:
    """Put an engine in the place of the process's, None for none yet, and return the one that was there; for tests."""
    global _engine
    with _lock:
        before, _engine = _engine, engine
    return before


def current() -> Engine | None:
    """Return the process's engine if it has been begun."""
    return _engine


def shutdown(*, threads: bool = True) -> None:
    """Let runs end for ``SHUTDOWN_SECONDS``, hand over the others, stop the threads, close their connections.

    Blocks for that long; call it in a thread while a loop has runs. A later call starts afresh. Without ``threads``
    those that have nothing more to write are left alone: for a process that is about to be ended without ado.
    """
    global _engine
    with _lock:
        engine, _engine = _engine, None
    if engine is not None:
        engine.stop()
    if not threads:
        return
    if (bridge := sys.modules.get("a2a_django.engine.bridge")) is not None:
        bridge.shutdown()
    if (database := sys.modules.get("a2a_django.engine.database")) is not None:
        database.pools.shutdown()


def _after_fork() -> None:
    global _engine, _lock
    _engine, _lock = None, threading.Lock()
    if (bridge := sys.modules.get("a2a_django.engine.bridge")) is not None:
        bridge.forget()
    if (database := sys.modules.get("a2a_django.engine.database")) is not None:
        database.pools.forget()


def _in_child() -> None:
    """Have ``_at_exit`` called where a server has made this process with multiprocessing, which skips atexit."""
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is not None and multiprocessing.parent_process() is not None:
        from multiprocessing.util import Finalize

        Finalize(None, _at_exit, exitpriority=100)


def _at_exit() -> None:
    if _engine is not None:  # before their loop is emptied
        _engine.watch.stop_looking()
        _engine.runner.close(_engine.seconds())
    _end_daphne()
    shutdown()


def _end_daphne() -> None:
    """End what is left on daphne's loop, which daphne stops but neither empties nor closes.

    Tasks of open streams would be destroyed in any order when the interpreter ends, and Python 3.11 crashes over that.
    """
    loop: asyncio.AbstractEventLoop | None = getattr(sys.modules.get("daphne.server"), "twisted_loop", None)
    if loop is None or loop.is_running() or loop.is_closed():
        return
    if tasks := asyncio.all_tasks(loop):
        for task in tasks:
            task.cancel()
        loop.run_until_complete(asyncio.wait(tasks, timeout=EXIT_SECONDS))


atexit.register(_at_exit)
os.register_at_fork(after_in_child=_after_fork)
