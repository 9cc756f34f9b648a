"""Tallies are the numbers of ended tasks, whatever happened."""

from __future__ import annotations

import random
from contextlib import suppress

import pytest
from django.db import transaction

from a2a_django.engine.jobs import CancelTask, Fenced
from a2a_django.engine.journal import Journal
from a2a_django.models import Task, TaskTally
from a2a_django.protocol.errors import TaskNotFoundError
from tests.engine.kit import check_tallies
from tests.engine.writing import Threads, create, journal, says, status

pytestmark = pytest.mark.usefixtures("sound_rows")


def step(luck: random.Random, writer: Journal, mine: list[Task]) -> None:
    """Do something to a task of this thread, or delete any."""
    what = luck.random()
    if what < 0.4 or not mine:
        mine.append(create(writer, owner=luck.choice(("alice", "bob")), agent=luck.choice(("one", "two"))).task)
        return
    task = mine.pop(luck.randrange(len(mine)))
    end = says(task, status(task, luck.choice(("COMPLETED", "FAILED", "REJECTED"))))
    if what < 0.55:
        writer.write(end)
    elif what < 0.65:
        writer.write(CancelTask(task.pk, agent=task.agent, owner=task.owner))
    elif what < 0.75:
        with transaction.atomic():
            writer.write(end)
            transaction.set_rollback(luck.random() < 0.5)
    elif what < 0.85:
        Task.objects.get(pk=task.pk).delete()
    else:
        Task.objects.filter(agent=task.agent, owner=task.owner).order_by("pk")[luck.randrange(3)].delete()


@pytest.mark.parametrize("seed", range(3))
def test_after_random_operations_of_two_processes(seed: int) -> None:
    with journal() as (first, _), journal() as (second, _):

        def work(seed: int) -> None:
            luck = random.Random(seed)
            mine: list[Task] = []
            for _ in range(30):
                with suppress(Fenced, TaskNotFoundError, Task.DoesNotExist, IndexError):  # somebody else deleted it
                    step(luck, luck.choice((first, second)), mine)

        threads = Threads()
        for i in range(3):
            threads.call(work, seed * 10 + i)
        assert threads.results() == [None] * 3
    assert TaskTally.objects.filter(count__gt=0).exists()
    check_tallies()


def test_a_task_that_ends_between_being_looked_at_and_deleted_is_counted_out() -> None:
    with journal() as (writer, _):
        task = create(writer).task
        looked_at = Task.objects.get(pk=task.pk)
        writer.write(says(task, status(task, "COMPLETED")))
        looked_at.delete()
        check_tallies()
        assert not Task.objects.exists()


def test_a_deletion_that_is_rolled_back_counts_nothing_out() -> None:
    with journal() as (writer, _):
        task = create(writer).task
        writer.write(says(task, status(task, "COMPLETED")))
        with transaction.atomic():
            Task.objects.all().delete()
            transaction.set_rollback(True)
        check_tallies()
    assert Task.objects.count() == 1
