"""Agents of every kind, for a site that tests them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction

from a2a_django import Agent, SyncTaskContext, TaskContext


class Clerk(Agent):
    """Does what the first word says; asynchronous."""

    abstract = True
    push_notifications = True

    async def run(self, ctx: TaskContext) -> AsyncIterator[Any]:
        word, _, rest = ctx.text.partition(" ")
        async for value in getattr(self, f"do_{word}")(ctx, rest):
            yield value

    async def do_echo(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        await ctx.working("Thinking")
        for piece in rest.split():
            yield piece
        yield {"said": rest, "by": getattr(ctx.user, "username", "")}

    async def do_group(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        group = await Group.objects.acreate(name=rest)
        yield f"{group.name} of {await Group.objects.acount()}"

    async def do_twice(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        try:
            await Group.objects.acreate(name=rest)
        except IntegrityError:
            yield "There is one."

    async def do_fail(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        yield "Well, "
        raise ZeroDivisionError(rest)

    async def do_ask(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        await ctx.input_required("Which colour?")
        return
        yield

    async def do_blue(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        yield f"Blue it is, after {len(ctx.history)} messages and {len(await ctx.conversation())} before."

    async def do_sleep(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        await ctx.working("Zzz")
        await asyncio.sleep(3600)
        yield "Awake."

    async def do_tick(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        for number in range(3):
            await asyncio.sleep(0.01)
            yield f"{number}."

    async def do_login(self, ctx: TaskContext, rest: str) -> AsyncIterator[Any]:
        await ctx.auth_required("Sign in, please")
        await asyncio.sleep(0)
        await ctx.complete("Thank you.")
        return
        yield

    async def cancel(self, ctx: TaskContext) -> None:
        await Group.objects.acreate(name="cancelled")


class Scribe(Agent):
    """The same, as a plain function."""

    abstract = True
    push_notifications = True

    def run(self, ctx: SyncTaskContext) -> Iterator[Any]:
        word, _, rest = ctx.text.partition(" ")
        yield from getattr(self, f"do_{word}")(ctx, rest)

    def do_echo(self, ctx: SyncTaskContext, rest: str) -> Iterator[Any]:
        ctx.working("Thinking")
        yield from rest.split()
        yield {"said": rest, "by": getattr(ctx.user, "username", "")}

    def do_group(self, ctx: SyncTaskContext, rest: str) -> Iterator[Any]:
        group = Group.objects.create(name=rest)
        yield f"{group.name} of {Group.objects.count()}"

    def do_twice(self, ctx: SyncTaskContext, rest: str) -> Iterator[Any]:
        try:
            Group.objects.create(name=rest)
        except IntegrityError:
            yield "There is one."

    def do_together(self, ctx: SyncTaskContext, rest: str) -> Iterator[Any]:
        """Rows of the site and events of the task in one transaction; rolled back when told so."""
        try:
            with transaction.atomic():
                Group.objects.create(name="together")
                ctx.artifact("in the transaction")
                transaction.on_commit(lambda: Group.objects.create(name="on commit"))
                if rest == "not":
                    raise ValueError
        except ValueError:
            yield "rolled back"
        else:
            yield "committed"

    def do_fail(self, ctx: SyncTaskContext, rest: str) -> Iterator[Any]:
        yield "Well, "
        raise ZeroDivisionError(rest)

    def do_ask(self, ctx: SyncTaskContext, rest: str) -> Iterator[Any]:
        ctx.input_required("Which colour?")
        return
        yield

    def do_blue(self, ctx: SyncTaskContext, rest: str) -> Iterator[Any]:
        yield f"Blue it is, after {len(ctx.history)} messages and {len(ctx.conversation())} before."


class Parrot(Agent):
    """Answers with a message."""

    abstract = True
    mode = "message"

    async def run(self, ctx: TaskContext) -> str:
        return ctx.text.upper()


CLERK, SCRIBE, PARROT = Clerk(), Scribe(), Parrot()
