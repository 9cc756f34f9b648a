"""The engine without threads of its own, for tests: everything that meets the database happens on one given thread.

A test's transaction, which is rolled back at the end, is seen by one connection only, that of the test's thread. So the
journal writes there, reads are made there, and agents that are plain functions run there. Invariants:

* What is carried out there is as if it had begun outside of any transaction, whatever the test has open: what is
  written counts as committed, readers are told of it, and what waits for a commit (``on_commit``) is called.
* What an agent does inside its own ``transaction.atomic()`` is committed or rolled back with that, as elsewhere.
* There are no other processes: nobody watches, and no lease runs out.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from typing import Any, ParamSpec, TypeVar

from asgiref.sync import AsyncToSync
from django.db import connections, router, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from a2a_django.engine import Engine
from a2a_django.engine.batch import Batch, Committed
from a2a_django.engine.feed import Deliveries
from a2a_django.engine.jobs import Job
from a2a_django.engine.journal import Journal
from a2a_django.models import Task
from a2a_django.push.sender import Sender
from a2a_django.push.transport import Transport

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

logger = logging.getLogger("a2a_django.engine")

_SAVEPOINTS = ("SAVEPOINT ", "RELEASE ", "ROLLBACK ")


class GivenThread(Executor):
    """A thread that carries out one piece of work after the other; subclasses say how work reaches it."""

    def __init__(self) -> None:
        #: Where the thread takes work while it waits for a coroutine inside a piece of work, as it does in middleware
        #: that is not asynchronous.
        self._inner: Executor | None = None
        self._ident: int | None = None
        #: By database, as the piece of work found it: how deep in transactions, and how much waits for a commit.
        self._found: dict[str, tuple[int, int]] = {}

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have ``fn`` carried out."""
        future: Future[T] = Future()
        call = partial(fn, *args, **kwargs)
        if self._ident == threading.get_ident():  # whoever hands it in may wait for it
            self.carry_out(future, call)
            return future
        current: Executor | None = getattr(AsyncToSync.executors, "current", None)
        if current is not None and current is not self._inner:
            self._inner = current
            self.move_on()
        if not self._to_inner(future, call):
            self.hand_in(future, call)
        return future

    def _to_inner(self, future: Future[Any], call: Callable[[], Any]) -> bool:
        """Hand work in where the thread waits inside its work, if it does."""
        if self._inner is not None:
            try:
                self._inner.submit(self.carry_out, future, call)
            except RuntimeError:  # it does not wait there any more
                self._inner = None
            else:
                return True
        return False

    def hand_in(self, future: Future[Any], call: Callable[[], Any]) -> None:
        """Hand work in where the thread waits otherwise."""
        raise NotImplementedError

    def move_on(self) -> None:
        """The thread waits inside its work now: move there what was handed in and not taken yet."""

    def carry_out(self, future: Future[Any], call: Callable[[], Any]) -> None:
        """Carry out a piece of work; on the thread."""
        if not future.set_running_or_notify_cancel():
            return
        before = self._ident, self._found
        self._ident, self._found = threading.get_ident(), {}
        try:
            with ExitStack() as stack:
                for connection in connections.all(initialized_only=True):
                    stack.enter_context(self._as_outside(connection))
                result = call()
                self.after_commit()
        except BaseException as error:  # handed to whoever waits
            future.set_exception(error)
            if isinstance(error, KeyboardInterrupt):
                raise
        else:
            future.set_result(result)
        finally:
            self._ident, self._found = before

    def in_own_transaction(self, using: str) -> bool:
        """Whether the work is inside a transaction that it has begun itself; on the thread.

        Raises ``RuntimeError`` on any other thread.
        """
        if self._ident != threading.get_ident():
            raise RuntimeError(
                "In tests what a plain agent says has to be said on the thread of its run: only that one is inside the"
                " transaction of the test"
            )
        connection = connections[using]
        return connection.in_atomic_block and len(connection.atomic_blocks) > self._found.get(using, (0, 0))[0]

    def after_commit(self) -> None:
        """Call what waits for the commit of transactions that the work has begun and ended."""
        for connection in connections.all(initialized_only=True):
            depth, count = self._found.get(connection.alias, (0, 0))
            if not connection.in_atomic_block or len(connection.atomic_blocks) != depth:
                continue
            while len(connection.run_on_commit) > count:
                waiting: Any = connection.run_on_commit.pop(count)  # the stubs do not know the third member
                _, function, robust = waiting
                try:
                    function()
                except Exception:
                    if not robust:
                        raise
                    logger.exception("Error calling %r in on_commit()", function)

    @contextmanager
    def _as_outside(self, connection: BaseDatabaseWrapper) -> Iterator[None]:
        """Inside, a statement that fails fails alone, as it does outside of transactions."""
        if not connection.in_atomic_block:
            yield
            return
        depth = len(connection.atomic_blocks)
        self._found[connection.alias] = depth, len(connection.run_on_commit)
        whole = not connection.needs_rollback
        breaks = connection.vendor == "postgresql"  # for the others one failure does not spoil the transaction

        def alone(execute: Any, sql: Any, params: Any, many: bool, context: Any) -> Any:
            if len(connection.atomic_blocks) != depth or str(sql).startswith(_SAVEPOINTS):
                return execute(sql, params, many, context)
            connection.needs_rollback = connection.needs_rollback and not whole
            if not breaks:
                return execute(sql, params, many, context)
            point = connection.savepoint() or ""
            try:
                found = execute(sql, params, many, context)
            except Exception:
                connection.savepoint_rollback(point)
                raise
            connection.savepoint_commit(point)
            return found

        with connection.execute_wrapper(alone):
            try:
                yield
            finally:
                if len(connection.atomic_blocks) == depth and whole:
                    connection.needs_rollback = False

    def heal(self, using: str) -> None:
        """Before a transaction is begun: what failed before it failed alone."""
        connection = connections[using]
        if using in self._found and len(connection.atomic_blocks) == self._found[using][0]:
            connection.needs_rollback = False


