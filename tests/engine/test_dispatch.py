"""Tasks that wait for the workers of a queue: given to it once, again when it was down or has lost them, and run by who
takes the lease. The queue is a list here; ``tests/runners`` has real ones."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from pytest_django import Settings

from a2a_django import Agent, engine
from a2a_django.agents import TaskContext, registry
from a2a_django.engine import database, dispatch, work
from a2a_django.engine.runners import RunnerBackend
from a2a_django.engine.work import Outcome
from a2a_django.models import Message, Task
from a2a_django.protocol.errors import UnavailableError
from tests.engine.kit import WAIT, cancel, get, made_of, outputs, quiet, row, send, state_of, until, when

pytestmark = pytest.mark.usefixtures("sound_rows", "looked_for_on_demand")


class ListRunner(RunnerBackend):
    """A queue that is a list of tasks and their queues."""

    name = "list"
    taken: ClassVar[list[tuple[str, str | None]]] = []
    #: Called before a task is taken; what it raises is what a queue raises that is down.
    before: ClassVar[Callable[[str], None]]

    def enqueue(self, task_id: str, *, queue: str | None) -> None:
        """Take a task."""
        type(self).before(task_id)
        self.taken.append((task_id, queue))


def nothing(task_id: str) -> None:
    """The queue is there."""


def away(task_id: str) -> None:
    """The queue is down."""
    raise ConnectionError("nobody listens")


@pytest.fixture(autouse=True)
def queue(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[tuple[str, str | None]]:
    """Give the site the queue."""
    monkeypatch.setattr(dispatch, "DOWN_SECONDS", 0)
    monkeypatch.setattr(ListRunner, "taken", [])
    monkeypatch.setattr(ListRunner, "before", staticmethod(nothing), raising=False)
    runner_is(settings)
    return ListRunner.taken


def runner_is(settings: Settings, **more: Any) -> None:
    settings.A2A = {
        **settings.A2A,
        "RUNNER": {"BACKEND": "tests.engine.test_dispatch.ListRunner", "AGAIN_SECONDS": 3600, **more},
    }


class Clerk:
    """An agent that asks once, or works until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.may_end = threading.Event()
        self.agent: Agent = made_of(self.run, slug="clerk", max_attempts=3)

    async def run(self, ctx: TaskContext) -> str | None:
        self.begun.set()
        if ctx.text == "ask":
            await ctx.input_required("which?")
            return None
        while ctx.text == "work" and not self.may_end.is_set():  # noqa: ASYNC110 - set from other threads
            await asyncio.sleep(0.01)
        return f"{ctx.text} done"


@pytest.fixture
def clerk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clerk]:
    found = Clerk()
    monkeypatch.setattr(registry, "_agents", {})
    registry.add(found.agent)
    yield found
    found.may_end.set()


async def carry_out(task_id: str) -> Outcome:
    """Do what a worker does."""
    return await asyncio.wait_for(asyncio.to_thread(work.run_task, task_id), WAIT)


async def look() -> None:
    """Look at the rows as processes do now and then."""
    dispatcher = engine.get().dispatcher
    assert dispatcher is not None
    await dispatcher.look()


def handed_in_before(seconds: float) -> None:
    moment = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=seconds)
    Task.objects.filter(handed_in_at__isnull=False).update(handed_in_at=moment)


async def test_a_task_waits_for_a_worker_and_is_run_once(clerk: Clerk, queue: list[Any]) -> None:
    call = asyncio.create_task(send(clerk.agent, "hello"))
    [(task_id, _)] = await until(lambda: list(queue))
    waiting = await database.run(row, task_id)
    assert (waiting.state, waiting.lease_holder) == ("TASK_STATE_SUBMITTED", "")
    assert waiting.queued_at is not None
    assert await carry_out(task_id) is Outcome.DONE
    assert outputs(await call) == ["hello done"]
    assert await carry_out(task_id) is Outcome.NOTHING
    assert await carry_out("01900000-0000-7000-8000-000000000000") is Outcome.NOTHING
    await look()
    assert len(queue) == 1
    assert (await database.run(row, task_id)).handed_in_at is None


