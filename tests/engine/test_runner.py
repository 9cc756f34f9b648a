"""Runs against cancels, leaving clients, other senders and failing databases: interleavings that are forced."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from django.db import IntegrityError
from django.utils import timezone
from pytest_django import Settings

from a2a_django import Agent, TaskEnded, engine
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.engine import database, history
from a2a_django.engine.batch import Batch
from a2a_django.models import Message, Task
from a2a_django.protocol.errors import TaskNotCancelableError, UnavailableError, UnsupportedOperationError
from tests.engine.kit import (
    cancel,
    get,
    made_of,
    outputs,
    quiet,
    request,
    rest,
    row,
    said,
    send,
    short,
    some,
    state_of,
    states_in,
    status_text,
    stream,
    subscribe,
    until,
    up_to,
    when,
)
from tests.engine.writing import held_up

pytestmark = pytest.mark.usefixtures("sound_rows")


@asynccontextmanager
async def journal_held_up() -> AsyncIterator[None]:
    """Inside, jobs gather in the journal of this process."""
    gate = held_up(engine.get().journal)
    await asyncio.to_thread(gate.__enter__)
    try:
        yield
    finally:
        gate.__exit__(None, None, None)


async def handed_in(count: int) -> None:
    """Wait until so many jobs wait in the journal."""
    await when(lambda: len(engine.get().journal._jobs) >= count)


async def stored(task_id: str) -> Task:
    return await database.run(row, task_id)


class Steps:
    """An agent that goes on when it is told to, and remembers what became of it."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.calls = 0
        self.active = 0
        self.overlaps = 0
        self.endings: list[str] = []
        self.cancels: list[str] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self.calls += 1
        self.active += 1
        self.overlaps += self.active > 1
        try:
            yield
            self.endings.append("returned")
        except BaseException as error:
            self.endings.append(type(error).__name__)
            raise
        finally:
            self.active -= 1

    async def run(self, ctx: TaskContext) -> str | None:
        """Report, wait, answer."""
        async with self.running():
            await ctx.working()
            await self.go.wait()
            return "done"

    async def cancel(self, ctx: TaskContext) -> None:
        self.cancels.append(ctx.task_id)

    def agent(self, **attributes: Any) -> Agent:
        return made_of(self.run, cancel=self.cancel, **attributes)


@pytest.fixture
async def steps() -> Steps:
    return Steps()


# -- cancel against the end


async def completes(steps: Steps, ctx: TaskContext) -> str:
    await ctx.working()
    await steps.go.wait()
    return "done"


async def fails(steps: Steps, ctx: TaskContext) -> None:
    await completes(steps, ctx)
    raise ZeroDivisionError


async def asks(steps: Steps, ctx: TaskContext) -> None:
    await completes(steps, ctx)
    await ctx.input_required("?")


async def after(turns: int, call: Callable[[], Any]) -> Any:
    """Call after the loop has gone round some times."""
    for _ in range(turns):
        await asyncio.sleep(0)
    found = call()
    return await found if asyncio.iscoroutine(found) else found


@pytest.mark.spec("3.1.5")
@pytest.mark.parametrize(("body", "ends"), [(completes, "COMPLETED"), (fails, "FAILED"), (asks, "INPUT_REQUIRED")])
async def test_cancel_against_the_end_of_a_run(body: Callable[..., Any], ends: str) -> None:
    outcomes = set()
    for offset in range(-10, 14):
        steps = Steps()

        async def run(ctx: TaskContext, steps: Steps = steps) -> Any:
            return await body(steps, ctx)

        agent = made_of(run)
        events = await stream(agent)
        task_id = (await up_to(events, "WORKING"))[0]["task"]["id"]
        watching = await subscribe(agent, task_id)
        cancelling, _ = await asyncio.gather(
            after(max(offset, 0), lambda: cancel(agent, task_id)),  # noqa: B023
            after(max(-offset, 0), steps.go.set),
            return_exceptions=True,
        )
        seen = states_in(await rest(watching))
        own = states_in(await rest(events))
        end = state_of(await get(agent, task_id))
        assert seen[-1] == end
        assert own[-1] in (end, "INPUT_REQUIRED")
        if isinstance(cancelling, TaskNotCancelableError):
            assert end == ends
        else:
            assert state_of(cancelling) == end == "CANCELED"
            assert "CANCELED" not in seen[:-1]
        outcomes.add((end, ends in seen))
    assert {("CANCELED", False), ("CANCELED" if ends == "INPUT_REQUIRED" else ends, True)} <= outcomes


