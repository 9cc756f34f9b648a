"""What the sender of a run's message may be answered first: the task, or one message instead of any (mode "auto").

Invariants:

* There is a task or a reply, never both, whichever thread is first.
* A claim on the message (where none is to be answered twice) is held until there is an answer, and nobody is told a
  reply before it is kept.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import partial

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from a2a_django.agents import InvalidAgentResponse, TaskEnded
from a2a_django.engine import database
from a2a_django.engine.jobs import Accepted, MakeTask
from a2a_django.engine.receipt_jobs import DropMessage, KeepReply
from a2a_django.engine.receipts import Claim, UnderWay
from a2a_django.engine.run.given import Given
from a2a_django.protocol import wire
from a2a_django.protocol.errors import InternalError
from a2a_django.protocol.wire import Wire

logger = logging.getLogger("a2a_django.agents")

GRACE_PAUSE_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class Reply:
    """The agent's answer in one message, without a task."""

    message: Wire


@dataclass(eq=False, repr=False)
class FirstAnswer(Given):
    """See the module. ``first`` is settled with what the sender may be answered first: the task, or a reply."""

    #: The job that makes the task, as long as it is to be made.
    create: MakeTask | None = None
    #: The run's claim on its message, where none is to be answered twice; it has to be held until there is an
    #: answer.
    claim: Claim | None = None
    first: asyncio.Future[Accepted | Reply] = field(init=False)
    _replied: bool = field(init=False, default=False)
    _keeping: bool = field(init=False, default=False)
    #: The same job as ``create``, also when it is under way or done.
    _make: MakeTask | None = field(init=False)
    _made: threading.Event = field(init=False, default_factory=threading.Event)
    _making: threading.Lock = field(init=False, default_factory=threading.Lock)
    _grace: asyncio.TimerHandle | None = field(init=False, default=None)
    #: The connection of a plain agent's thread, and the job by which it has made the task in its own transaction.
    connection: BaseDatabaseWrapper | None = field(init=False, default=None)
    _unsure: MakeTask | None = field(init=False, default=None)
    #: Whether a transaction of the site's, which may have been rolled back, has written for this run.
    _doubtful: bool = field(init=False, default=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._make = self.create
        self.first = self.loop.create_future()

    @abstractmethod
    def _lost(self, error: BaseException) -> None:
        """Something the run said was not recorded."""

    def reply(self, message: Wire) -> None:
        """Answer with one message; from any thread (R-029, R-043, D-33)."""
        if self.stopped:
            raise TaskEnded(self.task_id)
        with self._making:  # a message or a task, never both
            if self._replied:
                raise InvalidAgentResponse("A second message: there is one answer")
            if self.agent.mode == "task" or (self.create is None and self.agent.mode == "auto"):
                raise InvalidAgentResponse("A message cannot answer once there is a task")
            self._replied = True
        own = {name: value for name, value in message.items() if name != "taskId"}  # there is no task
        answer = Reply({**own, "contextId": self.context_id})
        if asyncio._get_running_loop() is self.loop:
            self._answer(answer)  # at once: a run that ends in the same step must not be taken for one without answer
        else:
            self.loop.call_soon_threadsafe(self._answer, answer)

    def _answer(self, reply: Reply) -> None:
        if self.first.done():
            return
        if self.claim is None:
            self.first.set_result(reply)
            return
        # Nobody is told what might have to be said in other words to the next one who asks the same.
        self._keeping = True
        keep = self.runner.journal.submit(KeepReply(self.claim, wire.text_of(reply.message)))
        keep.add_done_callback(partial(self._kept, reply))

    def _kept(self, reply: Reply, keep: asyncio.Future[bool]) -> None:
        self._keeping = False
        if keep.exception() is not None:
            self._answer_error(InternalError())
            self._drop_claim()
        elif keep.result():
            self.claim = None
            if not self.first.done():
                self.first.set_result(reply)
        else:
            self._answer_error(UnderWay(self.task_id))

    def _answer_error(self, error: Exception) -> None:
        if self._keeping:
            return
        if self.claim is not None and self.stopped:
            error = UnderWay(self.task_id)  # not here any more
        if not self.first.done() and not self.loop.is_closed():
            self.first.set_exception(error)
            self.first.exception()  # whoever waits sees it; nobody has to

    def held_claim(self) -> Claim | None:
        """Return the claim that has to be kept alive: there is no answer yet."""
        return self.claim if self.task is None else None

    def dropping(self) -> DropMessage | None:
        """Return the job that gives the message up, where nothing will come of it any more.

        Not once the task is being made: maybe in a transaction of the agent's, for which the journal would have to
        wait.
        """
        being_made = self._make is not None and self.create is None
        claim = self.held_claim()
        return None if claim is None or being_made else DropMessage(claim)

    def _drop_claim(self) -> None:
        """The run is over; when there is no answer the message may be sent again at once."""
        if self._keeping or (job := self.dropping()) is None:
            return
        try:
            self.runner.journal.submit(job)
        except RuntimeError as error:  # the journal is closed; the lease runs out
            logger.debug("A message could not be given up: %s", error)

    def _take_create(self) -> MakeTask | None:
        """Return the job that makes the task, once."""
        with self._making:
            if self._replied or self.stopped:
                return None
            create, self.create = self.create, None
            return create

    def _after_grace(self) -> None:
        """Make the task although the agent has said nothing; not while the agent's thread is inside a transaction.

        That may hold the lock for which the journal would have to wait, and then wait for the task itself.
        """
        if self.connection is not None and self.connection.in_atomic_block:
            self._grace = self.loop.call_later(GRACE_PAUSE_SECONDS, self._after_grace)
        else:
            self._ensure_task()

    def _ensure_task(self) -> None:
        """Make the task, if it is still to be made (mode "auto")."""
        if (create := self._take_create()) is not None:
            self.attempt = 1
            self.runner.journal.submit(create).add_done_callback(self._create_done)

    def _ensure_task_blocking(self) -> None:
        if self.task is not None:
            return
        connection = connections[database.alias()]
        if (create := self._take_create()) is None:  # the grace is over, and the journal about to make the task
            hurried = self.runner.journal.hurry()
            if hurried or self._make is None or not connection.in_atomic_block or _waits_for_rows(connection):
                self._made.wait()
                return
            create = self._make.again()  # it waits for the lock that the agent's transaction has on everything
        self.attempt = 1
        if connection.in_atomic_block:
            self._unsure, self._doubtful = create, True
        self.task = (accepted := self.runner.journal.write(create)).task
        announce = partial(self.loop.call_soon_threadsafe, self._created, accepted)
        transaction.on_commit(announce, using=database.alias())

    def _create_done(self, future: asyncio.Future[Accepted]) -> None:
        if (error := future.exception()) is not None:
            self._made.set()
            self._lost(error)
            self._answer_error(InternalError())
        else:
            self._created(future.result())

    def _created(self, accepted: Accepted) -> None:
        self.task, self._unsure = accepted.task, None
        self._made.set()
        if not self.first.done():
            self.first.set_result(accepted)


def _waits_for_rows(connection: BaseDatabaseWrapper) -> bool:
    """Whether the journal waits for a row that a transaction holds, and not for the whole of it."""
    found: bool = connection.features.has_select_for_update
    return found
