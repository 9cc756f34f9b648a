"""The agents of the benchmarks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator

from a2a_django import Agent, Skill
from a2a_django.agents import TaskContext
from benchmarks.wire import ASK_AGENT, CHUNK_AGENT, CLOCK_AGENT, ECHO, chunk_text


class Echo(Agent):
    """Answers every message with the same short text."""

    version = "1.0"
    slug = "echo"
    skills = [Skill("echo", "Echo", "Answers with a short text.", tags=["bench"])]

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        yield ECHO


class Chunks(Agent):
    """Answers "chunks N" with N chunks of text."""

    version = "1.0"
    slug = CHUNK_AGENT
    push_notifications = True
    skills = [Skill("chunks", "Chunks", "Streams a number of chunks.", tags=["bench"])]

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        for number in range(int(ctx.text.partition(" ")[2])):
            yield chunk_text(number)


class Ask(Agent):
    """Asks back and waits."""

    version = "1.0"
    slug = ASK_AGENT
    skills = [Skill("ask", "Ask", "Waits for an answer.", tags=["bench"])]

    async def run(self, ctx: TaskContext) -> None:
        await ctx.input_required("which one?")


class Clock(Agent):
    """Answers "clock N MS" with N chunks, about MS milliseconds apart, each of which says when it was published."""

    version = "1.0"
    slug = CLOCK_AGENT
    skills = [Skill("clock", "Clock", "Tells the time.", tags=["bench"])]

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        _, count, pause = ctx.text.split()
        for _ in range(int(count)):
            await asyncio.sleep(int(pause) / 1000 * random.uniform(0.5, 1.5))
            yield str(time.monotonic_ns())  # the same clock for all processes of the machine
