"""Many subscribers of one task in one process: what another process writes is fetched once for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.conf import settings
from django.db.backends.signals import connection_created
from django.test import override_settings

from a2a_django import engine
from a2a_django.engine import database, snapshots
from a2a_django.engine.feed import Event, Feed, Reader
from a2a_django.engine.journal import Journal
from a2a_django.engine.watch import GROUP, Watch
from a2a_django.models import Task, TaskEvent
from tests.engine.kit import WAIT
from tests.engine.layers import ReachingLayer
from tests.engine.writing import chunk, create, says, status

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sound_rows")]

SUBSCRIBERS = 200
WAKE_UPS = 12


@pytest.fixture(params=["no layer", "a layer", "redis"])
def carried(request: pytest.FixtureRequest) -> Iterator[str]:
    """By what the bells of other processes are carried."""
    layers = {
        "no layer": {"BACKEND": "channels.layers.InMemoryChannelLayer"},
        "a layer": {"BACKEND": f"{ReachingLayer.__module__}.{ReachingLayer.__qualname__}"},
        "redis": settings.CHANNEL_LAYERS["default"],
    }
    if request.param == "redis" and "redis" not in layers["redis"]["BACKEND"]:
        pytest.skip("without A2A_TEST_REDIS=1")
    with override_settings(CHANNEL_LAYERS={"default": layers[request.param]}):
        yield request.param


@contextmanager
def tail_queries() -> Iterator[list[str]]:
    """The statements that read events, on whatever connection that is made inside."""
    found: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
        if sql.startswith("SELECT") and TaskEvent._meta.db_table in sql:
            found.append(sql)
        return execute(sql, *rest)

    def listen(connection: Any, **_: Any) -> None:
        if note not in connection.execute_wrappers:
            connection.execute_wrappers.append(note)

    connection_created.connect(listen)
    try:
        yield found
    finally:
        connection_created.disconnect(listen)


class Elsewhere:
    """Another process: a journal, and a watch that rings."""

    def __init__(self) -> None:
        self.journal = Journal(lambda done: self.watch.ring(done) or {})
        self.watch = Watch(Feed(), self.journal.holder, runs=dict, lost=lambda *_: None, recover=self._nothing)

    @staticmethod
    async def _nothing() -> None:
        return None


@pytest.fixture
def elsewhere(carried: str) -> Iterator[Elsewhere]:
    made = Elsewhere()
    yield made
    made.journal.close()


async def opened(task: Task) -> Reader:
    reader = engine.get().feed.reader(task.pk)
    found = await database.run(snapshots.read, task.pk, agent=task.agent, owner=task.owner)
    assert found is not None
    reader.start(found.seq, attempt=found.attempt, running=found.running)
    return reader


async def heard(carried: str, ring: Callable[[], Awaitable[None]]) -> None:
    """Wait until this process listens to the bells; what is rung before goes by it, and is found by the slow poll."""
    if carried == "no layer":
        return
    layer = engine.get().watch._layer
    seen = asyncio.Event()
    take = engine.get().watch._heard
    loop = asyncio.get_running_loop()

    async def note(message: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(seen.set)
        await take(message)

    engine.get().watch._heard = note  # type: ignore[method-assign]
    assert layer is not None
    async with asyncio.timeout(WAIT):
        while not seen.is_set():
            await ring()
            await asyncio.sleep(0.05)


async def test_one_query_for_each_wake_up_however_many_read(carried: str, elsewhere: Elsewhere) -> None:
    with tail_queries() as queries:
        database.pools.shutdown()  # threads and their connections are made anew, inside
        task = (await database.run(lambda: create(engine.get().journal))).task
        await database.run(elsewhere.journal.write, says(task, chunk(task, "first")))
        readers = [await opened(task) for _ in range(SUBSCRIBERS)]
        layer = engine.get().watch._layer
        await heard(carried, lambda: layer.group_send(GROUP, {"type": "a2a.bells", "from": "nobody", "bells": []}))
        assert len(queries) >= SUBSCRIBERS, "the queries are not seen"
        taken: list[list[Event]] = [[] for _ in readers]

        async def all_read(seq: int) -> None:
            async with asyncio.timeout(WAIT):
                for events, reader in zip(taken, readers, strict=True):
                    while reader.seq < seq:
                        events += await reader.next()

        # Readers to whom something happened while they began look at the rows themselves, once.
        await database.run(elsewhere.journal.write, says(task, chunk(task, "second")))
        await all_read(2)
        before = len(queries)
        for seq in range(3, WAKE_UPS + 2):
            await database.run(elsewhere.journal.write, says(task, chunk(task, str(seq))))
            await all_read(seq)
        await database.run(elsewhere.journal.write, says(task, status(task, "COMPLETED")))
        await all_read(WAKE_UPS + 2)
        assert len(queries) - before == WAKE_UPS
    assert all(reader.exhausted for reader in readers)
    expected = list(range(2, WAKE_UPS + 3))
    assert all([event[0] for event in events] == expected for events in taken)
