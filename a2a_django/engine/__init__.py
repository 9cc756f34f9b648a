"""The engine: journal, feed and runner of this process, made on first use.

Nothing is started at import: a process that serves no A2A call has no thread, no timer and no connection of ours.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2a_django.engine.batch import Committed
    from a2a_django.engine.feed import Deliveries, Feed
    from a2a_django.engine.journal import Journal
    from a2a_django.engine.runner import Runner
    from a2a_django.engine.watch import Watch

_lock = threading.Lock()
_engine: Engine | None = None


class Engine:
    """What a process has one of."""

    def __init__(self) -> None:
        from a2a_django.engine.announce import announce
        from a2a_django.engine.feed import Feed
        from a2a_django.engine.journal import Journal
        from a2a_django.engine.runner import Runner
        from a2a_django.engine.watch import Watch

        self.feed: Feed = Feed()

        def deliver(done: list[Committed]) -> Deliveries:
            announce(done)
            self.watch.ring(done)
            return self.feed.deliveries(done)

        self.journal: Journal = Journal(deliver)
        self.runner: Runner = Runner(self.journal)
        self.watch: Watch = Watch(self.feed, self.journal.holder, self.runner.attempts, self.runner.lost)
        self.feed.on_reader = self.watch.wake
        self.runner.on_run = self.watch.wake


def get() -> Engine:
    """Return the process's engine."""
    global _engine
    if _engine is None:
        with _lock:
            if _engine is None:
                _engine = Engine()
    return _engine


def shutdown() -> None:
    """Write what waits, stop the threads, close their connections. A later call starts afresh."""
    global _engine
    with _lock:
        engine, _engine = _engine, None
    if engine is not None:
        engine.runner.stop_all()
        engine.watch.stop()
        engine.journal.close()
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


atexit.register(shutdown)
os.register_at_fork(after_in_child=_after_fork)
