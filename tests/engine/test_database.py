"""The door to the ORM: bounded threads, nothing left behind on them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection, connections, transaction

from a2a_django.engine import database
from a2a_django.engine.database import ThreadPool
from a2a_django.models import Task
from tests.engine.writing import lose_connection

pytestmark = pytest.mark.django_db(transaction=True)

WAIT = 10


@pytest.fixture
def pool() -> Iterator[ThreadPool]:
    pool = ThreadPool(2, "test-pool")
    yield pool
    pool.shutdown()


def threads() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name == "test-pool"}


def test_work_never_waits_for_a_busy_thread_while_another_may_be_started() -> None:
    for _ in range(200):
        pool = ThreadPool(2, "test-pool")
        go = threading.Event()
        first = pool.submit(go.wait, WAIT)
        pool.submit(go.set).result(WAIT)
        assert first.result(WAIT)
        pool.shutdown(wait=False)


def test_there_are_never_more_threads_than_allowed(pool: ThreadPool) -> None:
    futures = [pool.submit(threading.current_thread) for _ in range(100)]
    assert len({future.result(WAIT) for future in futures}) <= 2
    assert len(threads()) <= 2


def test_shutdown_ends_every_thread_after_what_waits(pool: ThreadPool) -> None:
    for _ in range(20):
        barrier = threading.Barrier(2)
        for _ in range(2):
            pool.submit(barrier.wait, WAIT)
        last = pool.submit(lambda: "done")
        pool.shutdown()
        assert last.result(0) == "done"
        assert not threads()


def test_work_handed_in_after_shutdown_is_done(pool: ThreadPool) -> None:
    gate = threading.Event()
    pool.submit(gate.wait, WAIT)
    pool.shutdown(wait=False)
    late = pool.submit(lambda: "late")
    gate.set()
    assert late.result(WAIT) == "late"


def test_work_handed_in_during_shutdown_does_not_keep_the_old_threads(
    pool: ThreadPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that was started for it took what told an old one to end; that one stayed until it was idle."""
    monkeypatch.setattr(database, "IDLE_SECONDS", 10 * WAIT)
    for _ in range(20):
        gate = threading.Event()
        pool.submit(gate.wait, WAIT)
        old = threads()
        pool.shutdown(wait=False)
        late = pool.submit(threading.current_thread).result(WAIT)  # its thread waits for more
        gate.set()
        for thread in old:
            thread.join(WAIT)
        assert threads() == {late}
        pool.shutdown()


def test_an_idle_thread_closes_its_connection_and_ends(pool: ThreadPool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "IDLE_SECONDS", 0.01)

    def connect() -> object:
        connection.ensure_connection()
        return connections["default"]

    opened = pool.submit(connect).result(WAIT)
    for thread in threads():
        thread.join(WAIT)
    assert not threads()
    assert opened.connection is None  # type: ignore[attr-defined]
    assert pool.submit(lambda: "again").result(WAIT) == "again"


def test_a_call_that_leaves_a_transaction_open_does_not_spoil_its_thread() -> None:
    pool = ThreadPool(1, "test-pool")

    def leave_open() -> None:
        transaction.atomic().__enter__()
        Task.objects.count()

    def turn_autocommit_off() -> None:
        transaction.set_autocommit(False)

    try:
        for spoil in (leave_open, turn_autocommit_off):
            pool.submit(spoil).result(WAIT)
            assert pool.submit(Task.objects.count).result(WAIT) == 0
            assert pool.submit(lambda: connection.get_autocommit()).result(WAIT) is True
    finally:
        pool.shutdown()


@pytest.mark.skipif(connection.vendor == "sqlite", reason="a file is never away")
async def test_a_read_whose_connection_was_lost_is_tried_once_more() -> None:
    calls = []

    def read() -> int:
        calls.append(1)
        if len(calls) == 1:
            lose_connection()
        return Task.objects.count()

    assert await database.read(read) == 0
    assert len(calls) == 2


async def test_a_read_that_fails_on_a_good_connection_is_not_repeated() -> None:
    calls = []

    def read() -> None:
        calls.append(1)
        connection.ensure_connection()
        raise OperationalError("no")

    with pytest.raises(OperationalError):
        await database.read(read)
    assert len(calls) == 1


async def test_callers_do_not_determine_the_number_of_connections() -> None:
    used = await asyncio.gather(*(database.run(lambda: connections["default"]) for _ in range(50)))
    assert len(set(map(id, used))) <= database.a2a_settings.DATABASE_THREADS
