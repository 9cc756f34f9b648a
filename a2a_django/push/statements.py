"""The sender's statements: which configs are due, what waits for them, what became of it.

Each function is one transaction at most and may be repeated. What is written about a config names its lease, and has no
effect when the lease is somebody else's by now; only what has arrived is written in any case.

Leases are given and judged by the clock of the database, as those of tasks are: a machine whose clock is ahead must not
take a config from a sender who is at work on it. A config that has a lease is due, so an index finds those that have.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import connections, transaction
from django.db.models import Case, F, Min, PositiveIntegerField, Q, QuerySet, Value, When, Window
from django.db.models.functions import Greatest, RowNumber
from django.utils import timezone

from a2a_django.engine import clock, database
from a2a_django.models import EventKind, PushConfig, PushCursor, PushDelivery, TaskEvent

#: How many more configs than wanted are looked at: some may be of hosts that have enough.
LOOK_AHEAD = 4
#: Characters of an error that are kept.
ERROR_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Delivery:
    """An event that has to be sent to a config: the ``number``-th of the task's events, a StreamResponse's text.

    ``record`` is the row of one that has failed before, after so many ``attempts``.
    """

    number: int
    text: str
    created_at: dt.datetime
    record: int | None = None
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """The next deliveries of a config, and the last event that was queued for it when they were read."""

    deliveries: list[Delivery]
    queued: int


@dataclass(slots=True)
class Failure:
    """An attempt that failed: what becomes of the delivery (``dead``: it is given up) and of its config.

    ``due_at``: the next attempt; ``disable``: why there is none; ``counts``: whether the receiver is to blame.
    """

    config_id: int
    delivery: Delivery
    error: str
    due_at: dt.datetime
    dead: bool = False
    disable: str = ""
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many configs a sender wants: at most ``count``, of them at most ``struggling`` whose last attempt failed.

    ``mine`` are those at work here, ``hosts`` how many of them each host has, ``per_host`` how many it may have;
    ``failing`` how many of a host's had failed when they were taken, of which it may have half as many.
    ``held`` are those that are not to be tried, because another transaction held their rows a moment ago.
    """

    count: int
    struggling: int
    per_host: int
    mine: frozenset[int]
    hosts: Counter[str]
    held: frozenset[int] = frozenset()
    failing: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Claimed:
    """The configs that were taken, the seconds after which there may be something to do for others (None: there are
    no others), whether some were left although they are due, and which could not be taken because another transaction
    holds their rows."""

    configs: list[PushConfig]
    pause: float | None
    more: bool
    held: frozenset[int] = frozenset()


@dataclass(slots=True)
class Round:
    """What is written in one transaction."""

    delivered: dict[int, Delivery] = field(default_factory=dict)
    recovered: set[int] = field(default_factory=set)
    failures: dict[int, Failure] = field(default_factory=dict)
    released: dict[int, int] = field(default_factory=dict)
    handed_on: set[int] = field(default_factory=set)
    renew: bool = False


@dataclass(slots=True)
class Written:
    """What a transaction found: the configs that are still ours, with the last event that is queued for each; those
    that were given back; those that another transaction holds, which are to be tried again; those whose delivery could
    not be recorded for the same reason; and those whose rows were locked, so that all about them is written."""

    ours: dict[int, int]
    released: set[int]
    held: set[int]
    unrecorded: set[int]
    locked: set[int]

    def left(self, pk: int) -> int | None:
        """Return what ``Ledger.delivered`` returns, and raise what it raises."""
        if pk in self.released:
            return None
        if pk not in self.ours:
            raise Lost(pk)
        return self.ours[pk]


class Lost(Exception):
    """A config is no longer ours: it was deleted, replaced, or taken by another sender."""


def claim(holder: str, wanted: Wanted) -> Claimed:
    using, now = database.alias(), timezone.now()
    configs = PushConfig.objects.using(using)
    others = configs.filter(due_at__isnull=False).exclude(pk__in=wanted.mine | wanted.held)
    # One with our name that we do not know of: the answer to the COMMIT of its claim was lost.
    free = Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=clock.now(using)) | Q(lease_holder=holder)
    due = others.filter(free, due_at__lte=now)
    # First without a transaction: mostly there is nothing, and some databases have one writer.
    chosen, more = _choose(due, wanted)
    if not chosen:
        return Claimed([], _pause(using, others), more)
    with transaction.atomic(using=using):
        pks = _lock(due.filter(pk__in=chosen))
        configs.filter(free, pk__in=pks).update(lease_holder=holder, lease_expires_at=clock.lease_end(using))
    taken = configs.filter(pk__in=pks, lease_holder=holder).order_by("due_at", "pk")
    return Claimed(list(taken.select_related("task", "cursor")), 0.0, more, frozenset(chosen) - pks)


