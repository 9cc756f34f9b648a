"""Live subscriptions: a task's events to everybody who listens, no gap, no double.

Invariants:

* A reader delivers event n+1 only after event n. It knows the number it is at; an event handed over directly is taken
  only when it is the next one, everything else is fetched from the rows.
* The queue of a reader is bounded. One that falls behind loses its queue, not its events: it reads on from the rows.
* Nothing here writes, and nobody waits for a reader.

Events committed by this process are handed over by the journal, those of other processes by ``watch``.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from a2a_django.engine import database
from a2a_django.engine.batch import Committed
from a2a_django.models import TaskEvent
from a2a_django.protocol.errors import TaskNotFoundError
from a2a_django.protocol.states import TERMINAL

logger = logging.getLogger("a2a_django.engine")

#: Events a reader may have waiting before it is sent to the rows.
MAX_QUEUE = 1000
#: Events fetched from the rows at a time.
PAGE = 500
#: What has to be called in each loop.
Deliveries = dict[asyncio.AbstractEventLoop, list[Callable[[], None]]]

#: (seq, text, state or "", attempt)
Event = tuple[int, str, str, int]


class Reader:
    """One subscription. Make it before the snapshot is read, then ``start`` it at the snapshot's number."""

    def __init__(self, feed: Feed, task_id: str) -> None:
        self.task_id = task_id
        self._feed = feed
        self.loop = asyncio.get_running_loop()
        self._queue: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._behind = False
        self.seq = -1
        #: The newest that is known of the task; for deciding when to stop.
        self.known_seq = -1
        self.attempt = 0
        self.running = True
        self.ended = False
        self.message_count = 0
        self._gone = False

    def start(self, seq: int, *, attempt: int, running: bool, behind: bool = False, after: int | None = None) -> None:
        """Deliver what comes after event ``seq``; ``behind``: there may be such events already.

        With ``after``, an event before ``seq``, deliver what comes after that one: a caller who was here before has
        the events up to there.
        """
        self.seq = seq if after is None else after
        self._behind = self._behind or behind or self.seq < seq
        if self.place < (seq, attempt, not running):
            self.known_seq, self.attempt, self.running = seq, attempt, running

    @property
    def place(self) -> tuple[int, int, bool]:
        """How far the task is known to be; it never goes back (an attempt runs first, and then no more)."""
        return (self.known_seq, self.attempt, not self.running)

    def tell(self, done: Committed) -> None:
        """Take in what a transaction did; in the reader's loop."""
        if (done.last_seq, done.attempt, not done.running) < self.place:
            return
        self.known_seq, self.attempt, self.running = done.last_seq, done.attempt, done.running
        self.message_count = done.message_count
        self.ended = self.ended or done.state in TERMINAL
        if not self._behind:
            if len(self._queue) + len(done.events) > MAX_QUEUE:
                self._queue.clear()
                self._behind = True
            else:
                self._queue.extend(done.events)
        self._wake.set()

    def go(self) -> None:
        """Take in that the task was deleted."""
        self._gone = True
        self._wake.set()

    def wake(self) -> None:
        """Have ``next`` return, also without events."""
        self._wake.set()

    def fall_behind(self) -> None:
        """Read the rows before anything else."""
        self._queue.clear()
        self._behind = True
        self._wake.set()

    async def next(self) -> list[Event]:
        """Return the events that are ready, at least one; or none when only the run's state has changed.

        Raises ``TaskNotFoundError`` when the task was deleted.
        """
        woken = False
        while True:
            events = self._ready()
            if not events and self._behind:
                events = await self._from_rows()
                if not events:
                    return []  # nothing is pending any more: whoever took that into account has to think again
            if events:
                self.seq = events[-1][0]
                self._wake.clear()
                return events
            if self.exhausted:
                return []
            if self._gone:
                raise TaskNotFoundError()
            if self.seq < self.known_seq:
                self._behind = True
                continue
            if woken:
                return []
            # What was told since the last return may have come while nobody was in here.
            await self._wake.wait()
            self._wake.clear()
            woken = True

    def _ready(self) -> list[Event]:
        """Take what is next from the queue; a hole sends the reader to the rows."""
        events: list[Event] = []
        at = self.seq
        while self._queue:
            event = self._queue[0]
            if event[0] <= at:
                self._queue.popleft()
            elif event[0] == at + 1:
                events.append(self._queue.popleft())
                at += 1
            else:
                self._queue.clear()
                self._behind = True
        return events

    async def _from_rows(self) -> list[Event]:
        self._behind = False
        known = self.known_seq
        rows = await database.read(events_after, self.task_id, self.seq)
        if not rows:  # what was known before the look and is not there was deleted, and will not come any more
            self.seq = max(self.seq, known)
        if len(rows) == PAGE or (rows and rows[-1][0] < self.known_seq and not self._queue):
            self._behind = True
        return rows

    @property
    def exhausted(self) -> bool:
        """Whether the task has ended and everything has been delivered."""
        return self.ended and self.seq >= self.known_seq

    @property
    def pending(self) -> bool:
        """Whether there are events that have not been delivered."""
        return self._behind or bool(self._queue and self._queue[-1][0] > self.seq)

    def close(self) -> None:
        """End the subscription."""
        self._feed.remove(self)


