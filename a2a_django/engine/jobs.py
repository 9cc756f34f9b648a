"""What may be asked of the journal: each job is one decision about one task.

A job's ``apply`` runs inside the journal's transaction, on rows that are locked. It either raises before it has
changed anything (its caller gets the error, the other jobs of the batch are not affected) or makes its changes and
returns its answer. It may be applied again on fresh rows when the transaction has to be repeated.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import threading
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

from a2a_django.conf import a2a_settings
from a2a_django.engine import clock
from a2a_django.engine.batch import Batch
from a2a_django.engine.receipts import Claim
from a2a_django.models import Artifact, Message, PushConfig, Task
from a2a_django.models.fields import key_of, uuid7
from a2a_django.protocol import wire
from a2a_django.protocol.changes import ArtifactChunk, Change
from a2a_django.protocol.errors import (
    InvalidAgentResponseError,
    InvalidParamsError,
    TaskNotCancelableError,
    TaskNotFoundError,
    ThrottledError,
    UnsupportedOperationError,
)
from a2a_django.protocol.folding import appended
from a2a_django.protocol.states import INTERRUPTED, TERMINAL, TaskState, may_move
from a2a_django.protocol.wire import Wire

R = TypeVar("R")


class Fenced(Exception):
    """The run is no longer the task's current one: it was cancelled, ended, or given to another attempt."""


class Job(ABC, Generic[R]):
    """One decision about one task, with a place where its caller waits for the answer."""

    task_id: str
    #: Whether the job makes the task; its row need not be looked for then.
    creates = False

    def __init__(self) -> None:
        self.loop: asyncio.AbstractEventLoop | None = None
        self.future: asyncio.Future[R] | None = None
        self.event: threading.Event | None = None
        self.result: R | None = None
        self.error: BaseException | None = None

    @abstractmethod
    def apply(self, batch: Batch) -> R:
        """Decide and change the batch's rows."""

    def artifact_key(self) -> str | None:
        """Return the key of the artifact that the job extends."""
        return None

    def claim(self) -> Claim | None:
        """Return the claim on the message that the job takes in, where none is to be taken in twice."""
        return None

    def failed(self) -> None:
        """The job could not be carried out, for a reason that is not its own."""

    def settle(self) -> None:
        """Wake the caller; in the thread of its loop."""
        if self.future is not None and not self.future.done():
            if self.error is not None:
                self.future.set_exception(self.error)
                self.future.exception()  # looked at: a caller who has left meanwhile need not see it
            else:
                self.future.set_result(self.result)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message on its way into a task: the wire (ids filled in by the journal) and what its sender asked for.

    ``push`` is a webhook for the task, a row without a task (R-040). With a ``claim`` it is taken in only once.
    """

    wire: Wire
    request: Wire
    push: PushConfig | None = None
    claim: Claim | None = None
    #: Those of its stored parts; and the message as it was before they were stored.
    files: tuple[uuid.UUID, ...] = ()
    given: Wire | None = None

    def check(self, batch: Batch) -> None:
        """Raise ``Repeated`` for a message that has been taken in before, and what ``Receipts.check`` raises."""
        if self.claim is not None:
            batch.receipts.check(self.claim)

    def row(self, batch: Batch, task: Task, now: dt.datetime) -> Message:
        """Put the message into the task's history."""
        message_id = self.wire["messageId"]
        text = wire.text_of({**self.wire, "contextId": task.context_id, "taskId": task.pk})
        known = not task._state.adding and batch.has_said(task, message_id, text)
        row = batch.add_message(task, text, message_id, self.wire["role"], known=known, now=now)
        row.request = wire.text_of(self.request) if self.request else None
        if self.push is not None:
            batch.outbox.put(task, self.push)
        if self.claim is not None:
            batch.receipts.give(self.claim, task, row.position)
        batch.give_files(task, self.files)
        return row


