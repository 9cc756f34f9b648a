"""Reads the database of the chaos, on one thread, patient with a database that is away."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from tests.chaos.accounts import Account, Books
from tests.chaos.oracle import Record

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 60.0


@dataclass(frozen=True)
class Standing:
    """Where a task stands: ``orphaned`` when the process that ran it gives no sign of life any more."""

    state: str
    last_seq: int
    held: bool
    orphaned: bool


@dataclass(frozen=True)
class Head:
    """A task as lists show it, and which agent and context it is of."""

    pk: str
    agent: str
    context_id: str
    state: str
    last_seq: int


class Rows:
    """The database with the given address; ``DJANGO_SETTINGS_MODULE`` must not be in use yet."""

    def __init__(self, environment: dict[str, str]) -> None:
        os.environ.update(environment)
        import django

        django.setup()
        self._thread = ThreadPoolExecutor(1, "rows")

    async def standings(self, task_ids: Collection[str]) -> dict[str, Standing]:
        """Return where the tasks stand."""
        return await self._run(_standings, list(task_ids))

    async def record(self, task_id: str) -> Record:
        """Return all there is of one task."""
        return await self._run(_record, task_id)

    async def books(self, task_id: str) -> Books:
        """Return what the agent of a task has written down."""
        return await self._run(_books, task_id)

    async def heads(self) -> list[Head]:
        """Return all tasks, in the order of their making."""
        return await self._run(_heads)

    async def at_work(self) -> list[str]:
        """Return the tasks that a process holds, or held when it died."""
        return await self._run(_at_work)

    async def cut(self, most: int) -> int:
        """Have PostgreSQL end some connections of the servers; returns how many."""
        return await self._run(_cut, most)

    async def check(self) -> str:
        """Check what must be true of all rows; returns what is wrong."""
        return await self._run(_check)

    async def close(self) -> None:
        """Close the connection."""
        from django.db import connections

        await self._run(connections.close_all)
        self._thread.shutdown()

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        call = lambda: _patiently(lambda: function(*args, **kwargs))  # noqa: E731
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)


def _patiently(read: Callable[[], T]) -> T:
    from django.db import InterfaceError, OperationalError, connection

    until = time.monotonic() + PATIENCE
    while True:
        try:
            return read()
        except (OperationalError, InterfaceError):
            if time.monotonic() > until:
                raise
            connection.close()
            time.sleep(0.1)


def _standings(task_ids: list[str]) -> dict[str, Standing]:
    from django.utils import timezone

    from a2a_django.models import Task

    now = timezone.now()
    rows = Task.objects.filter(pk__in=task_ids).values_list("pk", "state", "last_seq", "lease_expires_at")
    return {
        pk: Standing(state, seq, expires is not None, expires is not None and expires < now)
        for pk, state, seq, expires in rows
    }


def _record(task_id: str) -> Record:
    from a2a_django.models import Task

    task = Task.objects.get(pk=task_id)
    rows = list(task.events.order_by("seq").values_list("seq", "wire", "attempt"))
    if [seq for seq, _, _ in rows] != list(range(1, task.last_seq + 1)):
        raise AssertionError(f"the events of task {task_id} have holes: {[seq for seq, _, _ in rows]}")
    history: list[Any] = [
        json.loads(text)
        for text in task.messages.filter(shown=True).order_by("position").values_list("wire", flat=True)
    ]
    return Record(task.state, [json.loads(text) for _, text, _ in rows], [attempt for _, _, attempt in rows], history)


def _books(task_id: str) -> Books:
    from tests.chaos.site.models import Attempt, Entry

    attempts = {
        row.number: Account(row.plan, row.start, row.finished, row.trouble)
        for row in Attempt.objects.filter(task_id=task_id).order_by("number")
    }
    entries = Entry.objects.filter(task_id=task_id).order_by("number")
    return Books(attempts, list(entries.values_list("number", "attempt")))


def _heads() -> list[Head]:
    from a2a_django.models import Task

    rows = Task.objects.order_by("pk").values_list("pk", "agent", "context_id", "state", "last_seq")
    return [Head(*row) for row in rows]


def _at_work() -> list[str]:
    from a2a_django.models import Task

    return list(Task.objects.filter(lease_expires_at__isnull=False).values_list("pk", flat=True))


def _cut(most: int) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend' "
            "ORDER BY random() LIMIT %s) AS chosen",
            [most],
        )
        return int(cursor.fetchone()[0])


def _check() -> str:
    from tests.engine.kit import check_rows

    try:
        check_rows()
    except AssertionError as error:
        return str(error) or repr(error)
    return ""
