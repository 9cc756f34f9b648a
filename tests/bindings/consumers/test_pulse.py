"""Streams pushed by the consumers: comments in silence, an end in old age, callers who do not read, one timer."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import Any

import pytest
from channels.exceptions import StopConsumer
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.bindings import sse
from a2a_django.bindings.consumers import streams
from a2a_django.bindings.consumers.application import Application
from tests.bindings.asgi import AsgiCall
from tests.bindings.conftest import envelope, message
from tests.bindings.test_sse import Producer, frames_of

EVENT = b"data: {}\n\n"


class Caller:
    """Takes what is sent, and so long as it is told to reads nothing."""

    def __init__(self) -> None:
        self.got: list[bytes] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.sending = 0

    async def send(self, event: Any) -> None:
        assert event["more_body"]
        self.sending += 1
        assert self.sending == 1, "two things at the same time"
        await self.reads.wait()
        self.sending -= 1
        self.got.append(event["body"])


def running(caller: Caller, producer: Producer) -> asyncio.Task[None]:
    async def run() -> None:
        frames = frames_of(producer)
        try:
            await streams.Stream(caller.send).run(frames)
        finally:
            await frames.aclose()

    return asyncio.create_task(run())


def set_seconds(settings: Settings, keepalive: float, age: float = 60) -> None:
    settings.A2A = {**settings.A2A, "KEEPALIVE_SECONDS": keepalive, "STREAM_SECONDS": age}


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_frames_are_sent_as_they_come() -> None:
    caller, producer = Caller(), Producer(["{}", "{}"], [], ["{}"])
    task = running(caller, producer)
    await until(lambda: len(caller.got) == 2)
    assert caller.got == [EVENT + EVENT, EVENT]
    producer.queue.put_nowait(None)
    await task
    assert producer.closed == 1
    assert not streams._pulse()._heard


async def test_comments_in_silence(settings: Settings) -> None:
    set_seconds(settings, 0.03)
    caller, producer = Caller(), Producer(["{}"])
    task = running(caller, producer)
    await until(lambda: caller.got[:3] == [EVENT, sse.KEEPALIVE, sse.KEEPALIVE])
    producer.queue.put_nowait(["{}"])
    await until(lambda: caller.got.count(EVENT) == 2)
    assert producer.cancelled == 0
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert producer.closed == 1


async def test_an_event_puts_the_next_comment_off(settings: Settings) -> None:
    set_seconds(settings, 0.2)
    caller, producer = Caller(), Producer()
    task = running(caller, producer)
    for _ in range(10):
        await asyncio.sleep(0.05)
        producer.queue.put_nowait(["{}"])
    await until(lambda: len(caller.got) == 10)
    assert caller.got == [EVENT] * 10
    producer.queue.put_nowait(None)
    await task


async def test_a_comment_that_is_not_taken_holds_up_the_next_event_and_no_more(settings: Settings) -> None:
    set_seconds(settings, 0.02)
    caller, producer = Caller(), Producer()
    caller.reads.clear()
    task = running(caller, producer)
    await until(lambda: caller.sending == 1)
    producer.queue.put_nowait(["{}"])
    await asyncio.sleep(0.1)  # some intervals, and no second comment
    assert caller.sending == 1
    producer.queue.put_nowait(None)
    caller.reads.set()
    await task
    assert caller.got == [sse.KEEPALIVE, EVENT]


async def test_an_old_stream_ends_quietly(settings: Settings) -> None:
    set_seconds(settings, 60, 0.05)
    caller, producer = Caller(), Producer(["{}"])
    await running(caller, producer)
    assert caller.got == [EVENT]
    assert producer.closed == 1


async def test_a_busy_stream_ends_when_it_is_old(settings: Settings) -> None:
    set_seconds(settings, 60, 0.05)
    caller, producer = Caller(), Producer()

    async def chatter() -> None:
        while True:
            producer.queue.put_nowait(["{}"])
            await asyncio.sleep(0.001)

    chatting = asyncio.create_task(chatter())
    async with asyncio.timeout(10):
        await running(caller, producer)
    chatting.cancel()
    assert producer.closed == 1


async def test_an_old_stream_whose_caller_reads_again_in_time_ends_quietly(settings: Settings) -> None:
    set_seconds(settings, 1, 0.05)
    caller, producer = Caller(), Producer(["{}"])
    caller.reads.clear()
    task = running(caller, producer)
    await asyncio.sleep(0.2)
    assert not task.done()
    caller.reads.set()
    await task
    assert caller.got == [EVENT]


async def test_an_old_stream_whose_caller_does_not_read_is_given_up(settings: Settings) -> None:
    set_seconds(settings, 0.03, 0.05)
    caller, producer = Caller(), Producer(["{}"])
    caller.reads.clear()
    task = running(caller, producer)
    await until(task.done)
    assert isinstance(task.exception(), StopConsumer)
    assert producer.closed == 1


async def test_an_old_stream_that_the_server_ends_is_ended_by_the_server(settings: Settings) -> None:
    set_seconds(settings, 60, 0.02)
    caller, producer = Caller(), Producer(["{}"])
    caller.reads.clear()
    task = running(caller, producer)
    await asyncio.sleep(0.1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert producer.closed == 1


async def test_one_timer_for_all_and_none_without_streams(settings: Settings) -> None:
    set_seconds(settings, 0.1, 2)
    loop = asyncio.get_running_loop()

    def timers() -> int:
        return sum(not timer.cancelled() for timer in loop._scheduled)  # type: ignore[attr-defined]

    callers = [Caller() for _ in range(3 * streams.AT_A_TIME)]
    producers = [Producer() for _ in callers]
    tasks = [running(caller, producer) for caller, producer in zip(callers, producers, strict=True)]
    await asyncio.sleep(0)
    assert timers() == 1
    for task in tasks:
        await task
    assert timers() == 0
    assert all(caller.got and set(caller.got) == {sse.KEEPALIVE} for caller in callers)
    assert all(producer.closed == 1 for producer in producers)


async def test_a_frame_that_was_sent_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    class Large(bytes):
        pass

    def alive() -> int:
        gc.collect()
        return sum(type(each) is Large for each in gc.get_objects())

    original = sse.Frames._frame
    monkeypatch.setattr(sse.Frames, "_frame", lambda self, texts: Large(original(self, texts)))
    caller, producer = Caller(), Producer(["{}"])
    task = running(caller, producer)
    await until(lambda: bool(caller.got))
    assert alive() == 1
    caller.got.clear()
    assert alive() == 0
    producer.queue.put_nowait(None)
    await task


async def test_pulses_go_with_their_loops() -> None:
    def serve() -> None:
        async def stream() -> None:
            producer = Producer(["{}"], None)
            await running(Caller(), producer)

        asyncio.run(stream())

    before = len(streams._pulses)
    await asyncio.to_thread(serve)
    gc.collect()
    assert len(streams._pulses) == before


# -- through the application


class Chatty(Agent):
    """Says more than anybody reads."""

    abstract = True

    async def run(self, ctx: TaskContext) -> None:
        for number in range(2000):
            await ctx.artifact(f"{number}", artifact_id="out", append=number > 0)


@pytest.mark.django_db(transaction=True)
async def test_a_slow_reader_misses_nothing_and_holds_up_nobody(
    application: Application, register: Callable[[Agent], Agent]
) -> None:
    register(Chatty())
    body = envelope("SendStreamingMessage", {"message": message("go")}).encode()
    slow = AsgiCall(application, "POST", "/a2a/", body=body)
    slow._sent = asyncio.Queue(maxsize=1)
    async with slow:
        await slow.head()
        await slow.chunk()
        async with AsgiCall(application, "POST", "/a2a/", body=body) as fast:
            await fast.head()
            assert b"TASK_STATE_COMPLETED" in await fast.body()
        pieces = await slow.body()
    texts = [block for block in pieces.split(b"\n\n") if b'"artifactUpdate"' in block]
    assert len(texts) + 1 >= 2000
    for number in (1, 777, 1999):
        assert b'"text":"%d"' % number in pieces


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("echo")
async def test_an_error_midway_is_the_last_event(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    from a2a_django.operations import EventStream

    async def fail(self: EventStream) -> list[str]:
        raise ZeroDivisionError("secret-7f3a")

    monkeypatch.setattr(EventStream, "__anext__", fail)
    body = envelope("SendStreamingMessage", {"message": message("go")}).encode()
    async with AsgiCall(application, "POST", "/a2a/", body=body) as call:
        assert (await call.head())[0] == 200
        found = await call.body()
    assert found.startswith(b"event: error\ndata: {")
    assert b"secret" not in found
    assert sse.places.taken == 0
