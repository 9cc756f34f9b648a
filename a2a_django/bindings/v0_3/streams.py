"""Streams of version 0.3, for all its bindings: the events of an operation, written one by one (L-023, facts 6.3).

The last event of a stream is a status update that says ``final``. That a task has ended is seen from the event; that
its run has asked for input and returned, from the end of the stream behind it. So an INPUT_REQUIRED that is the newest
event is kept back for a moment; when it turns out later to have been the last one, or when there was none, as with a
task that had ended before, the status is told once more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Final, Generic, TypeVar

from a2a_django.bindings import sse
from a2a_django.protocol.states import TERMINAL, TaskState
from a2a_django.protocol.v0_3.meaning import FINAL
from a2a_django.protocol.wire import Wire

T = TypeVar("T")

#: How long an event is kept back that may be the last: between the event and the end of its run nothing but the commit
#: of the end lies as a rule.
HOLD_SECONDS: Final = 1.0

#: Writes an event (a StreamResponse of 1.0); the flag says whether it is the last of its stream.
WriteEvent = Callable[[Wire, bool], T]

#: Writes an event from its text where that is easy, else returns None; never one that has a status (see ``chunks``).
WriteText = Callable[[str], T | None]


class OldEvents(Generic[T]):
    """The events of an operation in a form of 0.3, in lists of those that are ready now; close it as the operation's.
    They have no numbers: some are kept back, or told once more.

    ``holds``: the stream may end when the run asks for input, as that of a message does.
    """

    numbers: tuple[int, ...] = ()

    def __init__(
        self, events: sse.Events, write: WriteEvent[T], *, holds: bool, quick: WriteText[T] | None = None
    ) -> None:
        self._events = events
        self._write = write
        self._quick = quick or _never
        self._holds = holds
        #: What is kept back, and the operation's next events while it is.
        self._held: Wire | None = None
        self._pending: asyncio.Future[list[str]] | None = None
        #: The newest status of the task with its ids, once one was told; None when its stream needs no end.
        self._status: Wire | None = None
        self._error: Exception | None = None
        self._over = False

    def __aiter__(self) -> AsyncIterator[list[T]]:
        return self

    async def __anext__(self) -> list[T]:
        if self._over:
            raise StopAsyncIteration
        if self._error is not None:
            raise self._error
        try:
            if self._held is None and self._pending is None:
                texts = await self._events.__anext__()
            else:
                texts = await self._waited()
        except StopAsyncIteration:
            self._over = True
            last = self._held or self._status
            if last is None or last["statusUpdate"]["status"].get("state") not in FINAL:
                raise
            return [self._write(last, True)]
        except Exception as error:
            if self._held is None:
                raise
            self._error, texts = error, []
        return self._written(texts)

    async def _waited(self) -> list[str]:
        """Return the operation's next events; none when they are not there after a while and something is kept back."""
        if self._pending is None:
            self._pending = asyncio.ensure_future(self._events.__anext__())
        await asyncio.wait((self._pending,), timeout=HOLD_SECONDS if self._held is not None else None)
        if not self._pending.done():
            return []
        pending, self._pending = self._pending, None
        return pending.result()

    def _written(self, texts: list[str]) -> list[T]:
        written: list[T] = []
        if self._held is not None:
            written.append(self._written_one(self._held))
            self._held = None
        last = len(texts) - 1
        for number, text in enumerate(texts):
            done = self._quick(text)
            if done is not None:
                written.append(done)
                continue
            event: Wire = json.loads(text)
            if self._holds and number == last and _state(event) == TaskState.INPUT_REQUIRED:
                self._held = event
            else:
                written.append(self._written_one(event))
        return written

    def _written_one(self, event: Wire) -> T:
        final = False
        if (update := event.get("statusUpdate")) is not None:
            final = update["status"].get("state") in TERMINAL
            self._status = None if final else event
        elif (task := event.get("task")) is not None:
            ids = {"taskId": task["id"], "contextId": task.get("contextId", "")}
            self._status = {"statusUpdate": {**ids, "status": task["status"]}}
        return self._write(event, final)

    async def aclose(self) -> None:
        """End the subscription."""
        self._over = True
        pending, self._pending = self._pending, None
        try:
            if pending is not None:
                pending.cancel()
                await asyncio.wait((pending,))
                if not pending.cancelled():
                    pending.exception()  # looked at, so that the loop does not report it
        finally:
            await self._events.aclose()


def _never(text: str) -> None:
    return None


def _state(event: Wire) -> str | None:
    """Return the state that a status update tells, None for all other events."""
    update = event.get("statusUpdate")
    state: str | None = update["status"].get("state") if update is not None else None
    return state