async def test_two_workers_with_the_same_task(clerk: Clerk, queue: list[Any]) -> None:
    task = await send(clerk.agent, "work", immediately=True)
    both = [asyncio.create_task(carry_out(task["id"])) for _ in range(2)]
    await when(clerk.begun.is_set)
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    clerk.may_end.set()
    assert sorted(await asyncio.gather(*both)) == sorted([Outcome.DONE, Outcome.NOTHING])


async def test_the_answer_to_a_question_is_queued_again(clerk: Clerk, queue: list[Any]) -> None:
    task = await send(clerk.agent, "ask", immediately=True)
    assert await carry_out(task["id"]) is Outcome.DONE
    assert state_of(await get(clerk.agent, task["id"])) == "INPUT_REQUIRED"
    await send(clerk.agent, "this one", task_id=task["id"], immediately=True)
    await until(lambda: len(queue) == 2)
    assert await carry_out(task["id"]) is Outcome.DONE
    assert outputs(await get(clerk.agent, task["id"])) == ["this one done"]


async def test_messages_that_come_meanwhile_are_run_by_the_same_worker(clerk: Clerk, queue: list[Any]) -> None:
    task = await send(clerk.agent, "ask", immediately=True)
    await send(clerk.agent, "ask", task_id=task["id"], immediately=True)
    await send(clerk.agent, "end", task_id=task["id"], immediately=True)
    assert await carry_out(task["id"]) is Outcome.DONE
    assert outputs(await get(clerk.agent, task["id"])) == ["end done"]
    assert len(queue) == 1


async def test_agents_may_have_queues_of_their_own(clerk: Clerk, queue: list[Any], settings: Settings) -> None:
    runner_is(settings, QUEUE="agents", QUEUES={"clerk": "desk"})
    task = await send(clerk.agent, immediately=True)
    assert await until(lambda: list(queue)) == [(task["id"], "desk")]


