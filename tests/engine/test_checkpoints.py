"""What a run keeps for the one that goes on after a loss: ``ctx.checkpoint``."""

from __future__ import annotations

import asyncio
import datetime as dt
import math
import threading
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from a2a_django import InvalidAgentResponse, TaskEnded, engine
from a2a_django.agents import SyncTaskContext, TaskContext, registry
from a2a_django.agents.context import MAX_CHECKPOINT
from a2a_django.engine import database
from a2a_django.engine.checkpoints import SetCheckpoint
from a2a_django.engine.jobs import Fenced, Voice
from a2a_django.engine.queue import Claim
from a2a_django.engine.recovery import HandOver, RecoverTask, recover
from a2a_django.models import Message, Task
from tests.engine.conftest import Losses
from tests.engine.kit import WAIT, made_of, outputs, row, send, state_of, until, when
from tests.engine.test_recovery import lose, settled
from tests.engine.writing import create, held_up, journal

pytestmark = pytest.mark.usefixtures("sound_rows", "looked_for_on_demand")


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put an agent into the site's registry for the time of a test."""
    monkeypatch.setattr(registry, "_agents", {})

    def add(run: Any, **attributes: Any) -> Any:
        agent = made_of(run, **{"max_attempts": 3, **attributes})
        registry.add(agent)
        return agent

    return add


def kept(task_id: str) -> list[str | None]:
    return list(Message.objects.filter(task=task_id, role="ROLE_USER").values_list("checkpoint", flat=True))


async def test_a_run_goes_on_where_the_lost_one_was(added: Any) -> None:
    seen: list[tuple[int, Any]] = []

    async def run(ctx: TaskContext) -> None:
        seen.append((ctx.attempt, ctx.checkpoint_data))
        await ctx.working()
        for number in range(ctx.checkpoint_data or 0, 6):
            await ctx.artifact(str(number), artifact_id="out", append=True)
            await ctx.checkpoint(number + 1)
            if number in (1, 3) and ctx.attempt == (number + 1) // 2:
                await asyncio.sleep(60)

    agent = added(run)
    task = await send(agent, immediately=True)
    for place in ("2", "4"):
        await until(lambda: kept(task["id"]) == [place])  # noqa: B023
        await lose(task["id"])
        await recover(engine.get().runner)
    done = await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    assert seen == [(1, None), (2, 2), (3, 4)]
    assert outputs(done) == list("012345")


async def test_a_plain_run_that_was_lost_keeps_nothing_any_more(added: Any) -> None:
    go, endings = threading.Event(), []

    def run(ctx: SyncTaskContext) -> str:
        if ctx.attempt > 1:
            return f"went on at {ctx.checkpoint_data['at']}"
        ctx.checkpoint({"at": "half"})
        go.wait(WAIT)
        try:
            ctx.checkpoint({"at": "zombie"})
        except TaskEnded:
            endings.append("ended")
            raise
        return "never"

    agent = added(run)
    task = await send(agent, immediately=True)
    await until(lambda: kept(task["id"]) == ['{"at":"half"}'])
    await lose(task["id"])
    await recover(engine.get().runner)
    done = await settled(agent, task["id"], "TASK_STATE_COMPLETED")
    go.set()
    await when(lambda: endings)
    assert outputs(done) == ["went on at half"]
    assert await database.run(kept, task["id"]) == ['{"at":"half"}']


def test_a_run_that_is_no_longer_current_is_refused() -> None:
    with journal() as (writer, _):
        task = create(writer).task
        with pytest.raises(Fenced):
            writer.write(SetCheckpoint(task.pk, 2, "1", Voice()))
        writer.write(SetCheckpoint(task.pk, 1, "1", Voice()))
    assert kept(task.pk) == ["1"]


@pytest.mark.parametrize("took_place", [True, False])
def test_one_whose_commit_got_no_answer_is_kept(losses: Losses, took_place: bool) -> None:
    with journal() as (writer, _):
        task = create(writer).task
        losses.append(took_place)
        writer.write(SetCheckpoint(task.pk, 1, "1", Voice()))
    assert kept(task.pk) == ["1"]