class ImmediateJournal(Journal):
    """The journal whose thread is a given one."""

    def __init__(self, deliver: Callable[[list[Committed]], Deliveries], thread: GivenThread) -> None:
        super().__init__(deliver)
        self._given = thread
        self._called = False

    def _put(self, job: Job[Any]) -> None:
        with self._wake:
            self._jobs.append(job)
            if self._called:
                return
            self._called = True
        self._given.submit(self._drain)

    def _drain(self) -> None:
        """Carry out what waits."""
        while True:
            with self._wake:
                jobs = list(self._jobs)
                self._jobs.clear()
                if not jobs:
                    self._called = False
                    return
            self._carry_out(jobs)

    def write(self, job: Job[R]) -> R:
        """Carry out a job for an agent that runs on the thread; in a transaction of the agent's, join it."""
        if self._given.in_own_transaction(router.db_for_write(Task)):
            return self.write_here(job)
        self._given.after_commit()
        self._drain()  # what was handed in before
        self._carry_out([job])  # type: ignore[list-item]
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def hurry(self) -> bool:
        """Carry out what waits."""
        self._drain()
        return True

    def _atomic(self, using: str) -> AbstractContextManager[Any]:
        self._given.heal(using)
        return transaction.atomic(using=using)

    def _load(self, batch: Batch, jobs: Iterable[Job[Any]], *, wait: bool = False) -> None:
        super()._load(batch, jobs, wait=True)  # nobody else holds a task for long


class NoWatch:
    """There is nobody else whom to tell, and nothing that others do."""

    def ring(self, done: Iterable[Committed]) -> None:
        """Tell nobody."""

    def wake(self) -> None:
        """Look for nothing."""

    look = stop_looking = stop = wake

    def flush(self, seconds: float) -> None:
        """Nothing waits to be told."""


class ImmediateEngine(Engine):
    """The engine of a test. It lives on one event loop, which whoever made it sees to, as to its end."""

    def __init__(self, thread: GivenThread, transport: Callable[[], Transport]) -> None:
        self._given = thread
        self._transport = transport
        super().__init__()

    def _make_journal(self, deliver: Callable[[list[Committed]], Deliveries]) -> Journal:
        return ImmediateJournal(deliver, self._given)

    def _make_sender(self) -> Sender:
        sender = Sender(self.journal.holder, transport=self._transport)
        sender.gives_back = False  # the test may be over, and its thread gone
        return sender

    def _make_dispatcher(self) -> None:
        """Agents run here, whatever the site has."""

    def _make_watch(self) -> Any:
        return NoWatch()

    def _begin(self) -> None:
        """Nobody was there before."""

    def stop(self) -> None:
        """Nothing: see the class."""
