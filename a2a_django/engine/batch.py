"""The rows of one journal transaction: loaded and locked once, changed in memory, written in a few statements.

Invariants:

* A row is changed only between ``load`` and ``save`` of the transaction that holds its lock.
* An event gets the next number of its task; numbers have no holes because task and events are written together.
* Whatever changes a task's state goes through ``move``, which keeps lease, history and tallies in step with it.
"""

from __future__ import annotations

import datetime as dt
import json
import uuid
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from django.db import connections, models, transaction

from a2a_django.engine import clock
from a2a_django.engine.outbox import Outbox
from a2a_django.engine.receipts import Receipts
from a2a_django.engine.statements import add_to_tally, insert, lock
from a2a_django.files import parts
from a2a_django.models import Artifact, EventKind, Message, Task, TaskEvent
from a2a_django.models.fields import key_of, uuid7
from a2a_django.protocol import wire
from a2a_django.protocol.states import TERMINAL, TaskState

#: What a journal write may change of a task that exists.
MUTABLE = (
    "state",
    "status_timestamp",
    "status_message",
    "status_message_known",
    "metadata",
    "last_seq",
    "message_count",
    "artifact_count",
    "has_push",
    "traceparent",
    "attempt",
    "lease_holder",
    "lease_expires_at",
    "queued_at",
    "queued_owner",
    "handed_in_at",
)
CHANGING_HEAD = ("head", "base_seq", "chunks", "size", "complete")


@dataclass(slots=True)
class Committed:
    """What a transaction did to one task, for the readers of its feed."""

    task_id: str
    state: str
    attempt: int
    running: bool
    last_seq: int
    message_count: int
    #: Whether webhooks have to be told that no sender knows of yet.
    push: bool = False
    created: bool = False
    #: Whose task it is while it waits for a run: somebody has to take it up. None when it does not wait.
    queued: str | None = None
    #: The agent of a task that has just come to wait: where there is a queue, it has to be given the task.
    hand_in: str | None = None
    #: (seq, text, state or "", attempt) of each new event, in order
    events: list[tuple[int, str, str, int]] = field(default_factory=list)


class Locked(Exception):
    """Another transaction holds the task; the job is to be tried again a little later."""


