"""Agents that write down which process they are in, and work until the file ``go`` is there."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from django.contrib.auth.models import Group

from a2a_django import Agent, register
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.models.fields import uuid7

FOLDER = Path(os.environ["EXAMPLE_DATA_DIR"])


def note(task_id: str) -> None:
    """Write down that a run has begun here."""
    with (FOLDER / f"{task_id}.runs").open("a") as file:
        file.write(f"{os.getpid()}\n")


def is_over() -> bool:
    """Whether the work is done."""
    return (FOLDER / "go").exists()


class Steady(Agent):
    """Works; may be run again."""

    slug = "steady"
    max_attempts = 5

    async def run(self, ctx: TaskContext) -> str:
        """Work on the loop."""
        await ctx.working()
        note(ctx.task_id)
        while not is_over():  # noqa: ASYNC110 - a file wakes nobody
            await asyncio.sleep(0.02)
        return "done"


class Plain(Agent):
    """Works in a thread; may be run again."""

    slug = "plain"
    max_attempts = 5

    def run(self, ctx: SyncTaskContext) -> str:
        """Work in a thread."""
        ctx.working()
        note(ctx.task_id)
        while not is_over():
            time.sleep(0.02)
        return "done"


class Once(Steady):
    """Works; may not be run again."""

    slug = "once"
    max_attempts = 1


class Sure(Agent):
    """Works on a message once, however often it is sent; its answer is the process."""

    slug = "sure"
    deduplicate = True

    async def run(self, ctx: TaskContext) -> str:
        """Work on the loop."""
        note(ctx.message.message_id)
        while ctx.text == "wait" and not is_over():  # noqa: ASYNC110 - a file wakes nobody
            await asyncio.sleep(0.02)
        return str(os.getpid())


register(Sure, slug="sure-message", mode="message")
register(Sure, slug="sure-auto", mode="auto")


class Counted(Agent):
    """Writes a row for each run, in the same database; may be held up until the file ``go`` is there."""

    slug = "counted"
    max_attempts = int(os.environ.get("LASTING_ATTEMPTS", "1"))

    async def run(self, ctx: TaskContext) -> str:
        """Write the row, and take some time."""
        note(ctx.task_id)
        await Group.objects.acreate(name=f"{ctx.task_id} {ctx.attempt} {os.getpid()} {uuid7()}")
        while "LASTING_HELD" in os.environ and not is_over():  # noqa: ASYNC110 - a file wakes nobody
            await asyncio.sleep(0.02)
        return "done"
