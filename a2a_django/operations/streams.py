"""The stream of one caller: the task as it is, then what happens, then the end (Spec 3.1.2, 3.1.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from a2a_django.engine.feed import Reader
from a2a_django.operations.turns import Turn
from a2a_django.protocol.states import TERMINAL


class EventStream:
    """Texts of StreamResponse, in lists of those that are ready now.

    Without a ``reader`` it is one text and the end. With a ``turn`` it also ends when that message's run has asked for
    input and returned; otherwise only when the task ends (R-044 to R-046, R-065, R-066, D-05). Close it when the caller
    leaves; the task does not notice (R-130).

    ``numbers`` are those of the events returned last, in step with their texts: who has seen number n has everything
    up to the task's event n. The first text, a Task, bears the number from which the stream goes on; a bare Message
    has none.
    """

    def __init__(self, first: str, reader: Reader | None, turn: Turn | None = None, *, over: bool = False) -> None:
        self._first: str | None = first
        self.numbers: Sequence[int] = ()
        self._reader = reader
        self._from = -1 if reader is None else reader.seq
        self._turn = turn
        self._over = over or reader is None
        self._error: Exception | None = None
        #: Called once, when the stream is over, with the error that has ended it.
        self.on_end: Callable[[Exception | None], None] | None = None
        #: What is done to every text on its way out.
        self.outgoing: Callable[[str], str] | None = None

    def fail(self, error: Exception) -> None:
        """End with an error, instead of what would come next; in the stream's loop."""
        self._error = error
        if self._reader is not None:
            self._reader.wake()

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> list[str]:
        self._check()
        if self._first is not None:
            first, self._first = self._first, None
            self.numbers = () if self._reader is None else (self._from,)
            return self._out([first])
        reader, turn = self._reader, self._turn
        while not self._over and reader is not None:
            if turn is not None and turn.is_parked(reader):
                break
            texts: list[str] = []
            numbers: list[int] = []
            events = await reader.next()
            self._check()
            for event in events:
                if turn is not None and turn.is_past(event):
                    self._over = True
                    break
                texts.append(event[1])
                numbers.append(event[0])
                if event[2] in TERMINAL:
                    self._over = True
                    break
                if turn is not None:
                    await turn.see(event)
            self._over = self._over or reader.exhausted or (turn is not None and turn.is_parked(reader))
            if texts:
                self.numbers = numbers
                return self._out(texts)
        await self.aclose()
        raise StopAsyncIteration

    def _out(self, texts: list[str]) -> list[str]:
        return texts if self.outgoing is None else list(map(self.outgoing, texts))

    def _check(self) -> None:
        if self._error is not None and not self._over:
            raise self._error

    async def aclose(self) -> None:
        """End the subscription."""
        self._over = True
        if self.on_end is not None:
            on_end, self.on_end = self.on_end, None
            on_end(self._error)
        if self._reader is not None:
            reader, self._reader = self._reader, None
            reader.close()
