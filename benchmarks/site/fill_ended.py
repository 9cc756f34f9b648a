"""Prepares a PostgreSQL database for our server: `python -m benchmarks.site.fill_ended COUNT`.

Makes the tables and COUNT tasks of one owner that ended long ago, whole: with message, artifact and events. They are
copies of one that was made by a real call, made by the database itself.
"""

from __future__ import annotations

import sys

import django

from benchmarks.site.fill import real_task
from benchmarks.site.fill_owners import NUMBERED, copy_row


def main(count: int) -> None:
    """Makes tables and tasks."""
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    copy_task(real_task(), count)


def copy_task(task_id: str, count: int) -> None:
    """Stores copies of a task, and removes it."""
    from django.db import connection, transaction

    from a2a_django.models import Artifact, Message, Task, TaskEvent, TaskTally

    original = Task.objects.get(pk=task_id)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(NUMBERED, {"count": count, "owners": 1, "per_context": 10})
        own = {
            "id": "new.id",
            "context_id": "new.context_id",
            # As `key_of` makes it.
            "context_key": "left(encode(sha256(convert_to(new.context_id, 'UTF8')), 'hex'), 32)",
            "status_timestamp": "new.at",
            "created_at": "new.at",
        }
        copy_row(cursor, Task, own, {"id": task_id})
        values = {"task": task_id, "task_id": task_id, "context": original.context_id}
        wire = "replace(replace(wire::text, %(task)s, new.id), %(context)s, new.context_id)::json"
        copy_row(cursor, Message, {"task_id": "new.id", "wire": wire, "created_at": "new.at"}, values)
        copy_row(cursor, Artifact, {"task_id": "new.id"}, values)
        copy_row(cursor, TaskEvent, {"task_id": "new.id", "wire": wire, "created_at": "new.at"}, values)
        original.delete()
        TaskTally.objects.all().delete()
        TaskTally.objects.create(agent=original.agent, owner=original.owner, state=original.state, shard=0, count=count)


if __name__ == "__main__":
    main(int(sys.argv[1]))
