"""SendMessage and SendStreamingMessage (Spec 3.1.1, 3.1.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from functools import partial
from typing import TypeVar

from a2a_django import engine
from a2a_django.conf import a2a_settings
from a2a_django.engine import database, history, snapshots
from a2a_django.engine.feed import Reader
from a2a_django.engine.jobs import Accepted, AcceptMessage, CreateTask, Incoming, MakeTask
from a2a_django.engine.quotas import Place
from a2a_django.engine.receipt_jobs import HoldMessage
from a2a_django.engine.receipts import Claim
from a2a_django.engine.run import Reply, Run
from a2a_django.models import Task
from a2a_django.models.fields import key_of, uuid7
from a2a_django.operations import media, repeats, uploads
from a2a_django.operations.context import CallContext
from a2a_django.operations.push import inline_config
from a2a_django.operations.streams import EventStream
from a2a_django.operations.turns import Started, Turn, folded, settled
from a2a_django.protocol import wire
from a2a_django.protocol.errors import (
    InvalidParamsError,
    TaskNotFoundError,
    UnsupportedOperationError,
)
from a2a_django.protocol.states import TERMINAL
from a2a_django.protocol.wire import Wire

T = TypeVar("T")


async def send_message(call: CallContext, request: Wire) -> str:
    """Send a message and return the text of a SendMessageResponse.

    Waits until the task ends or asks back, unless the request says otherwise; never longer than ``BLOCKING_SECONDS``
    (R-029 to R-041, D-19), and then for webhooks that are about to be told, not longer than ``PUSH_WAIT_SECONDS``.
    Raises ``TaskNotFoundError``, ``UnsupportedOperationError``, ``InvalidParamsError``,
    ``ContentTypeNotSupportedError``, ``PushNotificationNotSupportedError``, ``InvalidAgentResponseError``,
    ``ThrottledError``, ``UnavailableError``.
    """
    configuration = request.get("configuration", {})
    started = await _start(call, request)
    if isinstance(started, Reply):
        return f'{{"message":{wire.text_of(started.message)}}}'
    history_length = configuration.get("historyLength")
    text, at_rest = None, False
    try:
        if configuration.get("returnImmediately"):
            return f'{{"task":{started.text}}}'
        try:
            async with asyncio.timeout(a2a_settings.BLOCKING_SECONDS):
                texts = await settled(started.reader, started.turn)
            at_rest = True
            text = started.task and folded(started.task, started.reader, texts, history_length=history_length)
        except TimeoutError:
            pass  # the task as it is now is the answer (D-19)
    finally:
        started.reader.close()
    if not text:
        snapshot = await database.read(
            snapshots.read, started.task_id, agent=call.agent.slug, owner=call.owner, history_length=history_length
        )
        if snapshot is None:
            raise TaskNotFoundError()  # deleted meanwhile
        text = snapshot.text
    if at_rest and started.has_push and a2a_settings.PUSH_WAIT_SECONDS:
        await engine.get().sender.settled(started.task_id, a2a_settings.PUSH_WAIT_SECONDS)
    return f'{{"task":{text}}}'


async def send_streaming_message(call: CallContext, request: Wire) -> EventStream:
    """Send a message and return the stream of what happens (R-042 to R-049). Raises what ``send_message`` raises, and
    ``UnsupportedOperationError`` where there is no streaming; all of it before the first event (D-07)."""
    require_streaming(call)
    started = await _start(call, request)
    if isinstance(started, Reply):
        return EventStream(f'{{"message":{wire.text_of(started.message)}}}', None)
    return EventStream(f'{{"task":{started.text}}}', started.reader, started.turn)


def require_streaming(call: CallContext) -> None:
    """Raise ``UnsupportedOperationError`` where the agent or the carrier does not stream (R-103)."""
    if not (call.agent.streaming and call.streaming):
        raise UnsupportedOperationError("Streaming is not supported")


async def _start(call: CallContext, request: Wire) -> Started | Reply:
    """Check a message, take it in and see that it is run."""
    message = request["message"]
    configuration = request.get("configuration", {})
    if message["role"] != "ROLE_USER":
        raise InvalidParamsError.of("message.role", "has to be ROLE_USER in a request")
    if len(message["parts"]) > a2a_settings.MAX_PARTS:
        raise InvalidParamsError.of("message.parts", f"at most {a2a_settings.MAX_PARTS} parts")
    media.check_parts(call.agent, message["parts"])
    uploads.check_addresses(message)
    take_in = partial(_take_in, call, request)
    if repeats.can_be_known(call):
        return await repeats.once(call, message, configuration.get("historyLength"), take_in)
    return await take_in(None)


async def _take_in(call: CallContext, request: Wire, claim: Claim | None) -> Started | Reply:
    """Take in a message that is new, as far as anybody knows; with a ``claim`` only if it is.

    Raises ``Repeated`` and ``UnderWay`` then.
    """
    message, configuration = request["message"], request.get("configuration", {})
    push = await inline_config(call, configuration)
    incoming = Incoming(message, _asked_for(call, request, configuration), push, claim)
    history_length = configuration.get("historyLength")
    # An agent that may answer without a task has nothing that could wait.
    may_wait = call.agent.mode == "task" or bool(message.get("taskId"))
    with engine.get().runner.room(call.owner, may_wait=may_wait) as place:
        async with uploads.stored(call.agent, incoming) as incoming:
            if message.get("taskId"):
                return await _continue(call, incoming, history_length, place)
            answer = await _begin(call, incoming, history_length, place)
            if isinstance(answer, Reply):
                await uploads.unneeded(incoming)
            return answer


def _asked_for(call: CallContext, request: Wire, configuration: Wire) -> Wire:
    """Return what an agent is told of a request besides the message; it is kept with the message."""
    asked: Wire = {}
    if metadata := request.get("metadata"):
        asked["metadata"] = metadata
    if extensions := call.activated():
        asked["extensions"] = list(extensions)
    if modes := configuration.get("acceptedOutputModes"):
        asked["acceptedOutputModes"] = modes
    if call.traceparent:
        asked["traceparent"] = call.traceparent
    return asked


async def _begin(call: CallContext, incoming: Incoming, history_length: int | None, place: Place) -> Started | Reply:
    """A message without a task: make one (mode "task"), or let the agent decide. Without a place it waits for a run."""
    here = engine.get()
    agent, message = call.agent, incoming.wire
    context_id = message.get("contextId") or uuid7()
    task = Task(
        id=uuid7(),
        context_id=context_id,
        context_key=key_of(context_id),
        agent=agent.slug,
        owner=call.owner,
        user=call.user_pk(),
        tenant=call.tenant,
    )
    references = await _references(call, message)
    claim = incoming.claim
    if claim is not None and agent.mode != "task":  # the run comes before the task, if there will be one
        incoming = replace(incoming, claim=replace(claim, held=True))
    holder = here.journal.holder if place.is_free else ""
    create = (MakeTask if agent.mode == "auto" else CreateTask)(task, incoming, holder)
    reader = here.feed.reader(task.pk)
    try:
        begin = partial(
            here.runner.begin,
            agent,
            task_id=task.pk,
            context_id=context_id,
            incoming=incoming,
            user=call.user,
            owner=call.owner,
            tenant=call.tenant,
            references=references,
            create=create if isinstance(create, MakeTask) else None,
        )
        accepted: Accepted | None = None
        if agent.mode == "task":
            async with _handed_in(task.pk, agent.slug, needed=not place.is_free):
                accepted = await _made(here.journal.submit(create), begin if place.is_free else None)
        elif claim is not None:
            await _made(here.journal.submit(HoldMessage(claim)), lambda accepted: begin(accepted=None))
        if place.is_free:
            run = begin(accepted=accepted)
            place.give_back()
        if accepted is None:
            answer = await _first(run)
            if isinstance(answer, Reply):
                reader.close()
                return answer
            accepted = answer
    except BaseException:
        reader.close()
        raise
    made = accepted.task
    reader.start(0, attempt=accepted.attempt or 0, running=accepted.attempt is not None)
    status = {"state": "TASK_STATE_SUBMITTED", "timestamp": wire.timestamp(made.created_at)}
    first: Wire = {"id": made.pk, "contextId": context_id, "status": status}
    history_wire = {**message, "contextId": context_id, "taskId": made.pk}
    text = wire.text_of(first if history_length == 0 else {**first, "history": [history_wire]})
    turn = Turn(made.pk, accepted.message.position, accepted.attempt)
    return Started(made.pk, text, reader, turn, made.has_push, {**first, "history": [history_wire]})


async def _made(making: asyncio.Future[T], begin: Callable[..., Run] | None) -> T:
    """Wait for a task to be made, or a message to be held. If the caller leaves meanwhile, it is done all the same, and
    the message has to be run, unless it waits for a run (``begin`` None)."""
    try:
        return await asyncio.shield(making)
    except asyncio.CancelledError:
        if begin is not None:
            making.add_done_callback(lambda made: None if made.exception() else begin(accepted=made.result()))
        raise


async def _first(run: Run) -> Accepted | Reply:
    """Wait for the first thing an agent does; the run goes on when the caller leaves."""
    return await asyncio.shield(run.first)


async def _continue(call: CallContext, incoming: Incoming, history_length: int | None, place: Place) -> Started:
    """A message to a task that exists (R-116 to R-119)."""
    here = engine.get()
    task_id = incoming.wire["taskId"]
    sender: Wire = {"user": call.user_pk(), "operator": True} if call.operator else {"user": call.user_pk()}
    incoming = replace(incoming, request={**incoming.request, **sender})
    reader = here.feed.reader(task_id)
    try:
        job = AcceptMessage(
            task_id,
            incoming,
            agent=call.agent.slug,
            owner=call.owner,
            context_id=incoming.wire.get("contextId", ""),
            holder=here.journal.holder if place.is_free else "",
            answers=call.answers,
        )
        return await asyncio.shield(asyncio.ensure_future(_go_on(call, job, reader, history_length, place)))
    except BaseException:
        reader.close()
        raise


async def _go_on(
    call: CallContext, job: AcceptMessage, reader: Reader, history_length: int | None, place: Place
) -> Started:
    """Take a message in and start the run that it brings about. Not to be interrupted: once accepted, the task is ours
    to run."""
    here = engine.get()
    needed = not place.is_free and await _will_wait(call, job.task_id)
    async with _handed_in(job.task_id, call.agent.slug, needed=needed):
        accepted = await here.journal.submit(job)
    if accepted.is_lost:
        here.watch.look()
    message = accepted.start or accepted.message
    is_mine = message.position == accepted.message.position
    if accepted.start is None:
        past = await database.read(history.past_of_waiting, message, history_length=history_length)
    else:
        user = call.user if is_mine else None
        past = await database.read(history.past_of, message, history_length=history_length, user=user)
        here.runner.go_on(call.agent, message, past)
    place.give_back()
    snapshot = past.snapshot
    if snapshot is None:
        raise TaskNotFoundError()  # deleted meanwhile
    reader.start(snapshot.seq, attempt=snapshot.attempt, running=snapshot.running, behind=accepted.start is None)
    reader.ended = reader.ended or snapshot.state in TERMINAL
    attempt = accepted.attempt if past.attempt is None else past.attempt
    turn = Turn(accepted.task.pk, accepted.message.position, attempt, past.reported)
    return Started(accepted.task.pk, snapshot.text, reader, turn, accepted.task.has_push)


def _handed_in(task_id: str, agent: str, *, needed: bool) -> AbstractAsyncContextManager[None]:
    """Inside, a task comes to wait for the site's queue, if it has one. Raises ``UnavailableError`` where that has to
    take it first, and does not."""
    dispatcher = engine.get().dispatcher
    return nullcontext() if dispatcher is None or not needed else dispatcher.asking(task_id, agent)


async def _will_wait(call: CallContext, task_id: str) -> bool:
    """Return whether a message makes a task wait for the site's queue; asked only where that has to take it first."""
    dispatcher = engine.get().dispatcher
    if dispatcher is None or not dispatcher.refuses:
        return False
    return await database.read(history.is_at_rest, task_id, agent=call.agent.slug, owner=call.owner)


async def _references(call: CallContext, message: Wire) -> list[Task]:
    if not (ids := message.get("referenceTaskIds")):
        return []
    return await database.read(history.references, ids, agent=call.agent.slug, owner=call.owner)
