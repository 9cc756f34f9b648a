"""Tasks whose process died (DESIGN 3): the lease runs out, and somebody else decides."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from a2a_django import engine
from a2a_django.agents import registry
from a2a_django.engine import database
from a2a_django.engine.recovery import LOST_TEXT, RecoverTask, recover
from a2a_django.models import Message, Task
from tests.engine.kit import WAIT, cancel, get, made_of, send

pytestmark = pytest.mark.django_db(transaction=True)


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


async def test_a_process_that_ends_gives_its_runs_up_without_a_word(
    registered: Any, caplog: pytest.LogCaptureFixture
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

    agent = registered(made_of(run))
    task = await send(agent, immediately=True)
    await asyncio.wait_for(begun.wait(), WAIT)
    await asyncio.get_running_loop().run_in_executor(None, engine.shutdown)
    await asyncio.wait_for(over.wait(), WAIT)
    await asyncio.sleep(0)
    assert not [record for record in caplog.records if record.name.startswith("a2a_django")]
    row = await database.run(lambda: Task.objects.get(pk=task["id"]))
    assert row.state == "TASK_STATE_WORKING"
    assert row.lease_holder


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
    journal, runner = engine.get().journal, engine.get().runner
    taken = await journal.submit(RecoverTask(task["id"], "somebody", 9))
    assert taken is not None
    assert taken.start is not None
    if meanwhile == "cancelled":
        await cancel(agent, task["id"])
    elif meanwhile == "deleted":
        await database.run(lambda: Task.objects.get(pk=task["id"]).delete())
    else:
        await lose(task["id"])
        assert await journal.submit(RecoverTask(task["id"], "another", 9)) is not None
    await runner.follow(agent, taken.start)
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
    assert await recover(engine.get().runner) is True
    go.set()
    await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert await database.run(lambda: Message.objects.get(task_id=task["id"]).tries) == 1
    assert await recover(engine.get().runner) is False
