"""Tasks for tests of retention."""

from __future__ import annotations

import json
from typing import Any

from a2a_django.engine import snapshots
from a2a_django.engine.journal import Journal
from a2a_django.engine.push_jobs import PutPushConfig
from a2a_django.models import Artifact, Message, PushConfig, PushCursor, PushDelivery, Task, TaskEvent
from tests.engine.writing import chunk, create, says, status
from tests.push.kit import config


def made(writer: Journal, state: str = "", *, owner: str = "alice", agent: str = "tested") -> Task:
    """A task with an artifact of two chunks, one that was replaced, and, with ``state``, its end."""
    task = create(writer, owner=owner, agent=agent).task
    writer.write(says(task, status(task, "WORKING")))
    for text, options in (
        ("a", {"append": False}),
        ("b", {}),
        ("old", {"artifact_id": "again", "append": False}),
        ("new", {"artifact_id": "again", "append": False}),
    ):
        writer.write(says(task, chunk(task, text, **options)))  # type: ignore[arg-type]
    if state:
        writer.write(says(task, status(task, state, "said at the end")))
    return task


def with_webhook(writer: Journal, state: str, *, waiting: bool) -> Task:
    """A task that has ended, with a webhook that has been told everything, or nothing. Nobody sends here."""
    task = create(writer).task
    writer.write(
        PutPushConfig(task.pk, config("https://hook.example/", token="secret-1"), agent="tested", owner="alice")
    )
    writer.write(says(task, status(task, state)))
    if not waiting:
        PushConfig.objects.filter(task=task).update(due_at=None)
    return task


def read(task: Task) -> dict[str, Any]:
    """The task as callers get it."""
    found = snapshots.read(task.pk, agent=task.agent, owner=task.owner)
    assert found is not None
    value: dict[str, Any] = json.loads(found.text)
    return value


def nothing_left(*tasks: Task) -> bool:
    """Whether no row of these tasks is left in any table."""
    ids = [task.pk for task in tasks]
    gone = not Task.objects.filter(pk__in=ids).exists()
    of_task = (Artifact, Message, PushConfig, TaskEvent)
    return (
        gone
        and not any(model._base_manager.filter(task__in=ids).exists() for model in of_task)
        and not any(model._base_manager.filter(config__task__in=ids).exists() for model in (PushCursor, PushDelivery))
    )
