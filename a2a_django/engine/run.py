"""One run: one call of an agent's ``run`` for one message.

Invariants:

* Everything a run says goes to the journal in order and names the run's attempt; once the attempt is no longer the
  task's current one, nothing more is accepted and the run is told to stop.
* At most ``WINDOW`` things are on their way; a run that is faster than the database waits.
* When the run has returned, everything it said is committed, and its task is ended, parked, or given to the next
  message.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from a2a_django import telemetry
from a2a_django.agents import Agent, InvalidAgentResponse, SyncTaskContext, TaskContext, TaskEnded, content
from a2a_django.conf import a2a_settings
from a2a_django.engine import database, history
from a2a_django.engine.checkpoints import SetCheckpoint
from a2a_django.engine.jobs import Accepted, Append, Broken, EndRun, Fenced, MakeTask, Voice
from a2a_django.engine.receipt_jobs import DropMessage, KeepReply
from a2a_django.engine.receipts import Claim, UnderWay
from a2a_django.files import markers, parts, store
from a2a_django.models import Task
from a2a_django.models.fields import uuid7
from a2a_django.protocol import tracing, wire
from a2a_django.protocol.changes import ArtifactChunk, Change, StatusChange
from a2a_django.protocol.errors import A2AError, InternalError
from a2a_django.protocol.states import INTERRUPTED, TERMINAL, TaskState, may_move
from a2a_django.protocol.wire import Wire

if TYPE_CHECKING:
    from a2a_django.engine.quotas import Share
    from a2a_django.engine.runner import Runner

logger = logging.getLogger("a2a_django.agents")

WINDOW = 128
#: How long a cancelled run is given to stop before the agent's cancel hook is called all the same.
STOP_SECONDS = 1.0
GRACE_PAUSE_SECONDS = 0.1

FAILED_TEXT = "The agent could not finish the task."
INVALID_TEXT = "The agent gave an invalid response."
TIMEOUT_TEXT = "The agent took too long."


@dataclass(frozen=True, slots=True)
class Reply:
    """The agent's answer in one message, without a task."""

    message: Wire


