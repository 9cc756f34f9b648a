"""``a2a_prune``: what goes and what stays, and that nothing is harmed that goes on meanwhile."""

from __future__ import annotations

import datetime as dt
import threading
from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.models import ProtectedError
from django.db.models.signals import pre_delete
from django.utils import timezone
from pytest_django import Settings

from a2a_django.engine.jobs import Fenced
from a2a_django.engine.journal import Journal
from a2a_django.models import EventKind, PushConfig, PushDelivery, Task, TaskEvent
from a2a_django.models.fields import first_id, uuid7
from a2a_django.protocol.errors import TaskNotFoundError
from a2a_django.retention import prune, regular
from a2a_django.retention.prune import NAMES, Ages, Pruning
from tests.engine.kit import WAIT
from tests.engine.writing import Threads, create, lose_connection, says, status
from tests.push.kit import until
from tests.retention.kit import made, nothing_left, read, with_webhook

DAY = dt.timedelta(days=1)
STATES = ("COMPLETED", "FAILED", "CANCELED", "REJECTED")
ALL = dict.fromkeys(NAMES.values(), DAY)


def pruning(days: float = 2, tasks: dict[str, dt.timedelta] | None = None, **options: Any) -> Pruning:
    """A round some days from now."""
    events = options.pop("events", None)
    limits = Ages(ALL if tasks is None else tasks, events)
    return Pruning(limits, now=timezone.now() + days * DAY, **{"rest": 0, **options})


def run(**options: Any) -> str:
    out = StringIO()
    call_command("a2a_prune", stdout=out, **options)
    return out.getvalue()


def test_each_state_has_its_age(writer: Journal) -> None:
    tasks = {state: made(writer, state) for state in STATES}
    limits = {f"TASK_STATE_{state}": number * DAY for number, state in enumerate(STATES[:3], 1)}
    for days, gone in ((0.9, 0), (1.1, 1), (2.1, 2), (3.1, 3), (400, 3)):
        pruning(days, limits).run()
        assert [nothing_left(tasks[state]) for state in STATES] == [number < gone for number in range(4)]
    assert read(tasks["REJECTED"])["status"]["state"] == "TASK_STATE_REJECTED"


def test_what_has_not_ended_stays_whatever_its_age(writer: Journal) -> None:
    waits = create(writer).task
    writer.write(says(waits, status(waits, "INPUT_REQUIRED")))
    tasks = [create(writer).task, made(writer), waits]
    assert pruning(10_000, force=True).run().tasks == Counter()
    assert Task.objects.filter(pk__in=[task.pk for task in tasks]).count() == 3


