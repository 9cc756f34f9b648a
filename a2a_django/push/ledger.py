"""What the sender writes and reads: who sends what, what was delivered, what failed.

Invariants:

* A config belongs to one sender at a time: the one whose name and time are in its lease. Everything a sender writes
  about a config names the lease, and has no effect when it is no longer his; only what has arrived counts in any case.
* What all deliveries under way have to write at a moment goes into one transaction, as in the journal; the next one of
  a config is sent only after the last one's outcome has been committed. So a process that dies repeats at most the one
  delivery per config that was under way.
* A config is taken off the list of those that are due only if nothing has been queued since (``queued_seq``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from a2a_django.engine import database
from a2a_django.models import PushConfig
from a2a_django.push import statements
from a2a_django.push.statements import Claimed, Delivery, Failure, Page, Wanted

P = ParamSpec("P")
T = TypeVar("T")

#: How often a config is tried whose row another transaction holds: a site's own may be long, and must not hold up the
#: others.
HELD_SECONDS = 0.05


class Ledger:
    """The ledger of the sender ``holder``. Used on one event loop; the database work has a thread of its own."""

    def __init__(self, holder: str) -> None:
        self.holder = holder
        self._round = statements.Round()
        self._written: asyncio.Future[statements.Written] | None = None
        self._writing: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------------------------------------ for the sender

    async def claim(self, wanted: Wanted) -> Claimed:
        """Take configs that are due and that nobody has."""
        return await self._run(statements.claim, self.holder, wanted)

    async def page(self, config: PushConfig, after: int, count: int, *, again: bool = False) -> Page:
        """Return the next deliveries of a config, at most ``count``; with ``again`` also those that failed before and
        wait for another attempt."""
        return await database.read(statements.page, config, after, count, again)

    async def delivered(self, config: PushConfig, delivery: Delivery, *, last: bool) -> int | None:
        """Record that a delivery has arrived; when it seems to be the ``last`` one, try to give the config back.

        Returns None when it was given back, else the last event that is queued for it. Raises ``Lost``.
        """
        while True:
            self._round.delivered[config.pk] = delivery
            if last:
                self._round.released[config.pk] = delivery.number
            written = await self._write_recovered(config)
            if config.pk not in written.unrecorded:
                return written.left(config.pk)
            await asyncio.sleep(HELD_SECONDS)

    async def failed(self, failure: Failure) -> None:
        """Record that an attempt failed, and give the config back."""
        while True:
            self._round.failures[failure.config_id] = failure
            if failure.config_id not in (await self._write()).held:
                return
            await asyncio.sleep(HELD_SECONDS)

    async def release(self, config: PushConfig, number: int) -> int | None:
        """Give a config back of which everything up to event ``number`` is done.

        Returns None, or the last event that is queued for it when there is a newer one; then it is still ours. Raises
        ``Lost``.
        """
        while True:
            self._round.released[config.pk] = number
            written = await self._write_recovered(config)
            if config.pk not in written.held:
                return written.left(config.pk)
            await asyncio.sleep(HELD_SECONDS)

    async def hand_on(self, config: PushConfig) -> bool:
        """Give a config back for which there is more to do, so that it queues up behind those that are due.

        Returns False when its row is held; then it is still ours. Raises ``Lost``.
        """
        self._round.handed_on.add(config.pk)
        return (await self._write_recovered(config)).left(config.pk) is None

    async def renew(self) -> tuple[set[int], set[int]]:
        """Give a sign of life for all configs that are ours; returns which they are, and whose lease is longer now: a
        row that another transaction holds keeps the one that it has."""
        self._round.renew = True
        written = await self._write()
        return set(written.ours), written.locked

    async def give_back(self) -> None:
        """Give all configs back; nothing is sent any more."""
        await self._run(statements.give_back, self.holder)

    # ------------------------------------------------------------------------------------------------ rounds

    async def _write_recovered(self, config: PushConfig) -> statements.Written:
        """Write the round, and that a config which had failed is well again; later, when its row is held."""
        if config.failures:
            self._round.recovered.add(config.pk)
        written = await self._write()
        if config.pk in written.locked:
            config.failures = 0
        return written

    async def _write(self) -> statements.Written:
        """Wait for the transaction that takes what has been put into the round."""
        if self._written is None:
            self._written = asyncio.get_running_loop().create_future()
        written = self._written
        if self._writing is None or self._writing.done():
            self._writing = asyncio.get_running_loop().create_task(self._rounds())
        return await asyncio.shield(written)

    async def _rounds(self) -> None:
        while (written := self._written) is not None:
            round_, self._round, self._written = self._round, statements.Round(), None
            try:
                written.set_result(await self._run(statements.write, self.holder, round_))
            except Exception as error:
                written.set_exception(error)
                written.exception()  # whoever waits has it; nobody may be left to

    async def _run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        pool = database.pools.get("push", 1)
        work = partial(function, *args, **kwargs)
        return await asyncio.wrap_future(pool.submit(database.persistently, database.alias(), work))
