"""The journal inside a site's own transaction, and beside one that holds a task's row."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import Group
from django.db import OperationalError, connection, transaction
from django.db.models import F

from a2a_django.engine.jobs import CancelTask, Fenced
from a2a_django.engine.journal import MAX_BATCH, Journal
from a2a_django.models import Task, TaskEvent, TaskTally
from tests.engine.kit import WAIT, row
from tests.engine.writing import Recorder, Threads, chunk, create, held_up, journal, says, status

pytestmark = pytest.mark.usefixtures("sound_rows")

rows_are_locked = pytest.mark.skipif(connection.vendor == "sqlite", reason="the database locks no rows")


@pytest.fixture
def both() -> Iterator[tuple[Journal, Recorder]]:
    with journal() as (writer, told):
        yield writer, told


@pytest.fixture
def writer(both: tuple[Journal, Recorder]) -> Journal:
    return both[0]


@pytest.fixture
def told(both: tuple[Journal, Recorder]) -> Recorder:
    return both[1]


class SomethingWrongError(Exception):
    """What makes a transaction roll back."""


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction (inside another one: a savepoint) that fails at its end."""
    try:
        with transaction.atomic():
            yield
            raise SomethingWrongError
    except SomethingWrongError:
        pass


def elsewhere(task: Task) -> int:
    """How many events of a task another connection sees."""
    threads = Threads()
    threads.call(TaskEvent.objects.filter(task=task).count)
    return int(threads.results()[0])


def test_a_job_inside_a_transaction_is_committed_with_it(writer: Journal, told: Recorder) -> None:
    task = create(writer).task
    told.told.clear()
    with transaction.atomic():
        Group.objects.create(name="site row")
        with transaction.atomic():
            writer.write(says(task, chunk(task, "a")))
        writer.write(says(task, status(task, "COMPLETED")))
        assert elsewhere(task) == 0
        assert not told.told
    assert told.events(task.pk) == [1, 2]
    assert elsewhere(task) == 2
    assert row(task.pk).is_terminal


def test_a_job_inside_a_transaction_is_rolled_back_with_it(writer: Journal, told: Recorder) -> None:
    task = create(writer).task
    told.told.clear()
    with rolled_back():
        writer.write(says(task, chunk(task, "a")))
        Group.objects.create(name="site row")
    assert not told.told
    assert row(task.pk).last_seq == 0
    assert not Group.objects.exists()
    writer.write(says(task, chunk(task, "b")))
    assert told.events(task.pk) == [1]


def test_only_the_savepoint_that_fails_is_rolled_back(writer: Journal, told: Recorder) -> None:
    task = create(writer).task
    told.told.clear()
    with transaction.atomic():
        writer.write(says(task, chunk(task, "a")))
        with rolled_back():
            writer.write(says(task, chunk(task, "b")))
        writer.write(says(task, chunk(task, "c")))
    assert told.events(task.pk) == [1, 2]
    assert row(task.pk).last_seq == 2


def test_a_refusal_leaves_the_callers_transaction_usable(writer: Journal) -> None:
    task = create(writer).task
    with transaction.atomic():
        with pytest.raises(Fenced):
            writer.write(says(task, chunk(task, "stale"), attempt=9))
        Group.objects.create(name="site row")
    assert Group.objects.count() == 1


def test_readers_are_told_in_the_order_of_the_numbers(writer: Journal, told: Recorder) -> None:
    """The journal's own thread and site transactions write to one task in turns."""
    task = create(writer).task
    told.told.clear()

    def in_a_transaction() -> None:
        for _ in range(10):
            with transaction.atomic():
                writer.write(says(task, chunk(task, "site")))
                writer.write(says(task, chunk(task, "site")))

    def outside() -> None:
        for _ in range(20):
            writer.write(says(task, chunk(task, "own")))

    threads = Threads()
    for function in (in_a_transaction, outside, in_a_transaction):
        threads.call(function)
    assert threads.results() == [None] * 3
    assert sorted(told.events(task.pk)) == list(range(1, 61))


@contextmanager
def row_held(task: Task) -> Iterator[None]:
    """Inside, a transaction of somebody else holds the task's row."""
    held, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Task.objects.select_for_update().get(pk=task.pk)
            held.set()
            assert let_go.wait(WAIT)

    threads = Threads()
    threads.call(hold)
    assert held.wait(WAIT)
    try:
        yield
    finally:
        let_go.set()
        assert threads.results() == [None]