@pytest.mark.parametrize("batch", [1, 3, 1000])
def test_any_number_in_batches_of_any_size(writer: Journal, batch: int) -> None:
    keep = made(writer, "COMPLETED", owner="bob")
    tasks = [made(writer, state, owner=owner) for state in STATES for owner in ("alice", "carol")]
    Task.objects.filter(pk=keep.pk).update(status_timestamp=timezone.now() + 5 * DAY)
    told: list[int] = []
    found = pruning(batch=batch, progress=lambda done: told.append(sum(done.tasks.values())))
    looked = found.look()
    assert (looked.tasks, looked.events) == (Counter({f"TASK_STATE_{state}": 2 for state in STATES}), 0)
    assert Task.objects.count() == 9
    assert found.run().tasks == looked.tasks
    assert nothing_left(*tasks)
    assert told[-1] == 8
    assert len(told) == -(-8 // batch)
    assert read(keep)["artifacts"][0]["parts"] == [{"text": "a"}, {"text": "b"}]


def test_readers_are_let_finish_unless_forced(writer: Journal, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "STREAM_SECONDS": 3600}
    task = made(writer, "COMPLETED")
    at_once = dict.fromkeys(NAMES.values(), dt.timedelta(0))
    assert not pruning(0.9 / 24, at_once).run().tasks
    assert pruning(1.1 / 24, at_once).look().tasks
    assert pruning(0.01, at_once, force=True).run().tasks
    assert nothing_left(task)


def test_webhooks_that_wait_are_waited_for_unless_forced(writer: Journal) -> None:
    waits, told = (with_webhook(writer, "COMPLETED", waiting=waiting) for waiting in (True, False))
    assert sum(pruning().run().tasks.values()) == 1
    assert nothing_left(told)
    assert pruning().waiting() == 1
    assert PushConfig.objects.get().task_id == waits.pk
    pruning(force=True).run()
    assert nothing_left(waits)


def test_events_that_nobody_needs_go_and_the_task_is_as_it_was(writer: Journal) -> None:
    tasks = [made(writer, state) for state in STATES]
    runs = made(writer)
    before = [read(task) for task in (*tasks, runs)]
    found = pruning(tasks={}, events=DAY, batch=3)
    assert found.look().events == 3 * 4
    assert found.run().events == 3 * 4
    assert [read(task) for task in (*tasks, runs)] == before
    left = TaskEvent.objects.filter(task=tasks[0]).order_by("seq")
    assert [(event.kind, event.seq) for event in left] == [(EventKind.ARTIFACT, seq) for seq in (2, 3, 5)]
    assert TaskEvent.objects.filter(task=runs).count() == 5
    again = pruning(tasks={}, events=DAY)
    assert again.look().events == 0
    told: list[object] = []
    again._progress = told.append
    again.run()
    assert told == [], "no task is looked at twice"


def test_events_go_in_small_transactions(writer: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "EVENTS_AT_ONCE", 2)
    tasks = [made(writer, "COMPLETED") for _ in range(3)]
    assert pruning(tasks={}, events=DAY).run().events == 9
    assert TaskEvent.objects.filter(task__in=tasks).count() == 9


def test_events_stay_while_a_webhook_may_want_them(writer: Journal) -> None:
    waits, told, dead = (with_webhook(writer, "COMPLETED", waiting=waiting) for waiting in (True, False, False))
    now = timezone.now()
    PushDelivery.objects.create(config=PushConfig.objects.get(task=dead), seq=1, dead_at=now, created_at=now)
    pruning(tasks={}, events=DAY).run()
    counts = [TaskEvent.objects.filter(task=task).count() for task in (waits, told, dead)]
    assert counts == [1, 0, 1]


def test_what_a_site_protects_stays_and_hinders_nothing_else(writer: Journal) -> None:
    tasks = [made(writer, "COMPLETED") for _ in range(5)]
    kept = tasks[2]

    def protect(instance: Task, **_: Any) -> None:
        if instance.pk == kept.pk:
            raise ProtectedError("kept", {instance})

    pre_delete.connect(protect, sender=Task)
    try:
        done = pruning().run()
    finally:
        pre_delete.disconnect(protect, sender=Task)
    assert (sum(done.tasks.values()), done.protected) == (4, 1)
    assert nothing_left(*(task for task in tasks if task is not kept))
    assert read(kept)["artifacts"]


def test_a_task_that_somebody_holds_is_passed_over(writer: Journal) -> None:
    if not connection.features.has_select_for_update_skip_locked:
        pytest.skip("This database cannot pass over what is locked")
    held, free = made(writer, "COMPLETED"), made(writer, "COMPLETED")
    threads = Threads()
    with transaction.atomic():
        Task.objects.select_for_update().get(pk=held.pk)
        threads.call(lambda: pruning().run())
        (done,) = threads.results()
    assert sum(done.tasks.values()) == 1
    assert nothing_left(free)
    assert Task.objects.filter(pk=held.pk).exists()


def test_two_prune_while_a_journal_writes(writer: Journal) -> None:
    for _ in range(40):
        made(writer, "COMPLETED")
    stop = threading.Event()

    def write() -> int:
        count = 0
        while not stop.is_set():
            task = create(writer, owner="bob").task
            try:
                writer.write(says(task, status(task, "COMPLETED")))
            except (Fenced, TaskNotFoundError) as error:
                raise AssertionError("a task was pruned before it ended") from error
            count += 1
        return count

    threads = Threads()
    threads.call(write)
    for _ in range(2):
        threads.call(lambda: sum(pruning(batch=3).run().tasks.values()))
    for thread in threads._threads[1:]:
        thread.join(WAIT)
    stop.set()
    written, *pruned = threads.results()
    assert sum(pruned) + Task.objects.count() == 40 + written
    assert not Task.objects.filter(owner="alice").exists()


def test_a_pause_after_each_batch_that_may_say_stop(writer: Journal) -> None:
    for _ in range(4):
        made(writer, "COMPLETED")
    pauses: list[float] = []

    def pause(seconds: float) -> bool:
        pauses.append(seconds)
        return len(pauses) == 2

    done = pruning(batch=1, rest=3, pause=pause, events=DAY).run()
    assert sum(done.tasks.values()) == 2
    assert all(seconds > 0 for seconds in pauses)
    assert TaskEvent.objects.count() == 2 * 6


def test_stop_is_heard_between_the_events_of_one_batch(writer: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prune, "EVENTS_AT_ONCE", 1)
    tasks = [made(writer, "COMPLETED") for _ in range(2)]
    pauses: list[float] = []

    def pause(seconds: float) -> bool:
        pauses.append(seconds)
        return len(pauses) == 2

    assert pruning(tasks={}, events=DAY, pause=pause).run().events == 2
    assert len(pauses) == 2
    pruning(tasks={}, events=DAY).run()
    assert TaskEvent.objects.filter(task__in=tasks).count() == 6, "what was begun is ended the next time"


def test_a_lost_connection_costs_another_try(writer: Journal) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("There is no server to lose")
    for _ in range(3):
        made(writer, "COMPLETED")
    done = pruning(batch=1, progress=lambda _: lose_connection()).run()
    assert sum(done.tasks.values()) == 3
    assert not Task.objects.exists()


def test_the_first_id_of_a_moment_lies_between_those_made_before_and_after() -> None:
    before = uuid7()
    now = timezone.now()
    assert first_id(now - dt.timedelta(seconds=1)) < before < first_id(now + dt.timedelta(seconds=1))
    assert len(first_id(now)) == len(before)


class TestCommand:
    def test_by_the_settings(self, writer: Journal, settings: Settings) -> None:
        settings.A2A = {**settings.A2A, "RETENTION": {"completed": 0, "failed": 1}, "EVENT_RETENTION_DAYS": 0}
        done, failed = made(writer, "COMPLETED"), made(writer, "FAILED")
        said = run(dry_run=True, force=True)
        assert said == "Would be deleted: 1 tasks (completed 1), 3 events of other tasks.\n"
        assert Task.objects.count() == 2
        assert run(force=True) == "Deleted: 1 tasks (completed 1), 3 events of other tasks.\n"
        assert nothing_left(done)
        assert read(failed)["artifacts"]

    def test_by_arguments(self, writer: Journal) -> None:
        made(writer, "COMPLETED")
        failed = made(writer, "FAILED")
        assert run(days=0, state=["completed"], force=True, batch=1, rest=0).startswith("Deleted: 1 tasks")
        assert list(Task.objects.values_list("pk", flat=True)) == [failed.pk]
        assert run(days=1).startswith("Deleted: 0 tasks")

    def test_webhooks_that_wait_are_named(self, writer: Journal, settings: Settings) -> None:
        settings.A2A = {**settings.A2A, "STREAM_SECONDS": 1e-6}
        with_webhook(writer, "COMPLETED", waiting=True)
        assert "1 tasks stay because" in run(days=0)

    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"state": ["failed"]},
            {"days": -1},
            {"days": float("nan")},
            {"days": 1, "batch": 0},
            {"days": 1, "rest": -1},
        ],
    )
    def test_what_makes_no_sense_is_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(CommandError):
            run(**options)