def events_after(task_id: str, seq: int) -> list[Event]:
    """Read up to ``PAGE`` events of a task after number ``seq``."""
    rows = TaskEvent.objects.using(database.alias()).filter(task_id=task_id, seq__gt=seq).order_by("seq")
    return list(rows.values_list("seq", "wire", "state", "attempt")[:PAGE])


class Feed:
    """The process's readers, by task."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers: dict[str, set[Reader]] = {}
        #: Called when there is a reader, so that somebody looks after tasks that change in other processes.
        self.on_reader: Callable[[], None] = lambda: None

    def reader(self, task_id: str) -> Reader:
        """Subscribe to a task; the reader belongs to the running loop."""
        reader = Reader(self, task_id)
        with self._lock:
            self._readers.setdefault(task_id, set()).add(reader)
        self.on_reader()
        return reader

    def remove(self, reader: Reader) -> None:
        """Forget a reader."""
        with self._lock:
            readers = self._readers.get(reader.task_id)
            if readers is not None:
                readers.discard(reader)
                if not readers:
                    del self._readers[reader.task_id]

    def deliveries(self, done: Iterable[Committed]) -> Deliveries:
        """Return what has to be called in each loop to tell its readers what was committed; from any thread."""
        calls: Deliveries = {}
        with self._lock:
            for one in done:
                for reader in self._readers.get(one.task_id, ()):
                    calls.setdefault(reader.loop, []).append(partial(reader.tell, one))
        return calls

    def positions(self, task_ids: Iterable[str] | None = None) -> dict[str, Committed]:
        """Return for each task with readers (and in ``task_ids``) what all of them know; ``last_seq`` -1: none has
        begun."""
        with self._lock:
            wanted = self._readers if task_ids is None else (pk for pk in task_ids if pk in self._readers)
            least = {pk: min(self._readers[pk], key=_news_wanted) for pk in wanted}
        return {
            pk: Committed(pk, "", reader.attempt, reader.running, reader.known_seq, reader.message_count)
            for pk, reader in least.items()
        }

    def goodbyes(self, task_id: str) -> Deliveries:
        """Return the calls that tell readers that their task was deleted; those that have not begun find out."""
        calls: Deliveries = {}
        with self._lock:
            for reader in self._readers.get(task_id, ()):
                if reader.seq >= 0:
                    calls.setdefault(reader.loop, []).append(reader.go)
        return calls

    def beginners(self, task_id: str) -> Deliveries:
        """Return the calls that send readers which have not begun to the rows first: something happened meanwhile."""
        calls: Deliveries = {}
        with self._lock:
            for reader in self._readers.get(task_id, ()):
                if reader.seq < 0:
                    calls.setdefault(reader.loop, []).append(reader.fall_behind)
        return calls


def _news_wanted(reader: Reader) -> tuple[bool, tuple[int, int, bool]]:
    """Sort the least informed reader first, those that have not begun last."""
    return (reader.seq < 0, reader.place)


def tell_loops(told: Deliveries) -> None:
    """Have each loop carry out its calls, in one step: waking a loop costs more than most of what it is woken for."""
    for loop, calls in told.items():
        try:
            loop.call_soon_threadsafe(_carry_out, calls)
        except RuntimeError:
            logger.debug("A loop with %d callers and readers has closed", len(calls))


def _carry_out(calls: list[Callable[[], None]]) -> None:
    for call in calls:
        call()
