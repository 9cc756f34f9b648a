"""Prepares a PostgreSQL database for our server: `python -m benchmarks.site.fill_owners COUNT`.

Makes the tables and COUNT stored tasks, 1,000 for each owner. One task is made by a real call; the others are copies of
its row and its message, made by the database itself: a million rows would take Python a quarter of an hour. The tasks
of all owners are mixed in time, and so in the table, as they are on a busy site. Artifacts and events are left out: a
plain page reads none.
"""

from __future__ import annotations

import sys
from typing import Any

import django

from benchmarks.site.fill import real_task

PER_OWNER = 1_000
PER_CONTEXT = 10

#: Ids, times and owners of the copies: n is the number of a task, and its owner's tasks are `owners` apart.
NUMBERED = """
CREATE TEMP TABLE numbered AS
SELECT n,
    (lpad(to_hex(ms), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid::text
        AS id,
    md5('context' || n %% %(owners)s || '/' || n / %(owners)s / %(per_context)s)::uuid::text AS context_id,
    'app:owner-' || n %% %(owners)s AS owner,
    to_timestamp(ms / 1000.0) AS at
FROM (SELECT n, 1767225600000 + n * 731 AS ms FROM generate_series(0, %(count)s - 1) AS n) AS numbers
"""


def main(count: int) -> None:
    """Makes tables and tasks."""
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    copy_rows(real_task(), count)


def copy_rows(task_id: str, count: int) -> None:
    """Stores copies of a task for as many owners as there are thousands, and removes the task."""
    from django.db import connection, transaction

    from a2a_django.models import Message, Task, TaskTally

    owners = max(1, count // PER_OWNER)
    original = Task.objects.get(pk=task_id)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(NUMBERED, {"count": count, "owners": owners, "per_context": PER_CONTEXT})
        own = {
            "id": "new.id",
            "context_id": "new.context_id",
            # As `key_of` makes it.
            "context_key": "left(encode(sha256(convert_to(new.context_id, 'UTF8')), 'hex'), 32)",
            "owner": "new.owner",
            "status_timestamp": "new.at",
            "created_at": "new.at",
            "artifact_count": "0",
        }
        copy_row(cursor, Task, own, {"id": task_id})
        wire = "replace(replace(wire::text, %(task)s, new.id), %(context)s, new.context_id)::json"
        own = {"task_id": "new.id", "wire": wire, "created_at": "new.at"}
        copy_row(cursor, Message, own, {"task": task_id, "task_id": task_id, "context": original.context_id})
        original.delete()
        TaskTally.objects.all().delete()
        TaskTally.objects.bulk_create(
            TaskTally(
                agent=original.agent, owner=f"app:owner-{n}", state=original.state, shard=0, count=count // owners
            )
            for n in range(owners)
        )


def copy_row(cursor: Any, model: Any, own: dict[str, str], values: dict[str, Any]) -> None:
    """Insert a copy of one row for each number, with columns of its own."""
    columns = [field.column for field in model._meta.concrete_fields if field.column != "id" or "id" in own]
    names = ", ".join(f'"{column}"' for column in columns)
    picked = ", ".join(own.get(column, f'old."{column}"') for column in columns)
    key = "id" if "id" in own else "task_id"
    table = model._meta.db_table
    cursor.execute(
        f"INSERT INTO {table} ({names}) SELECT {picked} FROM {table} AS old, numbered AS new "  # noqa: S608 - names of ours
        f"WHERE old.{key} = %({key})s ORDER BY new.n",
        values,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
