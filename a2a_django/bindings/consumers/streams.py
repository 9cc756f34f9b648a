"""Event streams on their way to the callers: pushed frame by frame, kept alive and ended by one timer for all.

Invariants: whatever number of streams is open on a loop, there is one timer, and only while there are streams; a
stream is never cancelled for a keep-alive comment; two things of one stream are never sent at the same time.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from itertools import islice
from typing import Final, cast
from weakref import WeakKeyDictionary

from channels.exceptions import StopConsumer

from a2a_django.bindings.consumers.asgi import Send
from a2a_django.bindings.sse import KEEPALIVE, Frames
from a2a_django.conf import a2a_settings

logger = logging.getLogger("a2a_django")

#: Streams that are seen to at a time before the loop's other work has its turn.
AT_A_TIME: Final = 100


class Stream:
    """One stream on its way to its caller, as a task of the server sends it."""

    __slots__ = ("_comment", "_given_up", "_old", "_send", "_task", "_waiting")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._task = cast("asyncio.Task[None]", asyncio.current_task())
        #: Whether the stream waits for the next frame, and so has nothing to send.
        self._waiting = False
        self._comment: asyncio.Task[None] | None = None
        #: The stream is to end; its task has been told so.
        self._old = self._given_up = False

    async def run(self, frames: Frames) -> None:
        """Send the frames as they come, until their end or, quietly, until the stream is ``STREAM_SECONDS`` old.

        Waits for a caller who reads slowly, as far as the server tells; when one does not read at all and the stream is
        old, raises ``StopConsumer``. Raises ``CancelledError`` when the task is cancelled, and what ``send`` raises.
        Closing the frames is the caller's business.
        """
        pulse = _pulse()
        pulse.add(self)
        try:
            while not self._old:
                self._waiting = True
                frame = await frames.frame()
                self._waiting = False
                if frame is None:
                    break
                if self._comment is not None:
                    await self._comment
                await self._write(frame)
                del frame  # it may be large, and the next one far away
                pulse.touch(self)
        except asyncio.CancelledError:
            if not self._given_up or self._task.uncancel() > 0:
                raise
            if not self._waiting:
                raise StopConsumer from None
        finally:
            self._waiting = False
            pulse.remove(self)
            if self._comment is not None:
                self._comment.cancel()

    async def _write(self, frame: bytes) -> None:
        await self._send({"type": "http.response.body", "body": frame, "more_body": True})

    def speak(self) -> None:
        """Send a comment, unless something is being sent anyway. Nothing was heard of the stream for a while."""
        if self._old:  # and since then it has not come to its end
            self._give_up()
        elif self._waiting and self._comment is None:
            self._comment = asyncio.ensure_future(self._write(KEEPALIVE))
            self._comment.add_done_callback(self._commented)

    def _commented(self, task: asyncio.Task[None]) -> None:
        self._comment = None
        if not task.cancelled() and (error := task.exception()) is not None:
            # The connection is gone; the server tells the stream in its own way.
            logger.debug("A keep-alive comment was not taken", exc_info=error)

    def end(self) -> None:
        """End the stream, after what is being sent."""
        self._old = True
        if self._waiting:
            self._give_up()

    def _give_up(self) -> None:
        if not self._given_up:
            self._given_up = True
            self._task.cancel()


class _Pulse:
    """The timer of a loop's streams: who has been silent for long gets a comment, who is old is ended."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._when = 0.0
        #: When each stream was heard last, the longest silent first; when each began, the oldest first.
        self._heard: OrderedDict[Stream, float] = OrderedDict()
        self._begun: OrderedDict[Stream, float] = OrderedDict()

    def add(self, stream: Stream) -> None:
        self._heard[stream] = self._begun[stream] = _now()
        self._wind()

    def touch(self, stream: Stream) -> None:
        self._heard[stream] = _now()
        self._heard.move_to_end(stream)

    def remove(self, stream: Stream) -> None:
        self._heard.pop(stream, None)
        self._begun.pop(stream, None)
        if not self._heard and self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wind(self) -> None:
        """Set the timer to the next thing there is to do, unless it rings before."""
        times = []
        if self._heard:
            times.append(next(iter(self._heard.values())) + a2a_settings.KEEPALIVE_SECONDS)
        if self._begun:
            times.append(next(iter(self._begun.values())) + a2a_settings.STREAM_SECONDS)
        if not times or (self._timer is not None and self._when <= min(times)):
            return
        if self._timer is not None:
            self._timer.cancel()
        self._when = min(times)
        self._timer = asyncio.get_running_loop().call_at(self._when, self._ring)

    def _ring(self) -> None:
        self._timer = None
        now = _now()
        for stream in _first(self._begun, now - a2a_settings.STREAM_SECONDS):
            del self._begun[stream]
            stream.end()
        for stream in _first(self._heard, now - a2a_settings.KEEPALIVE_SECONDS):
            self.touch(stream)
            stream.speak()
        self._wind()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _first(times: OrderedDict[Stream, float], until: float) -> list[Stream]:
    """The streams in front whose time is not after ``until``, so many as are seen to at a time."""
    return [stream for stream, when in islice(times.items(), AT_A_TIME) if when <= until]


_pulses: WeakKeyDictionary[asyncio.AbstractEventLoop, _Pulse] = WeakKeyDictionary()


def _pulse() -> _Pulse:
    loop = asyncio.get_running_loop()
    pulse = _pulses.get(loop)
    if pulse is None:
        pulse = _pulses[loop] = _Pulse()
    return pulse
