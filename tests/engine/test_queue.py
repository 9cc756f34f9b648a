"""Tasks for which there is no room wait in the database, in order, fair between owners."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from django.db import OperationalError
from django.db.models import Q
from pytest_django import Settings

from a2a_django import Agent, engine
from a2a_django.agents import TaskContext, registry
from a2a_django.engine import Engine, database, expiry, history
from a2a_django.engine.expiry import end_orphans, expire
from a2a_django.engine.queue import ClaimOne
from a2a_django.models import Message, Task
from a2a_django.protocol.errors import ThrottledError, UnavailableError
from tests.engine.kit import (
    WAIT,
    call_of,
    cancel,
    get,
    made_of,
    quiet,
    rest,
    row,
    said,
    send,
    some,
    state_of,
    states_in,
    status_text,
    stream,
    subscribe,
    until,
    when,
)

pytestmark = pytest.mark.usefixtures("sound_rows", "looked_for_on_demand")


class Desk:
    """An agent whose runs are let go one by one, and what they were."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.active = 0
        self.most = 0
        self._go = asyncio.Semaphore(0)
        self.agent: Agent = made_of(self.run, slug="desk", max_attempts=3)

    async def run(self, ctx: TaskContext) -> None:
        self.begun.append(ctx.text)
        self.active += 1
        self.most = max(self.most, self.active)
        try:
            if ctx.text.startswith("ask"):
                await ctx.input_required("which?")
            else:
                await self._go.acquire()
        finally:
            self.active -= 1

    def let(self, count: int = 1) -> None:
        """Let so many runs come to their end."""
        for _ in range(count):
            self._go.release()


@pytest.fixture
async def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    found = Desk()
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(found.agent)
    return found


def limited(settings: Settings, **limits: Any) -> None:
    settings.A2A = {**settings.A2A, **limits}


def waiting() -> list[str]:
    """The texts of the messages of tasks that wait, in the order of their waiting."""
    rows = Task.objects.filter(queued_at__isnull=False).order_by("queued_at", "pk")
    return [Message.objects.get(task=task, position=1).data["parts"][0]["text"] for task in rows]


async def give(desk: Desk, *texts: str, owner: str = "alice") -> list[str]:
    """Begin a task for each text; their ids."""
    call = call_of(desk.agent, owner=owner)
    return [(await send(desk.agent, text, call=call, immediately=True))["id"] for text in texts]


async def all_over() -> None:
    """Wait until nothing waits, and nothing runs."""
    await until(lambda: not Task.objects.filter(~Q(lease_holder="") | Q(queued_at__isnull=False)).exists())
    await quiet()


async def test_what_has_no_room_waits_and_is_run_in_order(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=2)
    tasks = await give(desk, *"abcdef")
    assert await database.run(waiting) == list("cdef")
    await when(lambda: desk.begun == ["a", "b"])
    for pk in tasks[2:]:
        found = await database.run(row, pk)
        assert (found.state, found.attempt, found.lease_holder) == ("TASK_STATE_SUBMITTED", 0, "")
    for count in range(1, 5):
        desk.let()
        await when(lambda: len(desk.begun) == 2 + count)  # noqa: B023
    desk.let(2)
    await all_over()
    assert desk.begun == list("abcdef")
    assert desk.most == 2
    assert {state_of(await get(desk.agent, pk)) for pk in tasks} == {"COMPLETED"}
    assert await database.run(waiting) == []


async def test_an_owner_with_many_tasks_does_not_keep_others_waiting(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=1)
    await give(desk, *(f"alice {number}" for number in range(6)))
    await give(desk, "bob 0", "bob 1", owner="bob")
    await give(desk, "carol 0", owner="carol")
    desk.let(9)
    await all_over()
    assert len(desk.begun) == 9
    places = {text: place for place, text in enumerate(desk.begun)}
    assert places["bob 0"] <= 3
    assert places["carol 0"] <= 3
    assert places["bob 1"] <= 6
    for owner in ("alice", "bob"):
        mine = [text for text in desk.begun if text.startswith(owner)]
        assert mine == sorted(mine)


async def test_an_owner_at_his_limit_waits_and_nobody_else_does(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=10, MAX_RUNS_PER_OWNER=2)
    await give(desk, *"abcd")
    await give(desk, "x", owner="bob")
    await when(lambda: desk.begun == ["a", "b", "x"])
    assert await database.run(waiting) == ["c", "d"]
    desk.let()
    await when(lambda: desk.begun == ["a", "b", "x", "c"])
    desk.let(4)
    await all_over()
    assert desk.begun == ["a", "b", "x", "c", "d"]


