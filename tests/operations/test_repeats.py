"""The same message again: the same task, the same reply (R-086, D-32)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction
from pytest_django import Settings

from a2a_django import Agent, engine
from a2a_django.agents import SyncTaskContext, TaskContext, registry
from a2a_django.engine import database, receipts
from a2a_django.engine.journal import Journal
from a2a_django.models import Message, MessageReceipt, PushConfig, Task
from a2a_django.operations import repeats
from a2a_django.protocol.errors import InternalError, InvalidParamsError, TaskNotFoundError, ThrottledError
from tests.engine.kit import (
    call_of,
    cancel,
    get,
    made_of,
    outputs,
    quiet,
    rest,
    send,
    short,
    some,
    state_of,
    states_in,
    stream,
    texts_of,
    until,
    when,
)
from tests.engine.test_runner import Steps, handed_in, journal_held_up, steps

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("3.3.1")]

__all__ = ["steps"]

SAME: dict[str, Any] = {"messageId": "same"}


class Counter:
    """An agent that counts its runs, and does what the text says."""

    def __init__(self) -> None:
        self.runs: list[str] = []

    async def run(self, ctx: TaskContext) -> str | None:
        self.runs.append(ctx.text)
        if ctx.text == "ask":
            await ctx.input_required("yes?")
            return None
        if ctx.text == "reply":
            await ctx.reply(f"reply {len(self.runs)}")
            return None
        return f"answer {len(self.runs)}"

    def agent(self, **attributes: Any) -> Agent:
        return made_of(self.run, **{"deduplicate": True, **attributes})


@pytest.fixture
def counter() -> Counter:
    return Counter()


async def count(rows: Any) -> int:
    return await database.run(rows.count)


# -- one after the other


@pytest.mark.parametrize("mode", ["task", "auto"])
async def test_the_same_message_again_gets_the_same_task(counter: Counter, mode: str) -> None:
    agent = counter.agent(mode=mode)
    first = await send(agent, **SAME)
    again = await send(agent, **SAME)
    assert again == first
    assert outputs(again) == ["answer 1"]
    assert counter.runs == ["hello"]
    assert await count(Task.objects) == await count(Message.objects) == await count(MessageReceipt.objects) == 1
    assert (await send(agent))["id"] != first["id"]


@pytest.mark.parametrize("mode", ["message", "auto"])
async def test_the_same_message_again_gets_the_same_reply(counter: Counter, mode: str) -> None:
    agent = counter.agent(mode=mode)
    first = await send(agent, "reply", **SAME)
    assert first["kind"] == "message"
    assert await send(agent, "reply", **SAME) == first
    ((event,),) = [await rest(await stream(agent, "reply", **SAME))]
    assert {"kind": "message", **event["message"]} == first
    assert counter.runs == ["reply"]
    assert texts_of(await send(agent, "reply")) == ["reply 2"]


async def test_without_the_option_every_message_is_worked_on(counter: Counter) -> None:
    agent = counter.agent(deduplicate=False)
    assert (await send(agent, **SAME))["id"] != (await send(agent, **SAME))["id"]
    assert await count(MessageReceipt.objects) == 0


async def test_owners_agents_and_tasks_have_ids_of_their_own(counter: Counter) -> None:
    agent, other = counter.agent(), counter.agent(slug="other")
    found = [
        await send(agent, **SAME),
        await send(agent, call=call_of(agent, owner="bob"), **SAME),
        await send(agent, call=call_of(agent, owner="Alice"), **SAME),
        await send(other, **SAME),
    ]
    assert len({task["id"] for task in found}) == 4
    asked = await send(agent, "ask")
    assert state_of(asked) == "INPUT_REQUIRED"
    await quiet()
    assert (await send(agent, task_id=asked["id"], **SAME))["id"] == asked["id"]  # said in a task it is another message
    assert len(counter.runs) == 6


async def test_messages_of_anonymous_callers_are_not_told_apart(counter: Counter) -> None:
    """All of them are one owner: one would get the answers of another."""
    agent = counter.agent()
    nobody = call_of(agent, owner="")
    assert (await send(agent, call=nobody, **SAME))["id"] != (await send(agent, call=nobody, **SAME))["id"]
    assert await count(MessageReceipt.objects) == 0


@pytest.mark.parametrize("mode", ["task", "message", "auto"])
async def test_an_id_that_was_used_for_another_message_is_an_error(counter: Counter, mode: str) -> None:
    agent = counter.agent(mode=mode)
    first = await send(agent, **SAME)
    changes: list[dict[str, Any]] = [{"text": "other"}, {"referenceTaskIds": ["t"]}, {"context_id": "c"}]
    for changed in changes:
        with pytest.raises(InvalidParamsError) as refused:
            await send(agent, **SAME, **changed)
        assert [violation.field for violation in refused.value.violations] == ["message.message_id"]
    assert await send(agent, **SAME) == first
    assert counter.runs == ["hello"]


async def test_what_is_asked_for_besides_may_differ(counter: Counter) -> None:
    agent = counter.agent()
    first = await send(agent, "ask", **SAME)
    await quiet()
    again = await send(agent, "ask", history_length=0, immediately=True, metadata={"other": 1}, **SAME)
    assert again["id"] == first["id"]
    assert "history" not in again
    assert len(counter.runs) == 1


# -- messages of a task that exists


async def test_an_answer_to_a_question_is_taken_once(counter: Counter) -> None:
    agent = counter.agent()
    task = await send(agent, "ask")
    await quiet()
    answer = await send(agent, "yes", task_id=task["id"], **SAME)
    assert state_of(answer) == "COMPLETED"
    assert await send(agent, "yes", task_id=task["id"], **SAME) == answer  # although the task takes no more messages
    assert counter.runs == ["ask", "yes"]
    assert await count(Message.objects.filter(role="ROLE_USER")) == 2
    with pytest.raises(InvalidParamsError):
        await send(agent, "no", task_id=task["id"], **SAME)


async def test_a_repeat_of_a_message_that_was_passed_gets_the_task_as_it_is(counter: Counter) -> None:
    """The run of the message has asked back long ago; the task is at the next one by now."""
    agent = counter.agent()
    first = await send(agent, "ask", **SAME)
    await quiet()
    await send(agent, "ask", task_id=first["id"])
    await quiet()
    again = await send(agent, "ask", **SAME)
    assert (again["id"], state_of(again)) == (first["id"], "INPUT_REQUIRED")
    assert len(again["history"]) == 3
    ((only,),) = [await rest(await stream(agent, "ask", **SAME))]
    assert only["task"] == {name: value for name, value in again.items() if name != "kind"}


async def test_a_message_that_was_refused_has_not_been_sent(counter: Counter) -> None:
    agent = counter.agent()
    with pytest.raises(TaskNotFoundError):
        await send(agent, task_id="nowhere", **SAME)
    task = await send(agent, "ask")
    await quiet()
    for _ in range(2):
        with pytest.raises(InvalidParamsError, match="context"):
            await send(agent, "yes", task_id=task["id"], context_id="another", **SAME)
    assert state_of(await send(agent, "yes", task_id=task["id"], **SAME)) == "COMPLETED"
    assert await count(MessageReceipt.objects) == 2


async def test_somebody_else_learns_nothing_of_a_task(counter: Counter) -> None:
    agent = counter.agent()
    task = await send(agent, "ask")
    await quiet()
    await send(agent, "yes", task_id=task["id"], **SAME)
    with pytest.raises(TaskNotFoundError):
        await send(agent, "yes", task_id=task["id"], call=call_of(agent, owner="bob"), **SAME)


# -- while it is at work


async def test_a_repeat_waits_for_the_end_as_the_first_does(steps: Steps) -> None:
    agent = steps.agent(deduplicate=True)
    first = await send(agent, immediately=True, **SAME)
    again = asyncio.ensure_future(send(agent, **SAME))
    events = await stream(agent, **SAME)
    assert (await some(events))[0]["task"]["id"] == first["id"]
    assert not again.done()
    steps.go.set()
    assert state_of(await again) == "COMPLETED"
    assert states_in(await rest(events))[-1] == "COMPLETED"
    assert outputs(await again) == ["done"]
    assert steps.calls == 1


async def test_a_repeat_of_a_message_that_waits_waits_for_its_turn(steps: Steps) -> None:
    agent = steps.agent(deduplicate=True)
    task = await send(agent, immediately=True)
    await send(agent, "next", task_id=task["id"], immediately=True, **SAME)
    again = asyncio.ensure_future(send(agent, "next", task_id=task["id"], **SAME))
    events = await stream(agent, "next", task_id=task["id"], **SAME)
    steps.go.set()
    assert state_of(await again) == "COMPLETED"
    assert states_in(await rest(events))[-1] == "COMPLETED"
    assert steps.calls == 1  # the task ended first


async def test_a_repeat_takes_no_place(steps: Steps, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS_PER_OWNER": 1, "MAX_RUNS": 1, "MAX_QUEUED_PER_OWNER": 0}
    agent = steps.agent(deduplicate=True)
    first = await send(agent, immediately=True, **SAME)
    for _ in range(3):
        assert (await send(agent, immediately=True, **SAME))["id"] == first["id"]
    with pytest.raises(ThrottledError):
        await send(agent, immediately=True)
    assert engine.get().runner.quota.taken("alice") == 1
    steps.go.set()
    await quiet()


async def test_a_repeat_of_what_waits_for_a_run_waits_with_it(
    steps: Steps, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS_PER_OWNER": 1, "MAX_QUEUED_PER_OWNER": 1}
    agent = steps.agent(deduplicate=True)
    monkeypatch.setattr(registry, "_agents", {agent.slug: agent})  # whoever has room runs it
    await send(agent, immediately=True)
    first = await send(agent, immediately=True, **SAME)
    assert state_of(first) == "SUBMITTED"
    assert await send(agent, immediately=True, **SAME) == first
    again = asyncio.ensure_future(send(agent, **SAME))
    events = await stream(agent, **SAME)
    for _ in range(2):
        with pytest.raises(ThrottledError):
            await send(agent, messageId="too many")
    assert steps.calls == 1
    steps.go.set()
    assert states_in(await rest(events)) == ["WORKING", "COMPLETED"]
    assert outputs(await again) == ["done"]
    await quiet()
    assert state_of(await send(agent, messageId="too many")) == "COMPLETED"
    assert steps.calls == 3


async def test_a_message_for_which_there_was_no_place_may_be_sent_again(steps: Steps, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS_PER_OWNER": 1, "MAX_QUEUED_PER_OWNER": 0}
    for mode in ("task", "auto"):
        agent = steps.agent(deduplicate=True, mode=mode)
        steps.go.clear()
        await send(agent, immediately=True)
        with pytest.raises(ThrottledError):
            await send(agent, messageId=f"refused {mode}")
        steps.go.set()
        await quiet()
        assert state_of(await send(agent, messageId=f"refused {mode}")) == "COMPLETED"
        await quiet()


async def test_a_cancelled_task_stays_what_it_is(steps: Steps) -> None:
    agent = steps.agent(deduplicate=True)
    first = await send(agent, immediately=True, **SAME)
    await cancel(agent, first["id"])
    assert state_of(await send(agent, **SAME)) == "CANCELED"
    assert [short(event["task"]["status"]["state"]) for event in await rest(await stream(agent, **SAME))] == [
        "CANCELED"
    ]


async def test_a_webhook_is_not_registered_again(counter: Counter, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "WEBHOOK_ALLOWED_HOSTS": ["hook.test"], "PUSH_IN_PROCESS": False}
    agent = counter.agent(push_notifications=True)
    hook = {"taskPushNotificationConfig": {"url": "https://hook.test/1"}}
    first = await send(agent, configuration=hook, **SAME)
    again = await send(agent, configuration={"taskPushNotificationConfig": {"url": "https://hook.test/2"}}, **SAME)
    assert again["id"] == first["id"]
    assert await database.run(lambda: [row.url for row in PushConfig.objects.all()]) == ["https://hook.test/1"]


async def test_a_deleted_task_takes_its_receipts_along(counter: Counter) -> None:
    agent = counter.agent()
    first = await send(agent, **SAME)
    await quiet()
    await database.run(lambda: Task.objects.all().delete())
    assert await count(MessageReceipt.objects) == 0
    assert (await send(agent, **SAME))["id"] != first["id"]


# -- at the same moment


@pytest.mark.parametrize("mode", ["task", "message", "auto"])
async def test_a_crowd_of_the_same_gets_one_answer(counter: Counter, mode: str) -> None:
    agent = counter.agent(mode=mode)
    answers = await asyncio.gather(*(send(agent, **SAME) for _ in range(20)))
    assert all(answer == answers[0] for answer in answers)
    assert len(counter.runs) == 1


@pytest.mark.parametrize("follow_up", [False, True])
async def test_the_same_in_one_transaction_gets_one_task(
    counter: Counter, follow_up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As calls on several loops may have it: nothing here waits for anything but the journal."""
    monkeypatch.setattr(repeats, "_turns", Apart())
    agent = counter.agent()
    task_id = None
    if follow_up:
        task_id = (await send(agent, "ask"))["id"]
        await quiet()
    async with journal_held_up():
        calls = [asyncio.ensure_future(send(agent, task_id=task_id, **SAME)) for _ in range(5)]
        calls.append(asyncio.ensure_future(send(agent, "other", task_id=task_id, **SAME)))
        await handed_in(6)
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refused = answers.pop()
    assert isinstance(refused, InvalidParamsError)
    assert len({answer["id"] for answer in answers}) == 1  # type: ignore[index]
    assert {state_of(answer) for answer in answers} == {"COMPLETED"}  # type: ignore[arg-type]
    assert len(counter.runs) == 1 + follow_up


