"""A page that follows its task: a stream of bells, each of which says that there is something to fetch.

The bells come from the engine's feed and carry numbers only; what happened is fetched by an ordinary request, which
asks for the operator's permissions again. An open page holds neither a thread nor a connection. Where the server cannot
stream (WSGI), the page asks from time to time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from asgiref.sync import async_to_sync
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from a2a_django import engine
from a2a_django.bindings.http import StreamAnswer
from a2a_django.bindings.sse import HEADERS, Frames, places
from a2a_django.bindings.views.carrier import EventStreamResponse
from a2a_django.engine import database
from a2a_django.engine.feed import Reader
from a2a_django.models import Task
from a2a_django.protocol.errors import A2AError, TaskNotFoundError
from a2a_django.protocol.states import TERMINAL

#: Seconds between two bells: a page cannot fetch any faster, and need not be told more often.
PAUSE: Final = 0.25


def streams(request: HttpRequest) -> bool:
    """Whether the page can be told; otherwise it has to ask."""
    return isinstance(request, ASGIRequest)


def bells(request: HttpRequest, task: Task, after: int) -> HttpResponseBase:
    """Return the stream of bells for a page that has the events up to ``after``; 503 when there are too many."""
    if not streams(request):
        return HttpResponse(status=406)
    try:
        place = places.take(f"operator {request.user.pk}")
    except A2AError as error:
        return HttpResponse(status=503, headers={"Retry-After": str(error.retry_after or 10)})

    async def made() -> StreamAnswer:
        # On the loop that will serve the stream.
        return StreamAnswer(dict(HEADERS), Frames(Bells(task.pk, after), place, error=lambda error: '{"over":true}'))

    try:
        return EventStreamResponse(async_to_sync(made)())
    except BaseException:
        place.release()
        raise


class Bells:
    """One bell for everything that has happened since the last one; ends with the task."""

    #: Bells have no numbers to come back with: the page knows what it has.
    numbers: Sequence[int] = ()

    def __init__(self, task_id: str, after: int) -> None:
        self._task_id, self._after = task_id, after
        self._reader: Reader | None = None
        self._over = False

    def __aiter__(self) -> Bells:
        return self

    async def __anext__(self) -> list[str]:
        if self._over:
            raise StopAsyncIteration
        if self._reader is None:
            self._reader = await self._begun()
        else:
            await asyncio.sleep(PAUSE)
        reader = self._reader
        if not reader.exhausted:
            await reader.next()
        self._over = reader.exhausted
        return [f'{{"seq":{reader.seq},"over":{"true" if self._over else "false"}}}']

    async def _begun(self) -> Reader:
        reader = engine.get().feed.reader(self._task_id)
        try:
            found = await database.read(_place, self._task_id)
            if found is None:
                raise TaskNotFoundError()
        except BaseException:
            reader.close()
            raise
        seq, attempt, holder, state = found
        reader.start(seq, attempt=attempt, running=bool(holder), after=min(self._after, seq))
        reader.ended = reader.ended or state in TERMINAL
        return reader

    async def aclose(self) -> None:
        """End the subscription."""
        self._over = True
        if self._reader is not None:
            self._reader.close()


def _place(task_id: str) -> tuple[int, int, str, str] | None:
    rows = Task.objects.using(database.alias()).filter(pk=task_id)
    return rows.values_list("last_seq", "attempt", "lease_holder", "state").first()
