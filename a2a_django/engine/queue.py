"""Tasks that wait for a run, and the processes that take them.

A task waits in its row (``queued_at``), held by nobody: it outlives every process. Invariants:

* Of one owner's tasks the one that has waited longest is taken first. A message that a process takes in starts at once
  only when that process has room and knows of no other task of the owner's that waits.
* Owners take turns, in each process: of what is taken together no owner gets two more than another who still has one
  waiting and is below his limit, and next time it begins with the owner after the last. So a single task waits for as
  many others as there are owners, not for as many as there are tasks.
* A task is taken under the lock of its row, in the journal's transaction, by one process. Rows that others have under
  lock are passed over, where the database can do that: processes that look at the same moment take different tasks.
* Taking ``n`` tasks costs about ``n`` small look-ups in an index of what waits, however much waits, and however many
  tasks have ended; plus one for each owner that has something waiting but is at its limit in this process.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from django.db import DatabaseError, InterfaceError
from django.db.models import Q, Value
from django.db.models.functions import Coalesce

from a2a_django.agents import registry
from a2a_django.engine import clock, database
from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Accepted, Fenced, Job, current
from a2a_django.engine.journal import Closed
from a2a_django.engine.statements import passing_over
from a2a_django.models import Task, TaskQuerySet

if TYPE_CHECKING:
    from a2a_django.engine.quotas import Place
    from a2a_django.engine.runner import Runner

logger = logging.getLogger("a2a_django.engine")

#: Tasks taken in one transaction, which others of this process wait for.
AT_ONCE: Final = 20
#: How often it is looked whether tasks wait for agents that are no longer here: that reads all that waits.
ORPHANS_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Claimed:
    """Tasks that are now held by the caller, who has to run them."""

    accepted: list[Accepted]
    #: The owner whose turn was last.
    last: str | None
    #: Owners who are at their limit here and may have more.
    skipped: frozenset[str]


class Claim(Job[Claimed]):
    """Take up to ``room`` tasks that wait, beginning with the owner who comes after ``last``.

    ``share`` says how many more runs an owner may have here. Tasks of other agents than ``agents`` are left to
    processes that know them.
    """

    task_id = ""  # it is about no task, it finds some
    creates = True

    def __init__(
        self, holder: str, room: int, *, agents: Collection[str], share: Callable[[str], int], last: str | None = None
    ) -> None:
        super().__init__()
        self.holder, self.room = holder, room
        self.agents, self.share, self.last = agents, share, last

    def apply(self, batch: Batch) -> Claimed:
        found: list[Accepted] = []
        skipped: set[str] = set()
        shares: dict[str, int] = {}
        for owner in self._owners(batch):
            shares[owner] = share = self.share(owner)
            if share > 0:
                shares[owner] -= self._take(batch, found, owner, 1)
            if shares[owner] <= 0:
                skipped.add(owner)
            if len(found) == self.room:
                break
        again = [owner for owner in shares if owner not in skipped]
        while len(found) < self.room and again:
            turns = max(1, (self.room - len(found)) // len(again))
            for owner in again[:]:
                most = min(turns, shares[owner], self.room - len(found))
                taken = self._take(batch, found, owner, most)
                shares[owner] -= taken
                if not shares[owner]:
                    skipped.add(owner)
                if taken < most or owner in skipped:
                    again.remove(owner)
        return Claimed(found, found[-1].task.owner if found else self.last, frozenset(skipped))

    def _rows(self, batch: Batch) -> TaskQuerySet:
        # Not the column itself: SQLite would prefer the index of all tasks of an agent to that of those that wait.
        rows = Task.objects.using(batch.using).alias(of=Coalesce("agent", Value("")))
        return rows.filter(of__in=self.agents)

    def _owners(self, batch: Batch) -> Iterator[str]:
        """Find those who have tasks waiting, once around."""
        rows = self._rows(batch).order_by("queued_owner")
        around = [Q(queued_owner__isnull=False)]
        if self.last is not None:
            around = [Q(queued_owner__gt=self.last), Q(queued_owner__lte=self.last)]
        for part in around:
            here = rows.filter(part)
            owner = here.values_list("queued_owner", flat=True).first()
            while owner is not None:
                yield owner
                owner = here.filter(queued_owner__gt=owner).values_list("queued_owner", flat=True).first()

    def _take(self, batch: Batch, found: list[Accepted], owner: str, most: int) -> int:
        """Take up to ``most`` tasks of an owner."""
        if most <= 0:
            return 0
        rows = self._rows(batch).filter(queued_owner=owner)
        if known := [pk for pk, task in batch.tasks.items() if not task._state.adding]:
            rows = rows.exclude(pk__in=known)  # they have changed, or been taken
        taken = 0
        for task in passing_over(rows.order_by("queued_at", "pk"))[:most]:
            if task.agent not in self.agents:  # MySQL takes "Shop" for "shop"
                continue
            batch.tasks[task.pk] = task
            if (accepted := take(batch, task, self.holder)) is not None:
                found.append(accepted)
                taken += 1
        return taken


class ClaimOne(Job[Accepted | None]):
    """Take one task if it waits; None when there is nothing to run, or somebody else does."""

    def __init__(self, task_id: str, holder: str) -> None:
        super().__init__()
        self.task_id = task_id
        self.holder = holder

    def apply(self, batch: Batch) -> Accepted | None:
        task = batch.task(self.task_id)
        return None if task is None or task.queued_at is None else take(batch, task, self.holder)


class PutBack(Job[bool]):
    """Have a task wait again that was taken for a run which could not begin; that was no try."""

    def __init__(self, task_id: str, attempt: int) -> None:
        super().__init__()
        self.task_id = task_id
        self.attempt = attempt

    def apply(self, batch: Batch) -> bool:
        try:
            task = current(batch, self.task_id, self.attempt)
        except Fenced:
            return False
        message = batch.message_of(task, self.attempt)
        if message is None:
            return False
        message.tries -= 1
        batch.put_back(task, message)
        return True


def take(batch: Batch, task: Task, holder: str) -> Accepted | None:
    """Give a task that waits to ``holder``, for a run of its oldest waiting message."""
    message = batch.waiting_message(task)
    if message is None:
        logger.error("Task %s waits for a run, but has no message for one", task.pk)
        batch.leave_queue(task)
        return None
    batch.take(task, message, holder, clock.lease_end(batch.using))
    return Accepted(task, message, task.attempt, message, task.last_seq)


def any_waits() -> bool:
    """Return whether any task waits for a run."""
    return Task.objects.using(database.alias()).filter(queued_owner__isnull=False).exists()


class Queue:
    """What a process knows of tasks that wait, and when it takes some.

    There is one claim at a time, and only while there may be something to take. Its places are kept before it looks, so
    that nobody who comes meanwhile gets one of them first.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._lock = threading.Lock()
        #: Whether there may be tasks that this process could take.
        self._hungry = False
        self._claiming = False
        #: Owners of whose tasks some wait, as far as this process knows; and those it heard of during the claim.
        self._behind: set[str] = set()
        self._heard: set[str] = set()
        self._last: str | None = None
        self._looked = float("-inf")

    def is_behind(self, owner: str) -> bool:
        """Return whether a new task of ``owner``'s has others before it."""
        return owner in self._behind

    def told(self, owners: Iterable[str]) -> None:
        """Tasks of ``owners`` have been committed that wait for a run; from any thread."""
        with self._lock:
            for owner in owners:
                self._behind.add(owner)
                self._heard.add(owner)
                self._hungry = self._hungry or self._runner.share_of(owner) > 0
        self.go()

    def look(self) -> None:
        """There are tasks that wait, whosever they are; from any thread."""
        self._hungry = True
        self.go()

    def may_have_orphans(self) -> bool:
        """Return, now and then, that it is time to look for tasks whose agents are no longer here."""
        now = time.monotonic()
        if now - self._looked < ORPHANS_SECONDS:
            return False
        self._looked = now
        return True

    def freed(self, owner: str) -> None:
        """An owner has fewer runs at work than before; from any thread."""
        if owner in self._behind and self._runner.share_of(owner) > 0:
            self._hungry = True
        self.go()

    def go(self) -> None:
        """Take tasks if there may be some and there is room; from any thread."""
        if not self._hungry:
            return
        with self._lock:
            if self._claiming or not self._runner.takes_tasks or not self._runner.free():
                return
            self._claiming = True
        self._runner.spawn_anywhere(self._claim)

    @property
    def is_claiming(self) -> bool:
        """Whether tasks are being taken just now."""
        return self._claiming

    async def _claim(self) -> None:
        """Take tasks for as long as there are some and there is room."""
        works = False
        try:
            while places := self._runner.places(AT_ONCE):
                if not await self._claim_for(places):
                    break
            works = True
        except (DatabaseError, InterfaceError):  # the next look finds them
            logger.warning("Could not take tasks that wait for a run", exc_info=True)
        except Closed:
            logger.debug("Tasks that wait are left to other processes")
        finally:
            self._claiming = False
        if works:
            self.go()  # for what was told in this moment

    async def _claim_for(self, places: list[Place]) -> bool:
        """Fill places as far as there are tasks; returns whether there may be more."""
        runner = self._runner
        agents = {agent.slug: agent for agent in registry.all()}
        with self._lock:
            self._hungry = False
            self._heard = set()
        started = 0
        try:
            job = Claim(runner.journal.holder, len(places), agents=list(agents), share=runner.share_of, last=self._last)
            claimed = await runner.journal.submit(job)
            for accepted, place in zip(claimed.accepted, places, strict=False):
                place.keep_share(runner.quota, accepted.task.owner)
                runner.begin_soon(agents[accepted.task.agent], accepted, place)
                started += 1
        except BaseException:
            self._hungry = True
            raise
        finally:
            for place in places[started:]:
                place.give_back()
        with self._lock:
            self._last = claimed.last
            if started == len(places):
                self._hungry = True
            else:
                self._behind = self._heard | claimed.skipped
            return self._hungry
