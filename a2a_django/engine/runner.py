"""The runs of this process: started, told to stop, kept alive in the database, given the next message.

A run lives on the loop it was started on, never inside a request: clients leave, work goes on. While there are runs
on a loop, one timer renews their leases and notices runs whose task somebody else has taken or cancelled.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from django.db import DatabaseError, InterfaceError

from a2a_django.agents import Agent
from a2a_django.conf import a2a_settings
from a2a_django.engine import bridge, database, history
from a2a_django.engine.jobs import Accepted, Cancelled, CancelTask, MakeTask
from a2a_django.engine.journal import Closed, Journal
from a2a_django.engine.leases import Keeper
from a2a_django.engine.leaving import HAND_OVER_SECONDS, Leaving
from a2a_django.engine.queue import PutBack, Queue
from a2a_django.engine.quotas import Place, Quota, Share
from a2a_django.engine.recovery import HandOver
from a2a_django.engine.run import Run, call_cancel_hook
from a2a_django.models import Message, Task
from a2a_django.protocol.errors import ThrottledError, UnavailableError
from a2a_django.protocol.states import TERMINAL

logger = logging.getLogger("a2a_django.engine")

#: How often it is looked whether the runs of a process that ends are over.
LOOK_SECONDS = 0.02


class Runner:
    """The process's runs, by task."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        #: Called when a run begins, so that somebody looks whether its task is cancelled elsewhere.
        self.on_run: Callable[[], None] = lambda: None
        #: Called with the id of a task and what its agent has raised.
        self.on_failure: Callable[[str, BaseException], None] = lambda task_id, error: None
        self._lock = threading.Lock()
        self._runs: dict[str, Run] = {}
        #: Runs that are about to begin.
        self._coming = 0
        #: Tasks that were taken and whose runs are about to begin.
        self._beginning = 0
        #: The runs at work, and those about to begin, by owner. One whose task is parked does not count (D-35).
        self.quota = Quota("MAX_RUNS_PER_OWNER", "Too many of your tasks are running, please try again later")
        #: Tasks and attempts that were cancelled when their run was just about to begin here.
        self._revoked: set[tuple[str, int]] = set()
        self.keeper = Keeper(self)
        self._background: set[asyncio.Task[None]] = set()
        #: Whether tasks are run in this process; otherwise those that may wait are left to others. And how many at a
        #: time, if not ``MAX_RUNS``.
        self.runs_here = True
        self.most: int | None = None
        self.queue = Queue(self)
        self.quota.on_free = self.queue.freed
        #: The loop on which a run began last.
        self._home: asyncio.AbstractEventLoop | None = None
        self.leaving = Leaving(journal)
        #: Whether the process ends: nothing new is begun.
        self.closing = False

    @contextmanager
    def room(self, owner: str, *, may_wait: bool) -> Iterator[Place]:
        """Keep a place for a run of ``owner``'s that is about to begin; give it back when the run has its own.

        Without room the place is not free, and the task has to wait. If it may not: raises ``ThrottledError`` when the
        owner has as many runs at work here as one may have, ``UnavailableError`` when this process has (D-35).
        """
        if self.closing:
            raise UnavailableError("The server is about to stop")
        can_wait = may_wait and bool(a2a_settings.MAX_QUEUED_PER_OWNER)
        if (may_wait and not self.runs_here) or (can_wait and self.queue.is_behind(owner)):
            place = Place()
        else:
            place = self._place(owner, can_wait)
        try:
            yield place
        finally:
            place.give_back()

    def _place(self, owner: str, may_wait: bool) -> Place:
        try:
            share = self.quota.take(owner)
        except ThrottledError:
            if may_wait:
                return Place()
            raise
        if places := self.places(1, share):
            return places[0]
        share.release()
        if may_wait:
            return Place()
        raise UnavailableError("Too many tasks are running")

    def places(self, most: int, share: Share | None = None) -> list[Place]:
        """Keep up to ``most`` places, as many as there are."""
        with self._lock:
            count = min(most, self.free())
            self._coming += count
        return [Place(self._place_back, share) for _ in range(count)]

    def _place_back(self) -> None:
        with self._lock:
            self._coming -= 1
        self.queue.go()

    def free(self) -> int:
        """Return how many more runs this process may have."""
        most = a2a_settings.MAX_RUNS if self.most is None else self.most
        return max(0, most - len(self._runs) - self._coming)

    def share_of(self, owner: str) -> int:
        """Return how many more runs an owner may have here."""
        return self.quota.left(owner)

    @property
    def takes_tasks(self) -> bool:
        """Whether tasks that wait are taken and run here."""
        return self.runs_here and not self.closing

    def start(self, run: Run) -> Run:
        """Begin a run."""
        run.share = self.quota.take_anyway(run.owner)
        with self._lock:
            self._runs[run.task_id] = run
            revoked = (run.task_id, run.attempt) in self._revoked
            self._revoked.discard((run.task_id, run.attempt))
            self._home = run.loop
        if revoked:
            run.stop()
        self.on_run()
        self.keeper.keep(run.loop)
        run.start()
        return run

    def begin(
        self,
        agent: Agent,
        *,
        task_id: str,
        context_id: str,
        incoming: Any,
        user: Any,
        owner: str,
        tenant: str,
        accepted: Accepted | None = None,
        references: Sequence[Task] = (),
        create: MakeTask | None = None,
    ) -> Run:
        """Begin the run of a message that starts something new: a task just made, or one still to be made."""
        message = {**(incoming.given or incoming.wire), "contextId": context_id}
        if accepted is not None:
            message["taskId"] = task_id
        return self.start(
            Run(
                self,
                agent,
                task_id=task_id,
                context_id=context_id,
                message=message,
                request=incoming.request,
                user=user,
                tenant=tenant,
                owner=owner,
                task=accepted.task if accepted else None,
                attempt=accepted.task.attempt if accepted else 0,
                references=references,
                create=create,
                claim=None if accepted else incoming.claim,
            )
        )

    def go_on(self, agent: Agent, message: Message, past: history.Past) -> None:
        """Begin the run of a message to a task that existed before; unless the task has ended, was deleted or was given
        to another attempt in the meantime."""
        now = past.snapshot
        if now is None or now.state in TERMINAL or now.attempt != message.attempt:
            return
        task = message.task
        wire = json.loads(message.wire)
        self.start(
            Run(
                self,
                agent,
                task_id=task.pk,
                context_id=task.context_id,
                message=wire,
                request=json.loads(message.request or "{}"),
                user=past.user,
                tenant=task.tenant,
                owner=task.owner,
                task=task,
                attempt=message.attempt or 0,
                past=past.messages,
                earlier=message.position - 1,
                tries=message.tries,
                checkpoint_text=message.checkpoint,
                references=past.references,
            )
        )

    def ended(self, run: Run, following: Accepted | None) -> None:
        """A run is over; ``following`` is the message that its task was given next."""
        place = Place()
        with self._lock:
            if self._runs.get(run.task_id) is run:
                del self._runs[run.task_id]
                if following is not None:  # the next run of the task has the place of this one
                    self._coming += 1
                    place = Place(self._place_back)
        if run.share is not None:
            run.share.release()
        if run.interrupted and run.task is not None:
            self.leaving.later(HandOver(run.task_id, run.attempt, run.agent.max_attempts))
        if following is None or following.start is None:
            place.give_back()
            self.queue.go()
            if not run.stopped:  # otherwise there is more to do: to clean up, or to write that others have the task
                self.rests(run)
        elif self.closing:
            place.give_back()
            self.leaving.later(PutBack(run.task_id, following.task.attempt))
        else:
            self.begin_soon(run.agent, following, place)

    @contextmanager
    def taking(self) -> Iterator[None]:
        """Around taking a task and ``begin_soon``: who ends the process waits for it."""
        with self._lock:
            self._beginning += 1
        try:
            yield
        finally:
            with self._lock:
                self._beginning -= 1

    def begin_soon(self, agent: Agent, accepted: Accepted, place: Place) -> None:
        """Have a task that was taken run on the running loop; ``place`` was kept for it."""
        with self._lock:
            self._beginning += 1
        self.spawn(self._begin_claimed(agent, accepted, place))

    async def _begin_claimed(self, agent: Agent, accepted: Accepted, place: Place) -> None:
        try:
            if accepted.start is not None:
                await self.follow(agent, accepted.start)
        finally:
            with self._lock:
                self._beginning -= 1
                self._revoked.discard((accepted.task.pk, accepted.task.attempt))  # of one that has not begun at all
            place.give_back()
            if accepted.task.pk not in self._runs:
                self.leaving.rests(accepted.task.pk)

    async def follow(self, agent: Agent, message: Message) -> None:
        """Run a message that its task has been given, on the running loop. One that cannot be run waits again."""
        try:
            if not self.closing:
                past = await database.read(history.past_of, message, history_length=0)
                self.go_on(agent, message, past)
                return
        except Task.DoesNotExist:
            logger.info("Message %s belongs to task %s, which has been deleted", message.pk, message.task_id)
            return
        except (DatabaseError, InterfaceError):
            logger.exception("Message %s of task %s could not be run", message.pk, message.task_id)
        try:
            await self.journal.submit(PutBack(message.task_id, message.attempt or 0))
        except (DatabaseError, InterfaceError):
            # The lease runs out, and the message is run by whoever takes the task next.
            logger.exception("Task %s could not be given back", message.task_id)
        except Closed:
            logger.warning("Task %s could not be given back: the process ends", message.task_id)

    async def cancel(self, job: CancelTask, agent: Agent) -> Cancelled:
        """Cancel a task: decided in the database, then the run is told, wherever it is. Raises what the job raises."""
        done = await self.journal.submit(job)
        if not done.changed:
            return done
        attempt = done.task.attempt - 1  # the one that was fenced out
        with self._lock:
            run = self._runs.get(job.task_id)
            if done.holder == self.journal.holder and (run is None or run.attempt != attempt):
                self._revoked.add((job.task_id, attempt))
                return done
        if run is not None:
            run.stop()
        elif not done.holder:
            self.spawn(self._clean_up_parked(agent, done.task))
        return done

    async def _clean_up_parked(self, agent: Agent, task: Task) -> None:
        """Call the cancel hook for a task without a run, with its last message."""
        if type(agent).cancel is Agent.cancel:
            return
        message = await database.read(_last_message, task.pk)
        if message is not None:
            past = await database.read(history.past_of, message, history_length=0)
            run = Run(
                self,
                agent,
                task_id=task.pk,
                context_id=task.context_id,
                message=json.loads(message.wire),
                request=json.loads(message.request or "{}"),
                user=past.user,
                tenant=task.tenant,
                owner=task.owner,
                task=task,
                attempt=0,
                past=past.messages,
                earlier=message.position - 1,
                tries=message.tries,
                checkpoint_text=message.checkpoint,
            )
            run.stopped = True
            await call_cancel_hook(run)

    def attempts(self) -> dict[str, int]:
        """Return the attempts of the runs whose tasks exist, by task; from any thread."""
        return {pk: run.attempt for pk, run in list(self._runs.items()) if run.task is not None}

    def runs_on(self, loop: asyncio.AbstractEventLoop) -> dict[str, Run]:
        """Return the runs that live on a loop, by task."""
        return {pk: run for pk, run in list(self._runs.items()) if run.loop is loop}

    def has(self, run: Run) -> bool:
        """Whether a run is still one of this process's."""
        return self._runs.get(run.task_id) is run

    def lost(self, task_id: str, attempt: int) -> None:
        """A task has gone on without its run here (cancelled, ended, or run as ``attempt``); from any thread."""
        run = self._runs.get(task_id)
        if run is not None and run.attempt < attempt:
            run.stop()

    def spawn_anywhere(self, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Start ``function`` where runs are wont to begin; from any thread."""
        loop = self._home
        if loop is not None and loop.is_running():
            with suppress(RuntimeError):  # closed in this moment
                loop.call_soon_threadsafe(lambda: self.spawn(function()))
                return
        bridge.spawn(function)

    def spawn(self, coroutine: Any) -> None:
        """Carry out something that belongs to no call, on the running loop."""
        loop = asyncio.get_running_loop()
        task = loop.create_task(coroutine, context=contextvars.Context())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    # ------------------------------------------------------------------------------------------------ the end

    def rests(self, run: Run) -> None:
        """A run is over, and nothing of it is left to do."""
        if self._runs.get(run.task_id) in (None, run):
            self.leaving.rests(run.task_id)

    def close(self, seconds: float) -> None:
        """The process ends: let the runs come to their ends for ``seconds``, then hand over what is left.

        Not on the loop of the runs, which has to go on for that; those whose loop does not run any more are not waited
        for. Should the database not take it, the leases run out.
        """
        self.closing = True
        until = time.monotonic() + seconds
        here = asyncio._get_running_loop()
        while time.monotonic() < until and any(
            run.loop is not here and run.loop.is_running() for run in list(self._runs.values())
        ):
            time.sleep(LOOK_SECONDS)
        self._let_begin(here)
        runs, self._runs = list(self._runs.values()), {}
        self.leaving.leave(runs)

    def leave(self, task_id: str) -> None:
        """Leave a task to others although its run is not over; not on the loop of the run."""
        with self._lock:
            run = self._runs.pop(task_id, None)
        if run is not None:
            self.leaving.leave([run])

    def _let_begin(self, here: asyncio.AbstractEventLoop | None) -> None:
        """Wait for tasks that are just being taken or have been taken; now they are given back instead of run."""
        until = time.monotonic() + HAND_OVER_SECONDS
        loop = self._home
        if here is None and (loop is None or loop.is_running()):
            while (self._beginning or self.queue.is_claiming) and time.monotonic() < until:
                time.sleep(LOOK_SECONDS)


def _last_message(task_id: str) -> Message | None:
    rows = Message.objects.using(database.alias()).select_related("task")
    return rows.filter(task_id=task_id, role="ROLE_USER").order_by("-position").first()
