"""What the tests of the authoring API share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from a2a_django import Agent
from a2a_django.agents import SyncTaskContext, TaskContext
from tests.engine.conftest import sound_rows
from tests.engine.kit import made_of

__all__ = ["sound_rows"]

Step = Callable[[Any], Any]
#: Makes an agent that takes steps, each a function of its context.
Doing = Callable[..., Agent]


@pytest.fixture(params=["asynchronous", "plain"])
def doing(request: pytest.FixtureRequest) -> Doing:
    """Return what makes an agent of steps, once asynchronous and once plain: both have the same methods."""

    def asynchronous(*steps: Step, **attributes: Any) -> Agent:
        async def run(ctx: TaskContext) -> None:
            for step in steps:
                found = step(ctx)
                if inspect.isawaitable(found):
                    await found

        return made_of(run, **attributes)

    def plain(*steps: Step, **attributes: Any) -> Agent:
        def run(ctx: SyncTaskContext) -> None:
            for step in steps:
                assert not inspect.isawaitable(step(ctx))

        return made_of(run, **attributes)

    return {"asynchronous": asynchronous, "plain": plain}[request.param]
