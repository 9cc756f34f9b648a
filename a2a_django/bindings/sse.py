"""Event streams: frames, keep-alive, limits (R-164, R-190, D-06).

Invariants: one event is one ``data:`` line of compact ASCII JSON, behind an ``id:`` line with its number where it has
one; what is ready at the same time leaves as one chunk; the producer is never cancelled to write a keep-alive comment;
whatever happens to the carrier, the producer is closed and the stream's place is given back exactly once.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Final, Protocol

from a2a_django.bindings.errors import as_a2a
from a2a_django.conf import a2a_settings
from a2a_django.engine.quotas import Quota, Share
from a2a_django.protocol.errors import A2AError, UnavailableError

logger = logging.getLogger("a2a_django")

KEEPALIVE: Final = b": keep-alive\n\n"

#: ``identity``: Django 5.2's GZipMiddleware makes one gzip member of each event, and some clients stop after the first.
#: ``no-transform`` and X-Accel-Buffering say the same to proxies.
HEADERS: Final = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-cache, no-transform",
    "X-Accel-Buffering": "no",
    "Content-Encoding": "identity",
}


class Events(Protocol):
    """What an operation gives: lists of events (JSON texts) that are ready now; and the numbers of those that it gave
    last, none where events have no numbers."""

    @property
    def numbers(self) -> Sequence[int]: ...

    def __aiter__(self) -> AsyncIterator[list[str]]: ...

    async def __anext__(self) -> list[str]: ...

    async def aclose(self) -> None: ...


class Places:
    """How many streams this process may hold open at a time (A2A["MAX_STREAMS"]), and one owner of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.quota = Quota("MAX_STREAMS_PER_OWNER", "You have too many open streams, please try again later")
        self.taken = 0

    def take(self, owner: str = "") -> Place:
        """Take a place, before anything else has happened (D-35).

        Raises ``ThrottledError`` when ``owner`` has as many as one may have, ``UnavailableError`` when there is none.
        """
        share = self.quota.take(owner)
        with self._lock:
            full = self.taken >= a2a_settings.MAX_STREAMS
            self.taken += not full
        if full:
            share.release()
            raise UnavailableError("Too many open streams, please try again later")
        return Place(self, share)

    def give_back(self) -> None:
        """Count one stream less; ``Place`` calls it once."""
        with self._lock:
            self.taken -= 1


class Place:
    """The right to one open stream; give it back with ``release``, as often as you like."""

    __slots__ = ("_places", "_share")

    def __init__(self, places: Places, share: Share) -> None:
        self._places: Places | None = places
        self._share = share

    def release(self) -> None:
        """Give the place back."""
        places, self._places = self._places, None
        if places is not None:
            places.give_back()
        self._share.release()


places = Places()

_closing: set[asyncio.Task[None]] = set()


class Frames:
    """The frames of one stream, as bytes ready to be sent; an asynchronous iterator, or ``frame`` after ``frame``.

    ``head`` and ``tail`` go around each event (the JSON-RPC envelope), and ``field`` before it (more than ``data:``
    where events have names); ``error`` writes the envelope of an error that happens when the stream has begun. The
    stream ends with the producer or after such an error. The iterator also fills silence with comments, and ends
    quietly after ``STREAM_SECONDS`` (the caller may subscribe again); who asks for ``frame`` sees to both.

    ``aclose`` ends it from the loop. ``close`` does the same from any thread; it is there because Django closes a
    response whose client has left before the first frame in a thread, without ever having asked for a frame.
    """

    _closed = True  # until __init__ is through, there is nothing to close

    def __init__(
        self,
        events: Events,
        place: Place,
        *,
        error: Callable[[A2AError], str],
        head: str = "",
        tail: str = "",
        field: str = "data: ",
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._events = events
        self._place = place
        self._error = error
        self._opening = f"{field}{head}"
        self._ending = f"{tail}\n\n"
        self._pending: asyncio.Future[list[str]] | None = None
        self._failed = False
        self._closed = False
        self._keepalive = a2a_settings.KEEPALIVE_SECONDS
        self._deadline = self._loop.time() + a2a_settings.STREAM_SECONDS

    def __aiter__(self) -> Frames:
        return self

    async def __anext__(self) -> bytes:
        try:
            while not (self._closed or self._failed):
                if self._pending is None:
                    self._pending = asyncio.ensure_future(self._events.__anext__())
                left = self._deadline - self._loop.time()
                if left <= 0:
                    break
                if not self._pending.done():
                    await asyncio.wait((self._pending,), timeout=min(left, self._keepalive))
                if self._closed:
                    break
                if not self._pending.done():
                    if self._loop.time() >= self._deadline:
                        break
                    return KEEPALIVE
                pending, self._pending = self._pending, None
                if pending.cancelled():  # the producer was ended from elsewhere
                    break
                texts = pending.result()
                if texts:
                    return self._frame(texts)
        except StopAsyncIteration:
            pass
        except asyncio.CancelledError:
            await self.aclose()
            raise
        except Exception as error:
            return self._failure(error)
        await self.aclose()
        raise StopAsyncIteration

    async def frame(self) -> bytes | None:
        """Return the next frame when it is there, None at the end. May be cancelled; close the frames all the same."""
        try:
            while not (self._closed or self._failed):
                texts = await self._events.__anext__()
                if texts:
                    return self._frame(texts)
        except StopAsyncIteration:
            pass
        except Exception as error:
            return self._failure(error)
        return None

    def _failure(self, error: Exception) -> bytes:
        self._failed = True
        return f"event: error\ndata: {self._error(as_a2a(error))}\n\n".encode("ascii")

    def _frame(self, texts: list[str]) -> bytes:
        opening, ending = self._opening, self._ending
        if numbers := self._events.numbers:
            whole = "".join(f"id: {n}\n{opening}{text}{ending}" for n, text in zip(numbers, texts, strict=True))
        else:
            whole = f"{opening}{(ending + opening).join(texts)}{ending}"
        return whole.encode("ascii")

    async def aclose(self) -> None:
        """End the stream: stop waiting for the producer, close it, give the place back."""
        if self._closed:
            return
        self._closed = True
        try:
            pending, self._pending = self._pending, None
            if pending is not None:
                pending.cancel()
                await asyncio.wait((pending,))
                if not pending.cancelled():
                    pending.exception()  # looked at, so that the loop does not report it
        finally:
            try:
                await self._events.aclose()
            finally:
                self._place.release()

    def close(self) -> None:
        """End the stream from any thread; does not wait."""
        if self._closed:
            return
        try:
            self._loop.call_soon_threadsafe(self._close_on_loop)
        except RuntimeError:  # the loop is gone, and the producer with it
            self._place.release()

    def _close_on_loop(self) -> None:
        task = self._loop.create_task(self._aclose_quietly())
        _closing.add(task)
        task.add_done_callback(_closing.discard)

    async def _aclose_quietly(self) -> None:
        try:
            await self.aclose()
        except Exception:
            logger.exception("Closing an event stream failed")

    def __del__(self) -> None:
        # A carrier that never began: a middleware put another response in the place of ours, or the client left early.
        self.close()


MakeFrames = Callable[[Events, Place], Frames]
