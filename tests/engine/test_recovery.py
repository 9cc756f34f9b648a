"""Tasks whose process died (DESIGN 3): the lease runs out, and somebody else decides."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import threading
import time
from typing import Any

import pytest
from django.db import connection, connections, transaction
from django.utils import timezone

from a2a_django import engine
from a2a_django.agents import registry
from a2a_django.conf import a2a_settings
from a2a_django.engine import clock, database, watch
from a2a_django.engine.recovery import (
    LOST_AGAIN_TEXT,
    LOST_TEXT,
    NO_AGENT_TEXT,
    STOPPED_TEXT,
    HandOver,
    Outcome,
    RecoverTask,
    _recover,
    look,
    recover,
)
from a2a_django.models import Message, Task
from a2a_django.protocol.errors import UnavailableError
from tests.engine.kit import WAIT, cancel, get, made_of, send, when
from tests.engine.writing import journal

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("looked_for_on_demand")]


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put an agent into the site's registry for the time of a test."""
    monkeypatch.setattr(registry, "_agents", {})

    def register(agent: Any) -> Any:
        registry.add(agent)
        return agent

    return register


async def lose(task_id: str) -> None:
    """Let the task's process be dead: its run says nothing any more, and its lease has run out."""
    runner = engine.get().runner
    run = runner._runs.pop(task_id, None)
    if run is not None and run._aio is not None:
        run._aio.cancel()
        await asyncio.wait({run._aio})
    past = timezone.now() - dt.timedelta(seconds=1)
    await database.run(
        lambda: (
            Task.objects.filter(pk=task_id).exclude(lease_holder="").update(lease_holder="dead", lease_expires_at=past)
        )
    )


async def settled(agent: Any, task_id: str, *states: str) -> Any:
    async with asyncio.timeout(WAIT):
        while (task := await get(agent, task_id))["status"]["state"] not in states:  # noqa: ASYNC110 - it is in rows
            await asyncio.sleep(0.01)
    return task


async def test_a_task_whose_agent_may_not_be_run_again_fails_with_a_plain_sentence(registered: Any) -> None:
    async def run(ctx: Any) -> None:
        await ctx.artifact("so far", artifact_id="out")
        await ctx.working()
        await asyncio.sleep(60)

    agent = registered(made_of(run))
    task = await send(agent, immediately=True)
    await settled(agent, task["id"], "TASK_STATE_WORKING")
    await lose(task["id"])
    await recover(engine.get().runner)
    task = await settled(agent, task["id"], "TASK_STATE_FAILED")
    assert task["status"]["message"]["parts"] == [{"text": LOST_TEXT}]
    assert task["artifacts"][0]["parts"] == [{"text": "so far"}]


async def test_a_message_is_run_as_often_as_the_agent_allows(registered: Any) -> None:
    runs = []

    async def run(ctx: Any) -> None:
        runs.append(ctx.text)
        await ctx.working()
        if len(runs) < 3:
            await asyncio.sleep(60)

    agent = registered(made_of(run, max_attempts=3))
    task = await send(agent, "again", immediately=True)
    for lost in (1, 2):
        async with asyncio.timeout(WAIT):
            while len(runs) < lost:  # noqa: ASYNC110 - a list has no event
                await asyncio.sleep(0.01)
        await settled(agent, task["id"], "TASK_STATE_WORKING")
        await lose(task["id"])
        await recover(engine.get().runner)
    await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert runs == ["again"] * 3
    assert await database.run(lambda: Message.objects.get(task_id=task["id"]).tries) == 3


