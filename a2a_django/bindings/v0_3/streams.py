"""Streams of 0.3, for all bindings: each event translated, ``final`` on the last status, tasks that have ended included.

A stream of 1.0 says nothing before it closes. Here the status after which it closes has to say so, also where that is
INPUT_REQUIRED, which closes a stream only once the run has returned (facts 6.3). So such a status is held back until it
is clear, and not longer than ``HOLD_SECONDS``; streams that stay open then, those of ``SubscribeToTask``, hold nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, Protocol

from a2a_django.bindings import calls, sse
from a2a_django.operations import OPERATIONS, CallContext, Operation
from a2a_django.protocol.errors import UnsupportedOperationError
from a2a_django.protocol.states import TERMINAL, TaskState
from a2a_django.protocol.wire import Wire

HOLD_SECONDS: Final = 0.5

#: Writes a StreamResponse, decoded, as the binding sends it; the second argument is ``final``.
Write = Callable[[Wire, bool], Any]

_SUBSCRIBE: Final = "SubscribeToTask"


async def events_of(operation: Operation, call: CallContext, request: Wire, *, write: Write) -> Events:
    """Return what an operation that streams answers, in the place of ``calls.events_of``. Raises what the operation does,
    but for a subscription to a task that has ended: that gets the task and its last status (facts 6.7)."""
    try:
        events = await calls.events_of(operation, call, request)
    except UnsupportedOperationError:
        if operation.name != _SUBSCRIBE or not (call.agent.streaming and call.streaming):
            raise
        task = json.loads(await calls.text_of(OPERATIONS["GetTask"], call, {"id": request["id"]}))
        last = {"taskId": task["id"], "contextId": task["contextId"], "status": task["status"]}
        return Events(_Ended([{"task": task}, {"statusUpdate": last}]), write, holds=False)
    return Events(_Decoded(events), write, holds=operation.name != _SUBSCRIBE)


class Events:
    """The events of a stream, each as ``write`` made it, in lists of those that are ready now. To be closed."""

    def __init__(self, source: _Source, write: Write, *, holds: bool) -> None:
        self._source = source
        self._write = write
        self._holds = holds
        self._pending: asyncio.Future[list[Wire]] | None = None
        self._error: Exception | None = None

    def __aiter__(self) -> AsyncIterator[list[Any]]:
        return self

    async def __anext__(self) -> list[Any]:
        if self._error is not None:
            raise self._error
        responses = await self._next()
        closes = False
        while self._holds and responses and _state(responses[-1]) == TaskState.INPUT_REQUIRED and not closes:
            self._pending = asyncio.ensure_future(self._source.__anext__())
            await asyncio.wait((self._pending,), timeout=HOLD_SECONDS)
            if not self._pending.done():
                break
            try:
                responses += await self._next()
            except StopAsyncIteration:
                closes = True
            except Exception as error:  # comes after what there was before it
                self._error = error
                break
        last = len(responses) - 1
        return [
            self._write(response, (closes and index == last) or _state(response) in TERMINAL)
            for index, response in enumerate(responses)
        ]

    async def _next(self) -> list[Wire]:
        if self._pending is None:
            return await self._source.__anext__()
        # Not awaited itself: whoever stops waiting for it must not stop it.
        await asyncio.wait((self._pending,))
        pending, self._pending = self._pending, None
        return pending.result()

    async def aclose(self) -> None:
        """End the stream."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.cancel()
            await asyncio.wait((pending,))
            if not pending.cancelled():
                pending.exception()  # looked at, so that the loop does not report it
        await self._source.aclose()


class _Source(Protocol):
    """Where the events come from."""

    async def __anext__(self) -> list[Wire]: ...

    async def aclose(self) -> None: ...


class _Decoded:
    """The events of an operation, decoded."""

    def __init__(self, events: sse.Events) -> None:
        self._events = events

    async def __anext__(self) -> list[Wire]:
        return [json.loads(text) for text in await self._events.__anext__()]

    async def aclose(self) -> None:
        await self._events.aclose()


class _Ended:
    """The events of a task that has ended."""

    def __init__(self, responses: list[Wire]) -> None:
        self._responses = responses

    async def __anext__(self) -> list[Wire]:
        responses, self._responses = self._responses, []
        if not responses:
            raise StopAsyncIteration
        return responses

    async def aclose(self) -> None:
        self._responses = []


def _state(response: Wire) -> str:
    """Return the state that a status update tells, "" for other events."""
    state: str = response.get("statusUpdate", {}).get("status", {}).get("state", "")
    return state