@pytest.mark.parametrize("first", ["cancel", "end"])
async def test_what_reaches_the_journal_first_decides(steps: Steps, first: str) -> None:
    agent = steps.agent()
    events = await stream(agent)
    task_id = (await up_to(events, "WORKING"))[0]["task"]["id"]
    async with journal_held_up():
        if first == "end":
            steps.go.set()
            await handed_in(2)
        cancelling = asyncio.ensure_future(cancel(agent, task_id))
        await handed_in(3 if first == "end" else 1)
        steps.go.set()
        await asyncio.sleep(0)
    if first == "end":
        with pytest.raises(TaskNotCancelableError):
            await cancelling
    else:
        assert state_of(await cancelling) == "CANCELED"
    end = "COMPLETED" if first == "end" else "CANCELED"
    assert states_in(await rest(events)) == [end]
    assert short((await stored(task_id)).state) == end


@pytest.mark.spec("3.1.5")
async def test_cancel_stops_the_run_and_then_calls_the_hook_once(steps: Steps) -> None:
    agent = steps.agent()
    task = await send(agent, immediately=True)
    await when(lambda: steps.active)
    await cancel(agent, task["id"])
    await cancel(agent, task["id"])
    await when(lambda: steps.cancels)
    await quiet()
    assert steps.endings == ["CancelledError"]
    assert steps.cancels == [task["id"]]


@pytest.mark.spec("3.1.5")
async def test_a_deaf_run_can_say_nothing_after_the_cancel() -> None:
    tried: list[str] = []
    over = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        await ctx.working()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        for say in (ctx.artifact("late"), ctx.complete(), ctx.input_required("late?")):
            try:
                await say
            except TaskEnded:
                tried.append("ended")
        assert ctx.cancelled
        over.set()

    agent = made_of(run)
    events = await stream(agent)
    task_id = (await up_to(events, "WORKING"))[0]["task"]["id"]
    await cancel(agent, task_id)
    assert states_in(await rest(events)) == ["CANCELED"]
    await over.wait()
    await quiet()
    assert tried == ["ended"] * 3
    assert (await get(agent, task_id)).keys() & {"artifacts"} == set()


async def test_what_a_run_leaves_behind_can_say_nothing_after_its_end() -> None:
    left: list[asyncio.Task[Any]] = []
    go = asyncio.Event()

    async def later(ctx: TaskContext) -> None:
        await go.wait()
        await ctx.artifact("late")

    async def run(ctx: TaskContext) -> None:
        left.append(asyncio.create_task(later(ctx)))
        if ctx.text == "ask":
            await ctx.input_required("?")

    agent = made_of(run)
    ended, parked = await send(agent), await send(agent, "ask")
    await quiet()
    go.set()
    await asyncio.wait(left)
    await quiet()
    for task in (ended, parked):
        assert outputs(await get(agent, task["id"])) == []