async def test_a_parked_task_is_released_and_its_waiting_message_is_run(registered: Any) -> None:
    asked = asyncio.Event()

    async def run(ctx: Any) -> None:
        if len(ctx.history) == 1:
            await ctx.input_required("which?")
            asked.set()
            await asyncio.sleep(60)
        await ctx.artifact(ctx.text, artifact_id="out")

    agent = registered(made_of(run))
    task = await send(agent, immediately=True)
    await asyncio.wait_for(asked.wait(), WAIT)
    await settled(agent, task["id"], "TASK_STATE_INPUT_REQUIRED")
    await send(agent, "blue", task_id=task["id"], immediately=True)  # waits for the run
    await lose(task["id"])
    await recover(engine.get().runner)
    task = await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert task["artifacts"][0]["parts"] == [{"text": "blue"}]


@pytest.mark.spec("7.6")
async def test_a_run_that_waited_for_a_sign_in_was_at_work(registered: Any) -> None:
    runs = []

    async def run(ctx: Any) -> None:
        runs.append(ctx.text)
        if len(runs) == 1:
            await ctx.auth_required("please sign in")
            await asyncio.sleep(60)

    agent = registered(made_of(run, max_attempts=2))
    task = await send(agent, "pay", immediately=True)
    await settled(agent, task["id"], "TASK_STATE_AUTH_REQUIRED")
    await lose(task["id"])
    await recover(engine.get().runner)
    await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert runs == ["pay", "pay"]


@pytest.mark.parametrize("max_attempts", [1, 2])
async def test_a_process_that_ends_hands_its_runs_over(
    registered: Any, caplog: pytest.LogCaptureFixture, max_attempts: int
) -> None:
    begun, over = asyncio.Event(), asyncio.Event()

    async def run(ctx: Any) -> None:
        await ctx.working()
        begun.set()
        try:
            while True:
                await ctx.artifact("more", artifact_id="out", append=True)
                await asyncio.sleep(0.001)
        finally:
            over.set()

    agent = registered(made_of(run, max_attempts=max_attempts))
    task = await send(agent, immediately=True)
    await asyncio.wait_for(begun.wait(), WAIT)
    await asyncio.get_running_loop().run_in_executor(None, engine.shutdown)
    await asyncio.wait_for(over.wait(), WAIT)
    await asyncio.sleep(0)
    said = [record.message for record in caplog.records if record.name.startswith("a2a_django")]
    row = await database.run(lambda: Task.objects.get(pk=task["id"]))
    if max_attempts == 1:
        assert said == [f"Task {task['id']} was at work when the process ended, and has failed"]
        assert json.loads(row.status_message or "")["parts"] == [{"text": STOPPED_TEXT}]
        return
    assert said == []
    assert (row.state, row.lease_holder, row.queued_owner) == ("TASK_STATE_WORKING", "", "alice")
    await look(engine.get().runner)  # at once, and not when a lease would be over
    await when(lambda: task["id"] in engine.get().runner.attempts())  # the new engine's own look may have been faster


async def test_a_process_that_ends_lets_runs_come_to_their_end(registered: Any, settings: Any) -> None:
    settings.A2A = {**settings.A2A, "SHUTDOWN_SECONDS": WAIT}
    runner, go = engine.get().runner, asyncio.Event()

    async def run(ctx: Any) -> str:
        await ctx.working()
        await go.wait()
        return "done"

    agent = registered(made_of(run, max_attempts=2))
    task = await send(agent, immediately=True)
    await settled(agent, task["id"], "TASK_STATE_WORKING")
    ending = asyncio.get_running_loop().run_in_executor(None, engine.shutdown)
    await when(lambda: runner.closing)
    with pytest.raises(UnavailableError), runner.room("alice", may_wait=True):
        pass
    go.set()
    await ending
    assert (await get(agent, task["id"]))["status"]["state"] == "TASK_STATE_COMPLETED"


