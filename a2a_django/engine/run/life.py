"""The life of a run: it calls the agent, and brings its task to a rest. See the package for the invariants."""

from __future__ import annotations

import asyncio
import contextvars
import logging
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field

from a2a_django import telemetry
from a2a_django.agents import InvalidAgentResponse, TaskEnded, content
from a2a_django.conf import a2a_settings
from a2a_django.engine import database, history
from a2a_django.engine.jobs import Accepted, EndRun, Fenced, Voice
from a2a_django.engine.run.calls import call_agent, call_cancel_hook
from a2a_django.engine.run.changes import Changes
from a2a_django.protocol import tracing, wire
from a2a_django.protocol.changes import StatusChange
from a2a_django.protocol.errors import A2AError, InternalError
from a2a_django.protocol.states import INTERRUPTED, TERMINAL, TaskState

logger = logging.getLogger("a2a_django.agents")

#: How long a cancelled run is given to stop before the agent's cancel hook is called all the same.
STOP_SECONDS = 1.0

FAILED_TEXT = "The agent could not finish the task."
INVALID_TEXT = "The agent gave an invalid response."
TIMEOUT_TEXT = "The agent took too long."


@dataclass(eq=False, repr=False)
class Run(Changes):
    """See the package."""

    #: Whether the loop has ended the run, because the process ends.
    interrupted: bool = field(init=False, default=False)
    _calling: bool = field(init=False, default=False)
    _aio: asyncio.Task[None] | None = field(init=False, default=None)
    #: Somebody who watches has it.
    _span: telemetry.Span | None = field(init=False, default=None)

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
        if self.create is not None and self.agent.mode == "auto":
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
                    await call_agent(self)
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
                await call_cancel_hook(self)
        finally:
            self.runner.rests(self)
