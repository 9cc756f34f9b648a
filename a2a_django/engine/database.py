"""The only door from asynchronous code to the ORM.

Invariant: database work of this package runs on a bounded number of threads that belong to the package, each with
connections of its own, and a thread that has had nothing to do for ``IDLE_SECONDS`` closes its connections and ends.
So neither the number of callers nor the number of open streams has any influence on the number of connections, and
an idle process holds none.

Django closes connections at the end of each request; these threads serve no request, so they look after themselves:
a connection that failed is dropped before it is used again, and one is never left inside a transaction. One that comes
from a pool (``OPTIONS["pool"]``) goes back after each piece of work: a thread that kept it would keep it from others.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor, Future
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import SyncToAsync, ThreadSensitiveContext
from django.db import InterfaceError, OperationalError, connections, router

from a2a_django.conf import a2a_settings
from a2a_django.models import Task

logger = logging.getLogger("a2a_django.engine")

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 5.0
#: How often a read is tried when its connection is lost; a pool may have several dead ones to give.
READ_TRIES = 6
#: How long a database that is locked or away is waited for.
PATIENCE_SECONDS = 20.0
#: Threads that wait for storages of files.
IO_THREADS = 8


def alias() -> str:
    """Return the database of the tasks. Reads use the one that is written: a replica may be behind an event that has
    been announced."""
    return router.db_for_write(Task)


def close_connections() -> None:
    """Close all connections of the calling thread."""
    connections.close_all()


def check_connections() -> None:
    """Drop the calling thread's connections that have failed or were left inside a transaction."""
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block:
            connection.close()
            del connections[connection.alias]  # closing alone leaves it inside the block, useless for ever
        elif connection.connection is not None and (
            connection.autocommit != connection.settings_dict["AUTOCOMMIT"]
            or (connection.errors_occurred and not connection.is_usable())
        ):
            connection.close()
        else:
            connection.errors_occurred = False


def give_back_connections() -> None:
    """Return the calling thread's connections to the pools they come from."""
    for connection in connections.all(initialized_only=True):
        if connection.connection is not None and connection.settings_dict["OPTIONS"].get("pool"):
            connection.close()


class ThreadPool(Executor):
    """At most ``size`` threads that work through a queue; idle ones end and take their connections along.

    With ``keep`` False a thread closes its connections after each piece of work.
    """

    def __init__(self, size: int, name: str, *, keep: bool = True) -> None:
        self._done: Callable[[], None] = give_back_connections if keep else close_connections
        self._size = size
        self._name = name
        self._lock = threading.Lock()
        self._crew = _Crew()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``fn`` on one of the threads."""
        future: Future[T] = Future()
        with self._lock:
            crew = self._crew
            crew.queue.put((future, lambda: fn(*args, **kwargs)))
            crew.free -= 1
            if crew.free < 0 and len(crew.threads) < self._size:
                thread = threading.Thread(target=self._work, args=(crew,), name=self._name, daemon=True)
                crew.threads.add(thread)
                crew.free += 1
                thread.start()
        return future

    def _work(self, crew: _Crew) -> None:
        try:
            while True:
                try:
                    item = crew.queue.get(timeout=IDLE_SECONDS)
                except queue.Empty:
                    with self._lock:
                        if crew.queue.empty():
                            crew.free -= 1
                            crew.threads.discard(threading.current_thread())
                            return
                    continue
                if item is None:
                    return
                self._carry_out(*item)
                del item
                with self._lock:
                    crew.free += 1
        finally:
            close_connections()

    def _carry_out(self, future: Future[Any], call: Callable[[], Any]) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            result = call()
        except BaseException as error:  # handed to whoever waits
            future.set_exception(error)
        else:
            future.set_result(result)
        check_connections()
        self._done()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads after what waits; a later ``submit`` starts new ones."""
        with self._lock:
            crew, self._crew = self._crew, _Crew()
            for _ in crew.threads:
                crew.queue.put(None)
        if wait:
            for thread in crew.threads:
                if thread is not threading.current_thread():
                    thread.join(10)


class _Crew:
    """The threads of a pool from one shutdown to the next, and their work.

    A crew that was told to end gets no more work: what is handed in meanwhile is for the next one. A thread of the next
    one must not take what tells a thread of this one to end, which would then wait for work that never comes.
    """

    def __init__(self) -> None:
        self.queue: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self.threads: set[threading.Thread] = set()
        #: Threads that wait for work, less the work that waits for them.
        self.free = 0


