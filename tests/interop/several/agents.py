"""The other agents of the site."""

from __future__ import annotations

from rest_framework.permissions import IsAdminUser

from a2a_django import Agent, register
from a2a_django.agents import TaskContext
from example_project.scripted.agents import VARIANTS, Script

register(Script, name="Second desk", slug="second", **VARIANTS["main"])


class Faulty(Agent):
    """Promises a message and keeps nothing; breaks the promise ("wrong") or crashes."""

    slug = "faulty"
    mode = "message"

    async def run(self, ctx: TaskContext) -> None:
        """Publish what cannot be published in an answer without task, or raise."""
        if ctx.text == "wrong":
            await ctx.working()
        raise RuntimeError("secret-7f3a")


class Staff(Agent):
    """Is for administrators only."""

    slug = "staff"
    permissions = (IsAdminUser,)

    async def run(self, ctx: TaskContext) -> None:
        """Complete the task."""
