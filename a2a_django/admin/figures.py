"""The figures of the dashboard: what the site's agents are doing now, and did in the last day.

Invariant: however many tasks there are, a look costs a fixed number of steps. Every count stops at a limit (and says
so), and is taken along an index; all counts together are one statement.
"""

from __future__ import annotations

import datetime as dt
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.db import connections
from django.db.models import F, QuerySet, Sum
from django.utils import formats, timezone

from a2a_django.engine.database import alias
from a2a_django.models import PushConfig, Task, TaskState
from a2a_django.models.fields import first_id

#: Where counting stops, and how many of the last completed tasks the median is of.
LIMIT: Final = 5_000
SAMPLE: Final = 200
HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Count:
    """A number; ``more`` says that counting stopped there."""

    value: int
    more: bool = False

    def __str__(self) -> str:
        number = formats.number_format(self.value, force_grouping=True)
        return f"{number}+" if self.more else str(number)


@dataclass(frozen=True, slots=True)
class Figures:
    """What the dashboard shows. ``hours``: the tasks made in each of the last 24 hours, the current one last, with the
    beginning of each; ``median``: seconds from making to completion, None where nothing was completed."""

    running: Count
    waiting: Count
    queued: Count
    failed_today: Count
    backlog: Count
    overdue_events: int
    median: float | None
    sample: int
    hours: list[tuple[dt.datetime, Count]]


def look() -> Figures:
    """Ask the database."""
    using = alias()
    now = timezone.now()
    tasks = Task.objects.using(using).order_by()
    due = PushConfig.objects.using(using).filter(due_at__isnull=False).order_by()
    wanted: dict[Any, QuerySet[Any]] = {
        "running": tasks.filter(lease_expires_at__isnull=False),
        "waiting": tasks.filter(state__in=[TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED]),
        "queued": tasks.filter(queued_owner__isnull=False),
        "failed": tasks.filter(state=TaskState.FAILED, status_timestamp__gte=_midnight(now)),
        "backlog": due,
    }
    starts = _hours(now)
    for start in starts:
        # Ids begin with the time of their making.
        wanted[start] = tasks.filter(pk__gte=first_id(start), pk__lt=first_id(start + dt.timedelta(hours=1)))
    counts = count(using, wanted)
    runs = run_times(using)
    return Figures(
        running=counts["running"],
        waiting=counts["waiting"],
        queued=counts["queued"],
        failed_today=counts["failed"],
        backlog=counts["backlog"],
        overdue_events=_events_of(due) if counts["backlog"].value else 0,
        median=statistics.median(runs) if runs else None,
        sample=len(runs),
        hours=[(start, counts[start]) for start in starts],
    )


def count(using: str, wanted: Mapping[Any, QuerySet[Any]]) -> dict[Any, Count]:
    """Return the numbers of rows of all querysets, each up to ``LIMIT``, in one statement."""
    pieces, params = [], []
    for number, rows in enumerate(wanted.values()):
        sql, values = rows.values("pk")[: LIMIT + 1].query.get_compiler(using).as_sql()
        pieces.append(f"(SELECT COUNT(*) FROM ({sql}) c{number})")  # noqa: S608 - made of what Django compiled
        params += values
    with connections[using].cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(pieces)}", params)
        found = cursor.fetchone()
    return {name: Count(min(value, LIMIT), value > LIMIT) for name, value in zip(wanted, found, strict=True)}


def run_times(using: str) -> list[float]:
    """Return how many seconds the last completed tasks took, waiting for their senders included."""
    rows = Task.objects.using(using).filter(state=TaskState.COMPLETED).order_by("-status_timestamp")
    moments = rows.values_list("created_at", "status_timestamp")[:SAMPLE]
    return [max(0.0, (ended - made).total_seconds()) for made, ended in moments]


def _events_of(due: QuerySet[PushConfig]) -> int:
    """Return how many events at most webhooks have not been told yet, of ``LIMIT`` webhooks."""
    some = due.annotate(left=F("queued_seq") - F("cursor__sent_seq"))[:LIMIT]
    return max(0, some.aggregate(Sum("left"))["left__sum"] or 0)


def _midnight(now: dt.datetime) -> dt.datetime:
    return timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)


def _hours(now: dt.datetime) -> list[dt.datetime]:
    current = now.replace(minute=0, second=0, microsecond=0)
    return [current - dt.timedelta(hours=back) for back in reversed(range(HOURS))]
