"""What a run says of its task: changes, and how far it has come. See the package for the invariants."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from django.db import connections, transaction

from a2a_django.agents import InvalidAgentResponse, TaskEnded
from a2a_django.engine import database, history
from a2a_django.engine.checkpoints import SetCheckpoint
from a2a_django.engine.jobs import Append, Broken, Fenced, Voice
from a2a_django.engine.run.answer import FirstAnswer
from a2a_django.files import parts, store
from a2a_django.protocol.changes import Change, StatusChange
from a2a_django.protocol.states import INTERRUPTED, TERMINAL, TaskState, may_move

if TYPE_CHECKING:
    from a2a_django.engine.quotas import Share

WINDOW = 128


def _open_event() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@dataclass(eq=False, repr=False)
class Changes(FirstAnswer):
    """See the module. An error that an agent does not see at once is raised where the run ends."""

    #: The run's share of what its owner may have at work; given back while the run has the task parked.
    share: Share | None = field(init=False, default=None)
    #: Whether this run has said a state: a parked task stays parked after it only then.
    _reported: bool = field(init=False, default=False)
    _voice: Voice = field(init=False, default_factory=Voice)
    _on_way: int = field(init=False, default=0)
    _room: asyncio.Event = field(init=False, default_factory=_open_event)
    #: What waits for the storage of parts, and whose turn it is: nothing overtakes it.
    _storing: int = field(init=False, default=0)
    _turn: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    _error: BaseException | None = field(init=False, default=None)

    async def publish(self, changes: Sequence[Change]) -> None:
        """Send changes to the journal, in order; wait only when too much is on its way."""
        for change in changes:
            self._check(change)
            if self._storing or parts.may_have_large(change):
                await self._store(change)
            else:
                self._submit(change)
            if self._on_way >= WINDOW:
                self._room.clear()
                await self._room.wait()

    async def _store(self, change: Change) -> None:
        """Send a change to the journal after its large parts are stored, and after all that was said before."""
        self._storing += 1
        try:
            async with self._turn:
                if parts.may_have_large(change):
                    change = await database.run_io(parts.change_stored, change)
                    try:
                        self._check(change)
                    except Exception:
                        await database.run_io(store.discard, change.files)
                        raise
                self._submit(change)
        finally:
            self._storing -= 1

    def _submit(self, change: Change) -> None:
        self._ensure_task()
        future = self.runner.journal.submit(Append(self.task_id, self.attempt, change, self._voice))
        self._on_way += 1
        future.add_done_callback(self._done)
        self._note(change)

    def publish_blocking(self, changes: Sequence[Change]) -> None:
        """Write changes and wait for the commit; from the agent's thread. In a transaction of the agent's, join it."""
        journal = self.runner.journal
        for change in changes:
            if self._doubtful and not self.stopped:
                self._know(history.state_of(self.task_id))  # in the agent's transaction, or after it
            self._check(change)
            change = _stored_blocking(change)
            with self._writing():
                self._ensure_task_blocking()
                refusal = journal.write(Append(self.task_id, self.attempt, change, self._voice))
            if refusal is not None:
                self.state = TaskState.FAILED.value
                raise refusal
            self._note(change)
            self._doubtful = self._doubtful or transaction.get_connection(database.alias()).in_atomic_block

    async def checkpoint(self, text: str) -> None:
        """Keep how far the run has come, with everything it said before; returns after the commit."""
        self._check_open()
        self._ensure_task()
        try:
            await self.runner.journal.submit(SetCheckpoint(self.task_id, self.attempt, text, self._voice))
        except Fenced:
            self.stop()
            raise TaskEnded(self.task_id) from None
        except Broken:
            raise TaskEnded(self.task_id) from None

    def checkpoint_blocking(self, text: str) -> None:
        """The same from the agent's thread; in a transaction of the agent's, join it."""
        if self._doubtful and not self.stopped:
            self._know(history.state_of(self.task_id))
        self._check_open()
        with self._writing():
            self._ensure_task_blocking()
            self.runner.journal.write(SetCheckpoint(self.task_id, self.attempt, text, self._voice))

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Around what the agent's thread writes: whatever goes wrong, nothing after it may be recorded."""
        try:
            yield
        except Fenced:
            self.stop()
            raise TaskEnded(self.task_id) from None
        except Exception as error:
            self._voice.broken, self._doubtful = True, True
            self._error = self._error or error
            raise

    def _check(self, change: Change) -> None:
        self._check_open()
        if isinstance(change, StatusChange) and not may_move(self.state, change.state):
            raise InvalidAgentResponse(f"A task cannot go from {self.state} to {change.state}")

    def _check_open(self) -> None:
        if self.stopped or self._voice.broken:
            raise TaskEnded(self.task_id)
        if self._replied or self.agent.mode == "message":
            raise InvalidAgentResponse("An agent that answers with a message has no task")
        if self.state in TERMINAL:
            raise InvalidAgentResponse("The task has ended; nothing can be published any more")

    def _note(self, change: Change) -> None:
        if isinstance(change, StatusChange):
            self.state = change.state
            self._reported = True
            self._count()

    def _count(self) -> None:
        """Count among the owner's runs at work, or not while the run waits for its sender (D-35)."""
        if self.share is not None:
            if self._reported and self.state in INTERRUPTED:
                self.share.pause()
            else:
                self.share.resume()

    async def _resync(self) -> None:
        """After writes inside a transaction of the site: it may have been rolled back, so ask the database."""
        if not self._doubtful:
            return
        self._know(await database.read(history.state_of, self.task_id))

    def _know(self, state: str | None) -> None:
        """Take in the state of the task as the database has it."""
        self._doubtful = False
        if state is not None:
            others = state in TERMINAL and state != self.state
            self.state = state
            if others:  # somebody else has ended it, and nobody has told this run yet
                self.stop()
        elif self._unsure is not None:  # rolled back: the task is still to be made
            self.task, self.create, self._unsure = None, self._unsure.again(), None
            self.state, self._reported = TaskState.SUBMITTED.value, False
        self._count()

    def _done(self, future: asyncio.Future[InvalidAgentResponse | None]) -> None:
        self._on_way -= 1
        self._room.set()
        if (error := future.exception() or future.result()) is not None:
            self._lost(error)

    def _lost(self, error: BaseException) -> None:
        """Something the run said was not recorded."""
        if isinstance(error, Fenced):
            self.stop()
        elif not isinstance(error, Broken) and self._error is None:
            self._error, self._doubtful = error, True
            self._interrupt()


def _stored_blocking(change: Change) -> Change:
    """Return a change with its large parts stored; from the agent's thread, maybe inside a transaction of its own."""
    if not parts.may_have_large(change):
        return change
    connection = connections[parts.alias()]
    if not connection.in_atomic_block:
        return parts.change_stored(change)
    if not parts.can_join(connection):
        return change
    return database.io_threads().submit(parts.change_stored, change).result()
