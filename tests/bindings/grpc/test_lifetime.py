"""How calls end: by the caller's leaving, by the clock, by the end of the server. Tasks go on in every case."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import grpc
import pytest
from a2a.types import a2a_pb2
from google.rpc import error_details_pb2

from a2a_django import Agent, engine
from a2a_django.agents import TaskContext
from a2a_django.bindings import sse
from a2a_django.bindings.grpc import servicer
from a2a_django.bindings.grpc.methods import METHODS
from a2a_django.engine.journal import Journal
from a2a_django.models import Task
from a2a_django.operations import EventStream
from a2a_django.protocol.states import TERMINAL
from tests.bindings.conftest import Echo
from tests.bindings.grpc.conftest import Running, ask, refusal

WORKING, COMPLETED = "TASK_STATE_WORKING", "TASK_STATE_COMPLETED"


class Waiting(Echo):
    """Works until it is let go."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Event()
        self.done = asyncio.Event()

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        """Wait, then say something."""
        await ctx.working()
        self.begun.set()
        await self.go.wait()
        yield "at last"
        self.done.set()


@pytest.fixture
async def waiting(register: Callable[[Agent], Agent]) -> Waiting:
    agent = Waiting()
    register(agent)
    return agent


async def ended(task_id: str) -> str:
    """Wait for a task to end; its state."""
    async with asyncio.timeout(20):
        while (state := (await Task.objects.aget(pk=task_id)).state) not in TERMINAL:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.02)
    return state


async def no_calls(live: Running) -> None:
    """Wait until the server has nothing to do."""
    assert await live.server._servicer.idle(20)


async def test_a_deadline_ends_the_call_and_not_the_task(live: Running, waiting: Waiting) -> None:
    stub = live.stub()
    for method in (stub.SendMessage, stub.SendStreamingMessage):
        waiting.begun.clear()
        assert (await refusal(method(ask("go"), timeout=0.4))).code == "DEADLINE_EXCEEDED"
        await waiting.begun.wait()
    await no_calls(live)
    waiting.go.set()
    tasks = [task async for task in Task.objects.all()]
    assert [await ended(task.pk) for task in tasks] == [COMPLETED, COMPLETED]


@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
async def test_a_caller_who_leaves_ends_the_call_and_not_the_task(live: Running, waiting: Waiting, method: str) -> None:
    call = getattr(live.stub(), method)(ask("go"))
    reading = asyncio.ensure_future(refusal(call))
    await waiting.begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await no_calls(live)
    assert sse.places.taken == 0
    waiting.go.set()
    assert await ended((await Task.objects.aget()).pk) == COMPLETED


@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
async def test_a_connection_that_breaks(live: Running, waiting: Waiting, method: str) -> None:
    channel = grpc.aio.insecure_channel(live.address, options=(("grpc.use_local_subchannel_pool", 1),))
    kind = channel.unary_unary if method == "SendMessage" else channel.unary_stream
    call = kind(f"/lf.a2a.v1.A2AService/{method}")(ask("go").SerializeToString())
    reading = asyncio.ensure_future(refusal(call))
    await waiting.begun.wait()
    await channel.close()
    await asyncio.wait((reading,))
    await no_calls(live)
    assert sse.places.taken == 0
    waiting.go.set()
    assert await ended((await Task.objects.aget()).pk) == COMPLETED


@pytest.mark.parametrize("follow_up", [False, True])
async def test_a_caller_who_leaves_while_the_message_is_being_accepted(
    live: Running, echo: Agent, monkeypatch: pytest.MonkeyPatch, follow_up: bool
) -> None:
    """Between the commit of the message and the start of its run, which nobody else would start."""
    stub = live.stub()
    message = {"task_id": (await stub.SendMessage(ask("ask"))).task.id} if follow_up else {}
    submit = Journal.submit
    handed_in = asyncio.Event()

    def note(journal: Journal, job: Any) -> Any:
        handed_in.set()
        return submit(journal, job)

    monkeypatch.setattr(Journal, "submit", note)
    call = stub.SendMessage(ask("go", message=message))
    reading = asyncio.ensure_future(refusal(call))
    await handed_in.wait()
    # As gRPC does it when the caller leaves, but at this very moment.
    for task in list(live.server._servicer._calls):
        task.cancel()
    await no_calls(live)
    call.cancel()
    await asyncio.wait((reading,))
    while not await Task.objects.aexists():  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.01)
    row = await Task.objects.aget()
    assert await ended(row.pk) == COMPLETED
    assert await row.messages.acount() == (3 if follow_up else 1)


async def test_a_stream_ends_quietly_when_it_is_old(live: Running, waiting: Waiting, settings: Any) -> None:
    settings.A2A = {**settings.A2A, "STREAM_SECONDS": 0.3}
    events = [event async for event in live.stub().SendStreamingMessage(ask("go"))]
    assert events[0].HasField("task")
    assert (await Task.objects.aget()).state == WORKING
    waiting.go.set()