@dataclass(frozen=True, slots=True)
class Accepted:
    """A message that has been taken in.

    ``attempt`` is its run's number, None while it waits: for another run, or for room for one. ``start`` is the message
    that the caller has to run now: this one, an older one that was waiting, or none.
    """

    task: Task
    message: Message
    attempt: int | None
    start: Message | None
    seq: int
    #: The task's process is lost, and what it was at has to be decided first (``recovery``).
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A cancelled task; ``changed``: by this call, ``holder``: who was to run it, "" when no run was at work on it."""

    task: Task
    changed: bool
    holder: str = ""


class CreateTask(Job[Accepted]):
    """Make a task with its first message; its run starts at once, held by ``holder`` (R-021, R-113).

    Without a holder the task waits for a run. Raises ``ThrottledError`` when too many of its owner's do.
    """

    creates = True

    def __init__(self, task: Task, incoming: Incoming, holder: str) -> None:
        super().__init__()
        self.task_id = task.pk
        self.template = task
        self.incoming = incoming
        self.holder = holder

    def claim(self) -> Claim | None:
        return self.incoming.claim

    def check(self, batch: Batch) -> None:
        """Raise what keeps the task from being made."""
        self.incoming.check(batch)

    def apply(self, batch: Batch) -> Accepted:
        self.check(batch)
        t = self.template
        if not self.holder:
            check_queue(batch, t.owner)
        now = wire.now()
        task = Task(
            id=t.pk,
            context_id=t.context_id,
            context_key=t.context_key,
            agent=t.agent,
            owner=t.owner,
            user=t.user,
            tenant=t.tenant,
            state=TaskState.SUBMITTED.value,
            status_timestamp=now,
            created_at=now,
        )
        batch.create(task)
        message = self.incoming.row(batch, task, now)
        if not self.holder:
            batch.enqueue_new(task)
            return Accepted(task, message, None, None, task.last_seq)
        batch.take(task, message, self.holder, clock.lease_end(batch.using))
        return Accepted(task, message, task.attempt, message, task.last_seq)


class MakeTask(CreateTask):
    """Make a task unless it is there already: its run and the timer that makes it may both have come to it."""

    creates = False

    def check(self, batch: Batch) -> None:
        """Raise ``Fenced`` when the message is no longer this run's."""
        if self.incoming.claim is not None and not batch.receipts.holds(self.incoming.claim):
            raise Fenced(self.task_id)

    def apply(self, batch: Batch) -> Accepted:
        task = batch.task(self.task_id)
        if task is None:
            return super().apply(batch)
        message = Message.objects.using(batch.using).get(task_id=task.pk, position=1)
        return Accepted(task, message, message.attempt, message, task.last_seq)

    def again(self) -> MakeTask:
        """Return the same job, to be handed in once more."""
        return MakeTask(self.template, self.incoming, self.holder)


class AcceptMessage(Job[Accepted]):
    """Take in a message for a task that exists (R-033, R-034, R-117, R-118; order of checks D-20).

    Without a holder its task waits for a run. Raises ``ThrottledError`` when too many of the owner's do, and
    ``UnsupportedOperationError`` when it ``answers`` what the task asked when it had so many messages, and it does not
    ask that any more.
    """

    def __init__(
        self,
        task_id: str,
        incoming: Incoming,
        *,
        agent: str,
        owner: str,
        context_id: str,
        holder: str,
        answers: int | None = None,
    ) -> None:
        super().__init__()
        self.task_id = task_id
        self.incoming = incoming
        self.agent, self.owner, self.context_id = agent, owner, context_id
        self.holder = holder
        self.answers = answers

    def claim(self) -> Claim | None:
        return self.incoming.claim

    def apply(self, batch: Batch) -> Accepted:
        task = visible(batch, self.task_id, self.agent, self.owner)
        self.incoming.check(batch)
        if self.context_id and self.context_id != task.context_id:
            raise InvalidParamsError.of("message.context_id", "is not the context of the task")
        if task.state in TERMINAL:
            raise UnsupportedOperationError("The task has ended and takes no more messages")
        if self.answers is not None and (task.state not in INTERRUPTED or task.message_count != self.answers):
            raise UnsupportedOperationError("The task does not wait for this answer any more")
        if self.incoming.push is not None:
            batch.outbox.check(task, self.incoming.push)
        # There has to be room for an answer, too; the message of the current status comes into the history now.
        if task.message_count + (task.status_message is not None) + 1 >= a2a_settings.MAX_HISTORY:
            raise InvalidParamsError.of("message.task_id", "the history of the task is full, begin another task")
        is_lost = has_expired(batch, task)
        # A run that was lost at work comes first; one that had asked for this message has done its part. A task that
        # waits for a run goes on waiting: it has its place among the others.
        free = task.queued_at is None and (not task.lease_holder or (is_lost and batch.has_asked(task)))
        if free and not self.holder:
            check_queue(batch, task.owner)
        now = wire.now()
        batch.supersede_status(task, now)
        earlier = batch.waiting_message(task) if free and self.holder else None
        message = self.incoming.row(batch, task, now)
        start = (earlier or message) if free and self.holder else None
        if free and not self.holder:
            batch.enqueue_new(task)
        if start is not None:
            batch.take(task, start, self.holder, clock.lease_end(batch.using))
        return Accepted(task, message, message.attempt, start, task.last_seq, is_lost=is_lost and not free)


