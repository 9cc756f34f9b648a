"""What a type checker has to find."""

from __future__ import annotations

from a2a_django import Skill, TaskContext, agent

Skill(7, "Order status", "Where is my order?")


@agent()
async def wrong(ctx: TaskContext) -> str:
    await ctx.workin("Looking it up")
    return ctx.task_id + 1