async def test_a_message_whose_turn_comes_at_the_end_is_handed_over(registered: Any, settings: Any) -> None:
    settings.A2A = {**settings.A2A, "SHUTDOWN_SECONDS": WAIT}
    runner, go, texts = engine.get().runner, asyncio.Event(), []

    async def run(ctx: Any) -> None:
        texts.append(ctx.text)
        if ctx.text == "first":
            await ctx.input_required("?")
            await go.wait()

    agent = registered(made_of(run, max_attempts=2))
    task = await send(agent, "first", immediately=True)
    await settled(agent, task["id"], "TASK_STATE_INPUT_REQUIRED")
    await send(agent, "second", task_id=task["id"], immediately=True)
    ending = asyncio.get_running_loop().run_in_executor(None, engine.shutdown)
    await when(lambda: runner.closing)
    go.set()
    await ending
    assert texts == ["first"]
    row = await database.run(lambda: Task.objects.get(pk=task["id"]))
    assert (row.lease_holder, row.queued_owner) == ("", "alice")
    await look(engine.get().runner)
    await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert texts == ["first", "second"]


async def test_what_has_been_taken_from_a_run_is_not_handed_over(registered: Any) -> None:
    agent = registered(made_of(work, max_attempts=9))
    task_id = await at_work(agent)
    here = engine.get().journal
    assert (await here.submit(RecoverTask(task_id, "another", 9))).outcome is Outcome.RUN
    assert await here.submit(HandOver(task_id, 1, 9)) is Outcome.SPARED
    assert (await database.run(lambda: Task.objects.get(pk=task_id))).lease_holder == "another"


@pytest.mark.parametrize("meanwhile", ["cancelled", "deleted", "taken"])
async def test_a_run_does_not_begin_when_it_is_over_before(
    registered: Any, caplog: pytest.LogCaptureFixture, meanwhile: str
) -> None:
    runs = []

    async def run(ctx: Any) -> None:
        runs.append(ctx.text)
        await ctx.working()
        await asyncio.sleep(60)

    agent = registered(made_of(run, max_attempts=9))
    task = await send(agent, "work", immediately=True)
    await settled(agent, task["id"], "TASK_STATE_WORKING")
    await lose(task["id"])
    here, runner = engine.get().journal, engine.get().runner
    taken = await here.submit(RecoverTask(task["id"], "somebody", 9))
    assert taken.accepted is not None
    assert taken.accepted.start is not None
    if meanwhile == "cancelled":
        await cancel(agent, task["id"])
    elif meanwhile == "deleted":
        await database.run(lambda: Task.objects.get(pk=task["id"]).delete())
    else:
        await lose(task["id"])
        assert (await here.submit(RecoverTask(task["id"], "another", 9))).outcome is Outcome.RUN
    await runner.follow(agent, taken.accepted.start)
    assert task["id"] not in runner.attempts()
    assert runs == ["work"]
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


async def test_a_lease_that_is_kept_is_left_alone(registered: Any) -> None:
    go = asyncio.Event()

    async def run(ctx: Any) -> None:
        await ctx.working()
        await go.wait()

    agent = registered(made_of(run, max_attempts=5))
    task = await send(agent, immediately=True)
    left = await recover(engine.get().runner)
    assert left is not None
    assert 0 < left <= a2a_settings.LEASE_SECONDS
    go.set()
    await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert await database.run(lambda: Message.objects.get(task_id=task["id"]).tries) == 1
    assert await recover(engine.get().runner) is None


