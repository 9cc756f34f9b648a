"""What becomes of agents that fail, take too long, or clean up after a cancel."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from a2a_django import Agent, InvalidAgentResponse, TaskEnded
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.engine import database
from a2a_django.engine.run import FAILED_TEXT, INVALID_TEXT, TIMEOUT_TEXT
from a2a_django.models import Message, Task, TaskEvent
from tests.agents.conftest import Doing
from tests.engine.kit import (
    cancel,
    get,
    made_of,
    outputs,
    quiet,
    rest,
    send,
    state_of,
    states_in,
    status_text,
    stream,
    until,
    up_to,
    when,
)

pytestmark = pytest.mark.usefixtures("sound_rows")

SECRET = "secret-7f3a at /srv/app/agent.py"


def raising(error: BaseException) -> Callable[[Any], None]:
    def step(ctx: Any) -> None:
        raise error

    return step


async def everything_stored() -> str:
    """All that a caller could ever read."""

    def read() -> str:
        rows = [*TaskEvent.objects.values_list("wire", flat=True), *Message.objects.values_list("wire", flat=True)]
        return "".join([*rows, *(str(task.status_message) for task in Task.objects.all())])

    return await database.run(read)


# -- exceptions


@pytest.mark.parametrize(
    "error",
    [RuntimeError(SECRET), KeyError(SECRET), TimeoutError(SECRET), SystemExit(SECRET), asyncio.CancelledError(SECRET)],
    ids=lambda error: type(error).__name__,
)
async def test_an_exception_fails_the_task_with_a_neutral_text(
    doing: Doing, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    agent = doing(lambda ctx: ctx.working(), lambda ctx: ctx.artifact("a"), raising(error), timeout=60)
    events = await rest(await stream(agent))
    task = await get(agent, events[0]["task"]["id"])
    assert (state_of(task), status_text(task)) == ("FAILED", FAILED_TEXT)
    assert outputs(task) == ["a"]
    assert states_in(events) == ["WORKING", "FAILED"]
    assert SECRET not in str(events) + str(task) + await everything_stored()
    (record,) = [record for record in caplog.records if record.name == "a2a_django.agents"]
    assert record.levelname == "ERROR"
    assert task["id"] in record.getMessage()
    assert record.exc_info is not None
    assert SECRET in str(record.exc_info[1])


async def test_an_uncaught_invalid_response_fails_the_task_and_stands_in_the_log(
    doing: Doing, caplog: pytest.LogCaptureFixture
) -> None:
    task = await send(doing(raising(InvalidAgentResponse(SECRET))))
    assert (state_of(task), status_text(task)) == ("FAILED", INVALID_TEXT)
    assert SECRET not in str(task)
    assert SECRET in caplog.text


async def test_what_was_said_before_the_exception_is_kept(doing: Doing) -> None:
    say = [lambda ctx, i=i: ctx.artifact(str(i), artifact_id="out", append=True) for i in range(150)]
    task = await send(doing(*say, raising(RuntimeError())))
    assert state_of(task) == "FAILED"
    assert outputs(task) == [str(i) for i in range(150)]


async def test_an_exception_after_the_end_changes_nothing(doing: Doing) -> None:
    task = await send(doing(lambda ctx: ctx.complete("done"), raising(RuntimeError(SECRET))))
    assert (state_of(task), status_text(task)) == ("COMPLETED", "done")


async def test_an_exception_after_a_question_fails_the_task(doing: Doing) -> None:
    agent = doing(lambda ctx: ctx.input_required("?"), raising(RuntimeError(SECRET)))
    events = await rest(await stream(agent))
    assert states_in(events) == ["INPUT_REQUIRED", "FAILED"]


async def test_an_agent_without_a_run_method_fails_its_tasks() -> None:
    class Lazy(Agent):
        """Has no run."""

        abstract = True

    assert state_of(await send(Lazy())) == "FAILED"


async def test_a_subtask_that_was_cancelled_is_no_shutdown() -> None:
    async def run(ctx: TaskContext) -> None:
        sub = asyncio.create_task(asyncio.sleep(60))
        await asyncio.sleep(0)
        sub.cancel()
        await sub

    assert state_of(await send(made_of(run))) == "FAILED"


# -- time limits


async def test_an_agent_that_takes_too_long_is_stopped_and_its_task_fails() -> None:
    stopped: list[str] = []

    async def run(ctx: TaskContext) -> None:
        await ctx.working()
        try:
            await asyncio.sleep(60)
        finally:
            stopped.append("stopped")

    task = await send(made_of(run, timeout=0.05))
    assert (state_of(task), status_text(task)) == ("FAILED", TIMEOUT_TEXT)
    assert stopped == ["stopped"]


async def test_a_plain_agent_that_takes_too_long_can_say_nothing_more() -> None:
    go, said = threading.Event(), []

    def run(ctx: SyncTaskContext) -> None:
        ctx.working()
        go.wait(10)
        try:
            ctx.artifact("late")
        except (TaskEnded, InvalidAgentResponse):
            said.append("refused")

    agent = made_of(run, timeout=0.05)
    task = await send(agent)
    assert (state_of(task), status_text(task)) == ("FAILED", TIMEOUT_TEXT)
    go.set()
    await when(lambda: said)
    assert outputs(await get(agent, task["id"])) == []


async def test_a_timeout_of_the_agents_own_is_an_ordinary_failure() -> None:
    async def run(ctx: TaskContext) -> None:
        async with asyncio.timeout(0):
            await asyncio.sleep(60)

    task = await send(made_of(run, timeout=60))
    assert (state_of(task), status_text(task)) == ("FAILED", FAILED_TEXT)


# -- cancel hooks


class Hooked:
    """An agent that waits, and notes what its hook is given."""

    def __init__(self) -> None:
        self.seen: list[dict[str, Any]] = []

    async def run(self, ctx: TaskContext) -> None:
        if ctx.text == "park":
            await ctx.input_required("?")
            return
        await ctx.working()
        await asyncio.sleep(60)

    def note(self, ctx: Any) -> None:
        self.seen.append(
            {"task": ctx.task_id, "text": ctx.text, "cancelled": ctx.cancelled, "history": len(ctx.history)}
        )

    async def hook(self, ctx: TaskContext) -> None:
        self.note(ctx)
        with pytest.raises(TaskEnded):
            await ctx.artifact("late")

    def plain_hook(self, ctx: SyncTaskContext) -> None:
        self.note(ctx)
        assert Task.objects.get(pk=ctx.task_id).state == "TASK_STATE_CANCELED"
        with pytest.raises(TaskEnded):
            ctx.artifact("late")

    async def raising_hook(self, ctx: TaskContext) -> None:
        self.note(ctx)
        raise RuntimeError(SECRET)

    async def exiting_hook(self, ctx: TaskContext) -> None:
        self.note(ctx)
        raise SystemExit(SECRET)

    async def talking_hook(self, ctx: TaskContext) -> None:
        self.note(ctx)
        await ctx.complete()


@pytest.mark.parametrize("hook", ["hook", "plain_hook", "raising_hook", "exiting_hook", "talking_hook"])
@pytest.mark.parametrize("where", ["running", "parked"])
async def test_the_cancel_hook(hook: str, where: str, caplog: pytest.LogCaptureFixture) -> None:
    hooked = Hooked()
    agent = made_of(hooked.run, cancel=getattr(hooked, hook))
    text = "park" if where == "parked" else "run"
    events = await stream(agent, text)
    task_id = (await up_to(events, "INPUT_REQUIRED" if where == "parked" else "WORKING"))[0]["task"]["id"]
    if where == "parked":
        await rest(events)
        await quiet()
    assert state_of(await cancel(agent, task_id)) == "CANCELED"
    await when(lambda: hooked.seen)
    await quiet()
    assert hooked.seen == [{"task": task_id, "text": text, "cancelled": True, "history": 1}]
    task = await get(agent, task_id)
    assert state_of(task) == "CANCELED"
    assert "artifacts" not in task
    assert (SECRET in caplog.text) == (hook in ("raising_hook", "exiting_hook"))
    assert SECRET not in await everything_stored()


async def test_a_parked_task_of_an_agent_without_hook_is_just_cancelled() -> None:
    hooked = Hooked()
    agent = made_of(hooked.run)
    task = await send(agent, "park")
    await quiet()
    assert state_of(await cancel(agent, task["id"])) == "CANCELED"


async def test_a_plain_agent_sees_that_its_task_was_cancelled() -> None:
    seen: list[str] = []

    def run(ctx: SyncTaskContext) -> None:
        ctx.working()
        while not ctx.cancelled:
            time.sleep(0.001)
        with pytest.raises(TaskEnded):
            ctx.working("still here")
        seen.append("stopped")

    agent = made_of(run)
    task = await send(agent, immediately=True)
    await until(lambda: Task.objects.get().last_seq)
    await cancel(agent, task["id"])
    await when(lambda: seen)


async def test_the_hook_of_a_deaf_run_is_called_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("a2a_django.engine.run.life.STOP_SECONDS", 0.01)
    go, hooked = asyncio.Event(), Hooked()

    async def run(ctx: TaskContext) -> None:
        while not go.is_set():
            with suppress(asyncio.CancelledError):
                await go.wait()

    agent = made_of(run, cancel=hooked.hook)
    task = await send(agent, immediately=True)
    await cancel(agent, task["id"])
    await when(lambda: hooked.seen)
    go.set()
    await quiet()


async def test_there_is_no_hook_without_a_cancel() -> None:
    hooked = Hooked()

    async def run(ctx: TaskContext) -> None:
        if ctx.text == "fail":
            raise RuntimeError

    for text in ("fail", "complete"):
        await send(made_of(run, cancel=hooked.hook), text)
        await quiet()
    assert hooked.seen == []
