"""Everything that belongs to one owner: to be handed out, and to be deleted.

An owner is what stands in the rows of the tasks (``access.owner_at``).
"""

from __future__ import annotations

import base64
import datetime as dt
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from django.db import transaction

from a2a_django import engine
from a2a_django.engine import snapshots
from a2a_django.engine.database import alias, persistently
from a2a_django.engine.feed import events_after
from a2a_django.engine.jobs import CancelTask
from a2a_django.files import markers, store
from a2a_django.models import Message, PushConfig, Task, TaskTally
from a2a_django.protocol import wire
from a2a_django.protocol.errors import TaskNotCancelableError, TaskNotFoundError
from a2a_django.protocol.states import TERMINAL
from a2a_django.retention import replies
from a2a_django.retention.deletion import Deleted, delete_tasks

#: Messages that are read at a time, and tasks that are deleted in one transaction.
PAGE = 500
BATCH = 200
#: How often tasks that came meanwhile are looked for.
ROUNDS = 10


def agents(using: str) -> Iterator[str]:
    """Give the slugs of all agents that have tasks, also of those that the code has no more: one look into an index
    for each."""
    rows = Task.objects.using(using).order_by("agent").values_list("agent", flat=True)
    found = rows.first()
    while found is not None:
        yield found
        found = rows.filter(agent__gt=found).first()


def task_ids(owner: str) -> Iterator[list[str]]:
    """Give the ids of an owner's tasks, oldest first, for one agent after the other."""
    using = alias()
    for agent in list(agents(using)):
        rows = Task.objects.using(using).visible_to(agent=agent, owner=owner).order_by("pk")
        yield list(rows.values_list("pk", flat=True))


# ------------------------------------------------------------------------------------------------------- export


def export(owner: str, *, with_files: bool = False) -> Iterator[str]:
    """Give lines of JSON: each task, and after it its messages, artifacts, events, webhooks and stored files; then
    replies without a task, as agents with ``deduplicate`` keep them.

    A line is an object with a ``type`` and a member of that name, which is what the protocol has for it; besides, what
    only the rows know. A task and its artifacts are as of one moment, and its events go up to that moment. The secrets
    of webhooks are left out. The address of a stored part is ``a2a-file:`` and the id of its file; ``with_files``: the
    bytes stand with the files.
    """
    using = alias()
    for ids in task_ids(owner):
        for task_id in ids:
            row = Task.objects.using(using).filter(pk=task_id).first()
            if row is not None and row.owner == owner:  # else deleted meanwhile
                yield from map(markers.without_secrets, _lines(using, row))
                yield from _files(row, with_files)
    for reply in replies.without_task(using).filter(owner=owner, reply__isnull=False).order_by("created_at").iterator():
        names = {"agent": reply.agent, "owner": reply.owner, "messageId": reply.message_id}
        yield _line("reply", reply.reply or "{}", **names, createdAt=_moment(reply.created_at))


def _lines(using: str, row: Task) -> Iterator[str]:
    snapshot = snapshots.read(row.pk, agent=row.agent, owner=row.owner, history_length=0)
    if snapshot is None:
        return
    task = json.loads(snapshot.text)
    artifacts = task.pop("artifacts", ())
    names = {"agent": row.agent, "owner": row.owner, "user": row.user, "tenant": row.tenant}
    yield _line("task", wire.text_of(task), **names, createdAt=_moment(row.created_at))
    position = 0
    messages = Message.objects.using(using).filter(task_id=row.pk).order_by("position")
    while page := list(messages.filter(position__gt=position)[:PAGE]):
        for message in page:
            yield _line(
                "message",
                message.wire,
                taskId=row.pk,
                number=message.position,
                inHistory=message.shown,
                request=json.loads(message.request) if message.request else {},
                createdAt=_moment(message.created_at),
            )
        position = page[-1].position
    for artifact in artifacts:
        yield _line("artifact", wire.text_of(artifact), taskId=row.pk)
    seq = 0
    while events := [event for event in events_after(row.pk, seq) if event[0] <= snapshot.seq]:
        for number, text, _, attempt in events:
            yield _line("event", text, taskId=row.pk, number=number, attempt=attempt)
        seq = events[-1][0]
    for config in PushConfig.objects.using(using).filter(task_id=row.pk).order_by("pk"):
        told: dict[str, Any] = {"id": config.config_id, "taskId": row.pk, "url": config.url}
        if config.scheme:
            told["authentication"] = {"scheme": config.scheme}
        yield _line("pushConfig", wire.text_of(told), createdAt=_moment(config.created_at))