class Pools:
    """The process's pools, made on first use and forgotten at shutdown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made: dict[str, ThreadPool] = {}
        #: What is there in the place of all pools, in tests.
        self.lent: Executor | None = None

    def get(self, name: str, size: int, *, keep: bool = True) -> Executor:
        if self.lent is not None:
            return self.lent
        pool = self._made.get(name)
        if pool is None:
            with self._lock:
                pool = self._made.setdefault(name, ThreadPool(size, f"a2a-{name}", keep=keep))
        return pool

    def shutdown(self) -> None:
        with self._lock:
            pools, self._made = list(self._made.values()), {}
        for pool in pools:
            pool.shutdown()

    def forget(self) -> None:
        """After a fork: the threads are gone, start afresh."""
        self._lock = threading.Lock()
        self._made = {}


pools = Pools()


async def run(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``fn``, which may use the ORM, on a database thread and return its result."""
    pool = pools.get("database", a2a_settings.DATABASE_THREADS)
    return await asyncio.wrap_future(pool.submit(fn, *args, **kwargs))


async def read(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Like ``run``, for functions that only read: a lost connection costs another try, not an error."""
    return await run(patiently, partial(fn, *args, **kwargs))


def patiently(fn: Callable[[], T]) -> T:
    """Return what ``fn``, which only reads, returns; repeat it when its connection was lost."""
    for last in reversed(range(READ_TRIES)):
        try:
            return fn()
        except (OperationalError, InterfaceError):
            connection = connections[alias()]
            if not last or connection.in_atomic_block or connection.connection is None or connection.is_usable():
                raise
            connection.close()
    raise AssertionError("the last try returns or raises")


async def run_io(fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run ``fn``, which may also wait for a storage of files, on a thread that no read of the database waits for."""
    return await asyncio.wrap_future(io_threads().submit(fn, *args, **kwargs))


def io_threads() -> Executor:
    """Return the pool for work that waits for storages of files."""
    return pools.get("files", IO_THREADS)


def persistently(using: str, work: Callable[[], T]) -> T:
    """Return what ``work`` returns, which is one transaction on ``using`` that may be carried out more than once.

    It is repeated while the database is locked or away, for ``PATIENCE_SECONDS``.
    """
    until, pause = time.monotonic() + PATIENCE_SECONDS, 0.01
    while True:
        try:
            return work()
        except (OperationalError, InterfaceError) as error:
            connection = connections[using]
            if connection.in_atomic_block or time.monotonic() >= until:
                raise
            logger.warning("A transaction failed and is repeated: %s", type(error).__name__)
            connection.close_if_unusable_or_obsolete()
            time.sleep(pause)
            pause = min(pause * 2, 0.5)


def agent_threads() -> Executor:
    """Return the pool on which agents that are plain functions run."""
    return pools.get("agent", a2a_settings.AGENT_THREADS)


def agent_database() -> AbstractAsyncContextManager[None]:
    """Inside, ``await Model.objects.aget()`` and every thread-sensitive ``sync_to_async`` use the package's threads.

    Otherwise all agents of the process would share one thread (and wait for one another), or own one each (and a
    connection with it, for as long as they run). asgiref asks for an executor of one thread where code relies on
    meeting the same thread again; between two awaits of the asynchronous ORM nothing does, because a transaction
    cannot span them.
    """
    return _thread_sensitive_on(pools.get("orm", a2a_settings.DATABASE_THREADS))


def access_database() -> AbstractAsyncContextManager[None]:
    """The same for a call that is no request of Django's, so that nobody gives it a thread: for the site's access
    classes, which may block, and therefore on threads that nothing else waits for."""
    return _thread_sensitive_on(pools.get("access", a2a_settings.AGENT_THREADS, keep=False))


@asynccontextmanager
async def _thread_sensitive_on(pool: Executor) -> AsyncIterator[None]:
    context = ThreadSensitiveContext()
    async with context:
        executors = SyncToAsync.context_to_thread_executor
        executors[context] = pool
        try:
            yield
        finally:
            executors.pop(context, None)
