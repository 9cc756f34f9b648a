"""Following one message: when is its run over, when has the task come to a rest (R-035, D-05, D-19)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from a2a_django.engine import database
from a2a_django.engine.feed import Event, Reader
from a2a_django.models import Message
from a2a_django.protocol.folding import fold
from a2a_django.protocol.states import INTERRUPTED, TERMINAL, TaskState
from a2a_django.protocol.wire import Wire, text_of

#: Events and characters of JSON up to which an answer is put together from what happened.
MAX_FOLDED: Final = 100
MAX_FOLDED_SIZE: Final = 65_536


@dataclass(slots=True)
class Turn:
    """The place of a message in the life of its task; ``attempt`` is its run, None while the message waits."""

    task_id: str
    position: int
    attempt: int | None
    #: The last state that the message's own run has reported.
    state: str = ""

    async def see(self, event: Event) -> None:
        """Take in an event."""
        _, _, state, attempt = event
        if not state:
            return
        if self.attempt is None and state in INTERRUPTED:
            self.attempt = await database.read(attempt_of, self.task_id, self.position)
        if self.attempt is not None and attempt >= self.attempt:
            self.state = state

    def is_past(self, event: Event) -> bool:
        """Whether an event comes after the end of this message's stream: of a later run, when its own has asked."""
        return self.attempt is not None and event[3] > self.attempt and self.state == TaskState.INPUT_REQUIRED

    def is_settled(self, reader: Reader) -> bool:
        """Whether a blocking call may be answered: the task has ended, or its run has asked back (R-035)."""
        return self.state in INTERRUPTED or self._is_over(reader)

    def is_parked(self, reader: Reader) -> bool:
        """Whether a stream has nothing more to tell: the run has asked for input and returned (D-05)."""
        return self.state == TaskState.INPUT_REQUIRED and not reader.pending and self._is_over(reader)

    def _is_over(self, reader: Reader) -> bool:
        if self.attempt is None:
            return False
        return reader.attempt > self.attempt or (reader.attempt == self.attempt and not reader.running)


@dataclass(slots=True)
class Started:
    """A message on its way: the text of the task as its sender sees it first, and where to follow it."""

    task_id: str
    text: str
    reader: Reader
    turn: Turn
    #: Whether the task has webhooks.
    has_push: bool
    #: The task itself when it is new, to fold into it what happens.
    task: Wire | None = None


def attempt_of(task_id: str, position: int) -> int | None:
    """Return the run that took a message."""
    rows = Message.objects.using(database.alias()).filter(task_id=task_id, position=position)
    return rows.values_list("attempt", flat=True).first()


async def settled(reader: Reader, turn: Turn) -> list[str]:
    """Wait until a message's task has come to a rest; returns the texts of what happened until then.

    The list ends where it gets long: a task with so much in it is read from its rows.
    """
    texts: list[str] = []
    if not reader.pending and await _has_come_to_rest(reader, turn):
        return texts  # a message that waited may have had its turn before its sender began to read
    while True:
        for event in await reader.next():
            if len(texts) <= MAX_FOLDED:
                texts.append(event[1])
            await turn.see(event)
            if event[2] in TERMINAL:
                return texts
        if reader.exhausted or await _has_come_to_rest(reader, turn):
            return texts


async def _has_come_to_rest(reader: Reader, turn: Turn) -> bool:
    """Return whether a blocking call may be answered, also where the message's run seems to be over."""
    if not turn.is_settled(reader):
        return False
    if turn.state in INTERRUPTED:
        return True
    # The run has ended neither the task nor itself: it was lost, and the message is run again, or waits for that.
    before, turn.attempt = turn.attempt, await database.read(attempt_of, turn.task_id, turn.position)
    return turn.attempt == before


def folded(task: Wire, reader: Reader, texts: list[str], *, history_length: int | None) -> str | None:
    """Return the text of a task that began as ``task`` and to which ``texts`` have happened since.

    This is the same as reading its rows, without reading them. None when that cannot be said: much has happened, or
    the history got messages that are no events.
    """
    if len(texts) > MAX_FOLDED or not reader.exhausted or sum(map(len, texts)) > MAX_FOLDED_SIZE:
        return None
    for text in texts:
        fold(task, json.loads(text))
    if len(task["history"]) != reader.message_count:
        return None
    if history_length is not None:
        task["history"] = task["history"][-history_length:] if history_length else []
    if not task["history"]:
        del task["history"]
    return text_of(task)
