"""The agents of the benchmarks."""

from __future__ import annotations

from collections.abc import AsyncIterator

from a2a_django import Agent, Skill
from a2a_django.agents import TaskContext
from benchmarks.wire import ASK_AGENT, CHUNK_AGENT, ECHO, chunk_text


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