async def test_a_worker_is_at_a_cancelled_task_until_its_agent_has_cleaned_up(
    clerk: Clerk, queue: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaning, cleaned = threading.Event(), threading.Event()

    async def clean_up(self: Agent, ctx: TaskContext) -> None:
        cleaning.set()
        await asyncio.to_thread(cleaned.wait, WAIT)

    monkeypatch.setattr(type(clerk.agent), "cancel", clean_up)
    task = await send(clerk.agent, "work", immediately=True)
    at_work = asyncio.create_task(carry_out(task["id"]))
    await when(clerk.begun.is_set)
    await cancel(clerk.agent, task["id"])
    await when(cleaning.is_set)
    assert not at_work.done()
    cleaned.set()
    assert await at_work is Outcome.DONE


async def test_a_cancelled_task_is_not_run(clerk: Clerk, queue: list[Any]) -> None:
    task = await send(clerk.agent, immediately=True)
    await cancel(clerk.agent, task["id"])
    assert await carry_out(task["id"]) is Outcome.NOTHING
    assert not clerk.begun.is_set()


async def test_tasks_wait_while_the_queue_is_down(
    clerk: Clerk, queue: list[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(ListRunner, "before", staticmethod(away))
    tasks = [(await send(clerk.agent, immediately=True))["id"] for _ in range(3)]
    await until(lambda: not Task.objects.filter(handed_in_at__isnull=False).exists())
    await look()
    assert queue == []
    assert [record.message for record in caplog.records if "not to be had" in record.message] == [
        "The queue of the agents is not to be had; until it is, tasks wait"
    ]
    monkeypatch.setattr(ListRunner, "before", staticmethod(nothing))
    async with asyncio.timeout(WAIT):
        while len(queue) < 3:  # the engine, which has seen the failure, may have some of them in hand just now
            await look()
    assert sorted(task_id for task_id, _ in queue) == sorted(tasks)
    assert "The queue of the agents is there again" in caplog.text
    for task_id in tasks:
        assert await carry_out(task_id) is Outcome.DONE


async def test_calls_are_refused_while_the_queue_is_down(
    clerk: Clerk, queue: list[Any], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner_is(settings, WHEN_DOWN="refuse")
    asked = await send(clerk.agent, "ask", immediately=True)
    assert [task_id for task_id, _ in queue] == [asked["id"]]
    assert await carry_out(asked["id"]) is Outcome.DONE
    before = await get(clerk.agent, asked["id"])
    monkeypatch.setattr(ListRunner, "before", staticmethod(away))
    for task_id in (None, asked["id"]):
        with pytest.raises(UnavailableError, match="cannot be reached"):
            await send(clerk.agent, "this", task_id=task_id, immediately=True)
    assert await get(clerk.agent, asked["id"]) == before
    assert await database.run(lambda: (Task.objects.count(), Message.objects.count())) == (1, 1)
    monkeypatch.setattr(ListRunner, "before", staticmethod(nothing))
    await send(clerk.agent, "this", task_id=asked["id"], immediately=True)
    assert await carry_out(asked["id"]) is Outcome.DONE
    assert len(queue) == 2


async def test_a_queue_that_does_not_answer_holds_nobody_up(
    clerk: Clerk, queue: list[Any], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner_is(settings, WHEN_DOWN="refuse", ENQUEUE_SECONDS=0.05)
    answers = threading.Event()
    monkeypatch.setattr(ListRunner, "before", staticmethod(lambda task_id: answers.wait(WAIT)))
    try:
        calls = [send(clerk.agent, immediately=True) for _ in range(2 * dispatch.THREADS)]
        refused = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), WAIT)
        assert {type(each) for each in refused} == {UnavailableError}
        assert await database.run(Task.objects.count) == 0
    finally:
        answers.set()


async def test_a_worker_waits_for_a_task_that_is_about_to_be_written(
    clerk: Clerk, queue: list[Any], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner_is(settings, WHEN_DOWN="refuse")
    workers: list[asyncio.Task[Outcome]] = []
    loop = asyncio.get_running_loop()
    looked = threading.Event()
    real = work._row

    def seen(task_id: str) -> Task | None:
        looked.set()
        return real(task_id)

    def at_once(task_id: str) -> None:
        loop.call_soon_threadsafe(lambda: workers.append(loop.create_task(carry_out(task_id))))
        assert looked.wait(WAIT)  # the worker was here before the task

    monkeypatch.setattr(work, "_row", seen)
    monkeypatch.setattr(ListRunner, "before", staticmethod(at_once))
    assert outputs(await send(clerk.agent, "hello")) == ["hello done"]
    assert await workers[0] is Outcome.DONE


async def test_what_the_queue_has_lost_is_given_to_it_again(
    clerk: Clerk, queue: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dispatch, "AGAIN_AT_ONCE", 2)
    tasks = [(await send(clerk.agent, immediately=True))["id"] for _ in range(4)]
    await until(lambda: len(queue) == 4)
    await look()
    assert len(queue) == 4  # it has only just got them
    await database.run(handed_in_before, 3601)
    await look()
    await look()
    # Those that have waited longest, once, however often one looks; on several threads, so they may pass each other.
    assert sorted(task_id for task_id, _ in queue[4:]) == sorted(tasks[:2])
    for task_id in tasks[:2]:
        assert await carry_out(task_id) is Outcome.DONE
    await look()
    assert sorted(task_id for task_id, _ in queue[6:]) == sorted(tasks[2:])


async def test_a_worker_that_is_told_to_stop_leaves_its_task(clerk: Clerk, queue: list[Any]) -> None:
    task = await send(clerk.agent, "work", immediately=True)
    at_work = asyncio.create_task(carry_out(task["id"]))
    await when(clerk.begun.is_set)
    await asyncio.to_thread(work.stop)
    assert await at_work is Outcome.LEFT
    left = await database.run(row, task["id"])
    assert (left.lease_holder, left.handed_in_at) == ("", None)
    assert left.queued_at is not None
    assert await carry_out(task["id"]) is Outcome.LEFT  # this worker takes nothing more
    await asyncio.to_thread(engine.shutdown)
    clerk.may_end.set()
    await look()
    assert len(queue) == 2
    assert await carry_out(task["id"]) is Outcome.DONE


async def test_a_process_that_ends_gives_the_queue_what_it_was_to_give(
    clerk: Clerk, queue: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answers = threading.Event(), threading.Event()

    def slow(task_id: str) -> None:
        asked.set()
        assert answers.wait(WAIT)

    monkeypatch.setattr(ListRunner, "before", staticmethod(slow))
    monkeypatch.setattr(engine, "EXIT_SECONDS", WAIT)
    task = await send(clerk.agent, immediately=True)
    await when(asked.is_set)
    ends = asyncio.create_task(asyncio.to_thread(engine.shutdown))
    await when(lambda: engine.current() is None)
    assert queue == []
    answers.set()
    await ends
    assert queue == [(task["id"], None)]


async def test_a_task_of_an_agent_that_is_not_here_goes_on_waiting(
    clerk: Clerk, queue: list[Any], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    task = await send(clerk.agent, immediately=True)
    with monkeypatch.context() as patch:
        patch.setattr(registry, "_agents", {})
        assert await carry_out(task["id"]) is Outcome.NOTHING
        assert "'clerk', which is not here" in caplog.text
    assert await carry_out(task["id"]) is Outcome.DONE


class TimeLimit(Exception):
    """What queues raise in the thread that carries out a task for too long."""


@pytest.fixture
def signals() -> Iterator[None]:
    numbers = (signal.SIGTERM, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number in numbers:
        signal.signal(number, before[number])


def signalled(clerk: Clerk, number: int) -> threading.Thread:
    """Send this process a signal as soon as the agent is at work."""

    def send_it() -> None:
        assert clerk.begun.wait(WAIT)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send_it)
    thread.start()
    return thread


@pytest.mark.usefixtures("signals")
def test_a_limit_of_the_queue_leaves_the_task_to_others(clerk: Clerk, queue: list[Any]) -> None:
    def raise_limit(*args: Any) -> None:
        raise TimeLimit

    signal.signal(signal.SIGALRM, raise_limit)
    task = asyncio.run(send(clerk.agent, "work", immediately=True))
    thread = signalled(clerk, signal.SIGALRM)
    with pytest.raises(TimeLimit):
        work.run_task(task["id"])
    thread.join()
    left = row(task["id"])
    assert (left.lease_holder, left.attempt) == ("", 1)
    assert left.queued_at is not None
    clerk.may_end.set()
    assert work.run_task(task["id"]) is Outcome.DONE  # this worker goes on


@pytest.mark.usefixtures("signals")
def test_a_worker_is_told_to_stop_by_a_signal_to_its_thread(clerk: Clerk, queue: list[Any]) -> None:
    heard: list[int] = []

    def hear(number: int, frame: Any) -> None:
        heard.append(number)

    signal.signal(signal.SIGTERM, hear)
    task = asyncio.run(send(clerk.agent, "work", immediately=True))
    thread = signalled(clerk, signal.SIGTERM)
    assert work.run_task(task["id"]) is Outcome.LEFT
    thread.join()
    assert heard == [signal.SIGTERM]
    assert signal.getsignal(signal.SIGTERM) is hear
    assert row(task["id"]).queued_at is not None


@pytest.mark.parametrize("when_down", ["wait", "refuse"])
@pytest.mark.parametrize("backend", ["django_tasks", "celery"])
async def test_queues_that_carry_tasks_out_at_once(
    clerk: Clerk, settings: Settings, backend: str, when_down: str
) -> None:
    more: dict[str, Any] = {}
    if backend == "celery":
        more = {"OPTIONS": {"APP": "tests.engine.eager.app"}}
    settings.A2A = {**settings.A2A, "RUNNER": {"BACKEND": backend, "WHEN_DOWN": when_down, **more}}
    assert outputs(await send(clerk.agent, "hello")) == ["hello done"]
    await quiet()
