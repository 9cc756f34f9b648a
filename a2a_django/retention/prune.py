"""Pruning: tasks that ended long ago are deleted, and of those that stay the events that nobody needs any more. Files
whose tasks are gone, or that never came into one, are removed after the transactions.

Invariants:

* Only tasks that have ended are touched, at the earliest ``STREAM_SECONDS`` after their end: no reader of theirs is
  left by then. A task whose webhooks have something to send waits for them.
* The parts of an artifact are those of its events from ``base_seq`` on, so these stay with the task. What may go are
  events of statuses, whose last one the task's row has, and those of chunks that were replaced.
* Transactions are short, and between two of them there is a pause as long as the last one took (``rest``): the
  database is left to the callers for at least half of the time.

The ids of tasks begin with the time at which they were made: so the tasks are walked along their primary key, and those
that are too young are not looked at.
"""

from __future__ import annotations

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from a2a_django.conf import a2a_settings
from a2a_django.engine.database import alias, persistently
from a2a_django.files import store
from a2a_django.models import (
    Artifact,
    EventKind,
    MessageReceipt,
    PushConfig,
    PushDelivery,
    StoredFile,
    Task,
    TaskEvent,
    TaskQuerySet,
)
from a2a_django.models.fields import first_id
from a2a_django.protocol.states import TERMINAL
from a2a_django.retention import replies
from a2a_django.retention.deletion import delete_tasks, locked

#: The names of states in ``A2A["RETENTION"]``.
NAMES: Final[dict[str, str]] = {state.removeprefix("TASK_STATE_").lower(): str(state) for state in sorted(TERMINAL)}

BATCH: Final = 200
#: Events in one transaction.
EVENTS_AT_ONCE: Final = 2_000
#: Files between two looks whether to stop.
FILES_AT_ONCE: Final = 50
#: How far the clocks of processes may be apart.
SKEW: Final = dt.timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Ages:
    """How old tasks may become, by the state in which they ended, how old the events that nobody needs, and the
    replies to messages that made no task."""

    tasks: Mapping[str, dt.timedelta]
    events: dt.timedelta | None = None
    replies: dt.timedelta | None = None

    def __bool__(self) -> bool:
        return bool(self.tasks) or self.events is not None or self.replies is not None


@dataclass(slots=True)
class Pruned:
    """What is gone: tasks by the state in which they ended, events of tasks that stay, replies, and files.
    ``protected`` are tasks that rows of the site's own models keep, ``stuck`` are tries to remove a file that have
    failed."""

    tasks: Counter[str] = field(default_factory=Counter)
    events: int = 0
    replies: int = 0
    protected: int = 0
    files: int = 0
    stuck: int = 0


def ages() -> Ages:
    """Return what the site's settings say."""
    events = a2a_settings.EVENT_RETENTION_DAYS
    return Ages(
        {NAMES[name]: dt.timedelta(days=days) for name, days in a2a_settings.RETENTION.items()},
        None if events is None else dt.timedelta(days=events),
        replies.age(),
    )


