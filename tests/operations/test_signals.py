"""The site's signals: after the commit, once, in order, and harmless when a receiver fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection, transaction

from a2a_django import signals
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.models import Task
from tests.engine.kit import cancel, made_of, outputs, quiet, send, short, state_of, when

pytestmark = pytest.mark.usefixtures("sound_rows")


class Receiver:
    """Notes what it is told and what the rows say at that moment."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.unseen: list[str] = []
        self.in_transaction: list[str] = []

    def created(self, sender: Any, task_id: str, state: str, **kwargs: Any) -> None:
        self.note("created", sender, task_id, state)

    def changed(self, sender: Any, task_id: str, state: str, **kwargs: Any) -> None:
        self.note("changed", sender, task_id, state)

    def note(self, kind: str, sender: Any, task_id: str, state: str) -> None:
        assert sender is Task
        if connection.in_atomic_block:
            self.in_transaction.append(state)
        if not Task.objects.filter(pk=task_id).exists():
            self.unseen.append(task_id)
        self.told.append((kind, short(state)))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()
    signals.task_created.connect(found.created)
    signals.task_state_changed.connect(found.changed, sender=Task)
    yield found
    signals.task_created.disconnect(found.created)
    signals.task_state_changed.disconnect(found.changed, sender=Task)
    assert found.unseen == []
    assert found.in_transaction == []


async def run(ctx: TaskContext) -> None:
    await ctx.working()
    if len(ctx.history) == 1:
        await ctx.input_required("?")
    else:
        await ctx.artifact("x")


async def test_every_state_is_told_once_and_in_order(receiver: Receiver) -> None:
    agent = made_of(run)
    task = await send(agent)
    await quiet()
    await send(agent, task_id=task["id"])
    await when(lambda: len(receiver.told) == 5)
    assert receiver.told == [
        ("created", "SUBMITTED"),
        ("changed", "WORKING"),
        ("changed", "INPUT_REQUIRED"),
        ("changed", "WORKING"),
        ("changed", "COMPLETED"),
    ]


async def test_a_cancel_is_told_once(receiver: Receiver) -> None:
    agent = made_of(run)
    task = await send(agent)
    await quiet()
    for _ in range(2):
        await cancel(agent, task["id"])
    await quiet()
    assert receiver.told[-1] == ("changed", "CANCELED")
    assert receiver.told.count(("changed", "CANCELED")) == 1


async def test_what_is_rolled_back_is_not_told(receiver: Receiver) -> None:
    def plain(ctx: SyncTaskContext) -> None:
        with suppress(ZeroDivisionError), transaction.atomic():
            ctx.working()
            ctx.reject()
            raise ZeroDivisionError
        with transaction.atomic():
            ctx.working()
            assert ("changed", "WORKING") not in receiver.told
        assert ("changed", "WORKING") in receiver.told

    for mode in ("task", "auto"):
        receiver.told.clear()
        await send(made_of(plain, mode=mode))
        await quiet()
        assert receiver.told == [("created", "SUBMITTED"), ("changed", "WORKING"), ("changed", "COMPLETED")]


async def test_a_receiver_that_fails_is_logged_and_hurts_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def fails(**kwargs: Any) -> None:
        raise RuntimeError("a receiver's fault")

    for signal in (signals.task_created, signals.task_state_changed):
        signal.connect(fails)
    try:
        agent = made_of(lambda ctx: "fine")
        answer = await send(agent)
        assert (state_of(answer), outputs(answer)) == ("COMPLETED", ["fine"])
    finally:
        for signal in (signals.task_created, signals.task_state_changed):
            signal.disconnect(fails)
    assert "a receiver's fault" in caplog.text


async def test_a_receiver_may_write_rows_of_the_site_and_sees_the_task_as_told(receiver: Receiver) -> None:
    states: list[tuple[str, str]] = []
    threads: set[str] = set()

    def look(task_id: str, state: str, **kwargs: Any) -> None:
        threads.add(threading.current_thread().name)
        states.append((state, Task.objects.get(pk=task_id).state))

    signals.task_state_changed.connect(look)
    try:
        await send(made_of(lambda ctx: None))
        await quiet()
    finally:
        signals.task_state_changed.disconnect(look)
    assert states == [("TASK_STATE_COMPLETED", "TASK_STATE_COMPLETED")]
    assert threads == {"a2a-journal"}