class Batch:
    """The rows that one transaction touches, on the database ``using``."""

    def __init__(self, using: str, shard: int) -> None:
        self.using = using
        self.shard = shard
        self.tasks: dict[str, Task] = {}
        self.locked: frozenset[str] = frozenset()
        self.created: list[Task] = []
        self.dirty: dict[str, Task] = {}
        self.messages: list[Message] = []
        self.taken: list[Message] = []
        #: How many tasks of an owner wait for a run, of the owners for whom it was asked.
        self._waiting: dict[str, int] = {}
        #: Tasks that have come to wait because of a message.
        self._coming: set[str] = set()
        #: What runs keep for the next attempt at their message, by task and attempt.
        self.checkpoints: dict[tuple[str, int], str] = {}
        #: The files of stored parts, by task.
        self.files: dict[str, list[uuid.UUID]] = {}
        self.artifacts: dict[tuple[str, str], Artifact] = {}
        self.new_artifacts: list[Artifact] = []
        self.changed_artifacts: dict[tuple[str, str], Artifact] = {}
        self.events: list[TaskEvent] = []
        self.outbox = Outbox(using)
        self.receipts = Receipts(using)
        self.tally: Counter[tuple[str, str, str]] = Counter()

    # ------------------------------------------------------------------------------------------------ loading

    def load(
        self, task_ids: Collection[str], artifact_keys: Collection[tuple[str, str]], *, wait: bool = False
    ) -> None:
        """Lock and read the tasks, and the artifacts that the jobs are about to extend.

        Without ``wait``, rows locked by others are passed over, where the database can do that: the transaction of
        one task (a site's own, maybe a long one) must not hold up all others.
        """
        if not task_ids:
            return
        ids = sorted(task_ids)
        self.tasks = lock(self.using, len(ids), wait)(ids)
        missing = [pk for pk in ids if pk not in self.tasks]
        if missing and not wait and connections[self.using].features.has_select_for_update_skip_locked:
            rows = Task.objects.using(self.using).filter(pk__in=missing)
            self.locked = frozenset(rows.values_list("pk", flat=True))
        keys = [pair for pair in artifact_keys if pair[0] in self.tasks and self.tasks[pair[0]].artifact_count]
        if keys:
            found = Artifact.objects.using(self.using).filter(
                task_id__in={pk for pk, _ in keys}, artifact_key__in={key for _, key in keys}
            )
            self.artifacts = {(row.task_id, row.artifact_key): row for row in found}

    def task(self, task_id: str) -> Task | None:
        """Return the task's row, None when there is none. Raises ``Locked`` when somebody else holds it."""
        if task_id in self.locked:
            raise Locked(task_id)
        return self.tasks.get(task_id)

    def has(self, task_id: str) -> bool:
        """Return whether the task's row is there and locked."""
        return task_id in self.tasks

    def artifact(self, task: Task, artifact_id: str) -> Artifact | None:
        """Return the artifact's row, None when the task has no such artifact."""
        return self.artifacts.get((task.pk, key_of(artifact_id)))

    # ------------------------------------------------------------------------------------------------ changing

    def create(self, task: Task) -> None:
        """Add a new task."""
        self.tasks[task.pk] = task
        self.created.append(task)

    def touch(self, task: Task) -> None:
        """Have the task's row written."""
        if task._state.adding is False:
            self.dirty[task.pk] = task

    def add_message(
        self, task: Task, text: str, message_id: str, role: str, *, known: bool, now: dt.datetime
    ) -> Message:
        """Append a message to the task's history; one that is ``known`` there is not shown again (D-22)."""
        task.message_count += 1
        message = Message(
            task=task,
            position=task.message_count,
            shown=not known,
            message_id=message_id,
            role=role,
            wire=text,
            created_at=now,
        )
        self.messages.append(message)
        self.touch(task)
        return message

    def has_message(self, task: Task, message_id: str) -> bool:
        """Return whether the history has a message with this id."""
        return any(True for _ in self._messages(task, message_id))

    def has_said(self, task: Task, message_id: str, text: str) -> bool:
        """Return whether the history has this message. Another one with the same id is not this one: who uses an id
        again has said something else all the same. (Nor is one whose large parts have been stored once more.)
        """
        others = list(self._messages(task, message_id))
        if not others:  # as nearly always; the message may be large
            return False
        said = wire.ordered_text_of(json.loads(text))
        return any(wire.ordered_text_of(json.loads(other)) == said for other in others)

    def _messages(self, task: Task, message_id: str) -> Iterator[str]:
        """The texts of the task's messages with this id."""
        yield from (m.wire for m in self.messages if m.task_id == task.pk and m.message_id == message_id)
        if task._state.adding:
            return
        rows = Message.objects.using(self.using).filter(task_id=task.pk, message_id=message_id)
        # MySQL does not tell capitals from small letters.
        yield from (text for found, text in rows.values_list("message_id", "wire") if found == message_id)

    def waiting_message(self, task: Task) -> Message | None:
        """Return the oldest message that no run has taken."""
        if not task._state.adding:
            rows = Message.objects.using(self.using).filter(task_id=task.pk, attempt__isnull=True)
            changed = [m for m in self.taken if m.task_id == task.pk]
            taken = {m.position for m in changed if m.attempt is not None}
            found = [m for m in changed if m.attempt is None]
            found += (m for m in rows.order_by("position")[: len(taken) + 1] if m.position not in taken)
            if found:
                return min(found, key=attrgetter("position"))
        return next((m for m in self.messages if m.task_id == task.pk and m.attempt is None), None)

    def message_of(self, task: Task, attempt: int) -> Message | None:
        """Return the user's message that a run has taken, with what the run has kept by now."""
        message = self._worked_on(task.pk, attempt).order_by("-position").first()
        if message is not None:
            message.checkpoint = self.checkpoints.get((task.pk, attempt), message.checkpoint)
        return message

    def has_asked(self, task: Task) -> bool:
        """Return whether the task's current run has asked for input; not whether one before it has."""
        if task.state != TaskState.INPUT_REQUIRED:
            return False
        if any(e.task_id == task.pk and e.attempt == task.attempt and e.state == task.state for e in self.events):
            return True
        rows = TaskEvent.objects.using(self.using).filter(task_id=task.pk, attempt=task.attempt)
        return rows.filter(kind=EventKind.STATUS.value, state=task.state).exists()

    def _worked_on(self, task_id: str, attempt: int) -> models.QuerySet[Message]:
        """The user's message that a run has taken; not what the agent said in it."""
        return Message.objects.using(self.using).filter(task_id=task_id, attempt=attempt, role="ROLE_USER")

    def take(self, task: Task, message: Message, holder: str, expires: dt.datetime) -> None:
        """Give the task to ``holder`` for a new run of ``message``."""
        task.attempt += 1
        task.lease_holder, task.lease_expires_at = holder, expires
        task.queued_at = task.queued_owner = task.handed_in_at = None
        message.attempt = task.attempt
        message.tries += 1
        task.traceparent = _traceparent_of(message)
        if message.pk is not None:  # its row exists already
            self.taken.append(message)
        self.touch(task)

    def release(self, task: Task) -> None:
        """Take the lease back."""
        task.lease_holder, task.lease_expires_at = "", None
        self.touch(task)

    def enqueue(self, task: Task, since: dt.datetime) -> None:
        """Have the task, which has a message that waits and nobody at work, wait for a run."""
        self.release(task)
        task.queued_at, task.queued_owner, task.handed_in_at = since, task.owner, None
        if task.owner in self._waiting:
            self._waiting[task.owner] += 1

    def enqueue_new(self, task: Task) -> None:
        """Have the task wait for a run because of a message that has come; the site's queue is about to be given it."""
        self.enqueue(task, clock.tick(self.using))
        task.handed_in_at = task.queued_at
        self._coming.add(task.pk)

    def put_back(self, task: Task, message: Message) -> None:
        """Have a message that was taken wait for a run again, in the place in which it came."""
        message.attempt = None
        self.taken.append(message)
        self.enqueue(task, message.created_at)

    def leave_queue(self, task: Task) -> None:
        """Have the task wait no longer."""
        if task.queued_at is not None:
            task.queued_at = task.queued_owner = task.handed_in_at = None
            self.touch(task)

    def waiting_of(self, owner: str) -> int:
        """Return how many tasks of an owner wait for a run. The database is asked once for a transaction."""
        if owner not in self._waiting:
            self._waiting[owner] = Task.objects.using(self.using).filter(queued_owner=owner).count() + sum(
                task.queued_owner == owner for task in self.created
            )
        return self._waiting[owner]

    def supersede_status(self, task: Task, now: dt.datetime) -> None:
        """Move the current status message into the history: something newer has come (D-22)."""
        if task.status_message is None:
            return
        if not task.status_message_known:
            old = json.loads(task.status_message)
            self.add_message(
                task, task.status_message, old["messageId"], old.get("role", "ROLE_AGENT"), known=False, now=now
            ).attempt = task.attempt
        task.status_message, task.status_message_known = None, False
        self.touch(task)

    def move(
        self,
        task: Task,
        state: str,
        moment: dt.datetime,
        message: str | None = None,
        metadata: str | None = None,
        *,
        known: bool = False,
    ) -> None:
        """Put the task into ``state`` and record the event; the caller has checked that the move is legal."""
        # A run may have said it before its task was in the database, or in a process whose clock is behind. For readers
        # and in lists the time of a task does not go back.
        now = max(moment, task.status_timestamp)
        self.supersede_status(task, now)
        task.state = state
        if state in TERMINAL:
            self.tally[task.agent, task.owner, state] += 1
        task.status_timestamp, task.status_message, task.status_message_known = now, message, known
        if metadata:
            merged = {**json.loads(task.metadata or "{}"), **json.loads(metadata)}
            task.metadata = wire.text_of(merged)
        attempt = task.attempt
        if state in TERMINAL:
            self.release(task)
            self.leave_queue(task)
        text = wire.status_update(task.pk, task.context_id, wire.status(state, now, message), metadata)
        self._event(task, EventKind.STATUS, text, now, state=state, attempt=attempt)

    def fail(self, task: Task, text: str) -> None:
        """End the task as FAILED, with a sentence for its readers."""
        said = wire.message(message_id=uuid7(), context_id=task.context_id, task_id=task.pk, parts=[{"text": text}])
        self.move(task, TaskState.FAILED.value, wire.now(), wire.text_of(said))

    def give_files(self, task: Task, files: Sequence[uuid.UUID]) -> None:
        """Give the task the files of parts that come into it."""
        if files:
            self.files.setdefault(task.pk, []).extend(files)

    def add_chunk(self, task: Task, artifact: Artifact, text: str, moment: dt.datetime, *, is_new: bool) -> None:
        """Record an artifact event; ``artifact`` has been brought up to date by the caller."""
        pair = (task.pk, artifact.artifact_key)
        if is_new:
            task.artifact_count += 1
            artifact.position = task.artifact_count
            self.artifacts[pair] = artifact
            self.new_artifacts.append(artifact)
        elif artifact.pk is not None:
            self.changed_artifacts[pair] = artifact
        self._event(task, EventKind.ARTIFACT, text, moment, artifact_key=artifact.artifact_key, attempt=task.attempt)

    def _event(
        self,
        task: Task,
        kind: EventKind,
        text: str,
        moment: dt.datetime,
        *,
        state: str = "",
        artifact_key: str = "",
        attempt: int,
    ) -> None:
        task.last_seq += 1
        self.events.append(
            TaskEvent(
                task=task,
                seq=task.last_seq,
                kind=kind.value,
                state=state,
                artifact_key=artifact_key,
                attempt=attempt,
                wire=text,
                created_at=moment,
            )
        )
        self.touch(task)

    # ------------------------------------------------------------------------------------------------ writing

    def save(self) -> None:
        """Write everything, parents before children, tasks in the order of their ids, tallies last."""
        using = self.using
        if self.created:
            insert(using, Task)(sorted(self.created, key=attrgetter("pk")))
            for task in self.created:  # agents get these objects into their hands
                task._state.adding, task._state.db = False, using
        if self.dirty:
            insert(using, Task, MUTABLE, ("id",))(sorted(self.dirty.values(), key=attrgetter("pk")))
        if self.messages:
            insert(using, Message)(self.messages)
        # Before the messages are given to other runs, by whose numbers they are found.
        for (task_id, attempt), text in sorted(self.checkpoints.items()):
            self._worked_on(task_id, attempt).update(checkpoint=text)
        for message in self.taken:
            Message.objects.using(using).filter(pk=message.pk).update(attempt=message.attempt, tries=message.tries)
        if self.new_artifacts:
            insert(using, Artifact)(self.new_artifacts)
        if self.changed_artifacts:
            rows = [self.changed_artifacts[pair] for pair in sorted(self.changed_artifacts)]
            insert(using, Artifact, CHANGING_HEAD, ("task", "artifact_key"))(rows)
        if self.events:
            insert(using, TaskEvent)(self.events)
        for task_id, files in sorted(self.files.items()):
            parts.claim(using, task_id, files)
        self.outbox.save(self.tasks, self.events)
        self.receipts.save()
        for (agent, owner, state), count in sorted(self.tally.items()):
            add_to_tally(using, agent, owner, state, self.shard, count)

    def is_stored(self) -> bool:
        """Return whether the transaction has taken place, for one whose COMMIT got no answer.

        Either all of its rows are there or none. If it is still under way, its end is waited for.
        """
        with transaction.atomic(using=self.using):
            tasks = Task.objects.using(self.using)
            stands = ("attempt", "lease_holder", "lease_expires_at", "message_count", "last_seq")
            task = next(iter(self.dirty.values()), None)
            row = task and tasks.select_for_update().filter(pk=task.pk).values_list(*stands).first()
            if self.events:
                event = self.events[0]
                events = TaskEvent.objects.using(self.using).filter(task_id=event.task_id, seq=event.seq)
                return (event.attempt, event.wire) in events.values_list("attempt", "wire")
            if self.messages:
                message = self.messages[0]
                messages = Message.objects.using(self.using).filter(task_id=message.task_id, position=message.position)
                return (message.message_id, message.wire) in messages.values_list("message_id", "wire")
            if (changed := self.outbox.is_stored()) is not None:
                return changed
            if self.checkpoints and task is None:
                return all(
                    text in self._worked_on(task_id, attempt).values_list("checkpoint", flat=True)
                    for (task_id, attempt), text in self.checkpoints.items()
                )
            if (stored := self.receipts.is_stored()) is not None:
                return stored
            return task is None or row == attrgetter(*stands)(task)

    def committed(self) -> list[Committed]:
        """Return what readers have to know once the transaction is committed."""
        touched = {task.pk: task for task in self.created} | self.dirty
        found = {
            pk: Committed(
                pk,
                task.state,
                task.attempt,
                bool(task.lease_holder),
                task.last_seq,
                task.message_count,
                queued=task.queued_owner,
            )
            for pk, task in touched.items()
        }
        for task in self.created:
            found[task.pk].created = True
        for pk in self._coming & found.keys():
            if touched[pk].handed_in_at is not None:
                found[pk].hand_in = touched[pk].agent
        for pk in self.outbox.told:
            found[pk].push = True
        for event in self.events:
            found[event.task_id].events.append((event.seq, event.wire, event.state, event.attempt))
        return list(found.values())


def _traceparent_of(message: Message) -> str:
    """Return the trace context that came with a message, "" for none."""
    if not message.request or '"traceparent"' not in message.request:
        return ""
    found: str = json.loads(message.request).get("traceparent", "")
    return found
