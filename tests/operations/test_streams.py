"""When a stream begins, what it contains and when it ends (Spec 3.1.2, 3.1.6; D-05, D-07)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from a2a_django import engine
from a2a_django.agents import TaskContext
from a2a_django.engine import database
from a2a_django.models import Message, Task
from a2a_django.protocol.errors import InvalidParamsError, TaskNotFoundError, UnsupportedOperationError
from tests.engine.kit import (
    call_of,
    cancel,
    folded,
    get,
    made_of,
    outputs,
    quiet,
    reading,
    rest,
    send,
    some,
    state_of,
    states_in,
    stream,
    subscribe,
    until,
    up_to,
    when,
)

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.1.2")]


class Script:
    """An agent whose runs each do the next of some steps; "wait" waits for ``go``."""

    def __init__(self, *runs: list[str]) -> None:
        self.runs = list(runs)
        self.go = asyncio.Event()

    async def __call__(self, ctx: TaskContext) -> None:
        for step in self.runs.pop(0):
            if step == "wait":
                await self.go.wait()
            elif step == "artifact":
                await ctx.artifact("x")
            else:
                await getattr(ctx, step)(step)


async def test_a_stream_is_a_task_then_what_happens_then_the_end() -> None:
    agent = made_of(Script(["working", "artifact"]).__call__)
    events = await rest(await stream(agent))
    assert [next(iter(event)) for event in events] == ["task", "statusUpdate", "artifactUpdate", "statusUpdate"]
    assert state_of(events[0]["task"]) == "SUBMITTED"
    assert states_in(events) == ["WORKING", "COMPLETED"]


async def test_a_stream_ends_when_its_run_has_asked_for_input_and_returned() -> None:
    script = Script(["input_required", "wait"])
    agent = made_of(script.__call__)
    events = await stream(agent)
    await up_to(events, "INPUT_REQUIRED")
    async with reading(events) as ending:
        await asyncio.sleep(0.05)
        assert not ending.done()
        script.go.set()
        assert await ending == []


async def test_a_stream_that_nobody_reads_while_its_run_returns_ends_all_the_same() -> None:
    script = Script(["input_required", "wait"])
    agent = made_of(script.__call__)
    events = await stream(agent)
    await up_to(events, "INPUT_REQUIRED")
    script.go.set()
    await quiet()
    assert await rest(events) == []


async def test_a_stream_that_is_read_late_ends_with_the_question_of_its_own_run() -> None:
    agent = made_of(Script(["working", "input_required"], ["working"]).__call__)
    events = await stream(agent, "one")
    task_id = (await some(events))[0]["task"]["id"]
    await quiet()
    assert state_of(await send(agent, "two", task_id=task_id)) == "COMPLETED"
    assert states_in(await rest(events)) == ["WORKING", "INPUT_REQUIRED"]


async def test_the_old_question_in_the_first_task_of_a_follow_up_ends_nothing() -> None:
    script = Script(["input_required"], ["wait", "working", "artifact"])
    agent = made_of(script.__call__)
    task = await send(agent)
    await quiet()
    events = await stream(agent, "answer", task_id=task["id"])
    (first,) = await some(events)
    assert state_of(first["task"]) == "INPUT_REQUIRED"
    async with reading(events) as ending:
        await asyncio.sleep(0.05)
        assert not ending.done()
        script.go.set()
        assert states_in(await ending) == ["WORKING", "COMPLETED"]


async def test_a_question_asked_again_ends_the_stream_of_the_follow_up() -> None:
    agent = made_of(Script(["input_required"], ["working", "input_required"]).__call__)
    task = await send(agent)
    await quiet()
    assert states_in(await rest(await stream(agent, task_id=task["id"]))) == ["WORKING", "INPUT_REQUIRED"]


@pytest.mark.spec("7.6")
async def test_a_stream_stays_open_while_a_credential_is_awaited() -> None:
    agent = made_of(Script(["auth_required"], ["working"]).__call__)
    events = await stream(agent)
    task_id = (await up_to(events, "AUTH_REQUIRED"))[0]["task"]["id"]
    await quiet()
    async with reading(events) as ending:
        await asyncio.sleep(0.05)
        assert not ending.done()
        await send(agent, "here", task_id=task_id)
        assert states_in(await ending) == ["WORKING", "COMPLETED"]


async def test_a_question_after_which_the_run_goes_on_ends_nothing() -> None:
    script = Script(["input_required", "wait", "working", "artifact"])
    agent = made_of(script.__call__)
    events = await stream(agent)
    await up_to(events, "INPUT_REQUIRED")
    script.go.set()
    assert states_in(await rest(events)) == ["WORKING", "COMPLETED"]


@pytest.mark.spec("3.1.6")
async def test_a_subscription_stays_open_through_questions_until_the_end() -> None:
    agent = made_of(Script(["input_required"], ["auth_required"], ["input_required"], ["working"]).__call__)
    task = await send(agent)
    await quiet()
    events = await subscribe(agent, task["id"])
    (first,) = await some(events)
    assert state_of(first["task"]) == "INPUT_REQUIRED"
    async with reading(events) as ending:
        for text in ("one", "two", "three"):
            assert not ending.done()
            await send(agent, text, task_id=task["id"])
            await quiet()
        assert states_in(await ending) == ["AUTH_REQUIRED", "INPUT_REQUIRED", "WORKING", "COMPLETED"]


@pytest.mark.spec("3.1.6")
async def test_a_subscription_ends_with_a_cancel() -> None:
    agent = made_of(Script(["input_required"]).__call__)
    task = await send(agent)
    await quiet()
    events = await subscribe(agent, task["id"])
    await cancel(agent, task["id"])
    assert states_in(await rest(events)) == ["CANCELED"]


async def test_the_stream_of_a_message_that_waits_ends_with_its_own_runs_question() -> None:
    script = Script(["input_required", "wait"], ["working", "input_required"])
    agent = made_of(script.__call__)
    first = await stream(agent, "one")
    task_id = (await up_to(first, "INPUT_REQUIRED"))[0]["task"]["id"]
    second = await stream(agent, "two", task_id=task_id)
    assert await database.run(Message.objects.filter(attempt__isnull=True, role="ROLE_USER").count) == 1
    script.go.set()
    await quiet()
    assert states_in(await rest(first)) == []
    assert states_in(await rest(second)) == ["WORKING", "INPUT_REQUIRED"]


async def test_every_stream_of_a_task_gets_the_same_events_in_the_same_order() -> None:
    script = Script(["working", "wait", "artifact", "artifact", "working"])
    agent = made_of(script.__call__)
    own = await stream(agent)
    events = await up_to(own, "WORKING")
    task_id = events[0]["task"]["id"]
    others = [await subscribe(agent, task_id) for _ in range(3)]
    await others[0].aclose()
    script.go.set()
    tail = await rest(own)
    for other in others[1:]:
        (first, *more) = await rest(other)
        assert "task" in first
        assert more == tail
    assert folded(events + tail) == await get(agent, task_id)


async def test_a_closed_stream_is_over_and_leaves_no_reader() -> None:
    script = Script(["working", "wait"])
    agent = made_of(script.__call__)
    events = await stream(agent)
    await up_to(events, "WORKING")
    await events.aclose()
    await events.aclose()
    assert await rest(events) == []
    assert engine.get().feed._readers == {}
    script.go.set()
    await quiet()
    assert (await database.run(Task.objects.get)).is_terminal


async def test_a_stream_that_is_closed_while_somebody_reads_it_leaves_no_reader() -> None:
    script = Script(["working", "wait"])
    agent = made_of(script.__call__)
    events = await stream(agent)
    await up_to(events, "WORKING")
    async with reading(events):
        await asyncio.sleep(0)
    await events.aclose()
    assert engine.get().feed._readers == {}
    script.go.set()
    await quiet()


# -- errors come before the first event


@pytest.mark.spec("3.1.6")
async def test_a_subscription_to_a_task_that_has_ended_is_refused() -> None:
    agent = made_of(Script(["artifact"]).__call__)
    task = await send(agent)
    with pytest.raises(UnsupportedOperationError):
        await subscribe(agent, task["id"])
    with pytest.raises(UnsupportedOperationError):
        await stream(agent, task_id=task["id"])
    with pytest.raises(TaskNotFoundError):
        await subscribe(agent, "unknown")
    with pytest.raises(TaskNotFoundError):
        await stream(agent, task_id="unknown")
    assert engine.get().feed._readers == {}


async def test_where_nothing_streams_streams_are_refused() -> None:
    script = Script(["wait"])
    agent = made_of(script.__call__)
    task = await send(agent, immediately=True)
    silent = made_of(script.__call__, streaming=False)
    for one, call in ((silent, call_of(silent)), (agent, call_of(agent, streaming=False))):
        with pytest.raises(UnsupportedOperationError):
            await stream(one, call=call)
        with pytest.raises(UnsupportedOperationError):
            await subscribe(one, task["id"], call=call)
    assert await database.run(Task.objects.count) == 1
    script.go.set()
    await quiet()


@pytest.mark.spec("3.1.6")
async def test_subscriptions_around_the_end_end_with_it_or_are_refused() -> None:
    refused, ended = 0, 0
    for pause in range(25):
        script = Script(["working", "wait", "artifact"])
        agent = made_of(script.__call__)
        task = await send(agent, immediately=True)
        await until(lambda pk=task["id"]: Task.objects.get(pk=pk).last_seq == 1)  # type: ignore[misc]
        script.go.set()
        for _ in range(pause):
            await asyncio.sleep(0)
        try:
            events = await rest(await subscribe(agent, task["id"]))
        except UnsupportedOperationError:
            refused += 1
        else:
            ended += 1
            assert states_in(events) == ["COMPLETED"]
            assert outputs(folded(events)) == ["x"]
        await quiet()
    assert refused + ended == 25
    assert ended


async def test_a_message_that_cannot_be_accepted_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    agent = made_of(Script(["input_required"]).__call__)
    task = await send(agent, context_id="c")
    await quiet()
    before: Any = await get(agent, task["id"])
    with pytest.raises(InvalidParamsError) as caught:
        await stream(agent, task_id=task["id"], context_id="another")
    assert caught.value.violations[0].field == "message.context_id"
    assert await get(agent, task["id"]) == before
    await when(lambda: engine.get().feed._readers == {})
