"""Pages of the admin over many tasks: `python -m benchmarks.site.admin_pages TASKS EVENTS ROUNDS`, on PostgreSQL.

Makes TASKS tasks of 1,000 owners and 40 tenants, one task with EVENTS events, then asks for each page ROUNDS times and
prints a JSON list of [page, milliseconds of each round, those of them that Python took, queries].
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import django

from benchmarks.site.fill import real_task
from benchmarks.site.fill_owners import NUMBERED, PER_CONTEXT, copy_row

Page = tuple[str, list[float], list[float], int]

#: One in a thousand waits, one in fifty has failed, the others are completed.
STATE = """CASE WHEN new.n % 1000 = 7 THEN 'TASK_STATE_INPUT_REQUIRED' WHEN new.n % 50 = 3 THEN 'TASK_STATE_FAILED'
ELSE 'TASK_STATE_COMPLETED' END"""


def main(tasks: int, events: int, rounds: int) -> None:
    """Makes the tasks and measures the pages."""
    django.setup()
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0)
    _fill(real_task(), tasks)
    long = _long_task(events)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    print(json.dumps(_measured(long, rounds)))


def _fill(task_id: str, count: int) -> None:
    """Stores copies of a task, mixed in state, owner and tenant, each with its message."""
    from django.db import connection, transaction

    from a2a_django.models import Message, Task

    original = Task.objects.get(pk=task_id)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(NUMBERED, {"count": count, "owners": 1000, "per_context": PER_CONTEXT})
        own = {
            "id": "new.id",
            "context_id": "new.context_id",
            "context_key": "left(encode(sha256(convert_to(new.context_id, 'UTF8')), 'hex'), 32)",
            "owner": "new.owner",
            "tenant": "'tenant-' || new.n % 40",
            "state": STATE,
            "status_timestamp": "new.at",
            "created_at": "new.at",
            "artifact_count": "0",
        }
        copy_row(cursor, Task, {name: sql.replace("%", "%%") for name, sql in own.items()}, {"id": task_id})
        wire = "replace(replace(wire::text, %(task)s, new.id), %(context)s, new.context_id)::json"
        own = {"task_id": "new.id", "wire": wire, "created_at": "new.at"}
        copy_row(cursor, Message, own, {"task": task_id, "task_id": task_id, "context": original.context_id})
        original.delete()


def _long_task(events: int) -> str:
    """Makes a task with so many events, by the journal; returns its id."""
    from a2a_django import engine
    from a2a_django.agents import content
    from a2a_django.engine.jobs import Append, CreateTask, Incoming, Voice
    from a2a_django.models import Task
    from a2a_django.models.fields import key_of, uuid7

    journal = engine.get().journal
    context = uuid7()
    task = Task(id=uuid7(), context_id=context, context_key=key_of(context), agent="echo", owner="app:owner-1")
    message = {"messageId": uuid7(), "role": "ROLE_USER", "parts": [{"text": "Tell me a long story"}]}
    made = journal.write(CreateTask(task, Incoming(message, {}), journal.holder)).task
    ids = {"task_id": made.pk, "context_id": context}
    jobs = [
        Append(made.pk, 1, content.artifact_chunk([f"word {n} "], artifact_id="story", append=n > 0, **ids), Voice())
        for n in range(events)
    ]
    if not journal.write_all(jobs, 300) or any(job.error for job in jobs):
        raise RuntimeError("The events could not be written")
    pk: str = made.pk
    engine.shutdown()
    return pk


def _measured(long: str, rounds: int) -> list[Page]:
    from django.contrib.auth import get_user_model
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from a2a_django.models import Task

    user = get_user_model().objects.create_superuser("admin")
    client = Client()
    client.force_login(user)
    middle = Task.objects.order_by("pk")[Task.objects.count() // 2]
    tasks, old = "/admin/a2a_django/task/", f"{middle.created_at:%Y-%m}"
    pages = {
        "tasks, first page": tasks,
        "tasks, a page in the middle": f"{tasks}?p={middle.pk}",
        "tasks failed (1 in 50)": f"{tasks}?state=TASK_STATE_FAILED",
        "tasks that wait (1 in 1,000)": f"{tasks}?state=waiting",
        "tasks rejected (none)": f"{tasks}?state=TASK_STATE_REJECTED",
        "tasks of a tenant (1 in 40)": f"{tasks}?tenant=tenant-7",
        "tasks of a month": f"{tasks}?created={old}",
        "search: an id": f"{tasks}?q={middle.pk}",
        "search: a context": f"{tasks}?q={middle.context_id}",
        "search: an owner": f"{tasks}?q=owner:{middle.owner}",
        "search: words, found": f"{tasks}?q=text:story",
        "search: words, not there": f"{tasks}?q=nowhere+to+be+found",
        "inbox": "/admin/a2a_django/waitingtask/",
        "a task": f"{tasks}{middle.pk}/change/",
        "the long task, newest events": f"{tasks}{long}/change/",
        "the long task, oldest events": f"{tasks}{long}/change/?upto=200",
        "the long task, what is new": f"{tasks}{long}/news/?after={rounds}&position=1",
    }
    found: list[Page] = []
    for name, address in pages.items():
        with CaptureQueriesContext(connection) as queries:
            _get(client, address)
        count = len(queries)  # before the next request empties the log
        times, cpu = [], []
        for _ in range(rounds):
            started, used = time.perf_counter(), time.process_time()
            _get(client, address)
            times.append((time.perf_counter() - started) * 1000)
            cpu.append((time.process_time() - used) * 1000)
        found.append((name, times, cpu, count))
    return found


def _get(client: Any, address: str) -> None:
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address}: {answer.status_code}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:4]))