class Pruning:
    """One round. ``force``: also tasks that have ended only now, and those whose webhooks have something to send.

    ``batch`` is the number of tasks of a transaction, ``rest`` the length of the pause after it, in lengths of the
    transaction. ``pause`` waits for so many seconds and says whether to stop; ``progress`` is told after each
    transaction what has been done so far.
    """

    def __init__(
        self,
        limits: Ages,
        *,
        force: bool = False,
        batch: int = BATCH,
        rest: float = 1.0,
        pause: Callable[[float], object] = time.sleep,
        progress: Callable[[Pruned], None] = lambda done: None,
        now: dt.datetime | None = None,
    ) -> None:
        self._using = alias()
        self._limits, self._force = limits, force
        self._batch, self._rest, self._pause, self._progress = batch, rest, pause, progress
        self._now = now or timezone.now()
        self._grace = dt.timedelta(0) if force else dt.timedelta(seconds=a2a_settings.STREAM_SECONDS)
        self._stopped = False
        self.done = Pruned()

    # ------------------------------------------------------------------------------------------------ what may go

    def _ended_before(self, limits: Mapping[str, dt.timedelta]) -> Q:
        """Return the condition for tasks that ended so long ago in these states."""
        found = Q(pk__in=())
        for state, age in limits.items():
            found |= Q(state=state, status_timestamp__lt=self._now - max(age, self._grace))
        young = min(limits.values(), default=dt.timedelta(0))
        return found & Q(pk__lt=first_id(self._now - max(young, self._grace) + SKEW))

    def _old_tasks(self) -> Q:
        """Return the condition for tasks that are to be deleted."""
        old = self._ended_before(self._limits.tasks)
        return old if self._force else old & _told(PushConfig.objects.filter(due_at__isnull=False))

    def _tasks_with_old_events(self) -> Q:
        """Return the condition for tasks that keep too many events. The last event of a task that has ended is that of
        its last status: as long as it is there, the events have not been pruned."""
        age = self._limits.events
        if age is None:
            return Q(pk__in=())
        last = TaskEvent.objects.filter(task=OuterRef("pk"), seq=OuterRef("last_seq"), kind=EventKind.STATUS.value)
        # What was given up may be sent again by hand, as long as its event is there.
        waiting = PushDelivery.objects.filter(config=OuterRef("pk"), delivered_at__isnull=True)
        configs = PushConfig.objects.filter(Q(due_at__isnull=False) | Exists(waiting))
        return self._ended_before(dict.fromkeys(TERMINAL, age)) & Exists(last) & _told(configs)

    # ------------------------------------------------------------------------------------------------ looking

    def look(self) -> Pruned:
        """Return what would be gone, without touching anything."""
        tasks = Task.objects.using(self._using).filter(self._old_tasks()).order_by()
        found = Pruned(Counter(dict(tasks.values_list("state").annotate(Count("pk")))))
        stay = Task.objects.using(self._using).filter(self._tasks_with_old_events()).exclude(self._old_tasks())
        found.events = _dispensable(self._using).filter(task__in=stay.order_by().values("pk")).count()
        found.files = store.due() + StoredFile.objects.using(self._using).filter(task__in=tasks.values("pk")).count()
        if self._limits.replies is not None:
            found.replies = self._old_replies(self._limits.replies).count()
        return found

    def waiting(self) -> int:
        """Return how many tasks are old enough, but have webhooks with something to send."""
        old = Task.objects.using(self._using).filter(self._ended_before(self._limits.tasks))
        return old.filter(has_push=True).exclude(_told(PushConfig.objects.filter(due_at__isnull=False))).count()

    # ------------------------------------------------------------------------------------------------ doing

    def run(self) -> Pruned:
        """Prune everything that may go, or until ``pause`` says to stop."""
        if self._walk(self._old_tasks(), self._delete_tasks):
            self._walk(self._tasks_with_old_events(), self._delete_events)
        if self._limits.replies is not None and not self._stopped:
            self._delete_replies(self._old_replies(self._limits.replies))
        if not self._stopped:
            self._remove_files()
        return self.done

    def _old_replies(self, age: dt.timedelta) -> QuerySet[MessageReceipt]:
        return replies.without_task(self._using).filter(created_at__lt=self._now - age)

    def _delete_replies(self, rows: QuerySet[MessageReceipt]) -> None:
        while True:
            start = time.monotonic()
            count = persistently(self._using, partial(replies.delete_some, rows, self._batch))
            self.done.replies += count
            self._progress(self.done)
            if not count or self._rests(start):
                return

    def _walk(self, condition: Q, work: Callable[[Q, list[str]], None]) -> bool:
        """Do something with all tasks of which a condition is true, a batch at a time; False: stopped."""
        rows: TaskQuerySet = Task.objects.using(self._using).filter(condition).order_by("pk")
        last = ""
        while True:
            page = rows.filter(pk__gt=last).values_list("pk", flat=True)[: self._batch]
            ids = persistently(self._using, partial(list[str], page))
            if not ids:
                return True
            last = ids[-1]
            start = time.monotonic()
            work(condition, ids)
            self._progress(self.done)
            if self._stopped or self._rests(start):
                return False

    def _rests(self, start: float) -> bool:
        """Pause after a transaction that began at ``start``; True: it is time to stop."""
        self._stopped = bool(self._pause((time.monotonic() - start) * self._rest))
        return self._stopped

    def _delete_tasks(self, may_go: Q, ids: list[str]) -> None:
        deleted = delete_tasks(self._using, ids, may_go)
        self.done.tasks += deleted.states
        self.done.protected += len(deleted.protected)
        self._remove_files()

    def _remove_files(self) -> None:
        while True:
            start = time.monotonic()
            removed, stuck = persistently(self._using, lambda: store.remove_some(FILES_AT_ONCE))
            self.done.files, self.done.stuck = self.done.files + removed, self.done.stuck + stuck
            if removed + stuck < FILES_AT_ONCE or self._rests(start):
                return

    def _delete_events(self, may_go: Q, ids: list[str]) -> None:
        while True:
            start = time.monotonic()
            count = persistently(self._using, lambda: self._delete_some_events(may_go, ids))
            self.done.events += count
            if count < EVENTS_AT_ONCE or self._rests(start):
                return

    def _delete_some_events(self, may_go: Q, ids: list[str]) -> int:
        with transaction.atomic(using=self._using):
            tasks = list(locked(self._using, ids, may_go).values_list("pk", flat=True))
            # In their order, so that the last status goes last: it stands for all of them.
            rows = _dispensable(self._using).filter(task__in=tasks).order_by("task_id", "seq")
            pks = list(rows.values_list("pk", flat=True)[:EVENTS_AT_ONCE])
            if pks:
                TaskEvent.objects.using(self._using).filter(pk__in=pks)._raw_delete(self._using)
        return len(pks)


def _told(configs: QuerySet[PushConfig]) -> Q:
    """Return the condition for tasks that have none of these webhooks."""
    return Q(has_push=False) | Q(~Exists(configs.filter(task=OuterRef("pk"))))


def _dispensable(using: str) -> QuerySet[TaskEvent]:
    """Return the events without which a task is what it is."""
    artifact = Artifact.objects.filter(task=OuterRef("task"), artifact_key=OuterRef("artifact_key"))
    rows = TaskEvent.objects.using(using).annotate(base=Subquery(artifact.values("base_seq")[:1]))
    return rows.filter(Q(kind=EventKind.STATUS.value) | Q(kind=EventKind.ARTIFACT.value, seq__lt=F("base")))
