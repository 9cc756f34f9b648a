"""The three modes: a task for every message, a message for every message, or what the agent decides (D-33)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django import InvalidAgentResponse
from a2a_django.engine import database
from a2a_django.models import Message, Task
from a2a_django.protocol.errors import InternalError, InvalidAgentResponseError, TaskNotFoundError
from tests.agents.conftest import Doing
from tests.engine.kit import (
    cancel,
    get,
    made_of,
    outputs,
    quiet,
    rest,
    said,
    send,
    state_of,
    states_in,
    stream,
    texts_of,
    until,
)

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.1.1", "3.7")]

SECRET = "secret at /srv/agent.py"


async def nothing_is_stored() -> bool:
    return not await database.run(lambda: Task.objects.exists() or Message.objects.exists())


@pytest.fixture
def patient(settings: Settings) -> None:
    """The grace of mode "auto" does not end in the course of a test."""
    settings.A2A = {**settings.A2A, "AUTO_GRACE_SECONDS": 60}


@pytest.fixture
def impatient(settings: Settings) -> None:
    """The grace of mode "auto" ends at once."""
    settings.A2A = {**settings.A2A, "AUTO_GRACE_SECONDS": 0}


# -- message


async def coroutine(ctx: Any) -> str:
    return "one two"


async def async_generator(ctx: Any) -> AsyncIterator[str]:
    yield "one "
    yield "two"


def plain(ctx: Any) -> str:
    return "one two"


def generator(ctx: Any) -> Iterator[str]:
    yield "one "
    yield "two"


async def replies(ctx: Any) -> None:
    await ctx.reply("one ", "two")


def replies_plainly(ctx: Any) -> None:
    ctx.reply("one ", "two")


@pytest.mark.parametrize("run", [coroutine, async_generator, plain, generator, replies, replies_plainly])
async def test_mode_message_answers_with_one_message_and_keeps_nothing(run: Any) -> None:
    agent = made_of(run, mode="message")
    answer = await send(agent, context_id="c", immediately=True)
    assert answer["kind"] == "message"
    assert "".join(texts_of(answer)) == "one two"
    assert (answer["role"], answer["contextId"]) == ("ROLE_AGENT", "c")
    assert "taskId" not in answer
    (event,) = await rest(await stream(agent))
    assert "".join(texts_of(event["message"])) == "one two"
    assert event["message"]["contextId"]
    assert await nothing_is_stored()


async def test_mode_message_has_an_answer_also_when_the_agent_has_none() -> None:
    async def run(ctx: Any) -> None:
        assert ctx.task is None

    answer = await send(made_of(run, mode="message"))
    assert (answer["kind"], texts_of(answer)) == ("message", [""])


@pytest.mark.parametrize("method", ["working", "complete", "artifact"])
async def test_mode_message_has_no_task_to_speak_of(doing: Doing, method: str) -> None:
    with pytest.raises(InvalidAgentResponseError):
        await send(doing(lambda ctx: getattr(ctx, method)("x"), mode="message"))
    assert await nothing_is_stored()


async def test_mode_message_takes_no_follow_ups() -> None:
    with pytest.raises(TaskNotFoundError):
        await send(made_of(coroutine, mode="message"), task_id="x")


async def test_a_failure_in_mode_message_is_a_neutral_error(doing: Doing) -> None:
    def fail(ctx: Any) -> None:
        raise RuntimeError(SECRET)

    for call in (send, stream):
        with pytest.raises(InternalError) as caught:
            await call(doing(fail, mode="message"))
        assert SECRET not in str(caught.value.details()) + caught.value.message
    assert await nothing_is_stored()


# -- auto


@pytest.mark.usefixtures("patient")
async def test_a_reply_leaves_no_task(doing: Doing) -> None:
    agent = doing(lambda ctx: ctx.reply("hi"), mode="auto")
    answer = await send(agent)
    assert (answer["kind"], texts_of(answer)) == ("message", ["hi"])
    (event,) = await rest(await stream(agent))
    assert texts_of(event["message"]) == ["hi"]
    await quiet()
    assert await nothing_is_stored()


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("wrong", ["reply", "working", "artifact"])
async def test_nothing_can_follow_a_reply(doing: Doing, wrong: str) -> None:
    refused = []

    def again(ctx: Any) -> Any:
        try:
            found = getattr(ctx, wrong)("more")
        except InvalidAgentResponse:
            refused.append(wrong)
            return None

        async def later() -> None:
            with pytest.raises(InvalidAgentResponse):
                await found
            refused.append(wrong)

        return later()

    agent = doing(lambda ctx: ctx.reply("hi"), again, mode="auto")
    answer = await send(agent)
    assert texts_of(answer) == ["hi"]
    await quiet()
    assert refused == [wrong]
    assert await nothing_is_stored()


@pytest.mark.usefixtures("patient")
async def test_the_first_thing_said_about_the_task_makes_it(doing: Doing) -> None:
    notes: list[Any] = []

    def note(ctx: Any) -> None:
        notes.append(ctx.task)

    agent = doing(note, lambda ctx: ctx.working("at work"), lambda ctx: ctx.artifact("a"), mode="auto")
    events = await rest(await stream(agent))
    assert state_of(events[0]["task"]) == "SUBMITTED"
    assert said(events[0]["task"]) == ["hello"]
    assert states_in(events) == ["WORKING", "COMPLETED"]
    assert outputs(await get(agent, events[0]["task"]["id"])) == ["a"]
    assert notes == [None]
    task = await send(agent)
    assert (state_of(task), outputs(task), said(task)) == ("COMPLETED", ["a"], ["hello", "at work"])


@pytest.mark.usefixtures("patient")
async def test_an_agent_that_says_nothing_has_completed_a_task(doing: Doing) -> None:
    assert state_of(await send(doing(mode="auto"))) == "COMPLETED"


@pytest.mark.usefixtures("patient")
async def test_an_agent_that_fails_first_has_failed_a_task(doing: Doing) -> None:
    def fail(ctx: Any) -> None:
        raise RuntimeError(SECRET)

    task = await send(doing(fail, mode="auto"))
    assert state_of(task) == "FAILED"
    assert SECRET not in str(task)


@pytest.mark.usefixtures("impatient")
async def test_after_the_grace_there_is_a_task_which_can_be_cancelled() -> None:
    async def run(ctx: Any) -> None:
        await asyncio.sleep(60)

    agent = made_of(run, mode="auto")
    task = await send(agent, immediately=True)
    assert state_of(task) == "SUBMITTED"
    assert state_of(await cancel(agent, task["id"])) == "CANCELED"
    await quiet()


@pytest.mark.usefixtures("impatient")
async def test_a_reply_after_the_grace_is_an_invalid_response() -> None:
    go = asyncio.Event()

    async def run(ctx: Any) -> None:
        await go.wait()
        await ctx.reply("too late")

    agent = made_of(run, mode="auto")
    events = await stream(agent)
    task_id = (await until(lambda: list(Task.objects.all())))[0].pk
    go.set()
    assert states_in(await rest(events)) == ["FAILED"]
    assert "too late" not in str(await get(agent, task_id))


@pytest.mark.usefixtures("patient")
async def test_a_reply_after_a_task_event_is_an_invalid_response(doing: Doing) -> None:
    agent = doing(lambda ctx: ctx.working(), lambda ctx: ctx.reply("too late"), mode="auto")
    task = await send(agent)
    assert state_of(task) == "FAILED"
    assert "too late" not in str(task)


async def test_a_reply_at_the_end_of_the_grace_is_a_message_or_a_task_and_never_both(settings: Settings) -> None:
    """The grace ends in the loop while the agent replies in its thread."""
    settings.A2A = {**settings.A2A, "AUTO_GRACE_SECONDS": 0.002}
    kinds = set()
    for round_ in range(30):
        pause = threading.Event()

        def run(ctx: Any, round_: int = round_, pause: threading.Event = pause) -> None:
            pause.wait(round_ % 6 / 1000)
            ctx.reply("hi")

        before = await database.run(Task.objects.count)
        answer = await send(made_of(run, mode="auto"))
        await quiet()
        made = await database.run(Task.objects.count) - before
        if answer["kind"] == "message":
            assert made == 0
        else:
            assert made == 1
            assert state_of(answer) == "FAILED"
        kinds.add(answer["kind"])
    assert kinds


# -- task


async def test_mode_task_has_no_replies(doing: Doing) -> None:
    task = await send(doing(lambda ctx: ctx.reply("hi")))
    assert (task["kind"], state_of(task)) == ("task", "FAILED")


async def test_mode_task_has_its_task_before_the_agent_runs(doing: Doing) -> None:
    states: list[str] = []
    agent = doing(lambda ctx: states.append(ctx.task.state))
    await send(agent)
    assert states == ["TASK_STATE_SUBMITTED"]
