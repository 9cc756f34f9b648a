"""Reads the database of a soak, on one thread with one connection."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from tests.soak.oracle import Record

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True)
class Standing:
    """Where a task stands: ``orphaned`` when the process that ran it gives no sign of life any more."""

    state: str
    last_seq: int
    held: bool
    orphaned: bool


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
        return await asyncio.get_running_loop().run_in_executor(self._thread, lambda: function(*args, **kwargs))


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
    rows = list(task.events.order_by("seq").values_list("wire", "attempt"))
    history: list[Any] = [
        json.loads(text)
        for text in task.messages.filter(shown=True).order_by("position").values_list("wire", flat=True)
    ]
    return Record(task.state, [json.loads(text) for text, _ in rows], [attempt for _, attempt in rows], history)


def _at_work() -> list[str]:
    from a2a_django.models import Task

    return list(Task.objects.filter(lease_expires_at__isnull=False).values_list("pk", flat=True))


def _cut(most: int) -> int:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE datname = "
            "current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT %s) AS chosen",
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