class TestWorker:
    def test_it_prunes_at_once_and_again(self, writer: Journal, settings: Settings) -> None:
        settings.A2A = {
            **settings.A2A,
            "RETENTION": {"completed": 0},
            "STREAM_SECONDS": 1e-6,
            "PRUNE_SECONDS": 0.05,
        }
        stop = threading.Event()
        first = made(writer, "COMPLETED")
        thread = regular.begin(stop)
        assert thread is not None
        try:
            until(lambda: nothing_left(first))
            second = made(writer, "COMPLETED")
            until(lambda: nothing_left(second))
        finally:
            stop.set()
            thread.join(WAIT)
        assert not thread.is_alive()

    def test_a_round_that_fails_is_not_the_last(
        self,
        writer: Journal,
        settings: Settings,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        settings.A2A = {
            **settings.A2A,
            "RETENTION": {"completed": 0},
            "STREAM_SECONDS": 1e-6,
            "PRUNE_SECONDS": 0.05,
        }
        real, rounds = Pruning.run, Counter[str]()

        def once_failing(self: Pruning) -> object:
            rounds["all"] += 1
            if rounds["all"] == 1:
                raise RuntimeError("out of order")
            return real(self)

        monkeypatch.setattr(Pruning, "run", once_failing)
        stop = threading.Event()
        task = made(writer, "COMPLETED")
        thread = regular.begin(stop)
        assert thread is not None
        try:
            until(lambda: nothing_left(task))
        finally:
            stop.set()
            thread.join(WAIT)
        assert "out of order" in caplog.text

    def test_without_settings_there_is_nothing_to_do(self) -> None:
        assert regular.begin(threading.Event()) is None
