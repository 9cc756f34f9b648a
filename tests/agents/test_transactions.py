"""Agents and the ORM: the site's own transactions, threads and connections."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import Group
from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from pytest_django import Settings

from a2a_django import InvalidAgentResponse, TaskEnded, engine
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.engine import database
from a2a_django.engine.jobs import CancelTask
from a2a_django.engine.journal import Journal
from a2a_django.models import Task, TaskEvent
from tests.engine.kit import (
    cancel,
    get,
    made_of,
    outputs,
    quiet,
    rest,
    said,
    send,
    state_of,
    states_in,
    status_text,
    stream,
    subscribe,
    until,
    when,
)
from tests.engine.writing import lose_connection

pytestmark = pytest.mark.usefixtures("sound_rows")

MODES = pytest.mark.parametrize("mode", ["task", "auto"])


async def groups() -> list[str]:
    return await database.run(lambda: list(Group.objects.order_by("pk").values_list("name", flat=True)))


# -- one transaction for the site's rows and the task's events


@MODES
async def test_rows_of_the_site_and_events_are_committed_together(mode: str) -> None:
    go, inside = threading.Event(), threading.Event()

    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            Group.objects.create(name="booked")
            ctx.artifact("booked")
            inside.set()
            assert go.wait(10)
        ctx.working("on it")

    agent = made_of(run, mode=mode)
    sending = asyncio.ensure_future(send(agent))
    await asyncio.to_thread(inside.wait, 10)
    assert await database.run(TaskEvent.objects.count) == 0
    assert await groups() == []
    go.set()
    task = await sending
    assert state_of(task) == "COMPLETED"
    assert outputs(task) == ["booked"]
    assert await groups() == ["booked"]


@MODES
async def test_rows_of_the_site_and_events_are_rolled_back_together_and_the_task_fails(mode: str) -> None:
    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            Group.objects.create(name="booked")
            ctx.artifact("booked")
            ctx.complete("done")
            raise RuntimeError

    agent = made_of(run, mode=mode)
    events = await rest(await stream(agent))
    assert states_in(events) == ["FAILED"]
    task = await get(agent, events[0]["task"]["id"])
    assert outputs(task) == []
    assert await groups() == []


@MODES
async def test_an_agent_may_go_on_after_a_rollback(mode: str) -> None:
    def run(ctx: SyncTaskContext) -> None:
        for name in ("one", "two", "three"):
            with suppress(RuntimeError), transaction.atomic():
                Group.objects.create(name=name)
                ctx.artifact(name)
                ctx.complete(f"did {name}")
                if name != "two":
                    raise RuntimeError
                break

    task = await send(made_of(run, mode=mode))
    assert (state_of(task), status_text(task), outputs(task)) == ("COMPLETED", "did two", ["two"])
    assert await groups() == ["two"]


async def test_an_agent_may_go_on_after_the_rollback_of_a_savepoint() -> None:
    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            ctx.working("before")
            with suppress(RuntimeError), transaction.atomic():
                ctx.fail("no")
                raise RuntimeError
            ctx.artifact("after")

    task = await send(made_of(run))
    assert (state_of(task), outputs(task)) == ("COMPLETED", ["after"])


async def test_a_question_asked_in_a_transaction_parks_the_task() -> None:
    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            if len(ctx.history) == 1:
                ctx.input_required("which?")
            else:
                ctx.artifact(ctx.text)

    agent = made_of(run)
    events = await rest(await stream(agent))
    assert states_in(events) == ["INPUT_REQUIRED"]
    await quiet()
    assert outputs(await send(agent, "this", task_id=events[0]["task"]["id"])) == ["this"]


async def test_a_question_that_is_rolled_back_was_not_asked() -> None:
    def run(ctx: SyncTaskContext) -> None:
        with suppress(RuntimeError), transaction.atomic():
            ctx.input_required("which?")
            raise RuntimeError

    task = await send(made_of(run))
    assert state_of(task) == "COMPLETED"
    assert "history" in task
    assert "which?" not in str(task)


async def test_readers_hear_of_a_transaction_when_it_is_committed_and_in_order() -> None:
    def run(ctx: SyncTaskContext) -> Iterator[str]:
        yield "before"
        with transaction.atomic():
            yield "inside"
            ctx.working("at work")
        yield "after"

    agent = made_of(run)
    events = await rest(await stream(agent))
    assert states_in(events) == ["WORKING", "COMPLETED"]
    assert outputs(await get(agent, events[0]["task"]["id"])) == ["before", "inside", "after"]


async def test_a_generator_that_is_stopped_inside_its_transaction_rolls_it_back_and_spoils_no_thread() -> None:
    inside, go = threading.Event(), threading.Event()

    def run(ctx: SyncTaskContext) -> Iterator[Any]:
        with transaction.atomic():
            Group.objects.create(name="booked")
            inside.set()
            assert go.wait(10)
            yield object()

    def counts(ctx: SyncTaskContext) -> str:
        return str(Group.objects.count())

    agent = made_of(run)
    sending = asyncio.ensure_future(send(agent))
    await asyncio.to_thread(inside.wait, 10)
    go.set()
    assert state_of(await sending) == "FAILED"
    assert await groups() == []
    answers = await asyncio.gather(*(send(made_of(counts)) for _ in range(8)))
    assert [outputs(answer) for answer in answers] == [["0"]] * 8


async def test_a_cancel_comes_before_or_after_a_transaction_and_never_between() -> None:
    """The transaction has published and is about to commit: the cancel has to wait, and then the task has ended."""
    inside, go = threading.Event(), threading.Event()

    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            Group.objects.create(name="booked")
            ctx.artifact("booked")
            inside.set()
            assert go.wait(10)
            with suppress(TaskEnded):
                ctx.working("more")

    agent = made_of(run)
    task = await send(agent, immediately=True)
    await asyncio.to_thread(inside.wait, 10)
    cancelling = asyncio.ensure_future(cancel(agent, task["id"]))
    await asyncio.sleep(0.01)
    go.set()
    assert state_of(await cancelling) == "CANCELED"
    assert outputs(await get(agent, task["id"])) == ["booked"]
    assert await groups() == ["booked"]
    await quiet()


async def test_after_a_cancel_a_transaction_that_publishes_is_rolled_back() -> None:
    inside, go, over = threading.Event(), threading.Event(), threading.Event()

    def run(ctx: SyncTaskContext) -> None:
        ctx.working()
        inside.set()
        assert go.wait(10)
        try:
            with transaction.atomic():
                Group.objects.create(name="booked")
                ctx.artifact("booked")
        finally:
            over.set()

    agent = made_of(run)
    task = await send(agent, immediately=True)
    await asyncio.to_thread(inside.wait, 10)
    await cancel(agent, task["id"])
    go.set()
    await asyncio.to_thread(over.wait, 10)
    assert await groups() == []
    assert "artifacts" not in await get(agent, task["id"])
    await quiet()


async def test_a_plain_agent_is_told_when_its_task_was_ended_elsewhere_after_a_transaction() -> None:
    """It has to ask the rows after its transaction, and so it may be the first here to learn of the end."""
    raised: list[type[Exception]] = []

    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            ctx.artifact("kept")
        other = Journal(lambda done: {})
        try:
            other.write(CancelTask(ctx.task_id, agent="tested", owner="alice"))
        finally:
            other.close()
        for say in (lambda: ctx.artifact("late"), lambda: ctx.checkpoint({}), ctx.working):
            try:
                say()
            except (TaskEnded, InvalidAgentResponse) as error:
                raised.append(type(error))

    task = await send(made_of(run))
    await quiet()
    assert raised == [TaskEnded] * 3
    assert (state_of(task), outputs(task)) == ("CANCELED", ["kept"])


async def test_the_grace_of_mode_auto_does_not_end_inside_a_transaction(settings: Settings) -> None:
    """SQLite: the journal would wait for the agent's lock, and the agent for the task."""
    settings.A2A = {**settings.A2A, "AUTO_GRACE_SECONDS": 0.02}

    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            Group.objects.create(name="booked")
            time.sleep(0.08)
            ctx.artifact("booked")

    task = await send(made_of(run, mode="auto"))
    assert (state_of(task), outputs(task)) == ("COMPLETED", ["booked"])