class Voice:
    """What a run says, as a whole: when one thing could not be recorded, nothing after it may be."""

    __slots__ = ("broken",)

    def __init__(self) -> None:
        self.broken = False


class Broken(Exception):
    """Something the run said earlier could not be recorded."""


class Append(Job[InvalidAgentResponseError | None]):
    """Record one thing a run has to say. Refused when the run is not the task's current one (fencing).

    Something that may not be recorded ends the task as FAILED, with ``refusal_text`` for its readers; the answer is
    the error then.
    """

    refusal_text = "The agent gave an invalid response."

    def __init__(self, task_id: str, attempt: int, change: Change, voice: Voice) -> None:
        super().__init__()
        self.task_id = task_id
        self.attempt = attempt
        self.change = change
        self.voice = voice

    def artifact_key(self) -> str | None:
        return key_of(self.change.artifact_id) if isinstance(self.change, ArtifactChunk) else None

    def failed(self) -> None:
        self.voice.broken = True

    def apply(self, batch: Batch) -> InvalidAgentResponseError | None:
        if self.voice.broken:
            raise Broken(self.task_id)
        task = current(batch, self.task_id, self.attempt)
        change = self.change
        if isinstance(change, ArtifactChunk):
            return self._chunk(batch, task, change)
        if not may_move(task.state, change.state):
            return self._refuse(batch, task, f"A task cannot go from {task.state} to {change.state}")
        if change.message and change.state not in TERMINAL and task.message_count >= a2a_settings.MAX_HISTORY:
            return self._refuse(batch, task, "The task has more messages than this site allows")
        batch.supersede_status(task, change.moment)
        known = change.message_id is not None and batch.has_message(task, change.message_id)
        batch.move(task, change.state, change.moment, change.message, change.metadata, known=known)
        batch.give_files(task, change.files)
        return None

    def _refuse(self, batch: Batch, task: Task, why: str) -> InvalidAgentResponseError:
        said = wire.message(
            message_id=uuid7(), context_id=task.context_id, task_id=task.pk, parts=[{"text": self.refusal_text}]
        )
        batch.move(task, TaskState.FAILED.value, wire.now(), wire.text_of(said))
        return InvalidAgentResponseError(why)

    def _chunk(self, batch: Batch, task: Task, change: ArtifactChunk) -> InvalidAgentResponseError | None:
        artifact = batch.artifact(task, change.artifact_id)
        size, chunks = len(change.text), 1
        if artifact is not None and change.append:
            size, chunks = artifact.size + size, artifact.chunks + 1
        if size > a2a_settings.MAX_ARTIFACT_BYTES or chunks > a2a_settings.MAX_ARTIFACT_CHUNKS:
            return self._refuse(batch, task, "The artifact is larger than this site allows")
        is_new = artifact is None
        if is_new and task.artifact_count >= a2a_settings.MAX_ARTIFACTS:
            return self._refuse(batch, task, "The task has more artifacts than this site allows")
        if artifact is None:
            artifact = Artifact(
                task=task, artifact_id=change.artifact_id, artifact_key=key_of(change.artifact_id), position=0
            )
        if is_new or not change.append:
            artifact.base_seq = task.last_seq + 1
            artifact.head = wire.text_of(change.head)
        else:
            artifact.head = merged_head(artifact.head, change.head)
        artifact.size, artifact.chunks, artifact.complete = size, chunks, change.last_chunk
        batch.add_chunk(task, artifact, change.text, wire.now(), is_new=is_new)
        batch.give_files(task, change.files)
        return None


