"""Agents that write down where they run, and work until a file is there."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from a2a_django import Agent
from a2a_django.agents import SyncTaskContext, TaskContext

FOLDER = Path(os.environ["EXAMPLE_DATA_DIR"])


def note(task_id: str, kind: str = "runs") -> None:
    """Write down that something happens here."""
    with (FOLDER / f"{task_id}.{kind}").open("a") as file:
        file.write(f"{os.getpid()}\n")


def is_over(task_id: str) -> bool:
    """Whether the work is done, for this task or for all."""
    return (FOLDER / "go").exists() or (FOLDER / f"{task_id}.go").exists()


class Steady(Agent):
    """Works until it is told to end; may be run again."""

    slug = "steady"
    max_attempts = 5

    async def run(self, ctx: TaskContext) -> str:
        """Work on the loop."""
        await ctx.working("at work")
        note(ctx.task_id)
        while not is_over(ctx.task_id):  # noqa: ASYNC110 - a file wakes nobody
            await asyncio.sleep(0.02)
        return "done"

    async def cancel(self, ctx: TaskContext) -> None:
        """Write down that it was cancelled, and where."""
        note(ctx.task_id, "cancelled")


class Plain(Agent):
    """Works in a thread; may be run again."""

    slug = "plain"
    max_attempts = 5

    def run(self, ctx: SyncTaskContext) -> str:
        """Work in a thread."""
        ctx.working("at work")
        note(ctx.task_id)
        while not is_over(ctx.task_id):
            time.sleep(0.02)
        return "done"


class Once(Steady):
    """May not be run again."""

    slug = "once"
    max_attempts = 1


class Teller(Agent):
    """Says three things, the last when it is told to."""

    slug = "teller"

    async def run(self, ctx: TaskContext):  # type: ignore[no-untyped-def]
        """Tell, and who has asked."""
        note(ctx.task_id)
        yield f"{ctx.text} "
        yield f"{ctx.user.pk} "
        while not is_over(ctx.task_id):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        yield "end"


class Asker(Agent):
    """Asks for a name, and again for a colour."""

    slug = "asker"

    async def run(self, ctx: TaskContext) -> str | None:
        """Ask until both are there."""
        note(ctx.task_id)
        if len(ctx.history) == 1:
            await ctx.input_required("name?")
        elif len([each for each in ctx.history if each.role == 1]) == 2:
            await ctx.input_required("colour?")
        else:
            return f"{ctx.text}!"
        return None


class Greeter(Agent):
    """Answers without a task."""

    slug = "greeter"
    mode = "message"

    async def run(self, ctx: TaskContext) -> str:
        """Answer with the process that does it."""
        return str(os.getpid())
