"""A message that was sent before: its sender gets the same task or the same reply (R-086, D-32).

For agents with ``deduplicate`` only. A repeat begins nothing: it takes no place of those that runs have, adds nothing
to the history, and the webhook that comes with it is not registered again. Rows decide (``engine.receipts``); that two
of the same wait for each other in here saves looking again and again where both have come to one process.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from a2a_django import engine
from a2a_django.access import owner_at
from a2a_django.conf import a2a_settings
from a2a_django.engine import database, history, receipts
from a2a_django.engine.receipts import Claim, Repeated, UnderWay
from a2a_django.engine.run import Reply
from a2a_django.operations.context import CallContext
from a2a_django.operations.turns import Started, Turn
from a2a_django.protocol.errors import TaskNotFoundError, UnavailableError
from a2a_django.protocol.states import TERMINAL
from a2a_django.protocol.wire import Wire

#: Seconds between two looks at a message that another process has; the pause doubles.
FIRST_PAUSE: Final = 0.05
LONGEST_PAUSE: Final = 1.0

#: By loop: whose turn it is with a message, as long as anybody waits for it.
_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[str, asyncio.Lock]] = WeakKeyDictionary()


def can_be_known(call: CallContext) -> bool:
    """Whether a caller's messages are told apart from those of others: not where nobody knows who is calling."""
    return call.agent.deduplicate and call.owner != owner_at(call.tenant, "")


async def once(
    call: CallContext,
    message: Wire,
    history_length: int | None,
    take_in: Callable[[Claim], Awaitable[Started | Reply]],
) -> Started | Reply:
    """Take a message in, unless it has been taken in before; then return what became of it.

    Waits for whoever has it, and takes it over when that one is lost. Raises what ``take_in`` raises,
    ``InvalidParamsError`` when another message had the same id, and ``UnavailableError`` when it is not known after
    ``BLOCKING_SECONDS`` what becomes of it.
    """
    claim = receipts.claim_of(message, agent=call.agent.slug, owner=call.owner)
    pause = FIRST_PAUSE
    until = asyncio.get_running_loop().time() + a2a_settings.BLOCKING_SECONDS
    async with _turn(claim.key, until):
        while True:
            try:
                return await take_in(await database.read(receipts.look, claim))
            except Repeated as before:
                return await _again(call, before, history_length)
            except UnderWay:
                if asyncio.get_running_loop().time() >= until:
                    raise _too_long() from None
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)


@asynccontextmanager
async def _turn(key: str, until: float) -> AsyncIterator[None]:
    """Let the messages with one key come one after the other, on one loop."""
    locks = _turns.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    lock = locks.setdefault(key, asyncio.Lock())
    try:
        async with asyncio.timeout_at(until):
            await lock.acquire()
    except TimeoutError:
        raise _too_long() from None
    try:
        yield
    finally:
        lock.release()


def _too_long() -> UnavailableError:
    return UnavailableError("The same message is being worked on, please try again later")


async def _again(call: CallContext, before: Repeated, history_length: int | None) -> Started | Reply:
    """Return what became of a message: its reply, or its task as it is now and what still happens for the message."""
    if before.task_id is None:
        return Reply(json.loads(before.reply or "{}"))
    reader = engine.get().feed.reader(before.task_id)
    try:
        found = await database.read(
            history.standing,
            before.task_id,
            before.position,
            agent=call.agent.slug,
            owner=call.owner,
            history_length=history_length,
        )
        if found is None:
            raise TaskNotFoundError()  # deleted meanwhile
    except BaseException:
        reader.close()
        raise
    snapshot, attempt, reported = found
    reader.start(snapshot.seq, attempt=snapshot.attempt, running=snapshot.running, behind=True)
    reader.ended = reader.ended or snapshot.state in TERMINAL
    turn = Turn(before.task_id, before.position, attempt, reported)
    return Started(before.task_id, snapshot.text, reader, turn, has_push=False)
