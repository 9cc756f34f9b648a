"""GetTask, ListTasks, CancelTask and SubscribeToTask (Spec 3.1.3 to 3.1.6)."""

from __future__ import annotations

import asyncio
import datetime as dt

from a2a_django import engine
from a2a_django.access import owner_at
from a2a_django.engine import database, listing, snapshots
from a2a_django.engine.jobs import CancelTask
from a2a_django.operations.context import CallContext
from a2a_django.operations.messages import require_streaming
from a2a_django.operations.streams import EventStream
from a2a_django.protocol.errors import TaskNotFoundError, UnsupportedOperationError
from a2a_django.protocol.states import TERMINAL
from a2a_django.protocol.wire import Wire


async def get_task(call: CallContext, request: Wire) -> str:
    """Return the text of a Task (R-050). Raises ``TaskNotFoundError``."""
    snapshot = await _snapshot(call, request["id"], request.get("historyLength"))
    return snapshot.text


async def list_tasks(call: CallContext, request: Wire) -> str:
    """Return the text of a ListTasksResponse (R-051 to R-061). Raises ``InvalidParamsError`` for a bad page token.

    Anonymous callers are one owner, and see only what they know the id of: here, the tasks of a context.
    """
    after = request.get("statusTimestampAfter")
    query = listing.Query(
        agent=call.agent.slug,
        owner=call.owner,
        context_id=request.get("contextId", ""),
        state=request.get("status", ""),
        after=_up(after) if after else None,
        page_size=request.get("pageSize", listing.DEFAULT_PAGE),
        page_token=request.get("pageToken", ""),
        history_length=request.get("historyLength"),
        artifacts=request.get("includeArtifacts", False),
        nothing=call.owner == owner_at(call.tenant, "") and not request.get("contextId"),
    )
    return await database.read(listing.page, query)


def _up(text: str) -> dt.datetime:
    """Return a canonical timestamp as a moment in whole milliseconds, rounded up: statuses have no finer ones, and
    the filter is inclusive."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    moment = dt.datetime.fromisoformat(whole).replace(tzinfo=dt.UTC)
    nanos = int(fraction.ljust(9, "0")) if fraction else 0
    try:
        return moment + dt.timedelta(milliseconds=-(-nanos // 1_000_000))
    except OverflowError:
        return dt.datetime.max.replace(tzinfo=dt.UTC)


async def cancel_task(call: CallContext, request: Wire) -> str:
    """Cancel a task and return its text (R-062 to R-064, D-18).

    Raises ``TaskNotFoundError``, ``TaskNotCancelableError``.
    """
    job = CancelTask(request["id"], agent=call.agent.slug, owner=call.owner)
    # Once the task is cancelled its run has to be told, also when the caller leaves meanwhile.
    await asyncio.shield(asyncio.ensure_future(engine.get().runner.cancel(job, call.agent)))
    return (await _snapshot(call, request["id"])).text


async def subscribe_to_task(call: CallContext, request: Wire) -> EventStream:
    """Return the task as it is and everything that happens from then on, until it ends (R-065 to R-068).

    A caller who says which event was the last one gets the task without history and artifacts, and then what came
    after that event. A number that the task has not reached is none of this task: it is as if nothing had been said,
    for the whole task makes good whatever the caller has missed.

    Raises ``TaskNotFoundError``, and ``UnsupportedOperationError`` for a task that has ended and where there is no
    streaming.
    """
    require_streaming(call)
    reader = engine.get().feed.reader(request["id"])
    after = call.after
    try:
        snapshot = await _snapshot(call, request["id"], whole=after is None)
        if after is not None and after > snapshot.seq:
            after, snapshot = None, await _snapshot(call, request["id"])
        if snapshot.state in TERMINAL:
            raise UnsupportedOperationError("The task has ended")
    except BaseException:
        reader.close()
        raise
    reader.start(snapshot.seq, attempt=snapshot.attempt, running=snapshot.running, after=after)
    return EventStream(f'{{"task":{snapshot.text}}}', reader)


async def _snapshot(
    call: CallContext, task_id: str, history_length: int | None = None, *, whole: bool = True
) -> snapshots.Snapshot:
    found = await database.read(
        snapshots.read,
        task_id,
        agent=call.agent.slug,
        owner=call.owner,
        history_length=history_length if whole else 0,
        artifacts=whole,
    )
    if found is None:
        raise TaskNotFoundError()
    return found
