"""What other processes do to tasks that somebody here listens to or runs.

The rows are the truth; this only says when to look at them. Two things say so:

* a **doorbell**: every process tells all others, through the site's channel layer, where the tasks of its last commit
  stand. Nothing but the place is in the message; the events are fetched from the rows, once per task and process.
* a **poll** for what the bell does not bring: without a layer that reaches other processes it runs at short intervals,
  with one at long ones, because bells can be lost; at short ones again while they are (the layer fails, or a look
  finds what no bell has told). It asks for all tasks in one query, and only while there are readers or runs.

Beside it, tasks that have lost their process are looked for: often while anybody is at work in any process, and now
and then as long as this one lives, because nobody tells when a process dies.

All of it lives on the process's background loop, so that a slow Redis does not slow down a server's loop.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

from channels.layers import InMemoryChannelLayer, get_channel_layer
from django.db import DatabaseError, InterfaceError

from a2a_django.conf import a2a_settings
from a2a_django.engine import bridge, database
from a2a_django.engine.batch import Committed
from a2a_django.engine.feed import PAGE, Feed, events_after, tell_loops
from a2a_django.models import Task
from a2a_django.protocol.states import TERMINAL

logger = logging.getLogger("a2a_django.engine")

GROUP = "a2a.bells"
#: Seconds between two looks without a bell; with one; and for tasks that run here, which somebody else may cancel.
POLL_SECONDS = 0.2
BELL_POLL_SECONDS = 5.0
RUN_POLL_SECONDS = 1.0
#: The poll takes at most this part of the time, however many tasks it asks for; but one that took long (the database
#: was away, the process was stopped) does not bring about a pause for which readers would notice that.
POLL_SHARE = 0.1
LONGEST_SECONDS = 1.0
#: How long there may be nothing to watch before the watch ends.
LINGER_SECONDS = 30.0
#: How long the layer is not relied on after it has failed, unless a bell is heard.
DEAF_SECONDS = 30.0
RETRY_SECONDS = 1.0
SEND_SECONDS = 5.0
FLUSH_SECONDS = 0.01
#: Seconds between two looks for lost tasks at least, and at most: while anybody is at work, and otherwise. And at least
#: when a lease runs out sooner.
MIN_LOOK_SECONDS = 0.2
MAX_LOOK_SECONDS = 2.0
IDLE_LOOK_SECONDS = 10.0
AGAIN_SECONDS = 0.05

#: Where a task stands: id, state, attempt, running, last event, messages.
Bell = tuple[str, str, int, bool, int, int]


class Watch:
    """The process's watch.

    ``runs`` returns the attempts of the tasks that run here, ``lost`` is told which of them are no longer current,
    ``recover`` takes up tasks of processes that died and says whether anybody is at work at all; ``waiting`` is told
    that other processes have tasks waiting for a run.
    """

    def __init__(
        self,
        feed: Feed,
        holder: str,
        *,
        runs: Callable[[], dict[str, int]],
        lost: Callable[[str, int], None],
        recover: Callable[[], Awaitable[float | None]],
        waiting: Callable[[], None] = lambda: None,
    ) -> None:
        self._feed, self._holder = feed, holder
        self._runs, self._lost, self._recover, self._waiting = runs, lost, recover, waiting
        self._layer = _layer()
        self._lock = threading.Lock()
        self._task: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None
        self._look_now = asyncio.Event()
        self._outgoing: dict[str, Bell] = {}
        self._tells_of_waiting = False
        self._ringing = False
        #: In how many seconds a lease runs out, None when no task has one; at the last look.
        self._leased: float | None = None
        self._away = False
        self._deaf_until = 0.0

    # ------------------------------------------------------------------------------------------------ outgoing

    def ring(self, done: Iterable[Committed]) -> None:
        """Tell the other processes what was committed; from any thread. What is still waiting is replaced."""
        if self._layer is None:
            return
        with self._lock:
            for one in done:
                self._tells_of_waiting = self._tells_of_waiting or one.queued is not None
                self._outgoing[one.task_id] = (
                    one.task_id,
                    one.state,
                    one.attempt,
                    one.running,
                    one.last_seq,
                    one.message_count,
                )
            if self._ringing or not self._outgoing:
                return
            self._ringing = True
        bridge.spawn(self._send)

    async def _send(self) -> None:
        while True:
            with self._lock:
                bells, self._outgoing = list(self._outgoing.values()), {}
                waiting, self._tells_of_waiting = self._tells_of_waiting, False
                if not bells:
                    self._ringing = False
                    return
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    message = {"type": "a2a.bells", "from": self._holder, "bells": bells, "waiting": waiting}
                    await self._layer.group_send(GROUP, message)
            except Exception as error:  # whatever a layer raises when its server is away; the others look at the rows
                self._layer_failed(error)
            else:
                self._layer_works()

    def _layer_failed(self, error: Exception) -> None:
        """Look at the rows more often for a while; say so once, not for every commit."""
        self._deaf_until = asyncio.get_running_loop().time() + DEAF_SECONDS
        if not self._away:
            self._away = True
            logger.warning("The channel layer is not to be had; until it is, the rows have to do", exc_info=error)

    def _layer_works(self) -> None:
        if self._away:
            self._away = False
            logger.warning("The channel layer is there again")

    # ------------------------------------------------------------------------------------------------ incoming

    def wake(self) -> None:
        """There is a reader or a run: see that somebody watches. From any thread."""
        with self._lock:
            if self._task is not None and not self._task.done():
                return
            self._task = None
        bridge.spawn(self._begin)

    async def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._task is None or self._task.done():
                self._task = loop.create_task(self._watch())
            if self._looking is None or self._looking.done():
                self._looking = loop.create_task(self._look_for_lost())

    def look(self) -> None:
        """There is a task that has lost its process: do not wait for the next look. From any thread."""

        async def now() -> None:
            self._look_now.set()

        bridge.spawn(now)

    async def _watch(self) -> None:
        loop = asyncio.get_running_loop()
        beside = []
        if self._layer is not None:
            beside.append(loop.create_task(self._listen()))
        try:
            await self._poll(POLL_SECONDS if self._layer is None else BELL_POLL_SECONDS)
        finally:
            for task in beside:
                task.cancel()

    async def _poll(self, interval: float) -> None:
        """Look at the rows again and again, until there has been nothing to watch for a while."""
        loop = asyncio.get_running_loop()
        idle = runs_seen = loop.time()
        pause = min(interval, POLL_SECONDS)  # the first look is early: what happened before the bell was heard
        while True:
            await asyncio.sleep(pause)
            start = loop.time()
            pause = POLL_SECONDS if start < self._deaf_until else interval
            positions, runs = self._feed.positions(), self._runs()
            if positions or runs or self._leased is not None:
                idle = start
            elif start - idle > LINGER_SECONDS:
                with self._lock:
                    if not self._feed.positions() and not self._runs():  # nobody has come since the look above
                        self._task = None
                        return
            local = start - runs_seen >= max(interval, RUN_POLL_SECONDS)
            wanted = {pk for pk in positions if local or pk not in runs} | (set(runs) if local else set())
            if local:
                runs_seen = start
            if not wanted:
                continue
            try:
                states = await database.read(states_of, sorted(wanted))
                for one in states.values():
                    is_news = await self._take(one, positions.get(one.task_id), runs.get(one.task_id))
                    if is_news and one.task_id not in runs:  # no bell has told it, or not yet
                        self._deaf_until = start + DEAF_SECONDS
                for pk in wanted - states.keys():
                    # What nobody knew of before the look may have been made since.
                    if (known := positions.get(pk)) is not None and known.last_seq >= 0:
                        tell_loops(self._feed.goodbyes(pk))
            except (DatabaseError, InterfaceError):
                logger.warning("Could not look for news of other processes", exc_info=True)
            pause = POLL_SECONDS if start < self._deaf_until else interval
            pause = max(pause, min((loop.time() - start) / POLL_SHARE, LONGEST_SECONDS))

    async def _look_for_lost(self) -> None:
        """See again and again whether tasks have lost their process."""
        while True:
            try:
                self._leased = await self._recover()
            except Exception:
                logger.warning("Could not look for tasks that have lost their process", exc_info=True)
            pause = max(MIN_LOOK_SECONDS, a2a_settings.LEASE_SECONDS / 3)
            if self._leased is None:
                pause = min(pause, IDLE_LOOK_SECONDS)
            else:  # just when the next lease runs out, should that come first: its process has not renewed it
                pause = min(pause, MAX_LOOK_SECONDS, max(self._leased, AGAIN_SECONDS))
            with suppress(TimeoutError):
                await asyncio.wait_for(self._look_now.wait(), pause)
            self._look_now.clear()

    async def _listen(self) -> None:
        """Take the bells of other processes, whatever happens to the layer."""
        while True:
            try:
                channel = await self._layer.new_channel()
                await self._layer.group_add(GROUP, channel)
                self._layer_works()
                try:
                    while True:
                        await self._heard(await self._layer.receive(channel))
                finally:
                    await self._layer.group_discard(GROUP, channel)
            except Exception as error:
                self._layer_failed(error)
                await asyncio.sleep(RETRY_SECONDS)

    async def _heard(self, message: dict[str, Any]) -> None:
        if message.get("from") == self._holder:
            return
        self._deaf_until = 0.0
        if message.get("waiting"):
            self._waiting()
        bells = [Committed(*bell) for bell in message.get("bells", ())]
        positions, runs = self._feed.positions(one.task_id for one in bells), self._runs()
        for one in bells:
            if one.task_id in positions or one.task_id in runs:
                await self._take(one, positions.get(one.task_id), runs.get(one.task_id))

    async def _take(self, one: Committed, known: Committed | None, attempt: int | None) -> bool:
        """A task stands at ``one``: tell its readers and its run; returns whether that is news to the readers."""
        if attempt is not None and (one.attempt > attempt or one.state in TERMINAL):
            self._lost(one.task_id, one.attempt)
        if known is None:
            return False
        tell_loops(self._feed.beginners(one.task_id))
        if known.last_seq < 0 or one.last_seq < known.last_seq:
            return False
        if (one.last_seq, one.running, one.attempt) == (known.last_seq, known.running, known.attempt):
            return False
        if one.last_seq > known.last_seq:
            one.events = await database.read(events_after, one.task_id, known.last_seq)
            if len(one.events) == PAGE:  # the readers fetch the rest themselves, in their own time
                one.last_seq = max(one.last_seq, one.events[-1][0])
        tell_loops(self._feed.deliveries([one]))
        return True

    def stop_looking(self) -> None:
        """Take up no more tasks."""
        with self._lock:
            task, self._looking = self._looking, None
        if task is not None and not task.get_loop().is_closed():
            task.get_loop().call_soon_threadsafe(task.cancel)

    def flush(self, seconds: float) -> None:
        """Wait until what was to be told to other processes is told, ``seconds`` at most; not on its loop."""
        until = time.monotonic() + seconds
        while self._ringing and time.monotonic() < until:
            time.sleep(FLUSH_SECONDS)

    def stop(self) -> None:
        """End the watch."""
        with self._lock:
            tasks = [task for task in (self._task, self._looking) if task is not None]
            self._task = self._looking = None
        for task in tasks:
            if not task.get_loop().is_closed():
                task.get_loop().call_soon_threadsafe(task.cancel)


def _layer() -> Any:
    """Return the site's channel layer if it reaches other processes."""
    layer = get_channel_layer()
    return None if isinstance(layer, InMemoryChannelLayer) else layer


def states_of(task_ids: list[str]) -> dict[str, Committed]:
    """Read where tasks stand."""
    found: dict[str, Committed] = {}
    names = ("pk", "state", "attempt", "lease_holder", "last_seq", "message_count")
    for start in range(0, len(task_ids), 500):
        rows = Task.objects.using(database.alias()).filter(pk__in=task_ids[start : start + 500])
        for pk, state, attempt, holder, seq, messages in rows.values_list(*names):
            found[pk] = Committed(pk, state, attempt, bool(holder), seq, messages)
    return found
