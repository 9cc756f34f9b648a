"""What a run has to know of the past: messages, referenced tasks, the sender."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser

from a2a_django.agents.callers import APPLICATION, Application
from a2a_django.engine import snapshots
from a2a_django.engine.database import alias
from a2a_django.engine.snapshots import Snapshot
from a2a_django.models import EventKind, Message, Task, TaskEvent
from a2a_django.models.fields import key_of
from a2a_django.protocol.states import TERMINAL

#: Tasks that a message may refer to and messages of a context that an agent is given, at most.
MAX_REFERENCES = 100
MAX_CONVERSATION = 1000


@dataclass(frozen=True, slots=True)
class Past:
    """What was before a message: the task as it stood, the earlier messages, the referenced tasks, the sender."""

    snapshot: Snapshot | None
    messages: list[str]
    references: list[Task]
    user: Any
    #: For a message that waited when it was accepted: the run that has taken it since, and what that run had reported
    #: when ``snapshot`` was read.
    attempt: int | None = None
    reported: str = ""


def past_of(message: Message, *, history_length: int | None, user: Any = None) -> Past:
    """Read the past of a message of a task that exists; ``user`` is looked up when it is not given.

    The sender of a follow-up stands with its request: users who share their tasks must not be taken for one another.
    """
    task = message.task
    if user is None:
        user = user_of(json.loads(message.request or "{}").get("user", task.user))
    earlier = Message.objects.using(alias()).filter(task_id=task.pk, position__lt=message.position, shown=True)
    return Past(
        snapshots.read(task.pk, agent=task.agent, owner=task.owner, history_length=history_length),
        list(earlier.order_by("position").values_list("wire", flat=True)),
        references(message.data.get("referenceTaskIds", ()), agent=task.agent, owner=task.owner),
        user,
    )


def past_of_waiting(message: Message, *, history_length: int | None) -> Past:
    """Read the past of a message that waits for a run; by now it may have been taken, and its run be over."""
    past = past_of(message, history_length=history_length)
    if past.snapshot is None:
        return past
    attempt, reported = _run_of(message.position, past.snapshot)
    return replace(past, attempt=attempt, reported=reported)


def standing(
    task_id: str, position: int, *, agent: str, owner: str, history_length: int | None
) -> tuple[Snapshot, int | None, str] | None:
    """Read where a task stands, which run has taken one of its messages by then, and what that run had reported last.

    None when there is no such task that the caller may see.
    """
    snapshot = snapshots.read(task_id, agent=agent, owner=owner, history_length=history_length)
    return None if snapshot is None else (snapshot, *_run_of(position, snapshot))


def _run_of(position: int, snapshot: Snapshot) -> tuple[int | None, str]:
    """Return the run that had taken a message when ``snapshot`` was read, and what that run had reported last."""
    rows = Message.objects.using(alias()).filter(task_id=snapshot.task_id, position=position)
    attempt = rows.values_list("attempt", flat=True).first()
    if attempt is None or attempt > snapshot.attempt:
        return None, ""
    events = TaskEvent.objects.using(alias()).filter(task_id=snapshot.task_id, seq__lte=snapshot.seq)
    states = events.filter(attempt=attempt, kind=EventKind.STATUS.value).order_by("-seq")
    return attempt, states.values_list("state", flat=True).first() or ""


def references(task_ids: Sequence[str], *, agent: str, owner: str) -> list[Task]:
    """Read the referenced tasks that the caller may see, in the order in which they were named (R-120)."""
    if not task_ids:
        return []
    ids = list(dict.fromkeys(task_ids))[:MAX_REFERENCES]
    rows = Task.objects.using(alias()).visible_to(agent=agent, owner=owner).in_bulk(ids)
    return [rows[pk] for pk in ids if pk in rows]


def user_of(pk: str) -> Any:
    """Return the user with a primary key, an AnonymousUser when there is none (any more), or the application."""
    if pk.startswith(APPLICATION):
        return Application(pk.removeprefix(APPLICATION))
    user = get_user_model()._default_manager.filter(pk=pk).first() if pk else None
    return user or AnonymousUser()


def state_of(task_id: str) -> str | None:
    """Return the state of a task; None when it does not exist."""
    return Task.objects.using(alias()).filter(pk=task_id).values_list("state", flat=True).first()


def is_at_rest(task_id: str, *, agent: str, owner: str) -> bool:
    """Return whether a task of the owner's is neither at work nor waits for a run, and takes messages."""
    rows = Task.objects.using(alias()).visible_to(agent=agent, owner=owner)
    return rows.filter(pk=task_id, lease_holder="", queued_at__isnull=True).exclude(state__in=TERMINAL).exists()


def conversation(context_id: str, *, agent: str, owner: str, task_id: str, but: int) -> list[str]:
    """Read the messages of the caller's tasks in a context, oldest first: those of other tasks, and the first ``but``
    of task ``task_id`` (the rest is the present)."""
    rows = Message.objects.using(alias()).filter(
        task__agent=agent,
        task__owner=owner,
        task__context_key=key_of(context_id),
        shown=True,
    )
    found = rows.order_by("-pk").values_list("task_id", "position", "wire")[:MAX_CONVERSATION]
    return [text for pk, position, text in reversed(found) if pk != task_id or position <= but]
