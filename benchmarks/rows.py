"""The stored tasks of the listing benchmark: the same ones for both servers."""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from benchmarks.wire import ECHO

TASKS_PER_CONTEXT = 10
_START = datetime(2026, 1, 1, tzinfo=UTC)
_STEP = timedelta(seconds=7, milliseconds=321)


@dataclass(frozen=True, slots=True)
class StoredTask:
    """A completed task with one message and one artifact, as the echo agent leaves it."""

    number: int
    at: datetime
    context_id: str
    message_id: str
    text: str = ECHO


def stored_tasks(count: int) -> Iterator[StoredTask]:
    """`count` tasks, oldest first, the same ones every time."""
    chance = random.Random(20261129)
    context_id = ""
    for number in range(count):
        if number % TASKS_PER_CONTEXT == 0:
            context_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        yield StoredTask(number, _START + number * _STEP, context_id, f"stored-{number}")
