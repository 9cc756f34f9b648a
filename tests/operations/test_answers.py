"""What SendMessage answers: the task as its rows have it, at the right moment, with as much history as asked for."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.operations import messages
from a2a_django.operations.turns import MAX_FOLDED
from tests.engine.kit import (
    folded,
    get,
    listed,
    made_of,
    outputs,
    quiet,
    rest,
    said,
    send,
    some,
    state_of,
    stream,
    up_to,
)

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.1.1")]

IDS = ("out", "other", "third")


async def random_step(ctx: TaskContext, luck: random.Random) -> None:
    """Say something about the task, anything that is allowed."""
    what = luck.randrange(7)
    metadata = {luck.choice("abc"): luck.randrange(3)} if luck.random() < 0.4 else None
    text = f"text {luck.randrange(1000)}"
    if what == 0:
        await ctx.working(text if luck.random() < 0.7 else None, metadata=metadata)
    elif what == 1:
        message = {"messageId": luck.choice(("x", "y", "users")), "role": "ROLE_AGENT", "parts": [{"text": text}]}
        status = {"state": "TASK_STATE_WORKING", "message": message}
        await ctx.publish({"statusUpdate": {"status": status, **({"metadata": metadata} if metadata else {})}})
    elif what == 2:
        await ctx.artifact(text, artifact_id=luck.choice(IDS), name=luck.choice(("", "N", "M")), metadata=metadata)
    elif what in (3, 4):
        await ctx.artifact(text, {"n": 1}, artifact_id=luck.choice(IDS), append=True, metadata=metadata)
    elif what == 5:
        artifact = {
            "artifactId": luck.choice(IDS),
            "parts": [{"raw": "eA=="}],
            "extensions": luck.sample(["https://e/1", "https://e/2"], luck.randrange(3)),
            "description": luck.choice(("", "D")),
        }
        await ctx.publish({"artifactUpdate": {"artifact": artifact, "append": luck.random() < 0.6}})
    else:
        await ctx.auth_required(text)
        await ctx.working()


def random_agent(luck: random.Random, steps: int) -> Agent:
    async def run(ctx: TaskContext) -> None:
        for _ in range(luck.randrange(steps)):
            await random_step(ctx, luck)
        end = luck.randrange(6)
        if end == 0:
            await ctx.fail("no")
        elif end == 1:
            await ctx.reject()
        elif end in (2, 3) and len(ctx.history) < 6:
            await ctx.input_required(f"question {luck.randrange(10)}")
        elif end == 4:
            raise RuntimeError

    return made_of(run)


@pytest.mark.parametrize("seed", range(40))
async def test_an_answer_put_together_from_events_is_the_task_as_its_rows_have_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    luck = random.Random(seed)
    answered_from_events: list[bool] = []

    def noting(*args: Any, **options: Any) -> str | None:
        text = messages_folded(*args, **options)
        answered_from_events.append(text is not None)
        return text

    messages_folded = messages.folded
    monkeypatch.setattr(messages, "folded", noting)
    agent = random_agent(luck, 12)
    task_id = None
    for _ in range(3):
        length = luck.choice((None, None, 0, 1, 2, 10))
        message_id = luck.choice(("users", None))
        options = {"messageId": message_id} if message_id else {}
        answer = await send(agent, f"hello {seed}", task_id=task_id, history_length=length, **options)
        assert answer.pop("kind") == "task"
        state = state_of(answer)
        if state not in ("AUTH_REQUIRED", "INPUT_REQUIRED"):
            wanted = {"historyLength": length} if length is not None else {}
            assert answer == await get(agent, answer["id"], **wanted)
        await quiet()
        task_id = answer["id"] if state_of(await get(agent, answer["id"])) == "INPUT_REQUIRED" else None
    assert len(answered_from_events) <= 3


async def test_most_answers_are_put_together_from_events(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **options: Any) -> Any:
        raise AssertionError("the rows were read")

    async def run(ctx: TaskContext) -> str:
        await ctx.working("at work")
        return "done"

    agent = made_of(run)
    await send(agent)
    monkeypatch.setattr("a2a_django.engine.snapshots.read", fails)
    answer = await send(agent)
    assert (outputs(answer), said(answer)) == (["done"], ["hello", "at work"])


async def test_a_long_answer_is_read_from_the_rows() -> None:
    async def run(ctx: TaskContext) -> None:
        for i in range(MAX_FOLDED + 5):
            await ctx.artifact(str(i), artifact_id="out", append=True)

    assert outputs(await send(made_of(run))) == [str(i) for i in range(MAX_FOLDED + 5)]


@pytest.mark.parametrize("seed", range(40, 55))
async def test_what_a_reader_makes_of_a_stream_is_the_task_as_its_rows_have_it(seed: int) -> None:
    agent = random_agent(random.Random(seed), 25)
    events = await rest(await stream(agent, messageId="users"))
    await quiet()
    assert folded(events) == await get(agent, events[0]["task"]["id"])


# -- when


@pytest.mark.spec("3.2.2")
async def test_an_answer_comes_when_the_task_has_ended_or_asks_back() -> None:
    go = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        await ctx.working()
        await go.wait()
        await getattr(ctx, ctx.text)()
        await asyncio.sleep(60)

    agent = made_of(run)
    for method, state in (
        ("input_required", "INPUT_REQUIRED"),
        ("auth_required", "AUTH_REQUIRED"),
        ("complete", "COMPLETED"),
        ("fail", "FAILED"),
        ("reject", "REJECTED"),
    ):
        go.clear()
        sending = asyncio.ensure_future(send(agent, method))
        await asyncio.sleep(0.02)
        assert not sending.done()
        go.set()
        assert state_of(await sending) == state


@pytest.mark.spec("3.2.2")
async def test_after_the_longest_wait_the_task_as_it_is_is_the_answer(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "BLOCKING_SECONDS": 0.05}
    go = asyncio.Event()

    async def run(ctx: TaskContext) -> str:
        await ctx.working()
        await go.wait()
        return "done"

    agent = made_of(run)
    answer = await send(agent)
    assert state_of(answer) in ("SUBMITTED", "WORKING")
    assert said(answer) == ["hello"]
    go.set()
    await quiet()
    assert outputs(await get(agent, answer["id"])) == ["done"]


@pytest.mark.spec("3.2.2")
async def test_return_immediately_answers_as_soon_as_there_is_a_task() -> None:
    go = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        await go.wait()
        if len(ctx.history) == 1:
            await ctx.input_required("?")

    agent = made_of(run)
    task = await send(agent, immediately=True)
    assert (state_of(task), said(task)) == ("SUBMITTED", ["hello"])
    go.set()
    await quiet()
    go.clear()
    task = await send(agent, "more", task_id=task["id"], immediately=True)
    assert (state_of(task), said(task)) == ("INPUT_REQUIRED", ["hello", "?", "more"])
    go.set()
    await quiet()


# -- how much history


async def asks_twice(ctx: TaskContext) -> None:
    if len(ctx.history) < 5:
        await ctx.working("thinking")
        await ctx.input_required(f"question {len(ctx.history)}")


HISTORY = ["one", "thinking", "question 1", "two", "thinking"]


@pytest.mark.spec("3.2.4")
@pytest.mark.parametrize(("length", "expected"), [(None, 5), (0, 0), (1, 1), (2, 2), (5, 5), (100, 5)])
async def test_history_length_is_the_number_of_the_newest_messages(length: int | None, expected: int) -> None:
    agent = made_of(asks_twice)
    task = await send(agent, "one")
    await quiet()
    answer = await send(agent, "two", task_id=task["id"], history_length=length)
    newest = HISTORY[len(HISTORY) - expected :]
    assert said(answer) == newest
    assert ("history" in answer) == bool(expected)
    await quiet()
    wanted = {} if length is None else {"historyLength": length}
    assert said(await get(agent, task["id"], **wanted)) == newest
    (entry,) = (await listed(agent, **wanted))["tasks"]
    assert said(entry) == newest
    assert ("history" in entry) == bool(expected)


@pytest.mark.spec("3.2.4")
@pytest.mark.parametrize(("length", "expected"), [(None, ["one"]), (0, []), (1, ["one"]), (2, ["one"])])
async def test_history_length_counts_for_the_first_task_of_a_new_stream_and_answer(
    length: int | None, expected: list[str]
) -> None:
    agent = made_of(asks_twice)
    (first, *_) = await rest(await stream(agent, "one", history_length=length))
    assert said(first["task"]) == expected
    assert ("history" in first["task"]) == bool(expected)
    assert said(await send(agent, "one", history_length=length, immediately=True)) == expected
    await quiet()


@pytest.mark.spec("3.2.4")
@pytest.mark.parametrize(
    ("length", "expected"),
    [(None, ["one", "thinking", "question 1", "two"]), (0, []), (1, ["two"]), (2, ["question 1", "two"])],
)
async def test_history_length_counts_for_the_first_task_of_a_follow_up(length: int | None, expected: list[str]) -> None:
    agent = made_of(asks_twice)
    task = await send(agent, "one")
    await quiet()
    events = await stream(agent, "two", task_id=task["id"], history_length=length)
    (first,) = await some(events)
    assert said(first["task"]) == expected
    await up_to(events, "INPUT_REQUIRED")
    await quiet()
