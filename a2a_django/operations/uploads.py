"""Large parts of messages that come in: into the site's storage before the message is taken in (docs/files.md)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from a2a_django.agents import Agent
from a2a_django.engine import database
from a2a_django.engine.jobs import Incoming
from a2a_django.engine.receipts import Repeated, UnderWay
from a2a_django.files import markers, parts, store
from a2a_django.protocol.errors import A2AError, InvalidParamsError, UnavailableError
from a2a_django.protocol.wire import Wire

logger = logging.getLogger("a2a_django.files")


def check_addresses(message: Wire) -> None:
    """Raise ``InvalidParamsError`` for a part that says where something is in this site's storage: no caller knows."""
    for index, part in enumerate(message["parts"]):
        if markers.is_ours(part.get("url")):
            raise InvalidParamsError.of(f"message.parts[{index}].url", "is not an address of a caller")


@asynccontextmanager
async def stored(agent: Agent, incoming: Incoming) -> AsyncIterator[Incoming]:
    """Inside, take in the message that is yielded: its large parts are stored. When it is refused, or
    has been taken in before, they are removed.

    When the block ends otherwise, by a lost connection or a caller who leaves, the message may have been taken in; then
    its files have a task, or are removed with the next pruning. Raises ``UnavailableError`` when the storage fails.
    """
    if agent.mode == "message" or not parts.has_large(incoming.wire):
        yield incoming
        return
    try:
        message, files = await database.run_io(parts.message_stored, incoming.wire)
    except Exception as error:  # storages have errors of their own
        logger.exception("The parts of a message could not be stored")
        raise UnavailableError("The parts of the message cannot be stored now") from error
    try:
        yield replace(incoming, wire=message, files=files, given=incoming.wire)
    except (A2AError, Repeated, UnderWay):
        await database.run_io(store.discard, files)
        raise


async def unneeded(incoming: Incoming) -> None:
    """Remove the stored parts of a message that has come into no task."""
    if incoming.files:
        await database.run_io(store.discard, incoming.files)
