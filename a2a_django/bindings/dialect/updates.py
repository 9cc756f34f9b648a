"""What happens to a task, for a browser's ``EventSource``: ``GET /sse?taskId=`` (facts 10.4).

Every event is a ``task_update`` with the state of the task and what was said: a message, or a piece of an artifact in
the form of one. The id of an event is its number in the task's journal. With it a browser that has lost its connection
gets what it has missed, and one that comes back after the end is told to stay away.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from a2a_django import engine
from a2a_django.access import keep_watch
from a2a_django.bindings import errors, rest, sse
from a2a_django.bindings.calls import (
    Pairs,
    context,
    extension_headers,
    last_event,
    links_of,
    tenant_of,
    version_of,
    with_challenge,
)
from a2a_django.bindings.http import Answer, Exchange, StreamAnswer, query_pairs
from a2a_django.engine import database, snapshots
from a2a_django.engine.feed import Event, Reader
from a2a_django.operations import OPERATIONS, CallContext
from a2a_django.operations.messages import require_streaming
from a2a_django.protocol import codec, versions
from a2a_django.protocol.errors import InvalidParamsError, MethodNotAllowedError, TaskNotFoundError
from a2a_django.protocol.states import TERMINAL
from a2a_django.protocol.v0_3.json_form import STATES, WRITER
from a2a_django.protocol.wire import Wire

BINDING: Final = "JSONRPC"
EVENT: Final = "task_update"

_ALLOW: Final = ("GET", "OPTIONS")


async def handle(exchange: Exchange) -> Answer | StreamAnswer:
    """Answer one request. Never raises but for cancellation; errors are ``{"error": ...}`` with their HTTP status."""
    try:
        if exchange.method == "OPTIONS":
            return Answer(200, {"Allow": ", ".join(_ALLOW), "Content-Type": "text/plain"}, b"")
        if exchange.method not in _ALLOW:
            raise MethodNotAllowedError(_ALLOW)
        return await _open(exchange)
    except Exception as error:
        return rest.refuse(with_challenge(error, exchange), exchange.headers)


async def _open(exchange: Exchange) -> Answer | StreamAnswer:
    pairs = query_pairs(exchange.query)
    operation, tenant = OPERATIONS["SubscribeToTask"], tenant_of("", pairs, {})
    version = version_of(exchange, pairs, native=versions.V0_3)
    call = await context(exchange, operation, binding=BINDING, version=version, tenant=tenant)
    require_streaming(call)
    place = sse.places.take(call.owner)
    try:
        updates = await _updates(call, task_of(pairs), last_event(exchange))
        if updates is None:
            place.release()
            return Answer(204, {"Cache-Control": "no-store"}, b"")
        if call.identity is not None:
            keep_watch(updates, call.identity, call.agent.permissions, call.tenant, call.agent.slug)
        frames = sse.Frames(updates, place, error=errors.status_text, field=f"event: {EVENT}\ndata: ")
    except BaseException:
        place.release()
        raise
    return StreamAnswer(sse.HEADERS | extension_headers(call), frames)


def task_of(pairs: Pairs) -> str:
    """Return the task that a query names, as ``taskId`` or ``id``. Raises ``InvalidParamsError``."""
    named = {value for name, value in pairs if name in ("taskId", "id") and value}
    if not named:
        raise InvalidParamsError.of("task_id", "is required")
    if len(named) > 1:
        raise InvalidParamsError.of("task_id", "given more than once with different values")
    return named.pop()


async def _updates(call: CallContext, task_id: str, seen: int | None) -> TaskUpdates | None:
    """Return the stream of a task for a caller who has everything up to event ``seen``, None for nothing; None where
    that was the end. Raises ``TaskNotFoundError``."""
    reader = engine.get().feed.reader(task_id)
    try:
        snapshot = await database.read(
            snapshots.read, task_id, agent=call.agent.slug, owner=call.owner, history_length=0, artifacts=False
        )
        if snapshot is None:
            raise TaskNotFoundError()
        over = snapshot.state in TERMINAL
        if over and seen == snapshot.seq:
            reader.close()
            return None
        missed = seen is not None and seen < snapshot.seq and not over
        at = seen if missed and seen is not None else snapshot.seq
        reader.start(at, attempt=snapshot.attempt, running=snapshot.running, behind=missed)
    except BaseException:
        reader.close()
        raise
    outgoing = links_of(call).resolved
    task = json.loads(outgoing(snapshot.text))
    return TaskUpdates(reader, task, snapshot.seq, first=not missed, over=over, outgoing=outgoing)


class TaskUpdates:
    """The events of one task as they go into the stream, in lists of those that are ready now, with their ``numbers``;
    the first is the task as it is. Ends with the task, and stays through every question. ``outgoing`` is done to the
    text of every event on its way out."""

    def __init__(
        self, reader: Reader, task: Wire, seq: int, *, first: bool, over: bool, outgoing: Callable[[str], str]
    ) -> None:
        self._reader: Reader | None = reader
        self._outgoing = outgoing
        self._named = {"taskId": task["id"], "contextId": task.get("contextId", "")}
        self._state = STATES[task["status"]["state"]]
        self._first = self._update(_said(task["status"])) if first else None
        self.numbers = [seq]
        self._over = over
        self._error: Exception | None = None

    def fail(self, error: Exception) -> None:
        """End with an error, instead of what would come next; in the stream's loop."""
        self._error = error
        if self._reader is not None:
            self._reader.wake()

    def __aiter__(self) -> TaskUpdates:
        return self

    async def __anext__(self) -> list[str]:
        self._check()
        if self._first is not None:
            first, self._first = self._first, None
            return [first]
        while not self._over and (reader := self._reader) is not None:
            events = await reader.next()
            self._check()
            texts = [self._text(event) for event in events]
            self._over = reader.exhausted or any(event[2] in TERMINAL for event in events)
            if texts:
                self.numbers = [event[0] for event in events]
                return texts
        await self.aclose()
        raise StopAsyncIteration

    def _check(self) -> None:
        if self._error is not None and not self._over:
            raise self._error

    def _text(self, event: Event) -> str:
        seq, text = event[:2]
        ((member, value),) = json.loads(self._outgoing(text)).items()
        if member == "statusUpdate":
            self._state = STATES[value["status"]["state"]]
            return self._update(_said(value["status"]))
        artifact = WRITER.artifact(value["artifact"])
        piece: Wire = {name: artifact[name] for name in ("artifactId", "name") if name in artifact}
        piece |= {"append": value.get("append", False), "lastChunk": value.get("lastChunk", False)}
        said = {"kind": "message", "role": "agent", "messageId": f"{artifact['artifactId']}-{seq}"}
        return self._update({"message": {**said, **self._named, "parts": artifact["parts"]}, "artifact": piece})

    def _update(self, more: Wire) -> str:
        return codec.dumps({"state": self._state, **self._named, **more})

    async def aclose(self) -> None:
        """End the subscription."""
        self._over = True
        if self._reader is not None:
            reader, self._reader = self._reader, None
            reader.close()


def _said(status: Wire) -> dict[str, Any]:
    """Return what a status says, as a member of an event."""
    return {"message": WRITER.message(status["message"])} if "message" in status else {}
