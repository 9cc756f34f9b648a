"""Event streams: frames, keep-alive, errors midway, limits, and that nothing is left open."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
from pytest_django import Settings

from a2a_django.bindings import sse
from a2a_django.bindings.errors import status_text
from a2a_django.protocol.errors import InvalidAgentResponseError, UnavailableError

pytestmark = pytest.mark.spec("11")


class Producer:
    """Gives the lists put into it; an exception is raised, None is the end."""

    def __init__(self, *items: list[str] | Exception | None) -> None:
        self.queue: asyncio.Queue[list[str] | Exception | None] = asyncio.Queue()
        for item in items:
            self.queue.put_nowait(item)
        self.numbers: Sequence[int] = ()
        self.closed = 0
        self.was_closed = asyncio.Event()
        self.cancelled = 0

    def __aiter__(self) -> AsyncIterator[list[str]]:
        return self

    async def __anext__(self) -> list[str]:
        try:
            item = await self.queue.get()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if isinstance(item, Exception):
            raise item
        if item is None:
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        self.closed += 1
        self.was_closed.set()


def frames_of(producer: Producer, *, head: str = "", tail: str = "") -> sse.Frames:
    return sse.Frames(producer, sse.places.take(), error=status_text, head=head, tail=tail)


@pytest.fixture(autouse=True)
def _no_place_is_lost() -> Iterator[None]:
    before = sse.places.taken
    yield
    assert sse.places.taken == before


async def test_events_that_are_ready_together_leave_as_one_chunk() -> None:
    producer = Producer(['{"a":1}', '{"b":2}'], ['{"c":3}'], None)
    chunks = [chunk async for chunk in frames_of(producer, head='{"id":1,"result":', tail="}")]
    assert chunks == [
        b'data: {"id":1,"result":{"a":1}}\n\ndata: {"id":1,"result":{"b":2}}\n\n',
        b'data: {"id":1,"result":{"c":3}}\n\n',
    ]
    assert producer.closed == 1


async def test_events_with_numbers_bear_them_as_ids() -> None:
    producer = Producer(['{"a":1}', '{"b":2}'], None)
    producer.numbers = (7, 8)
    chunks = [chunk async for chunk in frames_of(producer, head="<", tail=">")]
    assert chunks == [b'id: 7\ndata: <{"a":1}>\n\nid: 8\ndata: <{"b":2}>\n\n']


async def test_an_empty_list_is_no_frame() -> None:
    assert [chunk async for chunk in frames_of(Producer([], ["{}"], None))] == [b"data: {}\n\n"]


async def test_silence_is_filled_with_comments_and_the_producer_is_left_alone(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "KEEPALIVE_SECONDS": 0.02}
    producer = Producer()
    frames = frames_of(producer)
    assert await anext(frames) == sse.KEEPALIVE
    assert await anext(frames) == sse.KEEPALIVE
    producer.queue.put_nowait(["{}"])
    assert await anext(frames) == b"data: {}\n\n"
    assert producer.cancelled == 0
    await frames.aclose()


async def test_an_error_midway_is_an_event_and_the_end() -> None:
    producer = Producer(["{}"], InvalidAgentResponseError())
    chunks = [chunk async for chunk in frames_of(producer)]
    assert len(chunks) == 2
    name, data, *rest = chunks[1].decode().split("\n")
    assert name == "event: error"
    assert data.startswith('data: {"error":{"code":500,"status":"INTERNAL"')
    assert rest == ["", ""]
    assert producer.closed == 1


async def test_an_unexpected_error_midway_shows_nothing(caplog: pytest.LogCaptureFixture) -> None:
    chunks = [chunk async for chunk in frames_of(Producer(ZeroDivisionError("secret-7f3a")))]
    assert b"secret" not in chunks[0]
    assert b"INTERNAL_ERROR" in chunks[0]
    assert "secret-7f3a" in caplog.text


async def test_a_stream_ends_quietly_when_it_is_old(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "STREAM_SECONDS": 0.05}
    producer = Producer(["{}"])
    assert [chunk async for chunk in frames_of(producer)] == [b"data: {}\n\n"]
    assert producer.cancelled == 1
    assert producer.closed == 1


async def test_a_busy_stream_ends_when_it_is_old(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "STREAM_SECONDS": 0.05}
    producer = Producer()

    async def chatter() -> None:
        while True:
            producer.queue.put_nowait(["{}"])
            await asyncio.sleep(0.001)

    task = asyncio.create_task(chatter())
    async with asyncio.timeout(5):
        assert [chunk async for chunk in frames_of(producer)]
    task.cancel()


async def test_a_client_that_leaves_ends_the_producer() -> None:
    producer = Producer()
    frames = frames_of(producer)
    reader = asyncio.create_task(anext(frames))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert (producer.cancelled, producer.closed) == (1, 1)


async def test_closing_from_another_thread_wakes_a_reader_and_ends_it() -> None:
    producer = Producer()
    frames = frames_of(producer)
    reader = asyncio.create_task(anext(frames, None))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    thread = threading.Thread(target=frames.close)
    thread.start()
    async with asyncio.timeout(5):
        assert await reader is None
    thread.join()
    assert producer.closed == 1


async def test_frames_that_nobody_ever_asks_for_are_closed_when_they_are_dropped() -> None:
    producer = Producer(["{}"])
    frames = frames_of(producer)
    del frames
    gc.collect()
    await asyncio.wait_for(producer.was_closed.wait(), 5)


async def test_a_producer_that_was_ended_from_elsewhere_is_the_end() -> None:
    class Ended(Producer):
        async def __anext__(self) -> list[str]:
            raise asyncio.CancelledError

    producer = Ended()
    assert [chunk async for chunk in frames_of(producer)] == []
    assert producer.closed == 1


async def test_the_place_is_given_back_when_closing_fails() -> None:
    class Broken(Producer):
        async def aclose(self) -> None:
            raise ZeroDivisionError

    frames = frames_of(Broken(["{}"]))
    with pytest.raises(ZeroDivisionError):
        await frames.aclose()
    with contextlib.suppress(StopAsyncIteration):
        await anext(frames)


async def test_there_are_so_many_places_and_no_more(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_STREAMS": 2}
    taken = [sse.places.take(), sse.places.take()]
    with pytest.raises(UnavailableError) as caught:
        sse.places.take()
    assert caught.value.retry_after == 1
    taken[0].release()
    taken[0].release()  # twice does not count twice
    sse.places.take().release()
    taken[1].release()