@pytest.mark.parametrize("rolled_back", [False, True])
async def test_a_task_that_is_being_made_when_the_agents_transaction_begins(
    rolled_back: bool, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The grace ends, and before the journal gets to it, the agent has the lock of the whole database (SQLite)."""
    settings.A2A = {**settings.A2A, "AUTO_GRACE_SECONDS": 0}
    waiting, inside = threading.Event(), threading.Event()
    carry_out = Journal._transaction

    def slowly(self: Journal, jobs: Any) -> Any:
        waiting.set()
        assert inside.wait(10)
        return carry_out(self, jobs)

    def run(ctx: SyncTaskContext) -> None:
        assert waiting.wait(10)
        with transaction.atomic():
            Group.objects.create(name="booked")
            inside.set()
            ctx.artifact("booked")
            transaction.set_rollback(rolled_back)
        ctx.working("after")

    monkeypatch.setattr(Journal, "_transaction", slowly)
    task = await send(made_of(run, mode="auto"))
    assert (state_of(task), outputs(task)) == ("COMPLETED", [] if rolled_back else ["booked"])
    assert said(task) == ["hello", "after"]
    assert await groups() == ([] if rolled_back else ["booked"])


async def test_a_refusal_inside_a_transaction_leaves_it_usable() -> None:
    def run(ctx: SyncTaskContext) -> None:
        with transaction.atomic():
            Group.objects.create(name="one")
            with pytest.raises(InvalidAgentResponse):
                ctx.artifact()
            Group.objects.create(name="two")
            ctx.artifact("booked")

    task = await send(made_of(run))
    assert (state_of(task), outputs(task)) == ("COMPLETED", ["booked"])
    assert await groups() == ["one", "two"]


# -- threads and connections


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[BaseDatabaseWrapper]:
    """Every connection that is opened in another thread than the test's."""
    found: list[BaseDatabaseWrapper] = []
    connect = BaseDatabaseWrapper.connect

    def noting(self: BaseDatabaseWrapper) -> None:
        connect(self)
        if threading.current_thread() is not threading.main_thread():
            found.append(self)

    monkeypatch.setattr(BaseDatabaseWrapper, "connect", noting)
    return found


async def async_orm(ctx: TaskContext) -> str:
    await Group.objects.acreate(name=ctx.text)
    await ctx.working()
    await sync_to_async(Group.objects.count)()
    return ctx.text


def plain_orm(ctx: SyncTaskContext) -> str:
    Group.objects.create(name=ctx.text)
    ctx.working()
    return ctx.text


@pytest.mark.parametrize("run", [async_orm, plain_orm])
async def test_the_orm_in_agents_leaves_no_connection_and_no_thread_behind(
    run: Any, opened: list[BaseDatabaseWrapper], settings: Settings
) -> None:
    settings.A2A = {**settings.A2A, "DATABASE_THREADS": 3, "AGENT_THREADS": 3}
    agent = made_of(run)
    before = set(threading.enumerate())
    for start in range(0, 40, 20):
        await asyncio.gather(*(send(agent, f"group {start + i}") for i in range(20)))
    ours = [thread for thread in threading.enumerate() if thread.name.startswith("a2a-")]
    assert len(ours) <= 3 + 3 + 1 + 1  # reads, the agents' own, the journal, the watch
    assert len({id(one) for one in opened}) <= 3 + 3 + 1
    await asyncio.to_thread(engine.shutdown)
    assert [one for one in opened if one.connection is not None] == []
    left = {thread for thread in set(threading.enumerate()) - before if not thread.name.startswith("asyncio_")}
    assert left == set()
    assert len(await groups()) == 40


async def test_agents_do_not_wait_for_each_others_synchronous_code() -> None:
    meet = threading.Barrier(3)

    async def run(ctx: TaskContext) -> str:
        await sync_to_async(meet.wait)(10)
        return "met"

    answers = await asyncio.gather(*(send(made_of(run)) for _ in range(3)))
    assert [state_of(answer) for answer in answers] == ["COMPLETED"] * 3


async def test_plain_agents_run_beside_each_other_up_to_the_number_of_threads(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AGENT_THREADS": 2}
    meet, active, most = threading.Barrier(2), [0], [0]

    def run(ctx: SyncTaskContext) -> None:
        active[0] += 1
        most[0] = max(most[0], active[0])
        meet.wait(10)
        active[0] -= 1

    answers = await asyncio.gather(*(send(made_of(run)) for _ in range(6)))
    assert [state_of(answer) for answer in answers] == ["COMPLETED"] * 6
    assert most == [2]


async def test_a_plain_agent_that_waits_for_a_thread_can_be_cancelled(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AGENT_THREADS": 1}
    go, calls = threading.Event(), []

    def run(ctx: SyncTaskContext) -> None:
        calls.append(ctx.task_id)
        go.wait(10)

    agent = made_of(run)
    first = await send(agent, immediately=True)
    await when(lambda: calls)
    second = await send(agent, immediately=True)
    watching = await subscribe(agent, second["id"])
    await cancel(agent, second["id"])
    assert states_in(await rest(watching)) == ["CANCELED"]
    go.set()
    await until(lambda: Task.objects.get(pk=first["id"]).is_terminal)
    assert state_of(await send(agent)) == "COMPLETED"
    assert second["id"] not in calls


@pytest.mark.skipif(connection.vendor == "sqlite", reason="a file is never away")
async def test_a_connection_that_was_lost_in_one_run_does_not_disturb_the_next(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "AGENT_THREADS": 1}

    def loses(ctx: SyncTaskContext) -> None:
        lose_connection()
        Group.objects.count()

    def counts(ctx: SyncTaskContext) -> str:
        return str(Group.objects.count())

    assert state_of(await send(made_of(loses))) == "FAILED"
    assert outputs(await send(made_of(counts))) == ["0"]