class Run:
    """See the module. ``first`` is settled with what the sender may be answered first: the task, or a reply."""

    def __init__(
        self,
        runner: Runner,
        agent: Agent,
        *,
        task_id: str,
        context_id: str,
        message: Wire,
        request: Wire,
        user: Any,
        tenant: str,
        owner: str,
        task: Task | None,
        attempt: int,
        past: Sequence[str] = (),
        earlier: int = 0,
        references: Sequence[Task] = (),
        create: MakeTask | None = None,
        claim: Claim | None = None,
        tries: int = 1,
        checkpoint: str | None = None,
    ) -> None:
        self.runner, self.agent = runner, agent
        self.task_id, self.context_id = task_id, context_id
        self.message, self.request = message, request
        self.user, self.tenant, self.owner = user, tenant, owner
        self.task, self.attempt = task, attempt
        self.past, self.references = past, references
        #: Which run of its message this is, and what an earlier one has kept for it (JSON).
        self.tries, self.checkpoint_text = tries, checkpoint
        #: How many messages of the task are older than this one, hidden ones included.
        self.earlier = earlier
        self.loop = asyncio.get_running_loop()
        self.first: asyncio.Future[Accepted | Reply] = self.loop.create_future()
        self.stopped = False
        #: Whether the loop has ended the run, because the process ends.
        self.interrupted = False
        self.state: str = task.state if task is not None else TaskState.SUBMITTED.value
        # A parked task stays parked after this run only if this run has said so.
        self._reported = False
        #: The run's share of what its owner may have at work; given back while the run has the task parked.
        self.share: Share | None = None
        self._create = self._make = create
        #: The run's claim on its message, where none is to be answered twice; it has to be held until there is an
        #: answer.
        self.claim = claim
        self._replied = False
        self._keeping = False
        self._calling = False
        #: Somebody who watches has it.
        self._span: telemetry.Span | None = None
        self._doubtful = False
        self._voice = Voice()
        self._made = threading.Event()
        self._making = threading.Lock()
        self._on_way = 0
        #: What waits for the storage of parts, and whose turn it is: nothing overtakes it.
        self._storing = 0
        self._turn = asyncio.Lock()
        self._room = asyncio.Event()
        self._room.set()
        self._error: BaseException | None = None
        self._aio: asyncio.Task[None] | None = None
        self._grace: asyncio.TimerHandle | None = None
        # The connection of a plain agent's thread, and the job by which it has made the task in its own transaction.
        self._connection: BaseDatabaseWrapper | None = None
        self._unsure: MakeTask | None = None

    # ------------------------------------------------------------------------------------------------ life

    def start(self) -> None:
        """Begin, in a context of its own: a run has nothing of the request that caused it."""
        self._aio = self.loop.create_task(self._main(), context=contextvars.Context())

    async def _main(self) -> None:
        traceparent = self.request.get("traceparent", "")
        telemetry.at_work.set(
            {
                "a2a_agent": self.agent.slug,
                "a2a_task": self.task_id,
                "a2a_attempt": str(self.attempt),
                "a2a_trace": tracing.trace_id(traceparent),
            }
        )
        if (observer := telemetry.observer()) is not None:
            self._span = observer.run(
                self.agent.slug, task_id=self.task_id, attempt=self.attempt, tries=self.tries, parent=traceparent
            )
        if self._create is not None and self.agent.mode == "auto":
            self._grace = self.loop.call_later(a2a_settings.AUTO_GRACE_SECONDS, self._after_grace)
        with self._span or nullcontext():
            await self._whole()

    async def _whole(self) -> None:
        following: Accepted | None = None
        try:
            async with database.agent_database():
                await self._guarded()
            following = await self._end()
        except (Fenced, TaskEnded):
            self.stop()
        except Exception:
            logger.exception("The end of task %s could not be recorded", self.task_id)
        finally:
            if self._grace is not None:
                self._grace.cancel()
            self._answer_error(InternalError())
            self._drop_claim()
            if self._span is not None:
                self._span.note(state=self.state)
            self.runner.ended(self, following)

    async def _end(self) -> Accepted | None:
        try:
            return await self._finish()
        except (Fenced, TaskEnded):
            raise
        except Exception as error:
            await self._fail_for(self._error or error)
            return await self._finish()

    async def _guarded(self) -> None:
        """Call the agent; whatever it raises becomes the end of the task."""
        if self.stopped:
            return
        limit = asyncio.timeout(self.agent.timeout)
        try:
            self._calling = True
            try:
                async with limit:
                    await self._call()
            finally:
                self._calling = False
            if self._error is not None:
                raise self._error
        except asyncio.CancelledError as error:
            if self.stopped:
                return
            if self._error is None and self._aio is not None and self._aio.cancelling():
                self.interrupted = True
                raise  # the process is shutting down: the task is handed over, or its lease runs out
            await self._fail_for(self._error or error)
        except (Exception, SystemExit) as error:  # sys.exit() in an agent must not end the server
            if not self.stopped:
                await self._fail_for(self._error or error, too_long=limit.expired())
            elif not isinstance(error, A2AError):
                logger.info(
                    "The agent of task %s failed after the task was taken from it", self.task_id, exc_info=error
                )

    async def _fail_for(self, error: BaseException, *, too_long: bool = False) -> None:
        self._error = None
        self._voice = Voice()
        if self._span is not None and isinstance(error, Exception):
            self._span.fail(error)
        self.runner.on_failure(self.task_id, error)
        if too_long:
            self._unsure = None  # the agent's thread goes on, and its transaction with it
        if isinstance(error, InvalidAgentResponse):
            logger.error("Agent %s, task %s: %s", self.agent.slug, self.task_id, error.message)
            await self._fail(INVALID_TEXT, error)
        elif too_long and isinstance(error, TimeoutError):
            logger.error("Agent %s, task %s: no end after %s s", self.agent.slug, self.task_id, self.agent.timeout)
            await self._fail(TIMEOUT_TEXT)
        else:
            logger.error("Agent %s failed at task %s", self.agent.slug, self.task_id, exc_info=error)
            await self._fail(FAILED_TEXT)

    async def _fail(self, text: str, error: A2AError | None = None) -> None:
        if self._replied or self.agent.mode == "message":
            self._answer_error(error or InternalError())
            return
        await self._resync()
        if self.state in TERMINAL:
            return
        change = content.status_change(TaskState.FAILED.value, text, task_id=self.task_id, context_id=self.context_id)
        await self.publish([change])

    async def _finish(self) -> Accepted | None:
        """Bring the task to a rest and wait until all is committed; the next message to run, if there is one."""
        if self._replied or self.agent.mode == "message":
            if not self._replied:
                self.reply(content.message_of("", task_id="", context_id=self.context_id))
            return None
        if self.stopped:
            return None
        await self._resync()
        if self.state not in TERMINAL and not (self._reported and self.state in INTERRUPTED):
            await self.publish([StatusChange(TaskState.COMPLETED.value, wire.now())])
        following: Accepted | None = None
        if self.state in INTERRUPTED:
            journal = self.runner.journal
            following = await journal.submit(EndRun(self.task_id, self.attempt, journal.holder, self._voice))
        while self._on_way:
            self._room.clear()
            await self._room.wait()
        if self._error is not None and not self.stopped:
            error, self._error = self._error, None
            raise error
        return following

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
            self.task, self._create, self._unsure = None, self._unsure.again(), None
            self.state, self._reported = TaskState.SUBMITTED.value, False
        self._count()

    def stop(self) -> None:
        """The task is no longer this run's; from any thread."""
        if not self.stopped:
            self.stopped = True
            self.loop.call_soon_threadsafe(self._cancel)

    def give_up(self) -> None:
        """Say nothing more: the process is ending, and nothing can be recorded any more. From any thread."""
        self.stopped = True
        if self.loop.is_closed():
            return
        with suppress(RuntimeError):  # closed in this moment
            self.loop.call_soon_threadsafe(self._interrupt)

    def _cancel(self) -> None:
        self._interrupt()
        self.runner.spawn(self._clean_up())

    def _interrupt(self) -> None:
        # Only the agent is interrupted: what comes after it ends by itself, and may have been given the next message.
        if self._aio is not None and self._calling:
            self._aio.cancel()

    async def _clean_up(self) -> None:
        """Let the agent clean up after its task was cancelled."""
        try:
            if self._aio is not None:
                await asyncio.wait({self._aio}, timeout=STOP_SECONDS)
            if await database.read(history.state_of, self.task_id) == TaskState.CANCELED:
                await call_cancel_hook(self.agent, self)
        finally:
            self.runner.rests(self)

    # ------------------------------------------------------------------------------------------------ the agent

    async def fetch_files(self) -> None:
        """Have the message's bytes in it, also those that are stored."""
        if markers.in_message(self.message):
            self.message = await database.run_io(parts.message_restored, self.message, owner=self.owner)

    async def _call(self) -> None:
        await self.fetch_files()
        function = self.agent.run
        if inspect.isasyncgenfunction(function) or inspect.iscoroutinefunction(function):
            result = function(TaskContext(self))
        else:
            result = await self._in_thread(self._call_plain)
        if inspect.isasyncgen(result):
            await self._drain(result)
        elif inspect.isawaitable(result):
            result = await result
            if result is not None:
                await self._emit(result, last=True)

    async def _in_thread(self, call: Callable[[], Any]) -> Any:
        context = contextvars.copy_context()
        return await self.loop.run_in_executor(database.agent_threads(), context.run, call)

    def _call_plain(self) -> Any:
        """Call a plain function or generator; in a thread."""
        self._connection = connections[database.alias()]
        result = self.agent.run(SyncTaskContext(self))
        if inspect.isgenerator(result):
            answer = _Answer(self)
            with closing(result):  # here, not wherever it is collected: it may be inside a transaction of this thread
                for value in result:
                    answer.add(value)
            answer.close()
            return None
        if result is None or inspect.isawaitable(result) or inspect.isasyncgen(result):
            return result
        answer = _Answer(self)
        answer.add(result, last=True)
        answer.close()
        return None

    async def _drain(self, result: Any) -> None:
        answer = _Answer(self)
        async with aclosing(result):
            async for value in result:
                if (chunk := answer.take(value)) is not None:
                    await self.publish([chunk])
        answer.close()

    async def _emit(self, value: Any, *, last: bool) -> None:
        answer = _Answer(self)
        if (chunk := answer.take(value, last=last)) is not None:
            await self.publish([chunk])
        answer.close()

    # ------------------------------------------------------------------------------------------------ publishing

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

    def _take_create(self) -> MakeTask | None:
        """Return the job that makes the task, once."""
        with self._making:
            if self._replied or self.stopped:
                return None
            create, self._create = self._create, None
            return create

    def _after_grace(self) -> None:
        """Make the task although the agent has said nothing; not while the agent's thread is inside a transaction.

        That may hold the lock for which the journal would have to wait, and then wait for the task itself.
        """
        if self._connection is not None and self._connection.in_atomic_block:
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
            if self._aio is not None and self._calling:
                self._aio.cancel()

    # ------------------------------------------------------------------------------------------------ files

    async def read_file(self, url: str) -> bytes:
        """Read a stored part. Raises ``StoredFileMissing``, also for an address that is none."""
        return await database.run_io(self.read_file_blocking, url)

    def read_file_blocking(self, url: str) -> bytes:
        """The same, in a thread."""
        marker = markers.of(url)
        if marker is None:
            raise store.StoredFileMissing("This is not the address of a stored part")
        return store.read(marker, owner=self.owner)

    # ------------------------------------------------------------------------------------------------ messages

    def reply(self, message: Wire) -> None:
        """Answer with one message; from any thread (R-029, R-043, D-33)."""
        if self.stopped:
            raise TaskEnded(self.task_id)
        with self._making:  # a message or a task, never both
            if self._replied:
                raise InvalidAgentResponse("A second message: there is one answer")
            if self.agent.mode == "task" or (self._create is None and self.agent.mode == "auto"):
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
        being_made = self._make is not None and self._create is None
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

    async def conversation(self) -> list[str]:
        """Read the earlier messages of the context."""
        return await database.read(self.conversation_blocking)

    def conversation_blocking(self) -> list[str]:
        """Read the earlier messages of the context; in a thread."""
        return history.conversation(
            self.context_id, agent=self.agent.slug, owner=self.owner, task_id=self.task_id, but=self.earlier
        )