@pytest.mark.spec("3.1.5")
async def test_a_task_that_is_cancelled_before_its_run_has_begun_is_not_run(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The follow-up is accepted; while its past is read, the task is cancelled."""
    agent = steps.agent()

    async def ask(ctx: TaskContext) -> None:
        await ctx.input_required("?")

    task = await send(made_of(ask))
    await quiet()
    reading, go_on = threading.Event(), threading.Event()
    past_of = history.past_of

    def slowly(*args: Any, **options: Any) -> Any:
        past = past_of(*args, **options)
        reading.set()
        go_on.wait(10)
        return past

    monkeypatch.setattr(history, "past_of", slowly)
    following = asyncio.ensure_future(send(agent, "more", task_id=task["id"]))
    await asyncio.to_thread(reading.wait, 10)
    assert state_of(await cancel(agent, task["id"])) == "CANCELED"
    go_on.set()
    assert state_of(await following) == "CANCELED"
    await when(lambda: steps.cancels)
    await quiet()
    assert steps.calls == 0
    assert steps.cancels == [task["id"]]


@pytest.mark.spec("3.1.5")
async def test_a_task_that_is_cancelled_between_two_runs_is_not_run_again(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message waits; its run is about to begin when the task is cancelled."""
    reading, go_on = threading.Event(), threading.Event()
    past_of = history.past_of

    async def run(ctx: TaskContext) -> None:
        async with steps.running():
            await ctx.input_required("?")
            await steps.go.wait()

    def slowly(*args: Any, **options: Any) -> Any:
        past = past_of(*args, **options)
        reading.set()
        go_on.wait(10)
        return past

    agent = made_of(run, cancel=steps.cancel)
    task = await send(agent)
    following = asyncio.ensure_future(send(agent, "more", task_id=task["id"]))
    await until(lambda: Message.objects.filter(task=task["id"], message_id__startswith="m-").count() == 2)
    await asyncio.sleep(0.05)
    monkeypatch.setattr(history, "past_of", slowly)
    steps.go.set()
    await asyncio.to_thread(reading.wait, 10)
    assert state_of(await cancel(agent, task["id"])) == "CANCELED"
    go_on.set()
    assert state_of(await following) == "CANCELED"
    await when(lambda: steps.cancels)
    await quiet()
    assert steps.calls == 1


# -- clients that leave


async def leave(call: asyncio.Future[Any]) -> None:
    """The client is gone: its call is cancelled, as the servers do it."""
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()


async def the_only_task() -> Task:
    found = await until(lambda: list(Task.objects.all()))
    assert len(found) == 1
    return found[0]  # type: ignore[no-any-return]


@pytest.mark.parametrize("mode", ["task", "auto"])
@pytest.mark.parametrize("kind", [send, stream])
async def test_a_client_that_leaves_while_its_task_is_made_leaves_a_task_that_runs(
    steps: Steps, mode: str, kind: Any
) -> None:
    steps.go.set()
    async with journal_held_up():
        call = asyncio.ensure_future(kind(steps.agent(mode=mode)))
        await handed_in(1)
        await leave(call)
    task = await the_only_task()
    await until(lambda: Task.objects.get(pk=task.pk).is_terminal)
    await quiet()
    assert outputs(await get(steps.agent(), task.pk)) == ["done"]
    assert engine.get().feed._readers == {}


async def test_a_client_that_leaves_while_the_last_event_is_written_changes_nothing(steps: Steps) -> None:
    agent = steps.agent()
    call = asyncio.ensure_future(send(agent))
    events = await stream(agent)
    await up_to(events, "WORKING")
    await when(lambda: steps.active == 2)
    async with journal_held_up():
        steps.go.set()
        await handed_in(4)
        await leave(call)
        await events.aclose()
    await quiet()
    tasks = await database.run(lambda: list(Task.objects.all()))
    for task in tasks:
        assert outputs(await get(agent, task.pk)) == ["done"]
    assert [short(task.state) for task in tasks] == ["COMPLETED"] * 2
    assert engine.get().feed._readers == {}


async def test_a_client_that_leaves_while_its_follow_up_is_accepted_has_it_run(steps: Steps) -> None:
    async def run(ctx: TaskContext) -> str | None:
        if len(ctx.history) > 1:
            return ctx.text
        await ctx.input_required("?")
        return None

    agent = made_of(run)
    task = await send(agent)
    await quiet()
    async with journal_held_up():
        call = asyncio.ensure_future(send(agent, "more", task_id=task["id"]))
        await handed_in(1)
        await leave(call)
    await until(lambda: Task.objects.get(pk=task["id"]).is_terminal)
    assert outputs(await get(agent, task["id"])) == ["more"]


@pytest.mark.spec("3.1.5")
async def test_a_client_that_leaves_while_its_cancel_is_written_has_the_run_stopped(steps: Steps) -> None:
    agent = steps.agent()
    task = await send(agent, immediately=True)
    await when(lambda: steps.active)
    async with journal_held_up():
        call = asyncio.ensure_future(cancel(agent, task["id"]))
        await handed_in(1)
        await leave(call)
    await when(lambda: steps.cancels)
    assert steps.endings == ["CancelledError"]


# -- several senders


@pytest.mark.spec("3.3.3")
async def test_runs_of_one_task_never_overlap_and_every_message_is_there_once() -> None:
    steps = Steps()

    async def run(ctx: TaskContext) -> None:
        async with steps.running():
            await ctx.working()
            await asyncio.sleep(0)
            if len(ctx.history) < 9:
                await ctx.input_required(f"after {ctx.text}")
            else:
                await ctx.complete()

    agent = made_of(run)
    task = await send(agent, "first")
    for start in range(1, 8, 2):
        texts = [f"text {i}" for i in (start, start + 1)]
        calls = [send(agent, text, task_id=task["id"]) for text in texts]
        for answer in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(answer, (dict, UnsupportedOperationError))
    await quiet()
    assert steps.overlaps == 0
    history_texts = said(await get(agent, task["id"]))
    mine = [text for text in history_texts if text.startswith("text")]
    assert len(mine) == len(set(mine))
    assert steps.calls <= len(mine) + 1


@pytest.mark.spec("3.3.3")
async def test_a_message_that_waits_is_answered_for_by_its_own_run(steps: Steps) -> None:
    """The follow-up is accepted between INPUT_REQUIRED and the return of the run."""

    async def run(ctx: TaskContext) -> None:
        async with steps.running():
            await ctx.input_required(f"question {steps.calls}")
            if steps.calls == 1:
                await steps.go.wait()

    agent = made_of(run)
    events = await stream(agent, "one")
    task_id = (await up_to(events, "INPUT_REQUIRED"))[0]["task"]["id"]
    second = asyncio.ensure_future(send(agent, "two", task_id=task_id))
    third = await stream(agent, "three", task_id=task_id)
    assert state_of((await some(third))[0]["task"]) == "INPUT_REQUIRED"
    await until(lambda: Message.objects.filter(task=task_id, role="ROLE_USER").count() == 3)
    assert steps.calls == 1
    assert not second.done()
    steps.go.set()
    assert status_text(await second) in ("question 2", "question 3")
    assert states_in(await rest(third))[-1] == "INPUT_REQUIRED"
    assert states_in(await rest(events)) in ([], ["INPUT_REQUIRED"], ["INPUT_REQUIRED"] * 2)
    await quiet()
    assert steps.calls == 3
    assert steps.overlaps == 0


@pytest.mark.spec("3.3.3")
@pytest.mark.parametrize("kind", ["blocking", "stream"])
@pytest.mark.parametrize("runs", [2, 3])
async def test_a_message_that_had_its_turn_before_its_sender_began_to_read(
    kind: str, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waited when it was accepted; before its sender has read the task, its run is over (and the next, too)."""
    go, calls, heard = asyncio.Event(), [1], threading.Event()
    release = threading.Event()
    past_of = history.past_of
    agent_calls: list[str] = []

    async def run(ctx: TaskContext) -> None:
        agent_calls.append(ctx.text)
        await ctx.input_required(f"question {len(agent_calls)}")
        if len(agent_calls) == 1:
            await go.wait()

    def slow_at_first(*args: Any, **options: Any) -> Any:
        if calls:
            calls.pop()
            heard.set()
            assert release.wait(10)
        return past_of(*args, **options)

    agent = made_of(run)
    task = await send(agent, "one")
    monkeypatch.setattr(history, "past_of", slow_at_first)
    call = send if kind == "blocking" else stream
    second: Any = asyncio.ensure_future(call(agent, "two", task_id=task["id"]))
    assert await asyncio.to_thread(heard.wait, 10)
    go.set()
    await when(lambda: len(agent_calls) == 2)
    await quiet(coming=1)
    if runs == 3:
        await send(agent, "three", task_id=task["id"])
        await quiet(coming=1)
    release.set()
    answer = await second
    if kind == "blocking":
        assert status_text(answer) == f"question {runs}"
    else:
        (first,) = await rest(answer)
        assert status_text(first["task"]) == f"question {runs}"


@pytest.mark.spec("3.3.3")
async def test_a_message_whose_task_ends_before_its_turn_is_not_run(steps: Steps) -> None:
    agent = steps.agent()
    task = await send(agent, immediately=True)
    await when(lambda: steps.active)
    blocking = asyncio.ensure_future(send(agent, "more", task_id=task["id"]))
    streaming = await stream(agent, "and more", task_id=task["id"])
    await until(lambda: Message.objects.filter(task=task["id"]).count() == 3)
    steps.go.set()
    answer = await blocking
    assert state_of(answer) == "COMPLETED"
    assert outputs(answer) == ["done"]
    assert sorted(said(answer)) == ["and more", "hello", "more"]
    assert states_in(await rest(streaming))[-1] == "COMPLETED"
    await quiet()
    assert steps.calls == 1


@pytest.mark.spec("3.3.3")
@pytest.mark.spec("3.7")
async def test_what_is_said_under_an_id_that_was_used_before_is_worked_on_and_shown() -> None:
    heard: list[str] = []

    async def run(ctx: TaskContext) -> None:
        heard.append(ctx.text)
        await (ctx.input_required("?") if len(heard) < 3 else ctx.complete())

    agent = made_of(run)
    task = await send(agent, "one", messageId="same")
    for text in ("two", "three"):
        answer = await send(agent, text, task_id=task["id"], messageId="same")
    assert heard == ["one", "two", "three"]
    assert state_of(answer) == "COMPLETED"
    assert said(answer) == ["one", "?", "two", "?", "three"]
    assert said(await get(agent, task["id"], historyLength=1)) == ["three"]


@pytest.mark.spec("3.3.3")
@pytest.mark.spec("3.7")
async def test_the_same_message_once_more_is_worked_on_and_shown_once() -> None:
    heard: list[str] = []

    async def run(ctx: TaskContext) -> None:
        heard.append(ctx.text)
        await ctx.input_required("?")

    agent = made_of(run)
    task = await send(agent, "one")
    # The order of members is no part of a message.
    for part in ({"text": "two", "filename": "two.txt"}, {"filename": "two.txt", "text": "two"}):
        answer = await send(agent, task_id=task["id"], messageId="same", parts=[part])
    assert heard == ["one", "two", "two"]
    assert said(answer) == ["one", "?", "two", "?"]


@pytest.mark.spec("3.3.3")
async def test_a_message_is_not_lost_when_the_watch_sees_its_run_first(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows say attempt 2 before run 1 has heard that it is over; the watch takes run 1 for one that was fenced."""

    async def run(ctx: TaskContext) -> str | None:
        async with steps.running():
            if steps.calls == 1:
                await ctx.input_required("?")
                await steps.go.wait()
                return None
            return "done"

    here = engine.get()
    deliver = here.journal._deliver

    def watch_first(done: Any) -> Any:
        for one in done:
            if one.attempt == 2 and one.running:
                here.runner.lost(one.task_id, one.attempt)
        return deliver(done)

    monkeypatch.setattr(here.journal, "_deliver", watch_first)
    agent = made_of(run)
    task = await send(agent, "one")
    second = asyncio.ensure_future(send(agent, "two", task_id=task["id"]))
    await until(lambda: Message.objects.filter(task=task["id"], role="ROLE_USER").count() == 2)
    steps.go.set()
    assert outputs(await second) == ["done"]


# -- leases


async def test_a_run_whose_lease_was_taken_is_stopped_and_changes_nothing(steps: Steps, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "LEASE_SECONDS": 0.15}
    agent = steps.agent()
    task = await send(agent, immediately=True)
    await until(lambda: short(row(task["id"]).state) == "WORKING")
    rows = Task.objects.filter(pk=task["id"])
    far = timezone.now() + dt.timedelta(days=1)
    await database.run(lambda: rows.update(lease_holder="another", lease_expires_at=far, attempt=2))
    await when(lambda: steps.endings)
    await quiet()
    assert steps.endings == ["CancelledError"]
    assert steps.cancels == []
    found = await stored(task["id"])
    assert (short(found.state), found.lease_holder, found.attempt) == ("WORKING", "another", 2)
    await database.run(rows.delete)


async def test_who_takes_a_task_over_runs_what_waited_first_and_as_it_was_sent() -> None:
    heard: list[tuple[str, list[str]]] = []
    go = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        heard.append((ctx.text, [task.pk for task in ctx.references]))
        await ctx.input_required("?")
        if ctx.text == "one":
            await go.wait()

    agent = made_of(run)
    other = await send(agent, "other")
    task = await send(agent, "one")
    waiting = asyncio.ensure_future(send(agent, "two", task_id=task["id"], referenceTaskIds=[other["id"]]))
    await until(lambda: Message.objects.filter(task=task["id"], role="ROLE_USER").count() == 2)
    past = timezone.now() - dt.timedelta(days=1)
    await database.run(lambda: Task.objects.filter(pk=task["id"]).update(lease_expires_at=past))
    await send(agent, "three", task_id=task["id"])
    await waiting
    go.set()
    await quiet()
    assert heard[1:] == [("one", []), ("two", [other["id"]]), ("three", [])]


async def test_a_lease_is_renewed_while_a_run_is_silent(steps: Steps, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "LEASE_SECONDS": 0.15}
    task = await send(steps.agent(), immediately=True)
    await when(lambda: steps.active)
    first = (await stored(task["id"])).lease_expires_at
    await until(lambda: row(task["id"]).lease_expires_at > first)
    steps.go.set()
    await until(lambda: row(task["id"]).is_terminal)


def test_a_run_that_dies_with_its_loop_leaves_its_lease_to_run_out() -> None:
    """A process that ends is not an agent that failed: another may take the task when the lease is over."""

    async def main() -> str:
        steps = Steps()
        task = await send(steps.agent(), immediately=True)
        await when(lambda: steps.active)
        return str(task["id"])

    task_id = asyncio.run(main())
    engine.get().journal.close()
    found = row(task_id)
    assert not found.is_terminal
    assert found.lease_holder


# -- databases that fail


@pytest.fixture
def poison(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events that contain "poison" cannot be stored."""
    save = Batch.save

    def poisoned(self: Batch) -> None:
        save(self)
        if any("poison" in event.wire for event in self.events):
            raise IntegrityError("no poison")

    monkeypatch.setattr(Batch, "save", poisoned)


async def chunks(ctx: TaskContext) -> None:
    for text in ("a", "b", "poison", "c", "d"):
        await ctx.artifact(text, artifact_id="out", append=True)


async def deaf_chunks(ctx: TaskContext) -> None:
    with suppress(asyncio.CancelledError, TaskEnded):
        await chunks(ctx)
        await asyncio.sleep(60)
    with suppress(TaskEnded):
        await ctx.artifact("e", artifact_id="out", append=True)
    await ctx.complete()


async def parks(ctx: TaskContext) -> None:
    await chunks_before(ctx)
    await ctx.input_required("poison")


async def ends(ctx: TaskContext) -> None:
    await chunks_before(ctx)
    await ctx.complete("poison")


async def chunks_before(ctx: TaskContext) -> None:
    for text in ("a", "b"):
        await ctx.artifact(text, artifact_id="out", append=True)


def plain_chunks(ctx: SyncTaskContext) -> None:
    for text in ("a", "b", "poison", "c"):
        ctx.artifact(text, artifact_id="out", append=True)


def plain_and_careless(ctx: SyncTaskContext) -> None:
    for text in ("a", "b", "poison", "c"):
        with suppress(Exception):
            ctx.artifact(text, artifact_id="out", append=True)


@pytest.mark.usefixtures("poison")
@pytest.mark.parametrize("run", [chunks, deaf_chunks, parks, ends, plain_chunks, plain_and_careless])
async def test_a_run_of_which_something_was_not_recorded_has_failed(run: Callable[..., Any]) -> None:
    agent = made_of(run)
    events = await stream(agent)
    found = await rest(events)
    assert states_in(found)[-1] == "FAILED"
    task = await get(agent, found[0]["task"]["id"])
    assert outputs(task) == ["a", "b"]
    assert "poison" not in str(task) + str(found)
    await quiet()


# -- limits


async def test_there_are_no_more_runs_than_allowed(steps: Steps, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS": 2, "MAX_QUEUED_PER_OWNER": 0}
    agent = steps.agent()
    tasks = [await send(agent, immediately=True) for _ in range(2)]
    for call in (send(agent), stream(agent), send(agent, task_id=tasks[0]["id"])):
        with pytest.raises(UnavailableError):
            await call
    assert state_of(await cancel(agent, tasks[0]["id"])) == "CANCELED"
    await when(lambda: len(engine.get().runner._runs) == 1)
    steps.go.set()
    assert state_of(await send(agent)) == "COMPLETED"
    assert await database.run(Task.objects.count) == 3


async def test_there_are_no_more_runs_than_allowed_in_a_burst_either(steps: Steps, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS": 3, "MAX_QUEUED_PER_OWNER": 0}
    for mode in ("task", "auto"):
        agent = steps.agent(mode=mode)
        steps.go.clear()
        calls = [asyncio.ensure_future(send(agent)) for _ in range(10)]
        await when(lambda: sum(call.done() for call in calls) == 7)  # noqa: B023
        steps.go.set()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        assert sum(isinstance(answer, UnavailableError) for answer in answers) == 7
        await quiet()


async def test_parked_tasks_are_no_runs(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS": 1}

    async def run(ctx: TaskContext) -> None:
        await ctx.input_required("?")

    agent = made_of(run)
    for _ in range(3):
        await send(agent)
        await quiet()


async def test_no_run_is_left_behind_by_anything(steps: Steps) -> None:
    """Nothing that ends keeps its place among the runs, its reader, or its timer."""
    agent = steps.agent()
    tasks = [await send(agent, immediately=True) for _ in range(4)]
    for task in tasks[:2]:
        await cancel(agent, task["id"])
    steps.go.set()
    await quiet()
    here = engine.get()
    assert here.runner.attempts() == {}
    assert here.feed.positions() == {}
    assert request("x")["message"]["parts"] == [{"text": "x"}]
