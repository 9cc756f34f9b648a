"""The sender: takes configs whose deliveries are due and sends them, each config on its own.

Invariants:

* Deliveries of one config are sent one after the other, in the order of their events, by whoever has its lease; of a
  delivery that failed nothing newer overtakes it, until it has arrived or was given up.
* A config waits for no other: a host that is slow or dead takes at most ``PUSH_HOST_CONCURRENCY`` of the places, and
  configs whose last attempt failed take at most half of a host's, and half of them all together. While others wait for
  a place, a config gives its own up after ``TURN_SECONDS`` and queues up behind them.
* Nothing is sent once the lease may have run out.

It lives on the process's background loop and costs a look at the rows every ``LEASE_SECONDS`` when there is nothing to
do.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
import math
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, InterfaceError
from django.utils import timezone

from a2a_django import telemetry
from a2a_django.conf import a2a_settings
from a2a_django.engine import bridge, database
from a2a_django.models import PushConfig
from a2a_django.push.announce import announce_failure
from a2a_django.push.ledger import Ledger
from a2a_django.push.request import body_of, headers_of
from a2a_django.push.statements import Delivery, Failure, Lost, Wanted
from a2a_django.push.transport import Outcome, Transport
from a2a_django.sealing import UndecryptableError

logger = logging.getLogger("a2a_django.push")

#: Deliveries of one config that are read ahead at most, and how many characters they may have: events may be large.
PAGE = 32
PAGE_CHARACTERS = 256 * 1024
#: So much of a lease has to be left when something is sent.
MARGIN = 0.25
RETRY_SECONDS = 1.0
#: So long a config may go on, one delivery at least, while others wait for its place.
TURN_SECONDS = 2.0
SETTLE_POLL_SECONDS = 0.05
MIN_SECONDS = 0.05
GONE = 410
OWN_FAULT = "This site's keys or settings do not allow to send; its log says more."


class Sender:
    """The process's sender; ``holder`` is its name in leases.

    Without ``active`` it sends nothing, because another process does. ``idle_seconds``: how often it looks for work of
    other processes, at least every ``LEASE_SECONDS``. ``transport`` makes what requests are sent with.
    """

    def __init__(
        self,
        holder: str,
        *,
        active: bool = True,
        idle_seconds: float = math.inf,
        transport: Callable[[], Transport] = Transport,
    ) -> None:
        self.active = active
        #: Whether what it has taken is given back at its end, as others may want to go on with it.
        self.gives_back = True
        self._make_transport = transport
        self.idle_seconds = idle_seconds
        self._holder = holder
        self._lock = threading.Lock()
        self._woken = False
        self._task: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._wakes = 0
        self._carriers: dict[int, asyncio.Task[None]] = {}
        self._hosts: Counter[str] = Counter()
        self._struggling: Counter[str] = Counter()
        #: Configs of which there is more to do than their carriers did.
        self._unfinished: set[int] = set()
        #: There may be more to do than could be taken.
        self._more = False
        #: Until when the leases of those at work may be relied on.
        self._good_until: dict[int, float] = {}
        #: Rows that could not be taken because another transaction held them: when to try again, after which pause.
        self._held: dict[int, tuple[float, float]] = {}
        self._settled: dict[str, list[Callable[[], None]]] = defaultdict(list)

    # ------------------------------------------------------------------------------------------------ from outside

    def wake(self) -> None:
        """There is something to send; from any thread."""
        with self._lock:
            if self._woken or not self.active:
                return
            self._woken = True
        bridge.spawn(self._begin)

    async def settled(self, task_id: str, seconds: float) -> None:
        """Wait until nothing more is about to be sent for a task, or ``seconds`` are over.

        Webhooks whose last attempt failed are not waited for.
        """
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        changed = asyncio.Event()

        def tell() -> None:
            loop.call_soon_threadsafe(changed.set)

        with self._lock:
            self._settled[task_id].append(tell)
        try:
            async with asyncio.timeout(seconds):  # the database may take its time
                while await database.read(_is_waiting, task_id) and (left := end - loop.time()) > 0:
                    changed.clear()
                    try:
                        await asyncio.wait_for(changed.wait(), min(left, SETTLE_POLL_SECONDS))
                    except TimeoutError:
                        continue  # another process may be the one that sends
        except TimeoutError:
            return
        finally:
            with self._lock:
                self._settled[task_id].remove(tell)
                if not self._settled[task_id]:
                    del self._settled[task_id]

    def stop(self) -> None:
        """End the sender; what is under way is repeated by whoever comes next, once the leases have run out."""
        with self._lock:
            task, self._task = self._task, None
        if task is not None:
            task.get_loop().call_soon_threadsafe(task.cancel)

    # ------------------------------------------------------------------------------------------------ the loop

    async def _begin(self) -> None:
        with self._lock:
            self._woken = False
            self._wakes += 1
            self._news.set()
            if self._task is None or self._task.done():
                self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        self._ledger, self._transport = Ledger(self._holder), self._make_transport()
        self._carriers, self._hosts, self._struggling = {}, Counter(), Counter()
        self._good_until, self._held, self._unfinished = {}, {}, set()
        renewed = loop.time()
        try:
            while True:
                self._news.clear()
                try:
                    if loop.time() - renewed >= a2a_settings.LEASE_SECONDS / 3 and self._carriers:
                        renewed = loop.time()
                        await self._renew()
                    pause = await self._take()
                except (DatabaseError, InterfaceError):
                    logger.warning("Could not look for what webhooks have to be told", exc_info=True)
                    pause = RETRY_SECONDS
                try:
                    await asyncio.wait_for(self._news.wait(), pause)
                except TimeoutError:
                    continue
        finally:
            await self._close()

    async def _close(self) -> None:
        """End what is under way; the loop may be about to end, and cancel each of these waits, too."""
        for task in self._carriers.values():
            task.cancel()
        try:
            await asyncio.gather(*self._carriers.values(), return_exceptions=True)
        finally:
            try:
                await self._transport.close()
            finally:
                if self.gives_back:
                    try:
                        await self._ledger.give_back()
                    except (DatabaseError, InterfaceError):
                        logger.warning("Webhooks could not be left to others; their leases run out", exc_info=True)

    async def _take(self) -> float:
        """Take what is due and start its carriers; returns how many seconds there is nothing to do but wait."""
        room = a2a_settings.PUSH_CONCURRENCY - len(self._carriers)
        lease = a2a_settings.LEASE_SECONDS
        pause = lease / 3 if self._carriers else min(lease, self.idle_seconds)
        self._more = room <= 0
        if room <= 0:
            return pause
        now = asyncio.get_running_loop().time()
        good_until = self._lease_from(now)
        held = frozenset(pk for pk, (again_at, _) in self._held.items() if again_at > now)
        claimed = await self._ledger.claim(
            Wanted(
                room,
                max(a2a_settings.PUSH_CONCURRENCY // 2, 1) - self._struggling.total(),
                a2a_settings.PUSH_HOST_CONCURRENCY,
                frozenset(self._carriers),
                self._hosts.copy(),
                held,
                self._struggling.copy(),
            )
        )
        for config in claimed.configs:
            self._start(config, good_until)
        self._more = claimed.more
        pause = min(pause, self._set_aside(claimed.held))
        if claimed.pause is None:
            return pause
        # One that is due and was not taken: a place has to become free first, or somebody holds its row for a moment.
        return min(pause, max(claimed.pause, RETRY_SECONDS if self._more else MIN_SECONDS))

    def _set_aside(self, found: frozenset[int]) -> float:
        """Leave the rows alone that were found held, longer each time; returns when there is one to be tried again.

        They are not looked at meanwhile, so that they do not stand in front of others that are due.
        """
        now = asyncio.get_running_loop().time()
        # How long one was left alone is known for a while longer: it may not have had its turn yet.
        waiting = {pk: each for pk, each in self._held.items() if each[0] > now - RETRY_SECONDS}
        for pk in found:
            last = self._held.get(pk, (0.0, MIN_SECONDS / 2))[1]
            pause = min(2 * last, RETRY_SECONDS)
            waiting[pk] = now + pause, pause
        self._held = waiting
        return min((again_at - now for again_at, _ in waiting.values() if again_at > now), default=math.inf)

    def _start(self, config: PushConfig, good_until: float) -> None:
        struggling, wakes = config.failures > 0, self._wakes
        self._hosts[config.host] += 1
        self._struggling[config.host] += struggling
        self._good_until[config.pk] = good_until
        task = asyncio.get_running_loop().create_task(self._carry(config))
        self._carriers[config.pk] = task

        def ended(task: asyncio.Task[None]) -> None:
            del self._carriers[config.pk], self._good_until[config.pk]
            self._hosts[config.host] -= 1
            self._struggling[config.host] -= struggling
            # Whoever looked meanwhile has passed this config over, because it was at work here.
            if self._more or self._wakes != wakes or config.pk in self._unfinished:
                self._unfinished.discard(config.pk)
                self._news.set()
            if not task.cancelled() and (error := task.exception()) is not None:
                logger.error("Config %s could not be served", config.pk, exc_info=error)
            with self._lock:
                waiting = list(self._settled.get(config.task_id, ()))
            for tell in waiting:
                tell()

        task.add_done_callback(ended)

    def _lease_from(self, moment: float) -> float:
        """Return until when a lease that was given at ``moment`` or later may be relied on."""
        return moment + a2a_settings.LEASE_SECONDS * (1 - MARGIN)

    async def _renew(self) -> None:
        """Give a sign of life; what is no longer ours is stopped."""
        started, carriers = asyncio.get_running_loop().time(), dict(self._carriers)
        ours, renewed = await self._ledger.renew()
        for pk, task in carriers.items():
            if pk not in ours:
                task.cancel()
        for pk in renewed & self._good_until.keys() & carriers.keys():
            self._good_until[pk] = max(self._good_until[pk], self._lease_from(started))

    # ------------------------------------------------------------------------------------------------ one config

    async def _carry(self, config: PushConfig) -> None:
        """Send what waits for a config until there is nothing more, an attempt fails, or it is somebody else's."""
        try:
            await self._send_all(config)
        except Lost:
            self._unfinished.add(config.pk)  # one that was replaced has to be taken anew

    async def _send_all(self, config: PushConfig) -> None:
        loop = asyncio.get_running_loop()
        turn_ends = loop.time() + TURN_SECONDS
        number, count, again = config.cursor.sent_seq, 1, True
        while True:
            # At first with what failed last, and what somebody wants to be sent again.
            page = await self._ledger.page(config, number, count, again=again)
            again = False
            if not page.deliveries:
                if await self._ledger.release(config, page.queued) is None:
                    return
                continue
            for delivery in page.deliveries:
                if self._more and loop.time() > turn_ends:
                    if await self._ledger.hand_on(config):
                        self._unfinished.add(config.pk)
                        return
                    turn_ends = loop.time() + TURN_SECONDS
                last = delivery.number >= page.queued
                if not await self._deliver(config, delivery, last=last):
                    return
                number = max(number, delivery.number)
            small = sum(len(delivery.text) for delivery in page.deliveries) < PAGE_CHARACTERS
            count = min(2 * count, PAGE) if small else 1

    async def _deliver(self, config: PushConfig, delivery: Delivery, *, last: bool = False) -> bool:
        """Send one delivery and record what came of it; returns whether to go on with the config."""
        if asyncio.get_running_loop().time() > self._good_until[config.pk]:
            return False
        try:
            outcome = await self._send(config, delivery)
        except (UndecryptableError, ImproperlyConfigured) as error:
            await self._not_sent(config, delivery, error)
            return False
        if not outcome.ok:
            await self._failed(config, delivery, outcome)
            return False
        return await self._ledger.delivered(config, delivery, last=last) is not None

    async def _send(self, config: PushConfig, delivery: Delivery) -> Outcome:
        """Send one delivery. Raises ``UndecryptableError`` and ``ImproperlyConfigured``, which are the site's fault."""
        parent = config.task.traceparent
        if (observer := telemetry.observer()) is None:
            return await self._post(config, delivery, parent)
        attempt = delivery.attempts + 1
        with observer.delivery(config.host, task_id=config.task_id, attempt=attempt, parent=parent) as span:
            outcome = await self._post(config, delivery, span.traceparent)
            if outcome.status is not None:
                span.note(status=outcome.status)
            if not outcome.ok:
                span.fail(str(outcome.status or ("refused" if outcome.refused else "no answer")))
            return outcome

    async def _post(self, config: PushConfig, delivery: Delivery, traceparent: str) -> Outcome:
        body = await body_of(config, delivery)
        headers = headers_of(config, config.secrets, delivery, body, traceparent)
        return await self._transport.post(config.url, body, headers, a2a_settings.PUSH_TIMEOUT_SECONDS)

    async def _not_sent(self, config: PushConfig, delivery: Delivery, error: Exception) -> None:
        """The site cannot make the request: try again later, and do not count it against the webhook."""
        logger.error("Config %s cannot be served: %s", config.pk, error)
        due_at = timezone.now() + dt.timedelta(seconds=pause_after(delivery.attempts + 1, None))
        await self._ledger.failed(Failure(config.pk, delivery, OWN_FAULT, due_at, counts=False))
        self._unfinished.add(config.pk)

    async def _failed(self, config: PushConfig, delivery: Delivery, outcome: Outcome) -> None:
        """Record an attempt that failed: try again later, give the delivery up, or disable the config."""
        now, failures, attempts = timezone.now(), config.failures + 1, delivery.attempts + 1
        disable = ""
        if outcome.status == GONE:
            disable = "The receiver answered 410 Gone."
        elif failures >= a2a_settings.PUSH_DISABLE_AFTER:
            disable = f"{failures} attempts in a row failed; the last error: {outcome.error}"
        age = (now - delivery.created_at).total_seconds()
        dead = bool(disable) or attempts >= a2a_settings.PUSH_MAX_ATTEMPTS or age > a2a_settings.PUSH_MAX_AGE_SECONDS
        pause = pause_after(failures, outcome.retry_after)
        due_at = now + dt.timedelta(seconds=pause)
        logger.info(
            "Event %d of task %s could not be sent to %s (attempt %d): %s; %s",
            delivery.number,
            config.task_id,
            config.host,
            attempts,
            outcome.error,
            "the webhook is disabled" if disable else "given up" if dead else f"again in {pause:.0f} s",
        )
        await self._ledger.failed(Failure(config.pk, delivery, outcome.error, due_at, dead=dead, disable=disable))
        if dead:
            await database.run(announce_failure, config, delivery.number, outcome.error, disable)
        self._unfinished.add(config.pk)


def pause_after(failures: int, retry_after: float | None) -> float:
    """Return how many seconds to wait after so many failures in a row: twice as long each time, never all at once."""
    longest = a2a_settings.PUSH_MAX_RETRY_SECONDS
    pause: float = min(a2a_settings.PUSH_RETRY_SECONDS * 2.0 ** min(failures - 1, 32), longest)
    pause *= random.uniform(0.8, 1.2)  # noqa: S311 - spreads load, keeps no secret
    return max(pause, min(retry_after or 0.0, float(longest)))


def _is_waiting(task_id: str) -> bool:
    """Return whether something is about to be sent for a task."""
    rows = PushConfig.objects.using(database.alias()).filter(task_id=task_id, due_at__isnull=False, failures=0)
    return rows.exists()