async def test_callers_of_waiting_tasks_get_what_others_get(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=1)
    await give(desk, "first")
    streaming = await stream(desk.agent, "second")
    assert state_of((await some(streaming))[0]["task"]) == "SUBMITTED"
    (blocked, reading) = (
        asyncio.ensure_future(send(desk.agent, "third")),
        asyncio.ensure_future(rest(streaming)),
    )
    await until(lambda: len(waiting()) == 2)
    task_id = await database.run(lambda: Task.objects.filter(queued_at__isnull=False).order_by("pk")[1].pk)
    listening = await subscribe(desk.agent, task_id)
    assert state_of((await some(listening))[0]["task"]) == "SUBMITTED"
    desk.let(3)
    assert state_of(await blocked) == "COMPLETED"
    assert states_in(await reading) == ["COMPLETED"]
    assert states_in(await rest(listening)) == ["COMPLETED"]
    await all_over()


async def test_a_task_that_waits_is_cancelled_at_once(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=1)
    _, second, _ = await give(desk, *"abc")
    assert state_of(await cancel(desk.agent, second)) == "CANCELED"
    desk.let(2)
    await all_over()
    assert desk.begun == ["a", "c"]


async def test_a_message_to_a_task_waits_too(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=1)
    (task_id,) = await give(desk, "ask")
    await until(lambda: not row(task_id).lease_holder)
    await give(desk, "other")
    await send(desk.agent, "answer", task_id=task_id, immediately=True)
    await send(desk.agent, "another", task_id=task_id, immediately=True)
    found = await database.run(row, task_id)
    assert (found.state, found.queued_owner, found.attempt) == ("TASK_STATE_INPUT_REQUIRED", "alice", 1)
    desk.let(2)
    await all_over()
    assert desk.begun == ["ask", "other", "answer"]
    assert said(await get(desk.agent, task_id)) == ["ask", "which?", "answer", "another"]


async def test_not_more_than_allowed_may_wait(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=1, MAX_QUEUED_PER_OWNER=2)
    await give(desk, *"abc")
    with pytest.raises(ThrottledError):
        await give(desk, "d")
    await give(desk, "x", owner="bob")
    with pytest.raises(UnavailableError):  # has nothing that could wait
        await send(made_of(desk.run, slug="desk", mode="auto"))
    desk.let(4)
    await all_over()
    assert sorted(desk.begun) == ["a", "b", "c", "x"]


async def test_another_process_takes_what_a_dead_one_has_left_waiting(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=1)
    await give(desk, *"abc")
    await asyncio.get_running_loop().run_in_executor(None, engine.shutdown)
    desk.let(4)  # "a" was given back by the process that ended
    engine.get()
    await engine.get().watch._recover()
    await all_over()
    assert desk.begun == ["a", "a", "b", "c"]


