"""Tasks that wait too long for their sender."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django import engine
from a2a_django.agents import TaskContext
from a2a_django.engine import clock, database
from a2a_django.engine.expiry import EXPIRED_TEXT, ExpireTask, expire
from a2a_django.models import Task
from tests.engine.kit import get, made_of, outputs, quiet, row, send, short, state_of, status_text, until
from tests.engine.writing import journal

pytestmark = [pytest.mark.usefixtures("sound_rows", "looked_for_on_demand"), pytest.mark.spec("3.4.3")]

HOUR = 3600


async def asks(ctx: TaskContext) -> str | None:
    if len(ctx.history) > 1:
        return ctx.text
    await (ctx.auth_required if ctx.text == "sign in" else ctx.input_required)("which?")
    return None


async def parked(text: str = "hello", *, hours: int = 2) -> tuple[Any, str]:
    """A task that has waited for so many hours, and its agent."""
    agent = made_of(asks)
    task = await send(agent, text)
    await quiet()
    then = await database.run(clock.read, "default") - dt.timedelta(hours=hours)
    await database.run(lambda: Task.objects.filter(pk=task["id"]).update(status_timestamp=then))
    return agent, task["id"]


@pytest.fixture
def one_hour(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "INPUT_REQUIRED_SECONDS": HOUR}


@pytest.mark.parametrize("text", ["hello", "sign in"])
async def test_one_that_has_waited_too_long_fails_and_says_why(one_hour: None, text: str) -> None:
    agent, task_id = await parked(text)
    _, young = await parked(text, hours=0)
    await expire(engine.get().journal)
    task = await get(agent, task_id)
    assert (state_of(task), status_text(task)) == ("FAILED", EXPIRED_TEXT)
    assert short((await database.run(row, young)).state) == ("AUTH_REQUIRED" if text == "sign in" else "INPUT_REQUIRED")


async def test_without_the_setting_it_waits_for_ever() -> None:
    _, task_id = await parked(hours=10_000)
    await expire(engine.get().journal)
    assert short((await database.run(row, task_id)).state) == "INPUT_REQUIRED"


async def test_it_is_found_without_being_asked_for(one_hour: None) -> None:
    _, task_id = await parked()
    engine.get().watch.look()
    await until(lambda: short(row(task_id).state) == "FAILED")


async def test_an_answer_that_comes_first_is_heard(one_hour: None) -> None:
    agent, task_id = await parked()
    before = await database.run(clock.read, "default")
    assert outputs(await send(agent, "blue", task_id=task_id)) == ["blue"]
    assert await engine.get().journal.submit(ExpireTask(task_id, before)) is False
    assert short((await database.run(row, task_id)).state) == "COMPLETED"


async def test_a_run_that_still_works_is_left_alone(one_hour: None) -> None:
    go = asyncio.Event()

    async def run(ctx: TaskContext) -> str:
        await ctx.auth_required("sign in")
        await go.wait()
        await ctx.working()
        return "went on"

    agent = made_of(run)
    task = await send(agent, immediately=True)
    await until(lambda: short(row(task["id"]).state) == "AUTH_REQUIRED")
    later = await database.run(clock.read, "default") + dt.timedelta(hours=2)
    assert await engine.get().journal.submit(ExpireTask(task["id"], later)) is False
    go.set()
    await until(lambda: row(task["id"]).is_terminal)
    assert outputs(await get(agent, task["id"])) == ["went on"]


async def test_of_several_that_find_it_one_ends_it(one_hour: None) -> None:
    tasks = [(await parked())[1] for _ in range(3)]
    before = await database.run(clock.read, "default")
    with journal() as (one, _), journal() as (two, _):
        jobs = [each.submit(ExpireTask(pk, before)) for pk in tasks for each in (one, two)]
        done = await asyncio.gather(*jobs)
    assert sorted(done) == [False] * 3 + [True] * 3
