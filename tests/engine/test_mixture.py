"""Everything at once: agents, senders, readers, cancels and leaving clients at random, through two processes.

Whatever happens, every sender is answered, every stream ends when it has to, nobody holds a task in the end, and the
rows are sound. A seed that fails is a fault; more seeds find more: ``A2A_TEST_SEEDS=500``.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar

import pytest
from django.contrib.auth.models import Group
from django.db import transaction

from a2a_django import Agent, engine
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.engine import Engine, database
from a2a_django.models import Task
from a2a_django.models.fields import uuid7
from a2a_django.protocol.errors import A2AError
from tests.engine.kit import (
    WAIT,
    cancel,
    folded,
    get,
    made_of,
    rest,
    send,
    some,
    state_of,
    states_in,
    stream,
    subscribe,
    until,
    when,
)

pytestmark = pytest.mark.usefixtures("sound_rows")

SEEDS = range(int(os.environ.get("A2A_TEST_SEEDS", "16")))

#: The process that the calls of a client go to.
here: ContextVar[Engine] = ContextVar("here")


@asynccontextmanager
async def two_processes() -> AsyncIterator[list[Engine]]:
    """Two engines on one database, as two processes have them; the first one is called unless ``here`` is set."""
    made = [Engine(), Engine()]
    here.set(made[0])
    try:
        yield made
    finally:  # not in a fixture: what the engines of a test have in common is stopped before those
        for one in made:
            await asyncio.to_thread(one.stop)


def random_agent(luck: random.Random) -> Agent:
    async def run(ctx: TaskContext) -> None:
        for _ in range(luck.randrange(4)):
            what = luck.randrange(4)
            if what == 0:
                await ctx.working("at work")
            elif what == 1:
                await ctx.artifact("x", artifact_id=luck.choice("ab"), append=luck.random() < 0.5)
            else:
                await asyncio.sleep(luck.choice((0, 0.005)))
        end = luck.random()
        if end < 0.8:
            await ctx.input_required("?")
            await asyncio.sleep(luck.choice((0, 0, 0.005)))
        elif end < 0.85:
            await ctx.auth_required("!")
        elif end < 0.88:
            raise RuntimeError

    def plain(ctx: SyncTaskContext) -> None:
        for _ in range(luck.randrange(3)):
            if luck.random() < 0.5:
                ctx.working("at work")
            else:
                with transaction.atomic():
                    Group.objects.create(name=uuid7())
                    ctx.artifact("x", artifact_id=luck.choice("ab"), append=luck.random() < 0.5)
                    transaction.set_rollback(luck.random() < 0.3)
        if luck.random() < 0.8:
            ctx.input_required("?")

    return made_of(luck.choice((run, run, plain)), mode=luck.choice(("task", "auto")))


async def sends(agent: Agent, task_id: str, luck: random.Random) -> None:
    assert state_of(await send(agent, task_id=task_id)) != "SUBMITTED"


async def streams(agent: Agent, task_id: str, luck: random.Random) -> None:
    """Read a stream to its end, or until a credential is wanted, for which it would stay open."""
    events = await stream(agent, task_id=task_id)
    try:
        found = await some(events)
        while "AUTH_REQUIRED" not in states_in(found) and (more := await some(events)):
            found += more
    finally:
        await events.aclose()


async def looks_in(agent: Agent, task_id: str, luck: random.Random) -> None:
    events = await subscribe(agent, task_id)
    await some(events)
    await events.aclose()


async def leaves(agent: Agent, task_id: str, luck: random.Random) -> None:
    call = asyncio.ensure_future(luck.choice((sends, streams))(agent, task_id, luck))
    await asyncio.sleep(luck.choice((0, 0.001, 0.004)))
    call.cancel()
    await asyncio.wait({call})


async def cancels(agent: Agent, task_id: str, luck: random.Random) -> None:
    await cancel(agent, task_id)


DEEDS = [sends] * 8 + [streams] * 6 + [looks_in] * 3 + [leaves] * 3 + [cancels]


async def client(agent: Agent, task_id: str, processes: list[Engine], luck: random.Random) -> None:
    for _ in range(5):
        here.set(luck.choice(processes))
        await asyncio.sleep(luck.choice((0, 0.005, 0.01)))
        with suppress(A2AError):  # the task may have ended
            await luck.choice(DEEDS)(agent, task_id, luck)


@pytest.mark.parametrize("seed", SEEDS)
async def test_a_mixture(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "get", here.get)
    async with two_processes() as processes:
        await mix(random.Random(seed), processes)


async def mix(luck: random.Random, processes: list[Engine]) -> None:
    """Let six clients do what they like to two tasks, and look at what is left."""
    agent = random_agent(luck)
    tasks = [(await send(agent))["id"] for _ in range(2)]
    watching = []
    for one in processes:
        here.set(one)
        for task_id in tasks:
            with suppress(A2AError):
                watching.append((task_id, asyncio.ensure_future(rest(await subscribe(agent, task_id)))))
    async with asyncio.timeout(2 * WAIT):
        await asyncio.gather(*(client(agent, luck.choice(tasks), processes, luck) for _ in range(6)))
    await until(lambda: not Task.objects.exclude(lease_holder="").exists())
    for task_id in tasks:
        with suppress(A2AError):
            await cancel(agent, task_id)
    for task_id, reader in watching:
        events = await reader
        end = await get(agent, task_id)
        assert states_in(events)[-1] == state_of(end)
        assert folded(events).get("artifacts") == end.get("artifacts")
    for one in processes:
        await when(lambda: not one.runner.attempts())  # noqa: B023
        assert one.feed.positions() == {}
    assert await database.run(Task.objects.filter(state="TASK_STATE_WORKING").count) == 0
