"""Tasks as they are read: the text of a Task put together from its rows.

A snapshot is consistent without a transaction. The task's row is read first and says how far it goes (``last_seq``,
``message_count``, ``artifact_count``); nothing newer is taken. The one thing that can be newer and cannot be told
apart, an artifact that was replaced in between, is noticed and the reading is repeated.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Greatest

from a2a_django.engine.database import alias
from a2a_django.models import Artifact, EventKind, Message, Task, TaskEvent
from a2a_django.protocol import wire

#: Rounds of reading before a snapshot is taken although an artifact is being replaced all the time.
ROUNDS = 5

#: The columns of a task that a snapshot needs, in the order of ``Head``.
HEAD = (
    "id",
    "context_id",
    "state",
    "status_timestamp",
    "status_message",
    "metadata",
    "last_seq",
    "message_count",
    "artifact_count",
    "attempt",
    "lease_holder",
)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A task at event ``seq``; ``text`` is the Task."""

    task_id: str
    text: str
    state: str
    seq: int
    attempt: int
    running: bool


def of_row(task: Task, *, history: Sequence[str] | None, artifacts: Sequence[str] | None = None) -> Snapshot:
    """Return the snapshot of a row whose messages and artifacts are at hand."""
    text = wire.task(
        task_id=task.pk,
        context_id=task.context_id,
        status=wire.status(task.state, task.status_timestamp, task.status_message),
        artifacts=artifacts,
        history=history,
        metadata=task.metadata,
    )
    return Snapshot(task.pk, text, task.state, task.last_seq, task.attempt, bool(task.lease_holder))


def read(
    task_id: str,
    *,
    agent: str,
    owner: str,
    history_length: int | None = None,
    artifacts: bool = True,
) -> Snapshot | None:
    """Read one task of a caller, None when there is none the caller may see (R-050, R-096).

    ``history_length`` limits the history to the newest messages; 0 leaves it out, None is everything (R-014 to R-016).
    """
    for last in reversed(range(ROUNDS)):
        rows = Task.objects.using(alias()).visible_to(agent=agent, owner=owner).filter(pk=task_id)
        head = rows.values_list(*HEAD).first()
        if head is None:
            return None
        (found, whole) = read_many([head], history_length=history_length, artifacts=artifacts)
        if whole or not last:
            return found[0]
    raise AssertionError("the last round returns")


def read_many(
    heads: Sequence[tuple[object, ...]], *, history_length: int | None, artifacts: bool
) -> tuple[list[Snapshot], bool]:
    """Complete rows of ``HEAD`` to snapshots with at most three queries; False: an artifact was replaced meanwhile."""
    counts = {str(head[0]): int(str(head[7])) for head in heads if head[7]}
    messages = _messages(counts, history_length) if history_length != 0 and counts else {}
    with_artifacts = [head for head in heads if artifacts and head[8]]
    found, whole = _artifacts(with_artifacts) if with_artifacts else ({}, True)
    snapshots = []
    for head in heads:
        pk, context_id, state, moment, message, metadata, seq, _, _, attempt, holder = head
        text = wire.task(
            task_id=str(pk),
            context_id=str(context_id),
            status=wire.status(str(state), moment, message),  # type: ignore[arg-type]
            artifacts=found.get(str(pk)),
            history=messages.get(str(pk)),
            metadata=metadata,  # type: ignore[arg-type]
        )
        snapshots.append(Snapshot(str(pk), text, str(state), seq, attempt, bool(holder)))  # type: ignore[arg-type]
    return snapshots, whole


def _messages(counts: dict[str, int], history_length: int | None) -> dict[str, list[str]]:
    """Return the history of each task as of its ``message_count``, or the newest part of it."""
    shown = Message.objects.using(alias()).filter(shown=True)
    rows = shown.filter(task_id__in=list(counts))
    if history_length is not None:
        # Never below zero: MySQL computes with unsigned numbers. Nothing on the side of the column, for the index.
        rows = rows.filter(position__gt=Greatest(F("task__message_count"), history_length) - history_length)
    found: dict[str, list[str]] = {pk: [] for pk in counts}
    for task_id, position, text in rows.order_by("task_id", "position").values_list("task_id", "position", "wire"):
        if position <= counts[task_id]:
            found[task_id].append(text)
    if history_length is not None:
        for pk, count in counts.items():
            if len(found[pk]) < min(history_length, count):  # some of the newest are hidden, or are too new
                newest = shown.filter(task_id=pk, position__lte=count).order_by("-position")
                found[pk] = list(newest.values_list("wire", flat=True)[:history_length])[::-1]
    return found


def _artifacts(heads: Iterable[tuple[object, ...]]) -> tuple[dict[str, list[str]], bool]:
    """Return the texts of the artifacts of each task, and whether all were as of the task's ``last_seq``."""
    limits = {str(head[0]): (int(str(head[6])), int(str(head[8]))) for head in heads}
    whole = True
    rows: dict[str, list[tuple[str, str, int]]] = {}
    found = Artifact.objects.using(alias()).filter(task_id__in=list(limits)).order_by("task_id", "position")
    for task_id, key, head, base, position in found.values_list(
        "task_id", "artifact_key", "head", "base_seq", "position"
    ):
        seq, count = limits[task_id]
        if position <= count:
            whole = whole and base <= seq
            rows.setdefault(task_id, []).append((key, head, base))
    first = {(task_id, key): base for task_id, items in rows.items() for key, _, base in items}
    parts: dict[tuple[str, str], list[str]] = {}
    events = TaskEvent.objects.using(alias()).filter(task_id__in=list(limits), kind=EventKind.ARTIFACT.value)
    for task_id, key, seq, text in events.order_by("task_id", "seq").values_list(
        "task_id", "artifact_key", "seq", "wire"
    ):
        start = first.get((task_id, key))
        if start is not None and start <= seq <= limits[task_id][0]:
            parts.setdefault((task_id, key), []).append(parts_of(text))
    texts = {
        task_id: [wire.artifact(head, parts[task_id, key]) for key, head, _ in items if (task_id, key) in parts]
        for task_id, items in rows.items()
    }
    return texts, whole


def parts_of(event: str) -> str:
    """Return the parts of an artifact event's text, comma-joined."""
    return wire.text_of(json.loads(event)["artifactUpdate"]["artifact"]["parts"])[1:-1]