@rows_are_locked
@pytest.mark.parametrize("waiting", [3, MAX_BATCH + 100])
def test_a_task_that_somebody_holds_does_not_hold_up_others(writer: Journal, told: Recorder, waiting: int) -> None:
    held, free = create(writer).task, create(writer).task
    jobs = [says(held, chunk(held, str(i))) for i in range(waiting)]
    with row_held(held):
        with held_up(writer):
            for job in jobs:
                job.event = threading.Event()
                writer._put(job)
        for i in range(3):
            last = says(free, chunk(free, str(i)))
            last.event = threading.Event()
            writer._put(last)
        assert last.event is not None
        assert last.event.wait(WAIT)
        assert row(held.pk).last_seq == 0
    for job in jobs:
        assert job.event is not None
        assert job.event.wait(WAIT)
    assert told.events(held.pk) == list(range(1, waiting + 1))
    texts = [e.data["artifactUpdate"]["artifact"]["parts"][0]["text"] for e in TaskEvent.objects.filter(task=held)]
    assert texts == [str(i) for i in range(waiting)]


@rows_are_locked
def test_a_site_transaction_waits_for_the_task_that_another_one_writes(writer: Journal, told: Recorder) -> None:
    task = create(writer).task
    threads = Threads()

    def second() -> None:
        with transaction.atomic():
            writer.write(says(task, chunk(task, "second")))

    with transaction.atomic():
        writer.write(says(task, chunk(task, "first")))
        threads.call(second)
        assert elsewhere(task) == 0
    assert threads.results() == [None]
    assert told.events(task.pk)[-2:] == [1, 2]


@rows_are_locked
def test_two_site_transactions_that_wait_for_each_other_are_seen_as_a_deadlock(writer: Journal) -> None:
    one, two = create(writer).task, create(writer).task
    meet = threading.Barrier(2)

    def work(first: Task, second: Task) -> None:
        with transaction.atomic():
            writer.write(says(first, chunk(first, "a")))
            meet.wait(WAIT)
            writer.write(says(second, chunk(second, "b")))

    threads = Threads()
    threads.call(work, one, two)
    threads.call(work, two, one)
    kinds = {type(result) for result in threads.results()}
    assert kinds == {type(None), OperationalError}
    assert (row(one.pk).last_seq, row(two.pk).last_seq) == (1, 1)


@rows_are_locked
def test_a_deadlock_with_a_site_transaction_costs_the_journal_time_and_nothing_else(
    writer: Journal, told: Recorder, caplog: pytest.LogCaptureFixture
) -> None:
    ended, task = create(writer).task, create(writer).task
    writer.write(says(ended, status(ended, "COMPLETED")))  # makes the tally
    job = says(task, status(task, "COMPLETED"))
    job.event = threading.Event()

    def is_held() -> bool:
        with transaction.atomic():
            return not Task.objects.select_for_update(skip_locked=True).filter(pk=task.pk)

    with transaction.atomic():
        Group.objects.bulk_create([Group(name=str(i)) for i in range(200)])  # MySQL ends the one that has done less
        if connection.vendor == "postgresql":  # it ends the one that looks first
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL deadlock_timeout = '30s'")
        TaskTally.objects.update(count=F("count"))
        writer._put(job)
        threads = Threads()
        threads.call(lambda: _wait_until(is_held))
        assert threads.results() == [None]
        Task.objects.select_for_update().get(pk=task.pk)
    assert job.event.wait(WAIT)
    assert job.error is None
    assert row(task.pk).state == "TASK_STATE_COMPLETED"
    assert "failed and is repeated: OperationalError" in caplog.text
    assert [tally.count for tally in TaskTally.objects.all()] == [2]


def _wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.skipif(
    not connection.features.has_select_for_no_key_update, reason="the database has no lock that leaves the key alone"
)
def test_rows_that_refer_to_a_task_do_not_hold_up_the_journal(writer: Journal) -> None:
    """The check of a foreign key locks the row until its transaction ends."""
    task = create(writer).task
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {Task._meta.db_table} WHERE id = %s FOR KEY SHARE", [task.pk])  # noqa: S608
        threads = Threads()
        threads.call(lambda: writer.write(says(task, status(task, "WORKING"))))
        assert threads.results() == [None]
    with transaction.atomic():
        writer.write(says(task, status(task, "COMPLETED")))
        threads = Threads()
        threads.call(lambda: refers_to(task))
        assert threads.results() == [1]


def refers_to(task: Task) -> int:
    """Lock a task's row as the check of a foreign key does; how many rows there are."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL lock_timeout = '5s'")
        cursor.execute(f"SELECT 1 FROM {Task._meta.db_table} WHERE id = %s FOR KEY SHARE", [task.pk])  # noqa: S608
        return len(cursor.fetchall())


@rows_are_locked
def test_a_cancel_waits_for_the_transaction_that_is_about_to_end_the_task(writer: Journal) -> None:
    task = create(writer).task
    job = CancelTask(task.pk, agent="tested", owner="alice")
    job.event = threading.Event()
    with transaction.atomic():
        writer.write(says(task, status(task, "COMPLETED")))
        writer._put(job)
    assert job.event.wait(WAIT)
    assert job.error is not None
    assert row(task.pk).state == "TASK_STATE_COMPLETED"