async def test_there_are_only_so_many_streams(live: Running, waiting: Waiting, settings: Any) -> None:
    settings.A2A = {**settings.A2A, "MAX_STREAMS": 1}
    stub = live.stub()
    first = stub.SendStreamingMessage(ask("go"))
    assert (await anext(aiter(first))).HasField("task")
    refused = await refusal(stub.SendStreamingMessage(ask("go")))
    assert (refused.code, refused.reason) == ("UNAVAILABLE", "UNAVAILABLE")
    assert refused.detail(error_details_pb2.RetryInfo).retry_delay.seconds == 1
    assert await Task.objects.acount() == 1
    first.cancel()
    await no_calls(live)
    waiting.go.set()
    assert [event async for event in stub.SendStreamingMessage(ask("go"))]


async def test_there_are_only_so_many_calls(serve: Any, waiting: Waiting) -> None:
    live = await serve(max_concurrent_rpcs=1)
    stub = live.stub()
    first = stub.SendStreamingMessage(ask("go"))
    assert (await anext(aiter(first))).HasField("task")
    assert (await refusal(stub.ListTasks(a2a_pb2.ListTasksRequest()))).code == "RESOURCE_EXHAUSTED"
    first.cancel()
    waiting.go.set()


async def test_an_error_in_mid_stream(live: Running, echo: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    first = EventStream.__anext__
    seen: list[EventStream] = []

    async def once(events: EventStream) -> list[str]:
        if events in seen:
            raise RuntimeError("secret-7f3a")
        seen.append(events)
        return await first(events)

    monkeypatch.setattr(EventStream, "__anext__", once)
    stream = aiter(live.stub().SendStreamingMessage(ask("go")))
    assert (await anext(stream)).HasField("task")
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await anext(stream)
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.INTERNAL, "Internal error")
    await no_calls(live)
    assert sse.places.taken == 0


class TestDrain:
    async def test_calls_in_progress_may_end(self, serve: Any, waiting: Waiting) -> None:
        live = await serve()
        stub = live.stub()
        answer = asyncio.ensure_future(wait_for(stub.SendMessage(ask("go"))))
        stream = aiter(stub.SendStreamingMessage(ask("go")))
        assert (await anext(stream)).HasField("task")
        await waiting.begun.wait()
        draining = asyncio.ensure_future(live.server.drain(20))
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await calls_without_end(live)
        # gRPC cancels a call that has arrived but was not taken up at that very moment.
        assert refused.value.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)
        waiting.go.set()
        assert (await answer).task.artifacts
        states = [event.status_update.status.state async for event in stream if event.HasField("status_update")]
        assert states[-1] == a2a_pb2.TASK_STATE_COMPLETED
        await draining

    async def test_those_that_do_not_end_are_told_to_come_again(self, serve: Any, waiting: Waiting) -> None:
        live = await serve()
        stub = live.stub()
        calls = [
            asyncio.ensure_future(refusal(call))
            for call in (stub.SendMessage(ask("go")), stub.SendStreamingMessage(ask("go")))
        ]
        await waiting.begun.wait()
        while len(live.server._servicer._calls) < 2:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        await live.server.drain(0.1)
        for refused in await asyncio.gather(*calls):
            assert (refused.code, refused.reason) == ("UNAVAILABLE", "UNAVAILABLE")
            assert refused.detail(error_details_pb2.RetryInfo).retry_delay.seconds == 1
        waiting.go.set()
        assert sse.places.taken == 0

    async def test_a_caller_who_does_not_read_holds_nobody_up(
        self, serve: Any, register: Callable[[Agent], Agent]
    ) -> None:
        """The write that waits for such a caller cannot be followed by a status; the connection is closed all the
        same."""

        class Flood(Echo):
            async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
                for _ in range(300):
                    yield "x" * 50_000

        register(Flood())
        live = await serve()
        stream = live.stub().SendStreamingMessage(ask("go"))
        await stream.read()
        while not await Task.objects.aexists():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
        assert await ended((await Task.objects.aget()).pk) == COMPLETED
        assert live.server._servicer._calls
        async with asyncio.timeout(20):
            await live.server.drain(0.1)
        assert sse.places.taken == 0


async def calls_without_end(live: Running) -> None:
    while True:
        await live.stub().ListTasks(a2a_pb2.ListTasksRequest())


async def wait_for(call: Any) -> Any:
    return await call


async def test_readers_are_forgotten(live: Running, waiting: Waiting) -> None:
    stub = live.stub()
    streams = [stub.SendStreamingMessage(ask("go")) for _ in range(5)]
    for stream in streams:
        assert (await anext(aiter(stream))).HasField("task")
    feed = engine.get().feed
    assert len(feed._readers) == 5
    for stream in streams:
        stream.cancel()
    await no_calls(live)
    assert not feed._readers
    waiting.go.set()


async def test_a_write_to_a_caller_who_has_just_left_ends_the_call_as_his_leaving_does() -> None:
    class Context:
        async def write(self, frame: bytes) -> None:
            raise grpc.aio.InternalError('Failed "execute_batch"')

    class Events:
        async def __anext__(self) -> list[str]:
            return ['{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}']

    method = METHODS["/lf.a2a.v1.A2AService/SubscribeToTask"]
    with pytest.raises(asyncio.CancelledError):
        await servicer._send(method.frames(Events()), Context())  # type: ignore[arg-type]
