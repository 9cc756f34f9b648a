"""The deletion of many ended tasks, with everything that belongs to them.

Invariants:

* A task is deleted only under the lock of its row, after another look whether it may go. What somebody else holds is
  left for later, where the database can pass over it.
* Locks are taken in the order of the journal: tasks by their ids, tallies last by their keys.
* The tallies are changed in the transaction of the deletion.
* Rows of a site's own models that point to a task decide as Django has it: they go along, let go, or forbid it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from django.db import connections, transaction
from django.db.models import ProtectedError, Q, RestrictedError

from a2a_django.engine.database import persistently
from a2a_django.engine.journal import WRITER_SHARDS
from a2a_django.engine.statements import add_to_tally
from a2a_django.models import Task, TaskQuerySet
from a2a_django.protocol.states import TERMINAL

#: Whether the tallies are seen to by whoever deletes; ``receivers`` then keeps out of it.
counted: ContextVar[bool] = ContextVar("a2a_counted", default=False)


@dataclass(slots=True)
class Deleted:
    """How many tasks of each state are gone, and those that rows of the site's own models keep; how many replies
    without a task."""

    states: Counter[str] = field(default_factory=Counter)
    protected: list[str] = field(default_factory=list)
    replies: int = 0


def locked(using: str, ids: Sequence[str], may_go: Q) -> TaskQuerySet:
    """Return those of the tasks that may go still, locked in the order of their ids; inside a transaction."""
    skip = connections[using].features.has_select_for_update_skip_locked
    rows = Task.objects.using(using).filter(may_go, pk__in=ids, state__in=TERMINAL, lease_holder="")
    return rows.order_by("pk").select_for_update(skip_locked=skip)


def delete_tasks(using: str, ids: Sequence[str], may_go: Q | None = None) -> Deleted:
    """Delete those of the tasks that have ended and of which ``may_go`` is true, in one transaction."""
    return persistently(using, lambda: _delete(using, ids, Q() if may_go is None else may_go))


def _delete(using: str, ids: Sequence[str], may_go: Q) -> Deleted:
    done = Deleted()
    tally: Counter[tuple[str, str, str]] = Counter()
    with transaction.atomic(using=using), _counting():
        found = {row[0]: row[1:] for row in locked(using, ids, may_go).values_list("pk", "agent", "owner", "state")}
        for some in _undisturbed(using, list(found), done.protected):
            tally.update(found[pk] for pk in some)
        for (agent, owner, state), count in sorted(tally.items()):
            add_to_tally(using, agent, owner, state, WRITER_SHARDS, -count)
            done.states[state] += count
    return done


def _undisturbed(using: str, ids: list[str], protected: list[str]) -> Iterator[list[str]]:
    """Delete tasks, all at once or, where some are kept, one by one; gives those that are gone."""
    rows = Task.objects.using(using)
    try:
        with transaction.atomic(using=using):
            rows.filter(pk__in=ids).delete()
        yield ids
        return
    except (ProtectedError, RestrictedError):
        pass
    for pk in ids:
        try:
            with transaction.atomic(using=using):
                rows.filter(pk=pk).delete()
            yield [pk]
        except (ProtectedError, RestrictedError):
            protected.append(pk)


@contextmanager
def _counting() -> Iterator[None]:
    token = counted.set(True)
    try:
        yield
    finally:
        counted.reset(token)
