"""Subscriptions: every event once and in order, whenever and however slowly somebody reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from a2a_django import engine
from a2a_django.engine import database, feed, snapshots, watch
from a2a_django.engine.batch import Committed
from a2a_django.engine.feed import Event, Reader
from a2a_django.engine.jobs import EndRun
from a2a_django.engine.journal import Journal
from a2a_django.models import Task, TaskEvent
from a2a_django.protocol.errors import TaskNotFoundError
from tests.engine.kit import WAIT, when
from tests.engine.writing import chunk, create, follow_up, journal, says, status

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.5.2")]


@pytest.fixture
async def task() -> Task:
    """A task that runs."""
    return await database.run(lambda: create(here()).task)


def here() -> Journal:
    return engine.get().journal


async def write(task: Task, *texts: str, end: bool = False, writer: Journal | None = None) -> None:
    """Record chunks of an artifact, each in a commit of its own."""
    writer = writer or here()
    for text in texts:
        await database.run(writer.write, says(task, chunk(task, text)))
    if end:
        await database.run(writer.write, says(task, status(task, "COMPLETED")))


async def opened(task: Task, after: int | None = None) -> Reader:
    """A subscription from what the task is now, or from event ``after`` on, made as the operations make it."""
    reader = engine.get().feed.reader(task.pk)
    found = await database.run(snapshots.read, task.pk, agent=task.agent, owner=task.owner)
    assert found is not None
    reader.start(found.seq, attempt=found.attempt, running=found.running, after=after)
    return reader


async def read_up(reader: Reader, seq: int | None = None) -> list[int]:
    """The numbers of the events up to ``seq``; without it, up to the end of the task."""
    numbers: list[int] = []
    async with asyncio.timeout(WAIT):
        while not reader.exhausted and (seq is None or reader.seq < seq):
            numbers += [event[0] for event in await reader.next()]
    return numbers


@pytest.mark.spec("3.1.6")
async def test_every_moment_of_a_run_is_a_moment_to_subscribe(task: Task) -> None:
    readers = [await opened(task)]
    for i in range(10):
        await write(task, str(i))
        readers.append(await opened(task))
    await write(task, end=True)
    for i, reader in enumerate(readers):
        assert await read_up(reader) == list(range(i + 1, 12))


async def test_subscriptions_opened_while_events_are_committed_miss_and_repeat_nothing(task: Task) -> None:
    opened_at: list[tuple[Reader, int]] = []

    async def open_all_the_time() -> None:
        while not writing.done():
            reader = await opened(task)
            opened_at.append((reader, reader.seq))

    writing = asyncio.create_task(write(task, *map(str, range(40)), end=True))
    await asyncio.gather(writing, *(open_all_the_time() for _ in range(3)))
    assert len(opened_at) > 20
    for reader, seq in opened_at:
        if seq < 41:
            assert await read_up(reader) == list(range(seq + 1, 42))


async def test_a_subscription_goes_on_after_any_event_at_any_moment(task: Task) -> None:
    readers = []
    for i in range(8):
        await write(task, str(i))
        readers += [(after, await opened(task, after)) for after in range(i + 2)]
    await write(task, end=True)
    for after, reader in readers:
        assert await read_up(reader) == list(range(after + 1, 10))


async def test_subscriptions_resumed_while_events_are_committed_miss_and_repeat_nothing(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "PAGE", 3)
    found: list[list[int]] = []

    async def resume_all_the_time() -> None:
        """One caller after the other reads a little, is cut off and comes again with the last number."""
        numbers: list[int] = []
        while not numbers or numbers[-1] < 41:
            reader = await opened(task, numbers[-1] if numbers else 0)
            async with asyncio.timeout(WAIT):
                numbers += [event[0] for event in await reader.next()]
            reader.close()
        found.append(numbers)

    writing = asyncio.create_task(write(task, *map(str, range(40)), end=True))
    await asyncio.gather(writing, *(resume_all_the_time() for _ in range(4)))
    assert found == [list(range(1, 42))] * 4


async def test_a_reader_that_leaves_does_not_disturb_the_others(task: Task) -> None:
    stays, leaves = await opened(task), await opened(task)
    await write(task, "a")
    leaves.close()
    leaves.close()
    await write(task, "b", end=True)
    assert await read_up(stays) == [1, 2, 3]
    stays.close()
    assert engine.get().feed._readers == {}


async def test_a_slow_reader_loses_its_queue_and_no_event(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "MAX_QUEUE", 5)
    monkeypatch.setattr(feed, "PAGE", 4)
    slow, fast = await opened(task), await opened(task)
    numbers = []
    for i in range(30):
        await write(task, str(i))
        numbers += await read_up(fast, i + 1)
        assert len(slow._queue) <= 5
    await write(task, end=True)
    assert await read_up(slow) == list(range(1, 32))
    assert numbers == list(range(1, 31))


async def test_a_reader_that_stops_in_between_goes_on_where_it_was(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "MAX_QUEUE", 3)
    reader = await opened(task)
    numbers: list[int] = []
    for i in range(5):
        await write(task, *(str(n) for n in range(i)))
        if i % 2:
            numbers += [event[0] for event in await reader.next()]
    await write(task, end=True)
    numbers += await read_up(reader)
    assert numbers == list(range(1, 12))


async def test_the_release_of_a_run_is_told_also_when_nobody_waits_at_that_moment(task: Task) -> None:
    reader = await opened(task)
    await database.run(here().write, says(task, status(task, "INPUT_REQUIRED", "?")))
    async with asyncio.timeout(WAIT):
        assert [event[0] for event in await reader.next()] == [1]
        assert reader.running
        await database.run(here().write, EndRun(task.pk, 1, here().holder))
        await when(lambda: not reader.running)
        assert await reader.next() == []


async def test_what_is_in_the_queue_twice_does_not_hide_the_release(task: Task) -> None:
    """A reader that is sent to the rows gets there what is in its queue, too."""
    reader = await opened(task)
    reader.fall_behind()
    events_after = feed.events_after

    def late(*args: Any) -> list[Event]:
        here().write(says(task, status(task, "INPUT_REQUIRED", "?")))
        here().write(EndRun(task.pk, 1, here().holder))
        return events_after(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(feed, "events_after", late)
        async with asyncio.timeout(WAIT):
            assert [event[0] for event in await reader.next()] == [1]
    await when(lambda: not reader.running)
    assert not reader.pending


async def test_a_reader_that_finds_nothing_in_the_rows_says_so(task: Task) -> None:
    """It was counted as pending; what was told meanwhile has to be judged once more."""
    reader = await opened(task)
    await database.run(here().write, says(task, status(task, "INPUT_REQUIRED", "?")))
    await when(lambda: reader.known_seq == 1)
    reader._behind = True
    await database.run(here().write, EndRun(task.pk, 1, here().holder))
    await when(lambda: not reader.running)
    async with asyncio.timeout(WAIT):
        assert [event[0] for event in await reader.next()] == [1]
        assert reader.pending
        assert await reader.next() == []
        assert not reader.pending


async def test_a_release_that_is_told_with_old_events_is_heard(task: Task) -> None:
    reader = await opened(task)
    await database.run(here().write, says(task, status(task, "INPUT_REQUIRED", "?")))
    assert await read_up(reader, 1) == [1]
    waiting = asyncio.ensure_future(reader.next())
    await asyncio.sleep(0)
    (news,) = (await database.run(watch.states_of, [task.pk])).values()
    news.running = False
    news.events = await database.run(feed.events_after, task.pk, 0)
    reader.tell(news)
    async with asyncio.timeout(WAIT):
        assert await waiting == []
    assert not reader.running


async def test_old_news_changes_nothing(task: Task) -> None:
    """The watch may deliver what it has read after the journal has told of something newer."""
    reader = await opened(task)
    (old,) = (await database.run(watch.states_of, [task.pk])).values()
    await database.run(here().write, says(task, status(task, "INPUT_REQUIRED", "?")))
    (parked,) = (await database.run(watch.states_of, [task.pk])).values()
    await database.run(here().write, EndRun(task.pk, 1, here().holder))
    assert await read_up(reader, 1) == [1]
    await when(lambda: not reader.running)
    for news in (old, parked):
        reader.tell(news)
        assert not reader.running
    await database.run(here().write, follow_up(here(), task))
    await when(lambda: reader.running)
    for news in (old, parked):
        reader.tell(news)
        assert (reader.running, reader.attempt) == (True, 2)


async def test_events_that_were_deleted_do_not_keep_a_reader_waiting(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "MAX_QUEUE", 1)
    all_gone, some_gone = await opened(task), await opened(task)
    await write(task, "a", "b", "c")
    await database.run(TaskEvent.objects.filter(task=task, seq__lte=2).delete)
    assert await read_up(some_gone, 3) == [3]
    await write(task, "d", end=True)
    await database.run(TaskEvent.objects.filter(task=task).delete)
    assert await read_up(all_gone) == []
    await read_up(some_gone)
    assert all_gone.exhausted
    assert some_gone.exhausted
    await database.run(task.delete)


# -- other processes


@pytest.fixture
async def elsewhere() -> AsyncIterator[Journal]:
    """The journal of another process."""
    with journal() as (writer, _):
        yield writer


async def test_what_other_processes_write_arrives(task: Task, elsewhere: Journal) -> None:
    first = await opened(task)
    await write(task, "a", writer=elsewhere)
    second = await opened(task)
    assert await read_up(first, 1) == [1]
    await write(task, "b", "c", writer=elsewhere)
    assert await read_up(first, 3) == [2, 3]
    await write(task, "d", writer=here())
    await write(task, "e", writer=elsewhere)
    await write(task, "f", end=True)
    assert await read_up(first) == [4, 5, 6, 7]
    assert await read_up(second) == [2, 3, 4, 5, 6, 7]


async def test_more_than_a_page_from_other_processes_arrives(
    task: Task, elsewhere: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "PAGE", 7)
    monkeypatch.setattr(watch, "PAGE", 7)
    monkeypatch.setattr(feed, "MAX_QUEUE", 10)
    readers = [await opened(task) for _ in range(3)]
    await write(task, *map(str, range(40)), end=True, writer=elsewhere)
    for reader in readers:
        assert await read_up(reader) == list(range(1, 42))


async def test_a_subscription_that_is_just_being_made_gets_what_others_write_meanwhile(
    task: Task, elsewhere: Journal
) -> None:
    for i in range(5):
        reader = engine.get().feed.reader(task.pk)
        found = await database.run(snapshots.read, task.pk, agent=task.agent, owner=task.owner)
        assert found is not None
        await write(task, str(i), writer=elsewhere)
        (seen,) = (await database.run(watch.states_of, [task.pk])).values()
        await engine.get().watch._take(seen, engine.get().feed.positions().get(task.pk), None)
        reader.start(found.seq, attempt=found.attempt, running=found.running)
        assert await read_up(reader, i + 1) == [i + 1]
        reader.close()


async def test_a_release_by_another_process_arrives(task: Task, elsewhere: Journal) -> None:
    reader = await opened(task)
    await database.run(elsewhere.write, says(task, status(task, "INPUT_REQUIRED", "?")))
    await database.run(elsewhere.write, EndRun(task.pk, 1, elsewhere.holder))
    events: list[Event] = []
    async with asyncio.timeout(WAIT):
        while reader.running:
            events += await reader.next()
    assert [event[0] for event in events] == [1]


async def test_a_reader_of_a_task_that_is_deleted_hears_of_it(task: Task) -> None:
    reader = await opened(task)
    coming = engine.get().feed.reader(task.pk)
    await write(task, "a")
    await read_up(reader, 1)
    await database.run(task.delete)
    with pytest.raises(TaskNotFoundError):
        await read_up(reader)
    assert not coming._gone, "the task may be about to be made"


async def test_a_task_that_is_made_while_the_poll_looks_was_not_deleted(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The senders of new tasks subscribe before there is a row."""
    states_of, loop = watch.states_of, asyncio.get_running_loop()
    reader = engine.get().feed.reader(task.pk)
    looked_again = asyncio.Event()

    async def begin() -> None:
        reader.start(0, attempt=1, running=True)

    def look(task_ids: list[str]) -> dict[str, Committed]:
        if reader.seq >= 0:  # what came of the first look has been told by now
            loop.call_soon_threadsafe(looked_again.set)
            return states_of(task_ids)
        asyncio.run_coroutine_threadsafe(begin(), loop).result(WAIT)
        return {}  # there was no row yet when the database looked

    monkeypatch.setattr(watch, "states_of", look)
    async with asyncio.timeout(WAIT):
        await looked_again.wait()
    assert not reader._gone
    await write(task, "a")
    assert await read_up(reader, 1) == [1]
