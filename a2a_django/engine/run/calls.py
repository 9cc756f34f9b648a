"""The call of an agent, whichever of the four kinds of function it is, and of its cancel hook."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, closing
from typing import Any

from django.db import connections

from a2a_django.agents import Agent, SyncTaskContext, TaskContext, TaskEnded, content
from a2a_django.engine import database
from a2a_django.engine.run.changes import Changes
from a2a_django.models.fields import uuid7
from a2a_django.protocol.changes import ArtifactChunk

logger = logging.getLogger("a2a_django.agents")


async def call_agent(run: Changes) -> None:
    """Call ``run`` of the agent and say what it yields or returns. Raises whatever it raises."""
    await run.fetch_files()
    function = run.agent.run
    if inspect.isasyncgenfunction(function) or inspect.iscoroutinefunction(function):
        result = function(TaskContext(run))
    else:
        result = await _in_thread(run)
    if inspect.isasyncgen(result):
        await _say_each(run, result)
    elif inspect.isawaitable(result):
        result = await result
        if result is not None:
            await _say(run, result)


async def _in_thread(run: Changes) -> Any:
    context = contextvars.copy_context()
    return await run.loop.run_in_executor(database.agent_threads(), context.run, _call_plain, run)


def _call_plain(run: Changes) -> Any:
    """Call a plain function or generator; in a thread. Returns what is still to be awaited, if anything."""
    run.connection = connections[database.alias()]
    result = run.agent.run(SyncTaskContext(run))
    if result is None or inspect.isawaitable(result) or inspect.isasyncgen(result):
        return result
    pieces = _Pieces(run)
    if inspect.isgenerator(result):
        with closing(result):  # here, not wherever it is collected: it may be inside a transaction of this thread
            for value in result:
                pieces.add(value)
    else:
        pieces.add(result, last=True)
    pieces.close()
    return None


async def _say_each(run: Changes, values: AsyncGenerator[Any, Any]) -> None:
    pieces = _Pieces(run)
    async with aclosing(values):
        async for value in values:
            if (chunk := pieces.take(value)) is not None:
                await run.publish([chunk])
    pieces.close()


async def _say(run: Changes, value: Any) -> None:
    pieces = _Pieces(run)
    if (chunk := pieces.take(value, last=True)) is not None:
        await run.publish([chunk])
    pieces.close()


class _Pieces:
    """The pieces an agent yields or returns: chunks of one artifact, or the parts of one message."""

    def __init__(self, run: Changes) -> None:
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


async def call_cancel_hook(run: Changes) -> None:
    """Call an agent's ``cancel``; what it raises is logged and changes nothing."""
    agent = run.agent
    try:
        if type(agent).cancel is not Agent.cancel:
            await run.fetch_files()
        async with database.agent_database():
            if inspect.iscoroutinefunction(agent.cancel):
                await agent.cancel(TaskContext(run))
            elif type(agent).cancel is not Agent.cancel:
                await asyncio.get_running_loop().run_in_executor(
                    database.agent_threads(), agent.cancel, SyncTaskContext(run)
                )
    except TaskEnded:
        logger.debug("The cancel hook of task %s had something to say", run.task_id)
    except (Exception, SystemExit):
        logger.exception("The cancel hook of agent %s failed at task %s", agent.slug, run.task_id)