class _Answer:
    """The pieces an agent yields or returns: chunks of one artifact, or the parts of one message."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._artifact_id = ""
        self._parts: list[Any] = []

    def take(self, value: Any, *, last: bool = False) -> ArtifactChunk | None:
        """Return the chunk for a value; None when it is kept for a message."""
        if self._run.agent.mode == "message":
            self._parts.append(value)
            return None
        append, self._artifact_id = bool(self._artifact_id), self._artifact_id or uuid7()
        return content.artifact_chunk(
            [value],
            artifact_id=self._artifact_id,
            append=append,
            last_chunk=last,
            task_id=self._run.task_id,
            context_id=self._run.context_id,
        )

    def add(self, value: Any, *, last: bool = False) -> None:
        """Take a value and write it; from the agent's thread."""
        if (chunk := self.take(value, last=last)) is not None:
            self._run.publish_blocking([chunk])

    def close(self) -> None:
        """Send what was kept."""
        if self._parts:
            message = content.message_of(self._parts, task_id="", context_id=self._run.context_id)
            self._run.reply(message)


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


def _waits_for_rows(connection: BaseDatabaseWrapper) -> bool:
    """Whether the journal waits for a row that a transaction holds, and not for the whole of it."""
    found: bool = connection.features.has_select_for_update
    return found


async def call_cancel_hook(agent: Agent, handle: Run) -> None:
    """Call an agent's ``cancel``; what it raises is logged and changes nothing."""
    try:
        if type(agent).cancel is not Agent.cancel:
            await handle.fetch_files()
        async with database.agent_database():
            if inspect.iscoroutinefunction(agent.cancel):
                await agent.cancel(TaskContext(handle))
            elif type(agent).cancel is not Agent.cancel:
                await asyncio.get_running_loop().run_in_executor(
                    database.agent_threads(), agent.cancel, SyncTaskContext(handle)
                )
    except TaskEnded:
        logger.debug("The cancel hook of task %s had something to say", handle.task_id)
    except (Exception, SystemExit):
        logger.exception("The cancel hook of agent %s failed at task %s", agent.slug, handle.task_id)
