"""The only writer of task rows, with group commit.

One thread per process takes every job that is waiting, of all tasks, and carries them out in one transaction; while
that commits, the next batch gathers by itself. Invariants:

* Jobs of one task are carried out in the order in which they were handed in.
* Readers are told of an event, and callers get their answer, only after the transaction has been committed.
* A job that is refused, or that the database cannot store, hurts no other job: when a batch fails for a reason that
  may pass (a lock, a deadlock, a lost connection) it is repeated as a whole on fresh rows; otherwise its jobs are
  repeated one by one.
* Nothing is carried out twice: when a connection is lost over a COMMIT, the rows say whether it took place.
* A task that another transaction holds is set aside and tried again; the rest of the batch goes on.

Called from inside a site's own transaction (``write_here``) a job joins that transaction, and readers are told when it
commits.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, TypeVar

from django.db import InterfaceError, OperationalError, connections, router, transaction

from a2a_django.engine.batch import Batch, Committed, Locked
from a2a_django.engine.database import close_connections
from a2a_django.engine.feed import Deliveries, tell_loops
from a2a_django.engine.jobs import Broken, Fenced, Job
from a2a_django.engine.receipts import Repeated, UnderWay
from a2a_django.models import Task
from a2a_django.protocol.errors import A2AError

R = TypeVar("R")

logger = logging.getLogger("a2a_django.engine")

#: Jobs in one transaction at most; keeps a transaction, and with it the wait of the others, short.
MAX_BATCH = 500
#: How long a database that is locked or away is waited for.
PATIENCE_SECONDS = 20.0
LINGER_SECONDS = 2.0
#: So much of the time that transactions take is waited before the next one, while several callers are at work: those
#: who were told of the last one hand in what they have to say next, and all of it is committed together.
GATHER_SHARE = 0.1
#: How often a task that somebody else holds is tried.
ASIDE_SECONDS = 0.005
#: Tallies of writers: one shard per process; jobs inside a site's transaction use one of the upper half.
WRITER_SHARDS = 16


def new_holder() -> str:
    """Return a name for this process as the holder of leases; never the same twice."""
    return f"{socket.gethostname()[:24]}:{os.getpid()}:{secrets.token_hex(6)}"


class Closed(RuntimeError):
    """The process ends; nothing is written any more."""


class InDoubt(OperationalError):
    """The answer to the COMMIT of ``batch`` was lost; its jobs are done, but for those that wait for ``later``."""

    def __init__(self, error: Exception, batch: Batch, later: list[Job[object]]) -> None:
        super().__init__(*error.args)
        self.batch = batch
        self.later = later


class Journal:
    """The process's journal.

    ``deliver`` is told what every transaction did, in the writing thread, and returns for each loop what its readers
    have to be told there; they are told in the same step in which the callers get their answers.
    """

    def __init__(self, deliver: Callable[[list[Committed]], Deliveries]) -> None:
        self._deliver = deliver
        self._jobs: deque[Job[object]] = deque()
        #: Jobs of tasks that others hold, by task; used by the writing thread alone.
        self._aside: dict[str, deque[Job[object]]] = {}
        #: How many seconds transactions take of late, and how many jobs the last one had; the writing thread's.
        self._pace = 0.0
        self._together = 0
        self._wake = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closing = False
        self.holder = new_holder()

    # ------------------------------------------------------------------------------------------------ handing in

    def submit(self, job: Job[R]) -> asyncio.Future[R]:
        """Hand in a job from a coroutine; the future gives its answer or its error after the commit."""
        job.loop = asyncio.get_running_loop()
        job.future = job.loop.create_future()
        self._put(job)
        return job.future

    def write(self, job: Job[R]) -> R:
        """Hand in a job from a plain thread and wait. Inside a transaction of the caller, join it instead."""
        if connections[router.db_for_write(Task)].in_atomic_block:
            return self.write_here(job)
        job.event = threading.Event()
        self._put(job)
        job.event.wait()
        if job.error is not None:
            raise job.error
        return job.result  # type: ignore[return-value]

    def hurry(self) -> bool:
        """Carry out what waits, where that needs the calling thread; returns whether it does."""
        return False

    def write_all(self, jobs: Sequence[Job[Any]], seconds: float) -> bool:
        """Hand in jobs from a plain thread and wait for all, ``seconds`` at most; returns whether all are carried out.

        Answers and errors stand in the jobs.
        """
        for job in jobs:
            job.event = threading.Event()
            self._put(job)
        until = time.monotonic() + seconds
        return all(job.event.wait(max(0.0, until - time.monotonic())) for job in jobs if job.event is not None)

    def write_here(self, job: Job[R]) -> R:
        """Carry out a job in the caller's own transaction; it is committed or rolled back with it."""
        using = router.db_for_write(Task)
        shard = WRITER_SHARDS + secrets.randbelow(WRITER_SHARDS)
        with transaction.atomic(using=using):
            batch = Batch(using, shard)
            # Waiting is left to the database: it notices when two transactions wait for each other.
            self._load(batch, (job,), wait=True)
            result = job.apply(batch)
            batch.save()
        done = batch.committed()
        transaction.on_commit(lambda: tell_loops(self._tell(done)), using=using)
        return result

    def _put(self, job: Job[R]) -> None:
        with self._wake:
            if self._closing:
                raise Closed("The journal is closed")
            self._jobs.append(job)  # type: ignore[arg-type]
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="a2a-journal", daemon=True)
                self._thread.start()
            else:
                self._wake.notify()

    # ------------------------------------------------------------------------------------------------ the thread

    def _run(self) -> None:
        try:
            while jobs := self._next():
                start = time.monotonic()
                later = self._carry_out(jobs)
                self._pace += (time.monotonic() - start - self._pace) / 5
                self._together = len(jobs)
                self._put_aside(jobs, later)
                if self._together > 1 and not self._closing:
                    time.sleep(min(GATHER_SHARE * self._pace, ASIDE_SECONDS))
        finally:
            close_connections()

    def _next(self) -> list[Job[object]]:
        """Wait for jobs and take them; an empty list ends the thread, which happens when there is nothing to do.

        Of each task that was held by others the oldest job is tried again; the rest of it keeps its place behind.
        """
        with self._wake:
            if not self._jobs and (self._aside or not self._closing):
                self._wake.wait(ASIDE_SECONDS if self._aside else LINGER_SECONDS)
            jobs = [self._aside[task_id][0] for task_id in islice(self._aside, MAX_BATCH // 2)]
            while self._jobs and len(jobs) < MAX_BATCH:
                job = self._jobs.popleft()
                if job.task_id in self._aside:
                    self._aside[job.task_id].append(job)
                else:
                    jobs.append(job)
            if not jobs:
                self._thread = None
            return jobs

    def _put_aside(self, jobs: list[Job[object]], later: list[Job[object]]) -> None:
        """Keep the jobs whose tasks were held, in order, and release those of tasks that are free again."""
        if not self._aside and not later:
            return
        held = {job.task_id for job in later}
        for job in jobs:
            if job.task_id not in self._aside:
                continue
            waiting = self._aside.pop(job.task_id)
            if job.task_id in held:
                self._aside[job.task_id] = waiting  # behind the others, so that all get their turn
            else:
                waiting.popleft()
                with self._wake:
                    self._jobs.extendleft(reversed(waiting))
        tried = {id(waiting[0]) for waiting in self._aside.values()}
        for job in later:
            if id(job) not in tried:
                self._aside.setdefault(job.task_id, deque()).append(job)

    def _carry_out(self, jobs: list[Job[object]]) -> list[Job[object]]:
        """Carry the jobs out, wake their callers, and return those whose tasks were locked by others."""
        done, later = self._write(jobs, time.monotonic() + PATIENCE_SECONDS)
        waiting = set(map(id, later))
        told = self._tell(done)
        for job in jobs:
            if id(job) in waiting:
                continue
            if job.event is not None:
                job.event.set()
            elif job.loop is not None:
                told.setdefault(job.loop, []).append(job.settle)
        tell_loops(told)
        return later

    def _write(self, jobs: list[Job[object]], until: float) -> tuple[list[Committed], list[Job[object]]]:
        """Write the jobs in one transaction, repeated while its failures may pass and it is not yet ``until``.

        Then, or after a failure that does not pass, they are written one by one.
        """
        pause = 0.01
        doubt: InDoubt | None = None
        is_late = False
        while True:
            try:
                if doubt is not None and doubt.batch.is_stored():
                    return doubt.batch.committed(), doubt.later
                doubt = None
                return self._transaction(jobs)
            except (OperationalError, InterfaceError) as error:
                doubt = error if isinstance(error, InDoubt) else doubt
                connections[router.db_for_write(Task)].close_if_unusable_or_obsolete()
                was_late, is_late = is_late, time.monotonic() > until
                if is_late and (was_late or error is not doubt):  # a doubt is looked into once, however late it comes
                    return self._one_by_one(jobs, error, until) if doubt is None else self._give_up(jobs, error)
                logger.warning("The journal's transaction failed and is repeated: %s", type(error).__name__)
                time.sleep(pause)
                pause = min(pause * 2, 0.5)
            except Exception as error:
                return self._one_by_one(jobs, error, until)

    def _tell(self, done: list[Committed]) -> Deliveries:
        try:
            return self._deliver(done)
        except Exception:  # what is committed is committed; readers that were not told find it by themselves
            logger.exception("Readers could not be told of a commit")
            return {}

    @staticmethod
    def _give_up(jobs: list[Job[object]], error: Exception) -> tuple[list[Committed], list[Job[object]]]:
        """Fail jobs of which nobody knows whether they have been carried out."""
        logger.error("The journal does not know what it has written", exc_info=error)
        for job in jobs:
            _fail(job, error)
        return [], []

    def _one_by_one(
        self, jobs: list[Job[object]], error: Exception, until: float
    ) -> tuple[list[Committed], list[Job[object]]]:
        if len(jobs) == 1:
            logger.error("The journal could not write", exc_info=error)
            _fail(jobs[0], error)
            return [], []
        done: list[Committed] = []
        later: list[Job[object]] = []
        held: set[str] = set()
        for job in jobs:
            if job.task_id in held:
                later.append(job)
                continue
            some, locked = self._write([job], until)
            done += some
            later += locked
            held.update(waiting.task_id for waiting in locked)
        return done, later

    def _transaction(self, jobs: list[Job[object]]) -> tuple[list[Committed], list[Job[object]]]:
        using = router.db_for_write(Task)
        later: list[Job[object]] = []
        held: set[str] = set()
        batch = Batch(using, hash(self.holder) % WRITER_SHARDS)
        saved = False
        try:
            with self._atomic(using):
                self._load(batch, jobs)
                for job in jobs:
                    job.result = job.error = None
                    if job.task_id in held:
                        later.append(job)
                        continue
                    try:
                        job.result = job.apply(batch)
                    except (A2AError, Fenced, Broken, Repeated, UnderWay) as refusal:
                        job.error = refusal
                    except Locked:
                        held.add(job.task_id)
                        later.append(job)
                batch.save()
                saved = True
        except (OperationalError, InterfaceError) as error:
            if saved:
                raise InDoubt(error, batch, later) from error
            raise
        return batch.committed(), later

    def _atomic(self, using: str) -> AbstractContextManager[Any]:
        return transaction.atomic(using=using, durable=True)

    def _load(self, batch: Batch, jobs: Iterable[Job[Any]], *, wait: bool = False) -> None:
        connection = connections[batch.using]
        if connection.vendor == "sqlite" and getattr(connection, "transaction_mode", None) not in (
            "IMMEDIATE",
            "EXCLUSIVE",
        ):
            # A transaction that begins by reading cannot always go on to write ("database is locked", at once);
            # one that begins with a write, even of nothing, waits its turn.
            Task.objects.using(batch.using).filter(pk="").update(attempt=0)
        made = {job.task_id for job in jobs if job.creates}
        ids = {job.task_id for job in jobs if job.task_id not in made}
        keys = {(job.task_id, key) for job in jobs if (key := job.artifact_key()) is not None}
        batch.load(ids, keys, wait=wait)
        claims = [(job, claim) for job in jobs if (claim := job.claim()) is not None]
        if claims:
            # Not those of tasks that others hold, or that are not there.
            batch.receipts.load([claim for job, claim in claims if claim.held or job.creates or batch.has(job.task_id)])

    def close(self) -> None:
        """Carry out what waits, then end the thread and close its connections."""
        with self._wake:
            self._closing = True
            thread = self._thread
            self._wake.notify()
        if thread is not None and thread is not threading.current_thread():
            thread.join(PATIENCE_SECONDS)


def _fail(job: Job[object], error: Exception) -> None:
    job.error = error
    job.failed()
