"""Writes down what runs are going to say; patient with a database that is away for a moment, as they have to be."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable
from typing import Final, TypeVar

from asgiref.sync import sync_to_async
from django.db import InterfaceError, OperationalError, connection, transaction

from a2a_django.agents.context import BaseContext
from tests.chaos.site.models import Attempt
from tests.chaos.site.plans import Plan

T = TypeVar("T")

PATIENCE: Final = 60.0


class Twice(Exception):
    """An attempt was begun a second time."""


def patiently(write: Callable[[], T]) -> T:
    """Return what ``write`` returns, once the database takes it; it may be carried out more than once."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return write()
        except (OperationalError, InterfaceError):
            if time.monotonic() > until:
                raise
            connection.close()
            time.sleep(0.2)


def number_of(ctx: BaseContext) -> int:
    """Return the number by which the journal knows the run; 1 as long as there is no task."""
    return getattr(ctx._handle, "attempt", 0) or 1


def begin(ctx: BaseContext, plan: Plan, start: int = 0) -> str:
    """Write down what a run is going to say; returns the name of this call of the agent."""
    call = uuid.uuid4().hex
    patiently(lambda: _begin(ctx, plan, start, call))
    return call


def _begin(ctx: BaseContext, plan: Plan, start: int, call: str) -> None:
    things = [step.thing for step in plan.steps]
    with transaction.atomic():
        row, __ = Attempt.objects.get_or_create(
            task_id=ctx.task_id,
            number=number_of(ctx),
            defaults={
                "tries": ctx.attempt,
                "call": call,
                "process": os.getpid(),
                "plan": things,
                "start": start,
            },
        )
    if row.call != call:
        raise Twice(f"attempt {row.number} of task {ctx.task_id} is at work in process {row.process}")


def finish(call: str) -> None:
    """Write down that the agent's code is through."""
    patiently(lambda: Attempt.objects.filter(call=call).update(finished=True))


def trouble(call: str, error: Exception) -> None:
    """Write down that the database has broken the agent's transaction."""
    patiently(lambda: Attempt.objects.filter(call=call).update(trouble=f"{type(error).__name__}: {error}"))


abegin = sync_to_async(begin)
afinish = sync_to_async(finish)