class Apart(dict[Any, Any]):
    """Turns for which nobody has to wait."""

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return default


@pytest.mark.parametrize("mode", ["message", "auto"])
async def test_the_same_waits_until_it_is_known_what_comes_of_it(
    mode: str, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(repeats, "_turns", Apart())
    settings.A2A = {**settings.A2A, "AUTO_GRACE_SECONDS": 60}
    go, runs = asyncio.Event(), []

    async def run(ctx: TaskContext) -> None:
        runs.append(ctx.text)
        await go.wait()
        await ctx.reply("at last")

    agent = made_of(run, mode=mode, deduplicate=True)
    first = asyncio.ensure_future(send(agent, **SAME))
    await when(lambda: runs)
    again = [asyncio.ensure_future(send(agent, **SAME)) for _ in range(3)]
    with pytest.raises(InvalidParamsError):
        await send(agent, "other", **SAME)
    assert await count(MessageReceipt.objects.exclude(holder="")) == 1
    assert not any(call.done() for call in (first, *again))
    go.set()
    answers = await asyncio.gather(first, *again)
    assert all(answer == answers[0] for answer in answers)
    assert len(runs) == 1


async def test_it_is_not_waited_for_longer_than_for_any_answer(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "BLOCKING_SECONDS": 0.2}
    go = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        await go.wait()
        await ctx.reply("at last")

    agent = made_of(run, mode="message", deduplicate=True)
    first = asyncio.ensure_future(send(agent, **SAME))
    await until(MessageReceipt.objects.exists)
    with pytest.raises(Exception, match="being worked on"):
        await send(agent, **SAME)
    repeats._turns.clear()
    with pytest.raises(Exception, match="being worked on"):
        await send(agent, **SAME)
    go.set()
    assert await send(agent, **SAME) == await first


@pytest.mark.parametrize("mode", ["task", "message", "auto"])
async def test_the_sender_of_the_first_may_leave(steps: Steps, mode: str) -> None:
    """Whatever it was doing, the message is worked on once, and the next one gets what comes of it."""
    runs = []

    async def run(ctx: TaskContext) -> str:
        runs.append(ctx.text)
        await steps.go.wait()
        return "done"

    agent = made_of(run, mode=mode, deduplicate=True)
    async with journal_held_up():
        first = asyncio.ensure_future(send(agent, **SAME))
        await handed_in(1)
        first.cancel()
        await asyncio.wait({first})
    await when(lambda: runs)
    again = asyncio.ensure_future(send(agent, **SAME))
    steps.go.set()
    assert "done" in str(await again)
    assert len(runs) == 1


# -- when it goes wrong


async def test_an_error_is_no_answer() -> None:
    runs = []

    async def run(ctx: TaskContext) -> None:
        runs.append(ctx.text)
        if len(runs) < 3:
            raise ZeroDivisionError
        await ctx.reply("at last")

    agent = made_of(run, mode="message", deduplicate=True)
    for _ in range(2):
        with pytest.raises(InternalError):
            await send(agent, **SAME)
        await until(lambda: not MessageReceipt.objects.exists())
    assert texts_of(await send(agent, **SAME)) == ["at last"]
    assert len(runs) == 3


async def test_a_task_that_failed_is_an_answer() -> None:
    runs = []

    async def run(ctx: TaskContext) -> None:
        runs.append(ctx.text)
        raise ZeroDivisionError

    for mode in ("task", "auto"):
        agent = made_of(run, mode=mode, deduplicate=True, slug=mode)
        first = await send(agent, **SAME)
        assert state_of(first) == "FAILED"
        assert await send(agent, **SAME) == first
    assert len(runs) == 2


@pytest.mark.parametrize("in_transaction", [False, True])
async def test_a_plain_agent_that_makes_its_task(in_transaction: bool) -> None:
    """In the agent's own transaction, too, and when that is rolled back."""
    runs = []

    def run(ctx: SyncTaskContext) -> str:
        runs.append(ctx.text)
        if in_transaction:
            try:
                with transaction.atomic():
                    ctx.working()
                    raise RuntimeError
            except RuntimeError:
                pass
            with transaction.atomic():
                ctx.working()
        else:
            ctx.working()
        return "done"

    agent = made_of(run, mode="auto", deduplicate=True)
    answers = await asyncio.gather(*(send(agent, **SAME) for _ in range(5)))
    assert all(outputs(answer) == ["done"] for answer in answers)
    assert len({answer["id"] for answer in answers}) == len(runs) == 1


async def test_a_reply_that_cannot_be_kept_is_not_given(monkeypatch: pytest.MonkeyPatch, counter: Counter) -> None:
    agent = counter.agent(mode="message")

    def fail(*args: Any) -> None:
        raise RuntimeError("the database does not want it")

    with monkeypatch.context() as patched:
        patched.setattr(receipts.Receipts, "answer", fail)
        with pytest.raises(InternalError):
            await send(agent, **SAME)
    await until(lambda: not MessageReceipt.objects.exists())
    assert texts_of(await send(agent, **SAME)) == ["answer 2"]
    await quiet()


# -- when its process is lost


def lose(journal: Journal | None = None) -> int:
    """Let the leases of all messages that are held have run out."""
    past = receipts.clock.read(database.alias()) - receipts.dt.timedelta(seconds=1)
    return MessageReceipt.objects.exclude(holder="").update(lease_expires_at=past)


@pytest.mark.parametrize("mode", ["message", "auto"])
async def test_what_is_lost_is_taken_over_and_the_lost_run_makes_nothing_of_it(
    mode: str, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """The first one's process has been stopped for too long. Its caller gets what the second has made of it."""
    monkeypatch.setattr(repeats, "_turns", Apart())
    settings.A2A = {**settings.A2A, "AUTO_GRACE_SECONDS": 60}
    gates = [asyncio.Event(), asyncio.Event()]
    runs = []

    async def run(ctx: TaskContext) -> str:
        runs.append(ctx.text)
        number = len(runs)
        await gates[number - 1].wait()
        return f"run {number}"

    agent = made_of(run, mode=mode, deduplicate=True)
    first = asyncio.ensure_future(send(agent, **SAME))
    await when(lambda: len(runs) == 1)
    assert await database.run(lose) == 1
    second = asyncio.ensure_future(send(agent, **SAME))
    await when(lambda: len(runs) == 2)
    gates[0].set()
    assert await count(Task.objects) == 0
    gates[1].set()
    answers = [await first, await second]
    assert answers[0] == answers[1]
    assert "run 2" in str(answers[0])
    assert len(runs) == 2
    assert await count(MessageReceipt.objects.filter(holder="")) == 1


async def test_a_long_run_keeps_its_message(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.A2A = {**settings.A2A, "LEASE_SECONDS": 0.3, "AUTO_GRACE_SECONDS": 60}
    monkeypatch.setattr(repeats, "_turns", Apart())
    go, runs = asyncio.Event(), []

    async def run(ctx: TaskContext) -> None:
        runs.append(ctx.text)
        await go.wait()
        await ctx.reply("at last")

    agent = made_of(run, mode="auto", deduplicate=True)
    first = asyncio.ensure_future(send(agent, **SAME))
    row = await until(MessageReceipt.objects.first)
    # The lease has been made longer a few times.
    later = row.lease_expires_at + receipts.dt.timedelta(seconds=1)
    await until(MessageReceipt.objects.filter(holder=row.holder, lease_expires_at__gt=later).exists)
    go.set()
    assert await send(agent, **SAME) == await first
    assert len(runs) == 1


async def test_a_run_that_has_lost_its_message_is_stopped(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.A2A = {**settings.A2A, "LEASE_SECONDS": 0.3}
    endings: list[str] = []
    runs = []

    async def run(ctx: TaskContext) -> str:
        runs.append(ctx.text)
        if len(runs) == 1:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                endings.append("stopped")
                raise
        return "done"

    agent = made_of(run, mode="message", deduplicate=True)
    first = asyncio.ensure_future(send(agent, **SAME))
    await until(MessageReceipt.objects.exists)
    await database.run(lambda: MessageReceipt.objects.update(holder="somebody else"))
    await when(lambda: endings)
    assert texts_of(await first) == ["done"]  # nobody has renewed that lease, so it was taken over
    assert len(runs) == 2


async def test_the_end_of_a_process_gives_its_messages_up() -> None:
    started = asyncio.Event()

    async def run(ctx: TaskContext) -> str:
        if not started.is_set():
            started.set()
            await asyncio.sleep(60)
        return "done"

    agent = made_of(run, mode="message", deduplicate=True)
    first = asyncio.ensure_future(send(agent, **SAME))
    await started.wait()
    (row,) = await database.run(lambda: list(MessageReceipt.objects.all()))
    await asyncio.to_thread(engine.shutdown)
    assert await count(MessageReceipt.objects.filter(holder=row.holder)) == 0
    assert texts_of(await first) == ["done"]  # whoever takes it up


# -- sound in any case


async def test_a_storm_of_repeats_over_all_modes(counter: Counter) -> None:
    agents: list[Agent] = [counter.agent(mode=mode, slug=mode) for mode in ("task", "message", "auto")]
    ways: list[Callable[..., Any]] = [send, stream]

    async def one(agent: Agent, number: int, way: Callable[..., Any]) -> str:
        found = await way(agent, f"text {number}", messageId=f"m {number}")
        if way is send:
            return str(found.get("id") or found["messageId"])
        first = (await rest(found))[0]
        return str(first["task"]["id"] if "task" in first else first["message"]["messageId"])

    calls = [(agent, number, way) for agent in agents for number in range(4) for way in ways for _ in range(3)]
    found = await asyncio.gather(*(one(*each) for each in calls))
    by_message: dict[tuple[str, int], set[str]] = {}
    for (agent, number, _), name in zip(calls, found, strict=True):
        by_message.setdefault((agent.slug, number), set()).add(name)
    assert {len(names) for names in by_message.values()} == {1}
    assert len(counter.runs) == 12
    await quiet()
    assert await count(MessageReceipt.objects.filter(holder="")) == 12


async def test_a_task_answers_as_get_task_does(counter: Counter) -> None:
    agent = counter.agent()
    first = await send(agent, "ask", **SAME)
    await quiet()
    again = await send(agent, "ask", **SAME)
    again.pop("kind")
    assert again == await get(agent, first["id"])
    events = await stream(agent, "ask", **SAME)
    assert await firsts(events) == ["INPUT_REQUIRED"]


async def firsts(events: Any) -> list[str]:
    """The states of the tasks that a stream consists of."""
    return [short(event["task"]["status"]["state"]) for event in await rest(events)]
