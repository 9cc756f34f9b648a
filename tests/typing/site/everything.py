"""An agent that uses all of the authoring API, as its author would write it with types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Any, assert_type

from a2a_django import Agent, Extension, Part, Provider, Skill, SyncTaskContext, TaskContext, TaskEnded, agent, register


class Concierge(Agent):
    """Answers questions about orders."""

    name = "Concierge"
    version = "2.0"
    skills = [Skill("order-status", "Order status", "Where is my order?", tags=["orders"])]
    extensions = [Extension("https://shop.example/urgent", "Urgent orders", required=False)]
    provider = Provider("The shop", "https://shop.example")
    input_modes = ["text/plain"]
    push_notifications = True
    mode = "auto"
    max_attempts = 3
    timeout = 60.0

    async def run(self, ctx: TaskContext) -> AsyncIterator[str | bytes | dict[str, Any] | Part]:
        assert_type(ctx.text, str)
        assert_type(ctx.task_id, str)
        assert_type(ctx.context_id, str)
        assert_type(ctx.tenant, str)
        assert_type(ctx.cancelled, bool)
        assert_type(ctx.attempt, int)
        assert_type(ctx.metadata, Mapping[str, Any])
        assert_type(ctx.extensions, Sequence[str])
        first = ctx.history[0]
        assert_type(first.message_id, str)
        for message in await ctx.conversation():
            assert_type(message.context_id, str)
        await ctx.working("Looking it up", metadata={"shelf": 3})
        if not ctx.text:
            await ctx.input_required("Which order?")
            return
        artifact_id = await ctx.artifact("a", {"b": 1}, name="Log", append=False, last_chunk=True)
        assert_type(artifact_id, str)
        await ctx.checkpoint({"done": 1})
        yield "text"
        yield {"number": 7}
        yield Part(text="more")
        yield b"bytes"
        try:
            await ctx.complete("Done")
        except TaskEnded:
            return

    async def cancel(self, ctx: TaskContext) -> None:
        await ctx.working()


class Ledger(Agent):
    """The same, plain."""

    def run(self, ctx: SyncTaskContext) -> Iterator[str]:
        assert_type(ctx.artifact("a"), str)
        ctx.working()
        yield ctx.text


@agent(name="Echo", skills=[Skill("echo", "Echo", "Says it again")])
def echo(ctx: SyncTaskContext) -> str:
    return ctx.text


assert_type(echo, Agent)


@agent
async def parrot(ctx: TaskContext) -> str:
    return ctx.text


assert_type(parrot, Agent)
register(Concierge, name="Night desk")
