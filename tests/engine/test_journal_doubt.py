"""A connection that is lost over a COMMIT: the rows say whether it took place, and nothing is done twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from a2a_django.engine import journal as journal_module
from a2a_django.engine.checkpoints import SetCheckpoint
from a2a_django.engine.jobs import EndRun, Job, Voice
from a2a_django.engine.journal import Journal
from a2a_django.engine.push_jobs import DeletePushConfig, PutPushConfig
from a2a_django.models import Message, PushConfig, Task
from a2a_django.models.fields import key_of
from tests.engine.conftest import Losses
from tests.engine.kit import WAIT, row
from tests.engine.writing import Recorder, chunk, create, creation, follow_up, journal, says, status
from tests.push.kit import config

pytestmark = pytest.mark.usefixtures("sound_rows")


@pytest.fixture
def both() -> Iterator[tuple[Journal, Recorder]]:
    with journal() as (writer, told):
        yield writer, told


def a_chunk(writer: Journal, task: Task) -> Job[Any]:
    return says(task, chunk(task, "a"))


def a_status(writer: Journal, task: Task) -> Job[Any]:
    return says(task, status(task, "COMPLETED"))


def a_release(writer: Journal, task: Task) -> Job[Any]:
    return EndRun(task.pk, 1, writer.holder)


@pytest.mark.parametrize("took_place", [True, False])
@pytest.mark.parametrize("job", [a_chunk, a_status, a_release, follow_up])
def test_what_was_committed_is_not_done_again(
    both: tuple[Journal, Recorder],
    losses: Losses,
    job: Callable[[Journal, Task], Job[Any]],
    took_place: bool,
) -> None:
    writer, told = both
    task = create(writer).task
    told.told.clear()
    asked = job(writer, task)
    losses.append(took_place)
    writer.write(asked)
    assert not losses
    after = row(task.pk)
    is_event, is_message = job in (a_chunk, a_status), job is follow_up
    assert after.last_seq == is_event
    assert after.message_count == Message.objects.filter(task=task).count() == 1 + is_message
    assert told.events(task.pk) == ([1] if is_event else [])
    assert bool(after.lease_holder) == (job in (a_chunk, follow_up))
    assert len(told.told) == 1


@pytest.mark.parametrize("took_place", [True, False])
def test_a_task_is_made_once(both: tuple[Journal, Recorder], losses: Losses, took_place: bool) -> None:
    writer, told = both
    losses.append(took_place)
    accepted = writer.write(creation(writer))
    assert row(accepted.task.pk).message_count == 1
    assert Task.objects.count() == 1
    assert [one.created for done in told.told for one in done] == [True]


def test_it_asks_again_when_the_database_stays_away(both: tuple[Journal, Recorder], losses: Losses) -> None:
    writer, told = both
    task = create(writer).task
    losses += [True, True, True, False]  # those after the first are of the questions, which end with a COMMIT too
    writer.write(a_chunk(writer, task))
    assert not losses
    assert told.events(task.pk) == [1]
    assert row(task.pk).last_seq == 1


@pytest.mark.parametrize("patience", [0.0, 0.05])
@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_jobs_fail_when_it_cannot_be_found_out(
    both: tuple[Journal, Recorder],
    losses: Losses,
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
    patience: float,
) -> None:
    writer, told = both
    task = create(writer).task
    told.told.clear()

    def away(batch: Any) -> bool:
        raise error("no database")

    monkeypatch.setattr(journal_module.Batch, "is_stored", away)
    monkeypatch.setattr(journal_module, "PATIENCE_SECONDS", patience)
    losses.append(True)
    with pytest.raises(error, match="no database"):
        writer.write(a_chunk(writer, task))
    assert row(task.pk).last_seq == 1, "it was carried out once, and not again"
    assert not any(told.told)


def test_a_doubt_that_comes_late_is_looked_into_all_the_same(
    both: tuple[Journal, Recorder], losses: Losses, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, told = both
    task = create(writer).task
    told.told.clear()
    monkeypatch.setattr(journal_module, "PATIENCE_SECONDS", 0.0)
    losses.append(True)
    assert writer.write(a_chunk(writer, task)) is None
    assert told.events(task.pk) == [1]
    losses += [False, False]
    with pytest.raises(OperationalError):
        writer.write(a_chunk(writer, task))
    assert row(task.pk).last_seq == 1


def together(writer: Journal, jobs: list[Job[Any]]) -> None:
    """Have jobs carried out in one transaction."""
    with writer._wake:
        for job in jobs:
            job.event = threading.Event()
            writer._put(job)
    for job in jobs:
        assert job.event is not None
        assert job.event.wait(WAIT)
        assert job.error is None


@pytest.mark.parametrize("took_place", [True, False])
def test_a_webhook_that_is_enabled_again_is(both: tuple[Journal, Recorder], losses: Losses, took_place: bool) -> None:
    """Its row looks the same but for that, because it has no secrets."""
    writer, _ = both
    task = create(writer).task
    url = "https://hook.example/"
    writer.write(PutPushConfig(task.pk, config(url, "c"), agent=task.agent, owner=task.owner))
    PushConfig.objects.update(disabled_at=timezone.now(), disabled_reason="gone")
    losses.append(took_place)
    writer.write(PutPushConfig(task.pk, config(url, "c"), agent=task.agent, owner=task.owner))
    assert not losses
    assert PushConfig.objects.get().disabled_at is None


@pytest.mark.parametrize("took_place", [True, False])
def test_all_webhooks_of_a_transaction_are_looked_at(
    both: tuple[Journal, Recorder], losses: Losses, took_place: bool
) -> None:
    writer, _ = both
    task = create(writer).task
    for config_id in ("a", "b"):
        new = config("https://hook.example/", config_id)
        writer.write(PutPushConfig(task.pk, new, agent=task.agent, owner=task.owner))
    losses.append(took_place)
    ids = ("never there", "a", "b")
    together(writer, [DeletePushConfig(task.pk, key_of(each), agent=task.agent, owner=task.owner) for each in ids])
    assert not losses
    assert not PushConfig.objects.exists()


@pytest.mark.parametrize("took_place", [True, False])
def test_all_checkpoints_of_a_transaction_are_looked_at(
    both: tuple[Journal, Recorder], losses: Losses, took_place: bool
) -> None:
    writer, _ = both
    tasks = [create(writer).task for _ in range(2)]
    writer.write(SetCheckpoint(tasks[0].pk, 1, "1", Voice()))
    losses.append(took_place)
    together(writer, [SetCheckpoint(task.pk, 1, "1", Voice()) for task in tasks])
    assert not losses
    assert list(Message.objects.values_list("checkpoint", flat=True)) == ["1", "1"]
