"""Following one message: when is its run over, when has the task come to a rest (R-035, D-05, D-19)."""

from __future__ import annotations

from dataclasses import dataclass

from a2a_django.engine import database
from a2a_django.engine.feed import Event, Reader
from a2a_django.models import Message
from a2a_django.protocol.states import INTERRUPTED, TERMINAL, TaskState


@dataclass(slots=True)
class Turn:
    """The place of a message in the life of its task; ``attempt`` is its run, None while the message waits."""

    message_pk: int
    attempt: int | None
    #: The last state that the message's own run has reported.
    state: str = ""

    async def see(self, event: Event) -> None:
        """Take in an event."""
        _, _, state, attempt = event
        if not state:
            return
        if self.attempt is None and state in INTERRUPTED:
            self.attempt = await database.run(attempt_of, self.message_pk)
        if self.attempt is not None and attempt >= self.attempt:
            self.state = state

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


def attempt_of(message_pk: int) -> int | None:
    """Return the run that took a message."""
    rows = Message.objects.using(database.alias()).filter(pk=message_pk)
    return rows.values_list("attempt", flat=True).first()


async def settled(reader: Reader, turn: Turn) -> None:
    """Wait until a message's task has come to a rest."""
    while True:
        for event in await reader.next():
            await turn.see(event)
            if event[2] in TERMINAL:
                return
        if reader.exhausted or turn.is_settled(reader):
            return