async def test_what_was_said_before_is_committed_with_it(added: Any) -> None:
    found: list[int] = []

    async def run(ctx: TaskContext) -> None:
        for number in range(5):
            await ctx.artifact(str(number), artifact_id="out", append=True)
        await ctx.checkpoint("here")
        found.append((await database.run(row, ctx.task_id)).last_seq)

    await send(added(run))
    assert found == [5]


async def test_a_place_in_a_transaction_that_is_rolled_back_is_not_kept(added: Any) -> None:
    def run(ctx: SyncTaskContext) -> None:
        ctx.checkpoint(1)
        with transaction.atomic():
            ctx.checkpoint(2)
            transaction.set_rollback(True)

    task = await send(added(run))
    assert state_of(task) == "COMPLETED"
    assert await database.run(kept, task["id"]) == ["1"]


async def test_a_message_has_its_own(added: Any) -> None:
    seen: list[Any] = []

    async def run(ctx: TaskContext) -> None:
        seen.append((ctx.attempt, ctx.checkpoint_data))
        await ctx.checkpoint(ctx.text)
        if ctx.text == "one":
            await ctx.input_required("?")

    agent = added(run)
    task = await send(agent, "one")
    await send(agent, "two", task_id=task["id"])
    assert seen == [(1, None), (1, None)]
    assert await database.run(kept, task["id"]) == ['"one"', '"two"']


@pytest.mark.parametrize("kind", ["asynchronous", "plain"])
async def test_it_makes_the_task_of_an_agent_that_may_answer_without_one(added: Any, kind: str) -> None:
    async def asynchronous(ctx: TaskContext) -> None:
        await ctx.checkpoint([1])

    def plain(ctx: SyncTaskContext) -> None:
        ctx.checkpoint([1])

    task = await send(added(locals()[kind], mode="auto"))
    assert task["kind"] == "task"
    assert await database.run(kept, task["id"]) == ["[1]"]


@pytest.mark.parametrize("data", [{1, 2}, math.nan, "x" * MAX_CHECKPOINT], ids=["a set", "no number", "too large"])
async def test_what_cannot_be_kept_is_refused_and_nothing_else_happens(added: Any, data: Any) -> None:
    async def run(ctx: TaskContext) -> str:
        with pytest.raises((TypeError, ValueError)):
            await ctx.checkpoint(data)
        return "went on"

    assert outputs(await send(added(run))) == ["went on"]


async def test_an_agent_that_keeps_nothing_has_no_place_either(added: Any) -> None:
    answers: list[str] = []

    async def run(ctx: TaskContext) -> str:
        try:
            await ctx.checkpoint(1)
        except InvalidAgentResponse as error:
            answers.append(error.message)
        return "an answer"

    answer = await send(added(run, mode="message"))
    assert answer["kind"] == "message"
    assert answers == ["An agent that answers with a message has no task"]


@pytest.mark.parametrize("by", ["the process that ends", "another look", "one that has no room"])
def test_what_is_kept_in_the_moment_in_which_the_task_is_taken_is_there_for_the_next_run(by: str) -> None:
    with journal() as (writer, _):
        task_id = create(writer).task.pk
        keep = SetCheckpoint(task_id, 1, '{"paid":true}', Voice())
        jobs: dict[str, Any] = {
            "the process that ends": HandOver(task_id, 1, 3),
            "another look": RecoverTask(task_id, writer.holder, 3),
            "one that has no room": RecoverTask(task_id, "", 3),
        }
        if by != "the process that ends":
            Task.objects.filter(pk=task_id).update(lease_expires_at=timezone.now() - dt.timedelta(minutes=5))
        with held_up(writer):
            for job in (keep, jobs[by]):  # in one transaction
                job.event = threading.Event()
                writer._put(job)
        assert all(job.event.wait(WAIT) and job.error is None for job in (keep, jobs[by]))
        message = Message.objects.get(task_id=task_id)
        assert message.checkpoint == '{"paid":true}'
        if by == "another look":
            accepted = jobs[by].result.accepted
            assert (accepted.start.checkpoint, accepted.start.tries) == ('{"paid":true}', 2)
        else:
            assert message.attempt is None
            claimed = writer.write(Claim(writer.holder, 1, agents=["tested"], share=lambda owner: 1))
            assert claimed.accepted[0].start.checkpoint == '{"paid":true}'