async def test_what_was_just_taken_when_the_process_ends_is_left_to_others_at_once(
    desk: Desk, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its run is about to begin, which takes a moment; nobody has to wait for its lease."""
    limited(settings, MAX_RUNS=1)
    begins, go = threading.Event(), threading.Event()
    read = history.past_of

    def slowly(*args: Any, **options: Any) -> Any:
        begins.set()
        assert go.wait(WAIT)
        return read(*args, **options)

    _, second = await give(desk, *"ab")
    monkeypatch.setattr(history, "past_of", slowly)
    desk.let()
    assert await asyncio.to_thread(begins.wait, WAIT)
    runner = engine.get().runner
    ending = asyncio.get_running_loop().run_in_executor(None, engine.shutdown)
    await when(lambda: runner.closing)
    go.set()
    await ending
    task = await database.run(lambda: Task.objects.get(pk=second))
    assert (task.queued_at is not None, task.lease_holder) == (True, "")
    monkeypatch.setattr(history, "past_of", read)
    desk.let(2)
    await engine.get().watch._recover()
    await all_over()
    assert (await get(desk.agent, second))["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_nothing_is_taken_any_more_when_the_journal_is_closed(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    here = engine.get()
    await give(desk, "a")
    message = await database.run(lambda: Message.objects.select_related("task").get())
    here.journal.close()
    await here.runner.queue._claim()
    here.runner.closing = True
    await here.runner.follow(desk.agent, message)
    assert "could not be given back: the process ends" in caplog.text
    here.runner.closing = False
    desk.let()


async def test_where_agents_run_elsewhere_every_task_waits(desk: Desk) -> None:
    """But what may be answered without a task is run here."""
    runner = engine.get().runner
    runner.runs_here = False
    (task_id,) = await give(desk, "a")
    found = await database.run(row, task_id)
    assert (found.queued_owner, found.lease_holder) == ("alice", "")
    desk.let()
    assert state_of(await send(made_of(desk.run, slug="desk", mode="auto"), "here")) == "COMPLETED"
    runner.queue.look()
    await quiet()
    assert desk.begun == ["here"]
    accepted = await runner.journal.submit(ClaimOne(task_id, runner.journal.holder))
    assert accepted is not None
    assert accepted.start is not None
    assert await runner.journal.submit(ClaimOne(task_id, "another")) is None
    await runner.follow(desk.agent, accepted.start)
    desk.let()
    await all_over()
    assert desk.begun == ["here", "a"]


async def test_an_owner_whose_run_waits_for_him_may_begin_another(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS_PER_OWNER=1)
    go, over = asyncio.Event(), asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        await go.wait()
        await ctx.auth_required("who are you?")
        await over.wait()

    parking = made_of(run, slug="parking")
    await send(parking, immediately=True)
    await give(desk, "next")
    assert await database.run(waiting) == ["next"]
    go.set()
    await when(lambda: desk.begun == ["next"])
    over.set()
    desk.let()
    await all_over()


async def test_a_task_that_cannot_be_begun_waits_again(
    desk: Desk, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(settings, MAX_RUNS=1)
    first, second = await give(desk, "a", "b")
    read, failures = history.past_of, []

    def past_of(message: Message, **options: Any) -> Any:
        if len(failures) < 2:
            failures.append(message.task_id)
            raise OperationalError("the database is away")
        return read(message, **options)

    monkeypatch.setattr(history, "past_of", past_of)
    desk.let(2)
    await all_over()
    assert failures == [second] * 2
    assert desk.begun == ["a", "b"]
    assert await database.run(lambda: Message.objects.get(task=second, role="ROLE_USER").tries) == 1
    assert first != second


async def test_a_task_whose_sender_has_answered_does_not_expire_while_it_waits(desk: Desk, settings: Settings) -> None:
    limited(settings, MAX_RUNS=1)
    (task_id,) = await give(desk, "ask")
    await until(lambda: not row(task_id).lease_holder)
    await give(desk, "other")
    await send(desk.agent, "answer", task_id=task_id, immediately=True)
    limited(settings, INPUT_REQUIRED_SECONDS=0.001)
    await expire(engine.get().journal)
    assert (await database.run(row, task_id)).state == "TASK_STATE_INPUT_REQUIRED"
    desk.let(2)
    await all_over()
    assert desk.begun == ["ask", "other", "answer"]


async def test_a_task_of_an_agent_that_is_gone_does_not_wait_for_ever(
    desk: Desk, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(settings, MAX_RUNS=1)
    _, waits = await give(desk, "a", "b")
    monkeypatch.setattr(registry, "_agents", {})
    desk.let()
    await until(lambda: not Task.objects.exclude(lease_holder="").exists())
    await end_orphans(engine.get().journal)
    assert (await database.run(row, waits)).state == "TASK_STATE_SUBMITTED"  # another version of the site may know it
    monkeypatch.setattr(expiry, "NO_AGENT_SECONDS", 0)
    await end_orphans(engine.get().journal)
    assert status_text(await get(desk.agent, waits)) == expiry.NO_AGENT_TEXT


async def test_another_process_with_room_is_told(desk: Desk, settings: Settings) -> None:
    """By the bell: nobody looks by himself here."""
    other = Engine()
    other.runner._home = asyncio.get_running_loop()
    try:
        heard: list[bool] = []
        here = engine.get()
        here.watch.ring = lambda done: heard.extend(one.queued is not None for one in done)  # type: ignore[method-assign]
        here.runner.most = 1
        await give(desk, "a")
        assert True not in heard
        await give(desk, "b")
        assert True in heard
        await other.watch._heard({"from": "another", "waiting": True})
        await when(lambda: desk.begun == ["a", "b"])
        assert len(other.runner.attempts()) == 1
        desk.let(2)
        await all_over()
    finally:
        await asyncio.to_thread(other.stop)


async def test_a_task_that_is_cancelled_when_it_has_just_been_taken_leaves_nothing(
    desk: Desk, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    limited(settings, MAX_RUNS=1)
    await send(desk.agent, "first", immediately=True)
    await until(lambda: desk.begun == ["first"])
    second = await send(desk.agent, "second", immediately=True)
    runner = engine.get().runner
    real, known = runner.follow, asyncio.Event()

    async def follow(agent: Agent, message: Message) -> None:
        await cancel(agent, second["id"])
        assert len(runner._revoked) == 1
        await real(agent, message)
        known.set()

    monkeypatch.setattr(runner, "follow", follow)
    desk.let()
    await asyncio.wait_for(known.wait(), WAIT)
    await quiet()
    assert desk.begun == ["first"]
    assert not runner._revoked
