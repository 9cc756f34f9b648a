"""The agents: the same scripts in all the ways in which an agent may be written."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from django.db import InterfaceError, OperationalError, transaction

from a2a_django import Agent, Skill
from a2a_django.agents import SyncTaskContext, TaskContext
from tests.chaos.site.models import Entry
from tests.chaos.site.plans import Plan, Thing, data_plan, plan_of, ticks, words_of
from tests.chaos.site.recording import abegin, afinish, begin, finish, number_of, trouble


class Undone(Exception):
    """A transaction that an agent takes back."""


def plan_for(ctx: TaskContext | SyncTaskContext) -> Plan:
    """Return what this run has to say."""
    texts = ["".join(part.text for part in message.parts) for message in ctx.history if message.role == 1]
    return plan_of(words_of(texts[0]), texts[1:])


async def say(ctx: TaskContext, thing: Thing) -> None:
    """Say one thing."""
    if "state" in thing:
        word = thing["state"].removeprefix("TASK_STATE_").lower()
        method = getattr(ctx, {"failed": "fail", "rejected": "reject"}.get(word, word))
        await method(thing["text"] or None, metadata=thing["metadata"] or None)
        return
    await ctx.artifact(
        *(part["text"] for part in thing["parts"]),
        artifact_id=thing["artifact"],
        append=thing["append"],
        last_chunk=thing["last"],
        name=thing.get("name", ""),
        metadata=thing.get("metadata"),
    )


class Player(Agent):
    """What they have in common."""

    abstract = True
    skills = [Skill("script", "Script", "Plays a script.", tags=["test"])]
    push_notifications = True
    max_attempts = 100


class Talker(Player):
    """A coroutine; says everything again in each attempt."""

    slug = "talker"
    mode = "auto"
    deduplicate = True

    async def run(self, ctx: TaskContext) -> None:
        """Say what the script says."""
        plan = plan_for(ctx)
        call = await abegin(ctx, plan)
        for step in plan.steps:
            await asyncio.sleep(step.pause / 1000)
            await say(ctx, step.thing)
        await afinish(call)
        if plan.raises:
            raise RuntimeError("as the script says")


class Once(Talker):
    """The same; may not be run again."""

    slug = "once"
    mode = "task"
    max_attempts = 1


class Yielder(Player):
    """An asynchronous generator of texts."""

    slug = "yielder"

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        """Yield the ticks of the script."""
        words = words_of(ctx.text)
        plan = Plan([step._replace(thing={**step.thing, "last": False}) for step in ticks(int(words[1]), 150, 0, "")])
        call = await abegin(ctx, plan)
        for step in plan.steps:
            await asyncio.sleep(step.pause / 1000)
            yield step.thing["parts"][0]["text"]
        await afinish(call)


class Keeper(Player):
    """A coroutine that keeps how far it is, and goes on from there."""

    slug = "keeper"
    deduplicate = True

    async def run(self, ctx: TaskContext) -> None:
        """Say the ticks of the script, a checkpoint after every few."""
        words = words_of(ctx.text)
        start = (ctx.checkpoint_data or {"next": 0})["next"]
        plan = Plan(ticks(int(words[1]), int(words[2]))[start:])
        call = await abegin(ctx, plan, start)
        for number, step in enumerate(plan.steps, start + 1):
            await asyncio.sleep(step.pause / 1000)
            await say(ctx, step.thing)
            if number % 3 == 0:
                await ctx.checkpoint({"next": number})
        await afinish(call)


class Clerk(Player):
    """A plain function: each chunk in one transaction with a row of the site's own and a checkpoint."""

    slug = "clerk"

    def run(self, ctx: SyncTaskContext) -> None:
        """Write the ticks of the script into the book; some first in a transaction that is taken back."""
        words = words_of(ctx.text)
        start = (ctx.checkpoint_data or {"next": 0})["next"]
        plan = Plan(ticks(int(words[1]), int(words[2]), 0, "book")[start:])
        call = begin(ctx, plan, start)
        try:
            for number, step in enumerate(plan.steps, start):
                time.sleep(step.pause / 1000)
                if number % 4 == 1:
                    self.undo(ctx, number)
                with transaction.atomic():
                    self.enter(ctx, number, step.thing)
        except (OperationalError, InterfaceError) as error:
            trouble(call, error)
            raise
        finish(call)

    def enter(self, ctx: SyncTaskContext, number: int, thing: Thing) -> None:
        """Write one chunk, with all that belongs to it."""
        Entry.objects.create(task_id=ctx.task_id, number=number, attempt=number_of(ctx))
        text: Any = thing["parts"][0]["text"]
        ctx.artifact(text, artifact_id=thing["artifact"], append=thing["append"], last_chunk=thing["last"])
        ctx.checkpoint({"next": number + 1})

    def undo(self, ctx: SyncTaskContext, number: int) -> None:
        """Say something and take it back with the transaction."""
        try:
            with transaction.atomic():
                Entry.objects.create(task_id=ctx.task_id, number=number, attempt=number_of(ctx))
                ctx.artifact("never", artifact_id="book", append=True)
                raise Undone
        except Undone:
            pass


class Teller(Player):
    """A plain generator of data."""

    slug = "teller"
    deduplicate = True

    def run(self, ctx: SyncTaskContext) -> Iterator[Any]:
        """Yield the data of the script."""
        plan = data_plan(int(words_of(ctx.text)[1]))
        call = begin(ctx, plan)
        for step in plan.steps:
            time.sleep(step.pause / 1000)
            yield step.thing["parts"][0]["data"]
        finish(call)
