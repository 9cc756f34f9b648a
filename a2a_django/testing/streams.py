"""A stream as a test reads it: event after event, or all of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from a2a_django.protocol.wire import Wire
from a2a_django.testing.results import Artifact, Event, Message, Task, folded

if TYPE_CHECKING:
    from a2a_django.testing.calls import Calls
    from a2a_django.testing.stage import SyncStage

S = TypeVar("S", bound="_Read")


class _Read:
    """What has been read of a stream so far."""

    def __init__(self) -> None:
        #: The events that have been read.
        self.events: list[Event] = []

    @property
    def task(self) -> Task:
        """The task as these events make it. Raises ``AssertionError`` where they are of no task."""
        wire = folded(self.events)
        if wire is None:
            raise AssertionError(f"There is no task in {self.events}")
        return Task(wire, self._exception(wire["id"]))

    @property
    def message(self) -> Message:
        """The message with which the agent has answered. Raises ``AssertionError`` where it has made a task."""
        if not self.events or self.events[0].kind != "message":
            raise AssertionError(f"There is no message in {self.events}")
        return Message(self.events[0].payload)

    @property
    def states(self) -> list[str]:
        """The states that were told after the task itself, in order."""
        return [event.state for event in self.events if event.kind == "status"]

    @property
    def artifacts(self) -> list[Artifact]:
        """The pieces of artifacts, as they came."""
        return [event.artifact for event in self.events if event.artifact is not None]

    @property
    def text(self) -> str:
        """The texts of all pieces as one."""
        return "".join(artifact.text for artifact in self.artifacts)

    def _exception(self, task_id: str) -> BaseException | None:
        return None

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.events}>"


class AsyncStream(_Read):
    """A stream of an asynchronous test: ``async for event in stream``, or ``await stream.read()``."""

    def __init__(self, calls: Calls, frames: AsyncIterator[Wire], first: Wire) -> None:
        super().__init__()
        self._calls, self._frames = calls, frames
        #: The first event has come with the answer.
        self._first: Wire | None = first
        self.over = False

    def _exception(self, task_id: str) -> BaseException | None:
        return self._calls.stage.failures.get(task_id)

    def __aiter__(self) -> AsyncStream:
        return self

    async def __anext__(self) -> Event:
        """Return the next event. Raises ``A2AError``, and ``StillWorking`` when none comes."""
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
        return event

    async def next(self) -> Event | None:
        """Return the next event, None at the end."""
        if self.over:
            return None
        wire, self._first = self._first, None
        if wire is None:
            wire = await self._calls.step(self._frames)
        if wire is None:
            await self.aclose()
            await self._calls.settle(self.events)
            return None
        self.events.append(Event(wire))
        return self.events[-1]

    async def read(self) -> list[Event]:
        """Read to the end and return all events."""
        while await self.next() is not None:
            pass
        return self.events

    async def read_until(self, condition: Callable[[Event], bool]) -> list[Event]:
        """Read until ``condition`` is true of an event. Raises ``AssertionError`` when the stream ends before."""
        while (event := await self.next()) is not None:
            if condition(event):
                return self.events
        raise AssertionError(f"The stream has ended before: {self.events}")

    async def aclose(self) -> None:
        """Leave, as a client that closes the connection; the agent goes on."""
        self.over = True
        frames: Any = self._frames
        await frames.aclose()

    async def __aenter__(self) -> AsyncStream:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()


class Stream(_Read):
    """A stream of a synchronous test: ``for event in stream``, or ``stream.read()``."""

    def __init__(self, stage: SyncStage, stream: AsyncStream) -> None:
        super().__init__()
        self._stage, self._stream = stage, stream
        self.events = stream.events

    def _exception(self, task_id: str) -> BaseException | None:
        return self._stage.failures.get(task_id)

    def __iter__(self) -> Iterator[Event]:
        while (event := self.next()) is not None:
            yield event

    def next(self) -> Event | None:
        """Return the next event, None at the end. Raises ``A2AError``, and ``StillWorking`` when none comes."""
        return self._stage.call(self._stream.next)

    def read(self) -> list[Event]:
        """Read to the end and return all events."""
        return self._stage.call(self._stream.read)

    def read_until(self, condition: Callable[[Event], bool]) -> list[Event]:
        """Read until ``condition`` is true of an event. Raises ``AssertionError`` when the stream ends before."""
        return self._stage.call(lambda: self._stream.read_until(condition))

    def close(self) -> None:
        """Leave, as a client that closes the connection; the agent goes on."""
        self._stage.call(self._stream.aclose)

    def __enter__(self) -> Stream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