def _files(row: Task, with_files: bool) -> Iterator[str]:
    for file in store.rows().filter(task_id=row.pk).order_by("created_at", "pk"):
        told: dict[str, Any] = {"id": str(file.pk), "storage": file.storage, "name": file.name}
        told |= {"size": file.size, "sha256": file.sha256, "mediaType": file.media_type, "filename": file.filename}
        if with_files:
            with store.open_file(file) as opened:
                told["raw"] = base64.b64encode(opened.read()).decode()
        yield _line("file", wire.text_of(told), taskId=row.pk, createdAt=_moment(file.created_at))


def _line(kind: str, text: str, **more: Any) -> str:
    return f'{{"type":"{kind}",{wire.text_of(more)[1:-1]},"{kind}":{text}}}'


def _moment(moment: dt.datetime) -> str:
    return wire.timestamp(moment)


# ------------------------------------------------------------------------------------------------------ deletion


def count(owner: str) -> tuple[int, int]:
    """Return how many tasks an owner has, and how many of them have not ended."""
    using = alias()
    total = active = 0
    for agent in list(agents(using)):
        rows = Task.objects.using(using).visible_to(agent=agent, owner=owner)
        total += rows.count()
        active += rows.exclude(state__in=TERMINAL).count()
    return total, active


def delete(owner: str, *, cancel: bool) -> Deleted:
    """Delete all tasks of an owner that have ended, with everything that belongs to them, and the owner's tallies.

    With ``cancel`` those that have not ended are cancelled first: the journal moves them to CANCELED, which their runs
    learn of wherever they are. Tasks that are made meanwhile are deleted, too, but not for ever. What is left are those
    that have not ended, without ``cancel``, and those that rows of the site's own models keep (``protected``). Files
    that a storage does not remove now (``files.store.waiting``) are tried again by the next pruning. Replies without a
    task go along.
    """
    using = alias()
    done = Deleted()
    kept: set[str] = set()
    for _ in range(ROUNDS):
        found = [pk for ids in task_ids(owner) for pk in ids if pk not in kept]
        if not found:
            break
        for start in range(0, len(found), BATCH):
            some = found[start : start + BATCH]
            if cancel:
                _cancel(using, some)
            deleted = delete_tasks(using, some)
            done.states += deleted.states
            done.protected += deleted.protected
        kept.update(done.protected)
        if not cancel:
            kept.update(found)
    rows = replies.without_task(using).filter(owner=owner)
    while count := persistently(using, partial(replies.delete_some, rows, BATCH)):
        done.replies += count
    persistently(using, lambda: _delete_tallies(using, owner))
    while sum(store.remove_some(BATCH)):
        pass
    return done


def _cancel(using: str, ids: list[str]) -> None:
    active = Task.objects.using(using).filter(pk__in=ids).exclude(state__in=TERMINAL)
    for task in active.only("pk", "agent", "owner"):
        with suppress(TaskNotFoundError, TaskNotCancelableError):  # it has ended by itself, or is gone
            engine.get().journal.write(CancelTask(task.pk, agent=task.agent, owner=task.owner))


def _delete_tallies(using: str, owner: str) -> None:
    """Delete the tallies that say nothing any more. A writer who adds to one of them makes it anew."""
    with transaction.atomic(using=using):
        rows = TaskTally.objects.using(using).filter(owner=owner).select_for_update()
        shards: dict[tuple[str, str], list[TaskTally]] = {}
        for row in rows.order_by("agent", "owner", "state", "shard"):
            shards.setdefault((row.agent, row.state), []).append(row)
        empty = [row.pk for some in shards.values() if sum(row.count for row in some) == 0 for row in some]
        TaskTally.objects.using(using).filter(pk__in=empty).delete()