class EndRun(Job[Accepted | None]):
    """A run has returned and left its task unfinished: release it, or take the next message that waits."""

    def __init__(self, task_id: str, attempt: int, holder: str, voice: Voice | None = None) -> None:
        super().__init__()
        self.task_id = task_id
        self.attempt = attempt
        self.holder = holder
        self.voice = voice

    def apply(self, batch: Batch) -> Accepted | None:
        if self.voice is not None and self.voice.broken:
            raise Broken(self.task_id)
        task = current(batch, self.task_id, self.attempt)
        message = batch.waiting_message(task)
        if message is None:
            batch.release(task)
            return None
        batch.take(task, message, self.holder, clock.lease_end(batch.using))
        return Accepted(task, message, task.attempt, message, task.last_seq)


class CancelTask(Job[Cancelled]):
    """Move a task to CANCELED and fence its run out (R-062, R-063, D-18)."""

    def __init__(self, task_id: str, *, agent: str, owner: str) -> None:
        super().__init__()
        self.task_id = task_id
        self.agent, self.owner = agent, owner

    def apply(self, batch: Batch) -> Cancelled:
        task = visible(batch, self.task_id, self.agent, self.owner)
        if task.state == TaskState.CANCELED:
            return Cancelled(task, changed=False)
        if task.state in TERMINAL:
            raise TaskNotCancelableError()
        holder = task.lease_holder
        batch.move(task, TaskState.CANCELED.value, wire.now())
        task.attempt += 1
        return Cancelled(task, changed=True, holder=holder)


def visible(batch: Batch, task_id: str, agent: str, owner: str) -> Task:
    """Return the task if the caller may know of it. Raises ``TaskNotFoundError`` (R-095, R-096)."""
    task = batch.task(task_id)
    if task is None or task.agent != agent or task.owner != owner:
        raise TaskNotFoundError()
    return task


def check_queue(batch: Batch, owner: str) -> None:
    """Raise ``ThrottledError`` when as many tasks of an owner wait for a run as may (D-35).

    Processes that take tasks in at the same moment do not see each other's.
    """
    if batch.waiting_of(owner) >= a2a_settings.MAX_QUEUED_PER_OWNER:
        raise ThrottledError("Too many of your tasks are waiting, please try again later")


def has_expired(batch: Batch, task: Task) -> bool:
    """Return whether a task has a lease that has run out. The database is asked only when it looks like it."""
    if task.lease_expires_at is None or task.lease_expires_at > clock.now(batch.using):
        return False
    return task.lease_expires_at <= clock.read(batch.using)


def current(batch: Batch, task_id: str, attempt: int) -> Task:
    """Return the task if ``attempt`` is its current run. Raises ``Fenced``."""
    task = batch.task(task_id)
    if task is None or task.attempt != attempt or task.state in TERMINAL or not task.lease_holder:
        raise Fenced(task_id)
    return task


def merged_head(old: str, new: Wire) -> str:
    """Return an artifact's head after a chunk was appended: what the chunk says is added, nothing is taken away.

    Most chunks say nothing but the id; then the stored text is returned as it is.
    """
    if len(new) == 1:
        return old
    return wire.text_of(appended(json.loads(old), new))
