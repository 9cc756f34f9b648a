"""Prepares a database for our server: `python -m benchmarks.site.fill COUNT` makes the tables and COUNT stored tasks.

One task is made by a real call, through the views and the engine. The others are copies of its rows with ids, times and
contexts of their own, put in by bulk inserts: so they are exactly what the server writes, whatever that is.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import django
from asgiref.sync import async_to_sync

BATCH = 500
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def main(count: int) -> None:
    """Makes tables and tasks."""
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    if count:
        copy_task(real_task(), count - 1)


def real_task() -> str:
    """Calls the echo agent; returns the id of the task it has left."""
    from django.test import AsyncClient

    from benchmarks import wire

    async def call() -> bytes:
        body = wire.send_message("/a2a/", 0).partition(b"\r\n\r\n")[2]
        response = await AsyncClient().post(
            "/a2a/", data=body, content_type="application/json", headers={"a2a-version": "1.0"}
        )
        return bytes(response.content)

    answer = async_to_sync(call)()
    wire.check_sent(0, answer)
    return str(json.loads(answer)["result"]["task"]["id"])


def copy_task(task_id: str, copies: int) -> None:
    """Stores `copies` more tasks like this one, all older than it."""
    from django.db import transaction
    from django.db.models import F

    from a2a_django.models import Artifact, Message, Task, TaskEvent, TaskTally
    from a2a_django.models.fields import key_of
    from benchmarks.rows import StoredTask, stored_tasks

    original = Task.objects.get(pk=task_id)
    parts = {
        model: list(model.objects.filter(task=original).order_by("pk")) for model in (Message, Artifact, TaskEvent)
    }

    def copied(row: Any, task: StoredTask, new_id: str) -> Any:
        values = {}
        for field in row._meta.concrete_fields:
            value = getattr(row, field.attname)
            if isinstance(value, str):
                value = value.replace(original.pk, new_id).replace(original.context_id, task.context_id)
                value = _TIMESTAMP.sub(f"{task.at:%Y-%m-%dT%H:%M:%S}.{task.at.microsecond // 1000:03d}Z", value)
            elif isinstance(value, datetime):
                value = task.at
            values[field.attname] = value
        if row is original:
            values["context_key"] = key_of(task.context_id)
        else:
            del values[row._meta.pk.attname]
        return type(row)(**values)

    with transaction.atomic():
        for batch in _batches((task, _task_id(task)) for task in stored_tasks(copies)):
            Task.objects.bulk_create([copied(original, task, new_id) for task, new_id in batch])
            for model, rows in parts.items():
                model.objects.bulk_create([copied(row, task, new_id) for task, new_id in batch for row in rows])
        tally = TaskTally.objects.filter(agent=original.agent, owner=original.owner, state=original.state)
        if tally.update(count=F("count") + copies) != 1:
            raise RuntimeError("one call has to leave one tally of its final state")


def _task_id(task: Any) -> str:
    """A UUIDv7 of the task's time."""
    milliseconds = int(task.at.timestamp() * 1000)
    random = uuid.uuid5(uuid.NAMESPACE_OID, str(task.number)).int & (1 << 74) - 1
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | random >> 62 << 64 | 2 << 62 | random & (1 << 62) - 1))


def _batches(tasks: Iterable[Any]) -> Iterator[list[Any]]:
    rest = iter(tasks)
    while batch := list(islice(rest, BATCH)):
        yield batch


if __name__ == "__main__":
    main(int(sys.argv[1]))
