"""The writer of task rows: order, group commit, and who is hurt by what."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    connections,
)
from pytest_django import Settings

from a2a_django.engine import journal as journal_module
from a2a_django.engine import statements
from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Broken, CancelTask, EndRun, Fenced, Job, Voice
from a2a_django.engine.journal import Journal
from a2a_django.models import Message, Task, TaskEvent
from a2a_django.protocol import wire
from a2a_django.protocol.changes import StatusChange
from a2a_django.protocol.errors import TaskNotFoundError, UnsupportedOperationError
from tests.engine.kit import WAIT, row
from tests.engine.writing import (
    Gate,
    Recorder,
    Threads,
    chunk,
    create,
    creation,
    follow_up,
    held_up,
    journal,
    says,
    status,
)

pytestmark = pytest.mark.usefixtures("sound_rows")


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


def hand_in(writer: Journal, *jobs: Job[Any]) -> None:
    """Hand in jobs without waiting for them."""
    for job in jobs:
        job.event = threading.Event()
        writer._put(job)


def wait_for(*jobs: Job[Any]) -> None:
    for job in jobs:
        assert job.event is not None
        assert job.event.wait(WAIT)


# -- order and group commit


def test_what_gathers_while_a_commit_runs_is_one_commit_in_order(writer: Journal, told: Recorder) -> None:
    tasks = [create(writer).task for _ in range(3)]
    jobs = [says(task, chunk(task, str(i))) for i in range(20) for task in tasks]
    told.told.clear()
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [len(done) for done in told.told] == [0, 3]  # the gate, then everything at once
    for task in tasks:
        assert told.events(task.pk) == list(range(1, 21))
        texts = [event.data["artifactUpdate"]["artifact"]["parts"] for event in TaskEvent.objects.filter(task=task)]
        assert texts == [[{"text": str(i)}] for i in range(20)]


def test_a_task_and_all_that_happens_to_it_may_be_one_commit(writer: Journal, told: Recorder) -> None:
    made = creation(writer)
    task = made.template
    jobs = [
        made,
        says(task, status(task, "WORKING", "one")),
        follow_up(writer, task),
        says(task, status(task, "WORKING", "two")),
        says(task, chunk(task, "a")),
        says(task, chunk(task, "b")),
        says(task, chunk(task, "c", append=False)),
        EndRun(task.pk, 1, writer.holder),
        says(task, status(task, "COMPLETED", "bye"), attempt=2),
    ]
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [job.error for job in jobs] == [None] * len(jobs)
    assert [len(done) for done in told.told] == [0, 1]
    assert told.told[1][0].created
    stored = row(task.pk)
    assert (stored.last_seq, stored.message_count, stored.artifact_count, stored.attempt) == (6, 4, 1, 2)
    assert [m.data["parts"][0]["text"] for m in stored.messages.all()] == ["hello", "one", "more", "two"]


def test_the_time_of_a_status_does_not_go_back(writer: Journal) -> None:
    """A run may speak before its task is in the database, and processes have clocks of their own (R-053)."""
    made = creation(writer)
    task = made.template
    change = status(task, "WORKING")
    assert isinstance(change, StatusChange)
    early = replace(change, moment=change.moment - dt.timedelta(seconds=5))
    hand_in(writer, made)
    wait_for(made)
    begun = row(task.pk).status_timestamp
    writer.write(says(task, early))
    assert row(task.pk).status_timestamp == begun
    told_of = TaskEvent.objects.get(task=task).data["statusUpdate"]["status"]["timestamp"]
    assert told_of == wire.timestamp(begun)
    later = replace(change, moment=begun + dt.timedelta(seconds=5))
    writer.write(says(task, later))
    assert row(task.pk).status_timestamp == later.moment


def test_more_jobs_than_one_transaction_takes_keep_their_order(
    writer: Journal, told: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal_module, "MAX_BATCH", 7)
    task = create(writer).task
    jobs = [says(task, chunk(task, str(i))) for i in range(50)]
    hand_in(writer, *jobs)
    wait_for(*jobs)
    assert told.events(task.pk) == list(range(1, 51))


# -- who is hurt by what


def test_a_refused_job_hurts_no_other(writer: Journal, told: Recorder) -> None:
    one, two = create(writer).task, create(writer).task
    jobs = [
        says(one, chunk(one, "a")),
        says(two, chunk(two, "never"), attempt=7),
        CancelTask("no-such-task", agent="tested", owner="alice"),
        CancelTask(two.pk, agent="tested", owner="bob"),
        says(one, chunk(one, "b")),
        says(two, chunk(two, "c")),
    ]
    told.told.clear()
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    errors = [type(job.error) for job in jobs]
    assert errors == [type(None), Fenced, TaskNotFoundError, TaskNotFoundError, type(None), type(None)]
    assert len(told.told) == 2
    assert (row(one.pk).last_seq, row(two.pk).last_seq) == (2, 1)


class Wrong(Job[None]):
    """A job with a fault of its own."""

    def __init__(self, task_id: str) -> None:
        super().__init__()
        self.task_id = task_id

    def apply(self, batch: Batch) -> None:
        raise ZeroDivisionError


def test_a_job_with_a_fault_fails_alone(writer: Journal) -> None:
    task = create(writer).task
    jobs = [says(task, chunk(task, "a")), Wrong(task.pk), says(task, chunk(task, "b"))]
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [type(job.error) for job in jobs] == [type(None), ZeroDivisionError, type(None)]
    assert row(task.pk).last_seq == 2


def test_a_job_that_the_database_cannot_store_fails_alone(writer: Journal) -> None:
    good, bad = create(writer).task, create(writer).task
    in_the_way = TaskEvent.objects.create(task=bad, seq=1, kind="status", wire="{}", created_at=bad.created_at)
    jobs = [says(good, chunk(good, "a")), says(bad, chunk(bad, "x")), says(good, chunk(good, "b"))]
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [type(job.error) for job in jobs] == [type(None), IntegrityError, type(None)]
    assert row(good.pk).last_seq == 2
    assert row(bad.pk).last_seq == 0
    in_the_way.delete()
    writer.write(says(bad, chunk(bad, "now")))


def test_nothing_that_a_run_says_is_recorded_after_something_that_was_not(writer: Journal) -> None:
    task, voice = create(writer).task, Voice()
    in_the_way = TaskEvent.objects.create(task=task, seq=2, kind="status", wire="{}", created_at=task.created_at)
    changes = [chunk(task, "a"), chunk(task, "b"), chunk(task, "c"), status(task, "COMPLETED")]
    jobs = [says(task, change, voice=voice) for change in changes]
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [type(job.error) for job in jobs] == [type(None), IntegrityError, Broken, Broken]
    in_the_way.delete()
    assert row(task.pk).last_seq == 1


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_failure_that_passes_costs_time_and_nothing_else(
    writer: Journal, told: Recorder, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    task = create(writer).task
    told.told.clear()
    save, failures = Batch.save, [1, 2, 3]

    def fails_first(self: Batch) -> None:
        save(self)
        if failures:
            failures.pop()
            raise error("database is locked")

    monkeypatch.setattr(Batch, "save", fails_first)
    writer.write(says(task, chunk(task, "a")))
    writer.write(follow_up(writer, task))
    assert not failures
    assert told.events(task.pk) == [1]
    assert row(task.pk).message_count == 2


def test_a_failure_that_passes_hurts_nobody_when_jobs_are_repeated_one_by_one(
    writer: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    task, other = create(writer).task, create(writer).task
    save, failures = Batch.save, [1, 2]

    def fails_first(self: Batch) -> None:
        save(self)
        if failures and self.dirty:
            failures.pop()
            raise OperationalError("deadlock detected")

    monkeypatch.setattr(Batch, "save", fails_first)
    jobs = [says(task, chunk(task, "a")), Wrong(other.pk), says(task, chunk(task, "b"))]
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert not failures
    assert [type(job.error) for job in jobs] == [type(None), ZeroDivisionError, type(None)]
    assert row(task.pk).last_seq == 2


@pytest.mark.skipif(connection.vendor != "mysql", reason="only MySQL limits the length of a statement")
def test_what_is_too_long_for_one_statement_is_written_in_several(
    writer: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = create(writer).task, create(writer).task
    monkeypatch.setattr(statements, "longest_statement", lambda using: 30_000)
    jobs = [says(good, chunk(good, "\\" * 3_000)) for _ in range(10)]
    jobs.insert(5, says(bad, chunk(bad, "x" * 30_000)))
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [type(job.error) for job in jobs] == [type(None)] * 5 + [DataError] + [type(None)] * 5
    assert (row(good.pk).last_seq, row(bad.pk).last_seq) == (10, 0)


@pytest.mark.skipif(connection.vendor != "mysql", reason="only MySQL limits the length of a statement")
def test_the_servers_limit_is_the_one_that_counts(writer: Journal, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_ARTIFACT_BYTES": 1_000_000_000}
    with connection.cursor() as cursor:
        cursor.execute("SELECT @@max_allowed_packet")
        limit = cursor.fetchone()[0]
    task = create(writer).task
    half = "x" * (limit * 2 // 5)
    jobs = [says(task, chunk(task, half, append=False)) for _ in range(3)]
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [job.error for job in jobs] == [None] * 3
    with pytest.raises(DataError, match="max_allowed_packet"):
        writer.write(says(task, chunk(task, "x" * limit)))
    assert row(task.pk).last_seq == 3


def test_when_patience_is_at_an_end_only_the_jobs_that_fail_alone_fail(
    writer: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    good, bad = create(writer).task, create(writer).task
    save = Batch.save

    def fails_with_bad(self: Batch) -> None:
        save(self)
        if bad.pk in self.dirty:
            raise OperationalError("deadlock detected")

    monkeypatch.setattr(Batch, "save", fails_with_bad)
    monkeypatch.setattr(journal_module, "PATIENCE_SECONDS", 0.0)
    jobs = [says(good, chunk(good, "a")), says(bad, chunk(bad, "x")), says(good, chunk(good, "b"))]
    with held_up(writer):
        hand_in(writer, *jobs)
    wait_for(*jobs)
    assert [type(job.error) for job in jobs] == [type(None), OperationalError, type(None)]
    assert (row(good.pk).last_seq, row(bad.pk).last_seq) == (2, 0)


def test_the_journal_outlives_a_reader_that_cannot_be_told() -> None:
    def fails(done: Any) -> Any:
        raise ZeroDivisionError

    writer = Journal(fails)
    try:
        task = create(writer).task
        writer.write(says(task, chunk(task, "a")))
        assert row(task.pk).last_seq == 1
    finally:
        writer.close()


# -- fencing


def test_a_run_that_is_no_longer_current_changes_nothing(writer: Journal) -> None:
    task = create(writer).task
    for attempt in (0, 2):
        with pytest.raises(Fenced):
            writer.write(says(task, chunk(task, "stale"), attempt=attempt))
        with pytest.raises(Fenced):
            writer.write(EndRun(task.pk, attempt, writer.holder))
    assert row(task.pk).last_seq == 0


def test_nothing_is_accepted_after_a_cancel(writer: Journal) -> None:
    task = create(writer).task
    done = writer.write(CancelTask(task.pk, agent="tested", owner="alice"))
    assert (done.changed, done.holder) == (True, writer.holder)
    for attempt in (1, 2):
        for change in (chunk(task, "late"), status(task, "COMPLETED"), status(task, "CANCELED")):
            with pytest.raises(Fenced):
                writer.write(says(task, change, attempt=attempt))
    with pytest.raises(UnsupportedOperationError):
        writer.write(follow_up(writer, task))
    assert writer.write(CancelTask(task.pk, agent="tested", owner="alice")).changed is False
    assert row(task.pk).last_seq == 1


@pytest.mark.parametrize("end", ["COMPLETED", "FAILED", "REJECTED", "CANCELED"])
def test_nothing_is_accepted_after_the_end(writer: Journal, end: str) -> None:
    task = create(writer).task
    writer.write(says(task, status(task, end)))
    with pytest.raises(Fenced):
        writer.write(says(task, chunk(task, "late")))
    with pytest.raises(UnsupportedOperationError):
        writer.write(follow_up(writer, task))
    assert row(task.pk).last_seq == 1


def test_a_run_that_was_released_is_fenced(writer: Journal) -> None:
    task = create(writer).task
    writer.write(says(task, status(task, "INPUT_REQUIRED", "?")))
    assert writer.write(EndRun(task.pk, 1, writer.holder)) is None
    with pytest.raises(Fenced):
        writer.write(says(task, chunk(task, "late")))
    accepted = writer.write(follow_up(writer, task))
    assert accepted.attempt == 2
    with pytest.raises(Fenced):
        writer.write(says(task, chunk(task, "late")))
    writer.write(says(task, chunk(task, "now"), attempt=2))


def test_a_lease_that_ran_out_is_taken_over_and_the_old_run_fenced(writer: Journal) -> None:
    task = create(writer).task
    writer.write(says(task, status(task, "INPUT_REQUIRED", "?")))
    Task.objects.filter(pk=task.pk).update(lease_expires_at="2020-01-01T00:00:00Z")
    with journal() as (other, _):
        accepted = other.write(follow_up(other, task))
        assert accepted.attempt == 2
        assert row(task.pk).lease_holder == other.holder
    with pytest.raises(Fenced):
        writer.write(says(task, status(task, "COMPLETED")))


def test_a_message_does_not_pass_over_a_run_that_was_lost_at_work(writer: Journal) -> None:
    task = create(writer).task
    Task.objects.filter(pk=task.pk).update(lease_expires_at="2020-01-01T00:00:00Z")
    with journal() as (other, _):
        accepted = other.write(follow_up(other, task))
        assert (accepted.attempt, accepted.start, accepted.is_lost) == (None, None, True)
    assert row(task.pk).lease_holder == writer.holder


# -- many writers


@pytest.fixture(params=["immediate", "deferred"])
def transaction_mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """SQLite as the README recommends it, and as Django has it by default."""
    if request.param == "deferred":
        if connection.vendor != "sqlite":
            pytest.skip("SQLite only")
        monkeypatch.setitem(connections.settings["default"]["OPTIONS"], "transaction_mode", None)
    return str(request.param)


def test_many_writers_of_several_processes_leave_no_holes(transaction_mode: str) -> None:
    threads = Threads()
    with journal() as (first, first_told), journal() as (second, second_told):
        tasks = [create(first).task for _ in range(3)]

        def work(writer: Journal, task: Task) -> None:
            for i in range(12):
                writer.write(says(task, chunk(task, str(i), f"out-{i % 2}")))
                if i % 4 == 0:
                    writer.write(follow_up(writer, task))
                if i % 5 == 0:
                    writer.write(says(task, status(task, "WORKING", f"at {i}")))

        for writer in (first, second):
            for task in tasks:
                for _ in range(2):
                    threads.call(work, writer, task)
        assert threads.results() == [None] * 12
    for task in tasks:
        stored = row(task.pk)
        assert stored.last_seq == 4 * (12 + 3)
        assert stored.artifact_count == 2
        numbers = [told.events(task.pk) for told in (first_told, second_told)]
        assert all(found == sorted(found) for found in numbers)
        assert sorted(numbers[0] + numbers[1]) == list(range(1, stored.last_seq + 1))


# -- the thread


def test_close_writes_what_waits(writer: Journal) -> None:
    task = create(writer).task
    jobs = [says(task, chunk(task, str(i))) for i in range(30)]
    gate = Gate()
    writer._put(gate)
    assert gate.reached.wait(WAIT)
    hand_in(writer, *jobs)
    closing = threading.Thread(target=writer.close)
    closing.start()
    while not writer._closing:
        pass
    with pytest.raises(RuntimeError):
        writer._put(says(task, chunk(task, "too late")))
    gate.opened.set()
    closing.join(WAIT)
    assert row(task.pk).last_seq == 30
    assert writer._thread is None


def test_an_idle_journal_has_no_thread_and_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "LINGER_SECONDS", 0.01)
    used: list[Any] = []

    class Look(Gate):
        def apply(self, batch: Batch) -> None:
            used.append(connections[batch.using])

    with journal() as (writer, _):
        for _ in range(3):
            writer.write(Look())
            thread = writer._thread
            if thread is not None:
                thread.join(WAIT)
            assert writer._thread is None
        assert all(found.connection is None for found in used)
        assert create(writer).task.pk


def test_a_message_the_database_cannot_store_is_its_senders_error(writer: Journal) -> None:
    task = create(writer).task
    in_the_way = Message.objects.create(
        task=task, position=2, message_id="x", role="ROLE_USER", wire="{}", created_at=task.created_at
    )
    with pytest.raises(DatabaseError):
        writer.write(follow_up(writer, task))
    in_the_way.delete()
    assert writer.write(follow_up(writer, task)).message.position == 2


async def test_a_refusal_is_no_news_when_its_caller_has_left() -> None:
    news: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: news.append(context))
    with journal() as (writer, _):
        task = (await asyncio.to_thread(create, writer)).task
        writer.submit(says(task, chunk(task, "stale"), attempt=9))  # nobody waits for it
        await asyncio.to_thread(writer.write, says(task, chunk(task, "a")))
        await writer.submit(says(task, chunk(task, "b")))
        gc.collect()
        await asyncio.sleep(0)
    assert news == []