def _choose(due: QuerySet[PushConfig], wanted: Wanted) -> tuple[list[int], bool]:
    """Return which configs to take, and whether some are left. Those whose last attempt failed come after the others:
    they may be many, and must not hide them."""
    hosts = wanted.hosts.copy()
    chosen: list[int] = []
    more = False
    for rows, limit, at_work, most in (
        (due.filter(failures=0), wanted.count, wanted.hosts, wanted.per_host),
        (
            due.filter(failures__gt=0),
            min(wanted.struggling, wanted.count),
            wanted.failing,
            max(wanted.per_host // 2, 1),
        ),
    ):
        room = min(limit, wanted.count - len(chosen))
        # By what is at work; those that are chosen here may turn out to be held, and take no place then.
        full = [host for host in wanted.hosts if wanted.hosts[host] >= wanted.per_host or at_work[host] >= most]
        more = more or bool(full)
        if room <= 0:
            more = True
            continue
        ranked = rows.exclude(host__in=full).annotate(
            rank=Window(RowNumber(), partition_by=F("host"), order_by="due_at")
        )
        of_kind = at_work.copy()
        found = ranked.filter(rank__lte=most).order_by("due_at", "pk").values_list("pk", "host")
        for pk, host in found[: LOOK_AHEAD * room]:
            if room and hosts[host] < wanted.per_host and of_kind[host] < most:
                hosts[host] += 1
                of_kind[host] += 1
                room -= 1
                chosen.append(pk)
            else:
                more = True
    return chosen, more


def _pause(using: str, others: QuerySet[PushConfig]) -> float | None:
    """Return after how many seconds one of the configs becomes due or loses its sender; None when there are none."""
    free = others.filter(lease_expires_at__isnull=True).aggregate(Min("due_at"))["due_at__min"]
    held = others.aggregate(Min("lease_expires_at"))["lease_expires_at__min"]
    moments = ((free, timezone.now()), (held, clock.now(using)))
    return min(((moment - now).total_seconds() for moment, now in moments if moment is not None), default=None)


def page(config: PushConfig, after: int, count: int, again: bool) -> Page:
    using = database.alias()
    # The limit is read first: every event up to it is there when the events are read.
    limit = PushConfig.objects.using(using).filter(pk=config.pk).values_list("queued_seq", flat=True).first() or 0
    events = TaskEvent.objects.using(using).filter(task_id=config.task_id).order_by("seq")
    if config.tells_task:
        events = events.filter(kind=EventKind.STATUS.value)
    found = [*events.filter(seq__gt=after, seq__lte=limit).values_list("seq", "wire", "created_at")[:count]]
    if not again:
        return Page([Delivery(*row) for row in found], limit)
    waiting = PushDelivery.objects.using(using).filter(config=config, delivered_at__isnull=True, dead_at__isnull=True)
    records = {seq: (pk, attempts) for pk, seq, attempts in waiting.values_list("pk", "seq", "attempts")}
    if older := [seq for seq in records if seq <= after]:
        found = [*events.filter(seq__in=older).values_list("seq", "wire", "created_at"), *found]
    return Page([Delivery(*row, *records.get(row[0], ())) for row in found], limit)


def write(holder: str, round_: Round) -> Written:
    using = database.alias()
    now = timezone.now()
    mine = PushConfig.objects.using(using).filter(lease_holder=holder)
    released: set[int] = set()
    with transaction.atomic(using=using):
        # Nothing here waits for a row: it would hold up all webhooks of this process, and others might wait for us.
        unrecorded = _record(using, round_.delivered, now)
        wanted = round_.failures.keys() | round_.released.keys() | round_.handed_on
        changed = wanted | round_.recovered
        leased = mine.filter(due_at__isnull=False)
        free = _lock(leased if round_.renew else mine.filter(pk__in=changed)) if changed or round_.renew else set()
        if round_.renew:
            mine.filter(pk__in=free).update(lease_expires_at=clock.lease_end(using))
        if recovered := round_.recovered & free:
            mine.filter(pk__in=recovered).update(failures=0)
        locked = set(free)
        free -= unrecorded | _held_records(using, {pk: failure.delivery for pk, failure in round_.failures.items()})
        given_up = {pk for pk in round_.failures.keys() & free if round_.failures[pk].dead}
        free -= _lock_or_held(PushCursor.objects.using(using), given_up)
        for pk in sorted(round_.failures.keys() & free):
            _fail(using, mine.filter(pk=pk), round_.failures[pk], now)
        for pk in sorted(round_.released.keys() & free):
            done = mine.filter(pk=pk, queued_seq__lte=round_.released[pk])
            if done.update(due_at=None, lease_holder="", lease_expires_at=None):
                released.add(pk)
        if handed_on := round_.handed_on & free:
            mine.filter(pk__in=handed_on).update(due_at=now, lease_holder="", lease_expires_at=None)
            released |= handed_on
        held = set(mine.filter(pk__in=wanted - free).values_list("pk", flat=True)) - released
    ours = leased if round_.renew else mine.filter(pk__in=round_.delivered.keys() | wanted)
    return Written(dict(ours.values_list("pk", "queued_seq")), released, held, unrecorded, locked)


def _lock(rows: QuerySet[Any]) -> set[int]:
    """Lock the rows that nobody else holds at this moment, and return which they are."""
    skip = connections[rows.db].features.has_select_for_update_skip_locked
    return set(rows.order_by("pk").select_for_update(skip_locked=skip).values_list("pk", flat=True))


def _lock_or_held(rows: QuerySet[Any], wanted: Collection[int]) -> set[int]:
    """Lock the wanted rows, and return which could not be locked although they are there."""
    if not wanted:
        return set()
    missing = set(wanted) - _lock(rows.filter(pk__in=wanted))
    return set(rows.filter(pk__in=missing).values_list("pk", flat=True)) if missing else missing


def _record(using: str, delivered: Mapping[int, Delivery], now: dt.datetime) -> set[int]:
    """Record deliveries that have arrived; returns the configs of those whose rows another transaction holds."""
    held = _lock_or_held(PushCursor.objects.using(using), delivered.keys()) | _held_records(using, delivered)
    _advance(using, {pk: delivery.number for pk, delivery in delivered.items() if pk not in held})
    records = sorted(one.record for pk, one in delivered.items() if pk not in held and one.record is not None)
    if records:
        rows = PushDelivery.objects.using(using).filter(pk__in=records)
        rows.update(delivered_at=now, attempts=F("attempts") + 1, last_error="")
    return held


def _held_records(using: str, deliveries: Mapping[int, Delivery]) -> set[int]:
    """Lock the rows of deliveries that failed before; returns the configs of those that another transaction holds."""
    records = {one.record: pk for pk, one in deliveries.items() if one.record is not None}
    return {records[record] for record in _lock_or_held(PushDelivery.objects.using(using), records.keys())}


def _advance(using: str, numbers: Mapping[int, int]) -> None:
    """Move the cursors of configs forward; one whose lease was lost meanwhile may be further already."""
    if not numbers:
        return
    places = [When(pk=pk, then=Value(number)) for pk, number in sorted(numbers.items())]
    cursors = PushCursor.objects.using(using).filter(pk__in=numbers)
    cursors.update(sent_seq=Greatest("sent_seq", Case(*places, output_field=PositiveIntegerField())))


def give_back(holder: str) -> None:
    mine = PushConfig.objects.using(database.alias()).filter(due_at__isnull=False, lease_holder=holder)
    mine.update(lease_holder="", lease_expires_at=None)


def _fail(using: str, config: QuerySet[PushConfig], failure: Failure, now: dt.datetime) -> None:
    """Record a failure, if the config is still the sender's."""
    changes: dict[str, Any] = {"due_at": failure.due_at, "lease_holder": "", "lease_expires_at": None}
    if failure.counts:
        changes["failures"] = F("failures") + 1
    if failure.disable:
        changes |= {"due_at": None, "disabled_at": now, "disabled_reason": failure.disable[:ERROR_CHARACTERS]}
    if not config.update(**changes):
        return
    delivery = failure.delivery
    values = {
        "attempts": delivery.attempts + 1,
        "last_error": failure.error[:ERROR_CHARACTERS],
        "dead_at": now if failure.dead else None,
    }
    PushDelivery.objects.using(using).update_or_create(
        config_id=failure.config_id, seq=delivery.number, defaults=values, create_defaults={**values, "created_at": now}
    )
    if failure.dead:
        _advance(using, {failure.config_id: delivery.number})
