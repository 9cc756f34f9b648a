"""A task is read consistently although it changes meanwhile."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from a2a_django.engine import snapshots
from a2a_django.engine.journal import Journal
from a2a_django.models import Task
from tests.engine.kit import outputs, said
from tests.engine.writing import chunk, create, follow_up, journal, says, status

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.1.3")]


@pytest.fixture
def writer() -> Iterator[Journal]:
    with journal() as (made, _):
        yield made


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """Return what makes something happen between the reading of a task's row and of the rest."""

    def happens(change: Callable[[], Any]) -> None:
        read_many, changes = snapshots.read_many, [change]

        def slowly(*args: Any, **options: Any) -> Any:
            if changes:
                changes.pop()()
            return read_many(*args, **options)

        monkeypatch.setattr(snapshots, "read_many", slowly)

    return happens


def read(task: Task, **options: Any) -> tuple[dict[str, Any], int]:
    found = snapshots.read(task.pk, agent=task.agent, owner=task.owner, **options)
    assert found is not None
    return json.loads(found.text), found.seq


@pytest.mark.parametrize("length", [None, 1, 2])
def test_a_message_that_comes_meanwhile_is_not_there_yet(writer: Journal, meanwhile: Any, length: int | None) -> None:
    task = create(writer).task
    writer.write(follow_up(writer, task, "two"))
    meanwhile(lambda: writer.write(follow_up(writer, task, "three")))
    assert said(read(task, history_length=length)[0]) == (["two"] if length == 1 else ["hello", "two"])
    assert said(read(task)[0]) == ["hello", "two", "three"]


def test_a_chunk_that_comes_meanwhile_is_not_there_yet(writer: Journal, meanwhile: Any) -> None:
    task = create(writer).task
    writer.write(says(task, chunk(task, "a")))

    def change() -> None:
        writer.write(says(task, chunk(task, "b")))
        writer.write(says(task, chunk(task, "c", "another")))

    meanwhile(change)
    found, seq = read(task)
    assert (outputs(found), seq) == (["a"], 1)


def test_an_artifact_that_is_replaced_meanwhile_is_read_again(writer: Journal, meanwhile: Any) -> None:
    task = create(writer).task
    writer.write(says(task, chunk(task, "a")))
    writer.write(says(task, chunk(task, "b")))
    meanwhile(lambda: writer.write(says(task, chunk(task, "new", append=False))))
    found, seq = read(task)
    assert (outputs(found), seq) == (["new"], 3)


def test_an_artifact_that_is_replaced_all_the_time_does_not_keep_a_reader_for_ever(
    writer: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = create(writer).task
    writer.write(says(task, chunk(task, "0")))
    read_many, rounds = snapshots.read_many, [0]

    def slowly(*args: Any, **options: Any) -> Any:
        rounds[0] += 1
        writer.write(says(task, chunk(task, str(rounds[0]), append=False)))
        return read_many(*args, **options)

    monkeypatch.setattr(snapshots, "read_many", slowly)
    read(task)
    assert rounds == [snapshots.ROUNDS]


def test_a_status_that_comes_meanwhile_is_not_there_yet(writer: Journal, meanwhile: Any) -> None:
    task = create(writer).task
    writer.write(says(task, status(task, "WORKING", "one")))
    meanwhile(lambda: writer.write(says(task, status(task, "COMPLETED", "two"))))
    found, seq = read(task)
    assert found["status"]["state"] == "TASK_STATE_WORKING"
    assert (said(found), seq) == (["hello"], 1)


def test_what_nobody_may_see_is_not_read(writer: Journal) -> None:
    task = create(writer).task
    assert snapshots.read(task.pk, agent="other", owner="alice") is None
    assert snapshots.read(task.pk, agent="tested", owner="bob") is None
    assert snapshots.read("unknown", agent="tested", owner="alice") is None
