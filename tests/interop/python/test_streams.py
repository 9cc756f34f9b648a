"""The Python client's streams: to their end, dropped in the middle, taken up again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from a2a.client import Client
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    UnsupportedOperationError,
)

from tests.interop.python.sdk import SECONDS, Connect, collect, kinds, replay, request, sent, state_of, states, texts

TICKS = 12
#: Long enough that a slow machine, too, subscribes before the end.
LONG = 20


async def some(stream: AsyncIterator[StreamResponse], count: int) -> list[StreamResponse]:
    """Read the first events of a stream and leave it open."""
    async with asyncio.timeout(SECONDS):
        return [await anext(stream) for _ in range(count)]


def updates(events: list[StreamResponse]) -> list[str]:
    return [text for event in events for text in texts(event.artifact_update.artifact)]


async def stored(client: Client, task: Task) -> Task:
    return await client.get_task(GetTaskRequest(id=task.id))


async def test_a_stream_tells_everything_in_order(connect: Connect) -> None:
    client = (await connect()).client
    events = await collect(client.send_message(request("slow 4")))
    assert kinds(events)[0] == "task"
    assert states(events)[-1] == "COMPLETED"
    assert "WORKING" in states(events)
    assert updates(events) == [f"tick-{i}" for i in range(4)]
    chunks = [event.artifact_update for event in events if event.HasField("artifact_update")]
    assert [chunk.append for chunk in chunks] == [False, True, True, True]
    assert [chunk.last_chunk for chunk in chunks] == [False, False, False, True]
    task = events[0].task
    assert {chunk.task_id for chunk in chunks} == {task.id}
    assert {chunk.context_id for chunk in chunks} == {task.context_id}
    assert replay(events).artifacts == (await stored(client, task)).artifacts


async def test_a_burst_of_many_chunks(connect: Connect) -> None:
    client = (await connect()).client
    events = await collect(client.send_message(request("burst 500 200")))
    assert [text.rstrip(".") for text in updates(events)] == [f"tick-{i}" for i in range(500)]
    assert states(events)[-1] == "COMPLETED"


async def test_a_stream_of_one_message(connect: Connect) -> None:
    client = (await connect()).client
    (event,) = await collect(client.send_message(request("direct hello")))
    assert [part.text for part in event.message.parts] == ["hello"]


async def test_a_question_ends_the_stream_and_the_answer_gets_one_of_its_own(connect: Connect) -> None:
    client = (await connect()).client
    asked = await collect(client.send_message(request("ask")))
    assert states(asked)[-1] == "INPUT_REQUIRED"
    task = replay(asked)
    assert [part.text for part in task.status.message.parts] == ["which colour?"]
    answered = await collect(client.send_message(request("blue", task=task)))
    assert kinds(answered)[0] == "task"
    assert answered[0].task.id == task.id
    assert states(answered)[-1] == "COMPLETED"
    assert texts(replay(answered).artifacts[0]) == ["blue"]


async def test_an_authorisation_keeps_the_stream_open(connect: Connect) -> None:
    client = (await connect()).client
    events = await collect(client.send_message(request("auth")))
    seen = states(events)
    assert seen.index("AUTH_REQUIRED") < len(seen) - 1
    assert seen[-1] == "COMPLETED"
    assert updates(events) == ["authorised"]


async def test_nothing_is_lost_when_a_dropped_stream_is_taken_up_again(connect: Connect) -> None:
    first, second = await connect(), await connect()
    stream = first.client.send_message(request(f"slow {LONG}"))
    before = await some(stream, 5)
    known = replay(before)
    assert 0 < len(texts(known.artifacts[0])) < LONG
    await first.drop()
    await asyncio.sleep(0.5)  # the agent goes on; what it says now is said to nobody
    after = await collect(second.client.subscribe(SubscribeToTaskRequest(id=known.id)))
    assert kinds(after)[0] == "task"
    snapshot = texts(after[0].task.artifacts[0])
    assert len(texts(known.artifacts[0])) < len(snapshot) < LONG
    assert snapshot + updates(after) == [f"tick-{i}" for i in range(LONG)]
    assert states(after)[-1] == "COMPLETED"
    assert replay(after).artifacts == (await stored(second.client, known)).artifacts


async def test_a_client_that_always_loses_its_stream_gets_to_the_end(connect: Connect) -> None:
    """Until the task has ended; from then on it is not subscribed to any more but read."""
    connection = await connect()
    task = replay(await some(connection.client.send_message(request(f"slow {TICKS}")), 2))
    states_seen: list[str] = []
    for _ in range(3 * TICKS):
        await connection.drop()
        connection = await connect()
        try:
            stream = connection.client.subscribe(SubscribeToTaskRequest(id=task.id))
            task = replay(events := await some(stream, 2))
        except UnsupportedOperationError:
            task = await stored(connection.client, task)
            break
        states_seen += states(events)
        assert texts(task.artifacts[0]) == [f"tick-{i}" for i in range(len(task.artifacts[0].parts))]
    assert set(states_seen[:-1]) == {"WORKING"}
    assert state_of(task.status.state) == "COMPLETED"
    assert texts(task.artifacts[0]) == [f"tick-{i}" for i in range(TICKS)]


async def test_two_subscribers_see_the_same(connect: Connect) -> None:
    poller = (await connect(streaming=False, polling=True)).client
    task = await sent(poller, "slow 5")
    clients = [(await connect()).client for _ in range(2)]
    seen = await asyncio.gather(*(collect(one.subscribe(SubscribeToTaskRequest(id=task.id))) for one in clients))
    for events in seen:
        assert texts(replay(events).artifacts[0]) == [f"tick-{i}" for i in range(5)]
        assert states(events)[-1] == "COMPLETED"


async def test_a_cancel_ends_the_stream(connect: Connect) -> None:
    client, other = (await connect()).client, (await connect()).client
    stream = client.send_message(request("quiet 60"))
    begin = await some(stream, 1)
    await other.cancel_task(CancelTaskRequest(id=begin[0].task.id))
    events = begin + await collect(stream)
    assert states(events)[-1] == "CANCELED"
    assert state_of((await stored(client, begin[0].task)).status.state) == "CANCELED"


async def test_a_subscriber_stays_through_a_question(connect: Connect) -> None:
    sender, reader = (await connect(streaming=False)).client, (await connect()).client
    task = await sent(sender, "ask")
    stream = reader.subscribe(SubscribeToTaskRequest(id=task.id))
    (first,) = await some(stream, 1)
    assert state_of(first.task.status.state) == "INPUT_REQUIRED"
    await sent(sender, "blue", task=task)
    events = [first, *await collect(stream)]
    assert states(events)[-1] == "COMPLETED"
    assert texts(replay(events).artifacts[0]) == ["blue"]


async def test_a_client_streams_only_if_the_card_says_so(connect: Connect) -> None:
    client = (await connect("plain")).client
    events = await collect(client.send_message(request("slow 1")))
    assert kinds(events) == ["task"]
    assert states(events) == ["COMPLETED"]
