"""The scripted agent. The first word of a task's first message selects what happens; each method below is one word.

Faults are on purpose: words such as ``boom``, ``wrongid`` or ``stuck`` show what the package makes of an agent that
misbehaves.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final

from django.conf import settings

from a2a_django import Agent, Extension, Skill, register
from a2a_django.agents import TaskContext, TaskEnded
from a2a_django.protocol.v1 import a2a_pb2

TICK_SECONDS: Final = 0.2
SECRET: Final = "secret-7f3a at /srv/app/agent.py"  # noqa: S105 - what must never reach a caller

#: What the card promises, by the setting SCRIPTED_VARIANT.
VARIANTS: Final[Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "main": {"streaming": True, "push_notifications": True, "extended_agent_card": True},
        "plain": {"streaming": False, "push_notifications": False, "extended_agent_card": False},
        "strict": {
            "streaming": True,
            "push_notifications": True,
            "extended_agent_card": True,
            "extensions": [
                Extension("https://e.example/ext/a/v1", "Has to be asked for", required=True),
                Extension("https://e.example/ext/b/v1", "May be asked for"),
            ],
        },
        # For processes that are killed: what was at work there is begun again.
        "lasting": {"streaming": True, "push_notifications": True, "extended_agent_card": True, "max_attempts": 3},
    }
)


class Script(Agent):
    """Does what the first word of the first message says."""

    abstract = True
    name = "Scripted agent"
    version = "1.0"
    mode = "auto"
    input_modes = ["text/plain", "application/json"]
    output_modes = ["text/plain", "application/json"]
    skills = [Skill("script", "Script", "Plays one of the scripts of the acceptance tests.", tags=["test"])]

    def extended_card(self, user: Any) -> Any:
        """Return the card for a user who is known: one more skill. The strict variant promises it and has none."""
        if settings.SCRIPTED_VARIANT == "strict":
            return None
        return self.card(skills=[*self.skills, Skill("extra", "Extra", "Only for users.", tags=["test"])])

    async def run(self, ctx: TaskContext) -> None:
        """Play the script that the first message of the task names."""
        word, rest = script_of(ctx)
        play = getattr(self, "do_" + word.replace("-", "_"), None)
        if play is None:
            await ctx.reject(f"no script is called {word}")
        else:
            await play(ctx, rest)

    async def cancel(self, ctx: TaskContext) -> None:
        """Clean up as the script says: mostly not at all."""
        word, __ = script_of(ctx)
        if word == "stuckraise":
            raise RuntimeError(SECRET)
        if word == "late":
            with suppress(TaskEnded):
                await ctx.publish(status(ctx, "TASK_STATE_CANCELED"))
            await asyncio.sleep(0.3)
            with suppress(TaskEnded):
                await ctx.artifact("late", artifact_id="late")
            with suppress(TaskEnded):
                await ctx.complete()

    # -- answers

    async def do_echo(self, ctx: TaskContext, text: str) -> None:
        await ctx.artifact(text, artifact_id="out")

    async def do_copy(self, ctx: TaskContext, text: str) -> None:
        parts = list(ctx.message.parts)
        named = first_text(parts)
        if named is not None:
            parts.remove(named)
        await ctx.artifact(*parts, artifact_id="out")

    async def do_blob(self, ctx: TaskContext, text: str) -> None:
        await ctx.artifact("x" * int(text), artifact_id="out")

    async def do_refs(self, ctx: TaskContext, text: str) -> None:
        ids = [str(task.pk) for task in ctx.references]
        await ctx.artifact(json.dumps(ids), artifact_id="out")

    async def do_direct(self, ctx: TaskContext, text: str) -> None:
        await ctx.reply(text)

    # -- streams

    async def do_slow(self, ctx: TaskContext, text: str) -> None:
        await self.ticks(ctx, int(text), TICK_SECONDS)

    async def do_burst(self, ctx: TaskContext, text: str) -> None:
        count, __, size = text.partition(" ")
        await self.ticks(ctx, int(count), size=int(size or 0))

    async def do_pace(self, ctx: TaskContext, text: str) -> None:
        """Like ``slow``, with a number of milliseconds between the ticks."""
        count, __, pause = text.partition(" ")
        await self.ticks(ctx, int(count), int(pause) / 1000)

    async def ticks(self, ctx: TaskContext, count: int, pause: float = 0.0, size: int = 0) -> None:
        await ctx.working()
        for i in range(count):
            if pause:
                await asyncio.sleep(pause)
            chunk = f"tick-{i}".ljust(size, ".")
            await ctx.artifact(chunk, artifact_id="ticks", append=i > 0, last_chunk=i == count - 1)

    async def do_replace(self, ctx: TaskContext, text: str) -> None:
        pause = int(text or 0) / 1000
        await ctx.working()
        await ctx.artifact("v1", artifact_id="r", name="old", metadata={"a": 1})
        await ctx.artifact("+v2", artifact_id="r", metadata={"b": 2}, append=True)
        await asyncio.sleep(pause)
        await ctx.artifact("v3", artifact_id="r", name="new", last_chunk=True)
        await asyncio.sleep(pause)

    async def do_append_unknown(self, ctx: TaskContext, text: str) -> None:
        await ctx.working()
        await ctx.artifact("abc", artifact_id="ghost", append=True, last_chunk=True)

    # -- questions and pauses

    async def do_ask(self, ctx: TaskContext, text: str) -> None:
        asked = sum(message.role == a2a_pb2.ROLE_USER for message in ctx.history)
        await ctx.working()
        if asked <= int(text or 1):
            await ctx.input_required("which colour?")
        else:
            await ctx.artifact(ctx.text, artifact_id="out")

    async def do_auth(self, ctx: TaskContext, text: str) -> None:
        await ctx.auth_required("please sign in")
        await asyncio.sleep(2)
        await ctx.working()
        await ctx.artifact("authorised", artifact_id="out")

    async def do_quiet(self, ctx: TaskContext, text: str) -> None:
        await ctx.working()
        await asyncio.sleep(float(text or 60))
        await ctx.artifact("awake", artifact_id="out")

    async def do_stuck(self, ctx: TaskContext, text: str) -> None:
        """Like ``quiet``, but deaf to the first request to stop."""
        try:
            await self.do_quiet(ctx, text)
        except asyncio.CancelledError:
            await asyncio.sleep(float(text or 60))
            await ctx.artifact("awake", artifact_id="out")

    do_stuckraise = do_stuck

    async def do_queued(self, ctx: TaskContext, text: str) -> None:
        await ctx.publish(status(ctx, "TASK_STATE_SUBMITTED"))
        await asyncio.sleep(float(text))

    async def do_late(self, ctx: TaskContext, text: str) -> None:
        await ctx.working()
        await asyncio.sleep(60)

    # -- ends

    async def do_fail(self, ctx: TaskContext, text: str) -> None:
        await ctx.fail("it did not work")

    async def do_reject(self, ctx: TaskContext, text: str) -> None:
        await ctx.reject("not here")

    async def do_noend(self, ctx: TaskContext, text: str) -> None:
        await ctx.working()

    do_statusfirst = do_noend

    async def do_boom(self, ctx: TaskContext, text: str) -> None:
        for __ in range(int(text or 0)):
            await ctx.working()
        raise RuntimeError(SECRET)

    # -- events that an agent should not publish, and metadata

    async def do_wrongid(self, ctx: TaskContext, text: str) -> None:
        await ctx.working()
        event = status(ctx, "TASK_STATE_FAILED")
        event["statusUpdate"]["taskId"] = text
        await ctx.publish(event)

    async def do_msgafter(self, ctx: TaskContext, text: str) -> None:
        await ctx.working()
        await ctx.reply("too late for a message")

    async def do_noparts(self, ctx: TaskContext, text: str) -> None:
        await ctx.artifact(artifact_id="out")

    async def do_meta(self, ctx: TaskContext, text: str) -> None:
        await ctx.working(metadata={"a": 1, "b": 2})
        await ctx.working(metadata={"a": 3})


def first_text(parts: list[Any]) -> Any:
    """Return the first text part, or None."""
    return next((part for part in parts if part.WhichOneof("content") == "text"), None)


def script_of(ctx: TaskContext) -> tuple[str, str]:
    """Return the word that selects the script and everything after the first blank behind it."""
    part = first_text(list(ctx.history[0].parts))
    word, __, rest = (part.text if part is not None else "copy").partition(" ")
    return word, rest


def status(ctx: TaskContext, state: str) -> dict[str, Any]:
    """Return a status update of the own task in ProtoJSON."""
    return {"statusUpdate": {"taskId": ctx.task_id, "contextId": ctx.context_id, "status": {"state": state}}}


register(Script, **VARIANTS[settings.SCRIPTED_VARIANT])