async def test_the_next_look_is_when_a_lease_runs_out(
    registered: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks in between: the task is taken up all the same, as soon as its lease is over."""
    monkeypatch.setattr(watch, "AGAIN_SECONDS", 0.05)
    settings.A2A = {**settings.A2A, "LEASE_SECONDS": 2}
    runs = []

    async def run(ctx: Any) -> None:
        runs.append(ctx.attempt)
        await ctx.working()
        if ctx.attempt == 1:
            await asyncio.sleep(3600)

    agent = registered(made_of(run, max_attempts=2))
    task = await send(agent, immediately=True)
    await when(lambda: runs == [1])
    dead = engine.get().runner._runs.pop(task["id"])  # nobody renews its lease any more
    engine.get().watch.look()
    await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert runs == [1, 2]
    dead.give_up()


# -- who decides, and what is said of it


async def at_work(agent: Any, text: str = "work") -> str:
    """A task whose process has died at work."""
    task = await send(agent, text, immediately=True)
    await settled(agent, task["id"], "TASK_STATE_WORKING")
    await lose(task["id"])
    return str(task["id"])


async def work(ctx: Any) -> None:
    await ctx.working()
    await asyncio.sleep(60)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if "lost its process" in record.message]


async def test_of_several_that_find_it_one_takes_it(registered: Any) -> None:
    agent = registered(made_of(work, max_attempts=9))
    tasks = [await at_work(agent) for _ in range(10)]
    with journal() as (one, _), journal() as (two, _):
        jobs = [other.submit(RecoverTask(pk, other.holder, 9)) for pk in tasks for other in (one, two)]
        done = await asyncio.wait_for(asyncio.gather(*jobs), WAIT)
    taken = [found.accepted for found in done if found.outcome is Outcome.RUN]
    assert sorted(each.task.pk for each in taken if each is not None) == sorted(tasks)
    assert [found.outcome for found in done].count(Outcome.SPARED) == len(tasks)


async def test_a_task_that_somebody_holds_does_not_keep_others_from_being_found(registered: Any) -> None:
    """A site's own transaction may be long; it holds one task, and not the look for all that are lost."""
    if not await database.run(lambda: connection.features.has_select_for_update_skip_locked):
        pytest.skip("a transaction has the whole database to itself")
    agent = registered(made_of(work, max_attempts=9))
    held, free = await at_work(agent), await at_work(agent)
    for task_id in (held, free):
        await lose(task_id)
    reached, over = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            Task.objects.select_for_update().get(pk=held)
            reached.set()
            assert over.wait(WAIT)
        connections.close_all()

    holding = asyncio.ensure_future(asyncio.to_thread(hold))
    try:
        assert await asyncio.to_thread(reached.wait, WAIT)
        assert await asyncio.wait_for(recover(engine.get().runner), WAIT / 4) is not None
        assert engine.get().runner.attempts() == {free: 2}
    finally:
        over.set()
        await holding
    await recover(engine.get().runner)
    assert engine.get().runner.attempts() == {free: 2, held: 2}


async def test_the_log_tells_what_was_done(registered: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "a2a_django.engine")
    runner = engine.get().runner
    agent = registered(made_of(work, max_attempts=2))
    task_id = await at_work(agent)
    await _recover(runner, task_id, agent.slug)
    await _recover(runner, task_id, agent.slug)  # as a process that has found it, too, but later
    await lose(task_id)
    await _recover(runner, task_id, agent.slug)
    start = f"Task {task_id} had lost its process and"
    assert told(caplog) == [f"{start} is run again, try 2", f"{start} is in other hands", f"{start} has failed"]
    levels = [record.levelname for record in caplog.records if "lost its process" in record.message]
    assert levels == ["WARNING", "INFO", "WARNING"]


async def test_its_end_says_what_happened(registered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = engine.get().runner
    agent = registered(made_of(work, max_attempts=2))
    task_id = await at_work(agent)
    await recover(runner)
    await lose(task_id)
    await recover(runner)
    task = await settled(agent, task_id, "TASK_STATE_FAILED")
    assert task["status"]["message"]["parts"] == [{"text": LOST_AGAIN_TEXT.format(tries=2)}]
    gone = await at_work(agent)
    monkeypatch.setattr(registry, "_agents", {})
    await recover(runner)
    task = await settled(agent, gone, "TASK_STATE_FAILED")
    assert task["status"]["message"]["parts"] == [{"text": NO_AGENT_TEXT}]


async def test_a_follow_up_to_a_task_that_lost_its_process_has_it_looked_for(registered: Any) -> None:
    runs = []

    async def run(ctx: Any) -> None:
        runs.append(ctx.text)
        await ctx.working()
        if len(runs) == 1:
            await asyncio.sleep(60)
        if ctx.text == "first":
            await ctx.input_required("and then?")

    agent = registered(made_of(run, max_attempts=2))
    task_id = await at_work(agent, "first")
    task = await send(agent, "second", task_id=task_id)
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert runs == ["first", "first", "second"]


@pytest.mark.parametrize("most", [0, 1])
async def test_a_blocking_call_waits_for_the_run_that_comes_after_a_lost_one(registered: Any, most: int) -> None:
    """Also where the task has to wait for room first."""
    begun: list[int] = []
    go = asyncio.Event()

    async def run(ctx: Any) -> None:
        begun.append(ctx.attempt)
        await ctx.working()
        await go.wait()

    agent = registered(made_of(run, max_attempts=2))
    call = asyncio.ensure_future(send(agent))
    await when(lambda: begun)
    task = await database.run(Task.objects.get)
    await settled(agent, task.pk, "TASK_STATE_WORKING")
    runner = engine.get().runner
    runner.most = most
    await lose(task.pk)
    await recover(runner)
    if not most:
        assert (await database.run(Task.objects.get)).queued_at is not None
        runner.most = 1
        runner.queue.look()
    await when(lambda: len(begun) == 2)
    go.set()
    assert (await call)["status"]["state"] == "TASK_STATE_COMPLETED"
    assert begun == [1, 2]


async def test_a_process_takes_no_more_than_it_may_run(registered: Any, settings: Any) -> None:
    runner = engine.get().runner
    agent = registered(made_of(work, max_attempts=2))
    tasks = [await at_work(agent) for _ in range(3)]
    settings.A2A = {**settings.A2A, "MAX_RUNS": 2}
    await recover(runner)
    assert len(runner.attempts()) == 2
    (waiting,) = set(tasks) - set(runner.attempts())  # left to whoever has room
    for pk in set(tasks) & set(runner.attempts()):
        await cancel(agent, pk)
    await when(lambda: set(runner.attempts()) == {waiting})


async def test_a_lease_is_judged_by_the_clock_of_the_database(registered: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has the clock of the process")
    ahead = time.time() + 3600
    monkeypatch.setattr(time, "time", lambda: ahead)  # this machine's clock goes wrong by an hour
    monkeypatch.setattr(timezone, "now", lambda: dt.datetime.fromtimestamp(ahead, dt.UTC))
    agent = registered(made_of(work))
    task = await send(agent, immediately=True)
    await settled(agent, task["id"], "TASK_STATE_WORKING")
    await recover(engine.get().runner)
    assert (await get(agent, task["id"]))["status"]["state"] == "TASK_STATE_WORKING"
    given = await database.run(lambda: Task.objects.get(pk=task["id"]).lease_expires_at)
    left = given - await database.run(clock.read, "default")
    assert dt.timedelta(0) < left <= dt.timedelta(seconds=a2a_settings.LEASE_SECONDS)


async def test_an_answer_that_was_taken_is_not_lost_with_its_run(registered: Any) -> None:
    """The task still stands at the question of the run before when the process dies over the answer."""
    texts, begun = [], asyncio.Event()

    async def run(ctx: Any) -> None:
        texts.append(ctx.text)
        if ctx.text == "first":
            await ctx.input_required("?")
        elif len(texts) == 2:
            begun.set()
            await asyncio.sleep(60)

    agent = registered(made_of(run, max_attempts=2))
    task = await send(agent, "first")
    await send(agent, "second", task_id=task["id"], immediately=True)
    await asyncio.wait_for(begun.wait(), WAIT)
    await lose(task["id"])
    third = asyncio.ensure_future(send(agent, "third", task_id=task["id"]))  # does not pass it over either
    await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert (await third)["status"]["state"] == "TASK_STATE_COMPLETED"
    assert texts == ["first", "second", "second"]
