"""What one owner may have at work: counted once, given back whatever happens (D-35)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from pytest_django import Settings

from a2a_django import Agent, engine
from a2a_django.agents import SyncTaskContext, TaskContext
from a2a_django.engine import history
from a2a_django.engine.batch import Batch
from a2a_django.engine.quotas import Quota, Share
from a2a_django.protocol.errors import ThrottledError
from tests.engine.kit import call_of, cancel, made_of, quiet, send, state_of, when
from tests.engine.test_runner import Steps, handed_in, journal_held_up, steps

pytestmark = pytest.mark.usefixtures("sound_rows")

__all__ = ["steps"]


def taken(owner: str = "alice") -> int:
    return engine.get().runner.quota.taken(owner)


class TestShares:
    @pytest.fixture
    def quota(self, settings: Settings) -> Quota:
        settings.A2A = {**settings.A2A, "MAX_RUNS_PER_OWNER": 2}
        return Quota("MAX_RUNS_PER_OWNER", "enough")

    def test_every_owner_has_as_many(self, quota: Quota) -> None:
        for owner in ("alice", "bob", ""):
            mine = [quota.take(owner) for _ in range(2)]
            with pytest.raises(ThrottledError, match="enough"):
                quota.take(owner)
            mine[0].release()
            quota.take(owner)
        assert [quota.taken(owner) for owner in ("alice", "bob", "", "carol")] == [2, 2, 2, 0]

    @pytest.mark.parametrize(
        ("steps", "counted"),
        [
            ("release release", 0),
            ("pause", 0),
            ("pause pause resume resume", 1),
            ("release resume", 0),
            ("pause release resume", 0),
            ("release pause resume", 0),
        ],
    )
    def test_a_share_counts_once_and_never_again_after_its_end(self, quota: Quota, steps: str, counted: int) -> None:
        other = quota.take_anyway("alice")
        share = quota.take_anyway("alice")
        for step in steps.split():
            getattr(share, step)()
        assert quota.taken("alice") == 1 + counted
        other.release()
        share.release()
        assert not quota._taken  # nothing is kept of an owner who has nothing

    def test_what_goes_on_anyway_counts_too(self, quota: Quota) -> None:
        shares = [quota.take_anyway("alice") for _ in range(3)]
        with pytest.raises(ThrottledError):
            quota.take("alice")
        for share in shares:
            share.release()
        quota.take("alice")

    def test_threads_do_not_lose_count(self, quota: Quota) -> None:
        shares: list[Share] = [quota.take_anyway("alice") for _ in range(8)]
        barrier = threading.Barrier(8)

        def work(number: int) -> None:
            barrier.wait(20)
            for turn in range(300):
                share = shares[(number + turn) % 8]
                (share.pause if turn % 2 else share.resume)()
            barrier.wait(20)
            shares[number].release()
            shares[number].resume()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        assert not quota._taken


async def test_a_burst_gets_no_further_than_the_quota(steps: Steps, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS_PER_OWNER": 3, "MAX_QUEUED_PER_OWNER": 0}
    for mode in ("task", "auto"):
        agent = steps.agent(mode=mode)
        steps.go.clear()
        calls = [asyncio.ensure_future(send(agent)) for _ in range(10)]
        others = [asyncio.ensure_future(send(agent, call=call_of(agent, owner="bob"))) for _ in range(3)]
        await when(lambda: sum(call.done() for call in calls) == 7)  # noqa: B023
        steps.go.set()
        answers = await asyncio.gather(*calls, *others, return_exceptions=True)
        assert sum(isinstance(answer, ThrottledError) for answer in answers) == 7
        await quiet()


async def test_a_caller_who_leaves_while_the_task_is_made_takes_nothing_with_him(steps: Steps) -> None:
    """The run begins all the same, counts while it is at work, and no longer."""
    for mode, follow_up in (("task", False), ("auto", False), ("task", True)):
        steps.go.set()
        agent = steps.agent(mode=mode)
        task_id = None
        if follow_up:
            asking = made_of(lambda ctx: ctx.input_required("?"))
            task_id = (await send(asking))["id"]
        await quiet()
        steps.go.clear()
        async with journal_held_up():
            call = asyncio.ensure_future(send(agent, task_id=task_id))
            await handed_in(1)
            assert taken() >= 1
            call.cancel()
            with suppress(asyncio.CancelledError):
                await call
        await when(lambda: steps.active == 1)
        await when(lambda: taken() == 1)
        steps.go.set()
        await quiet()


async def test_a_run_counts_while_it_works_and_not_while_it_waits_for_its_sender(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "MAX_RUNS_PER_OWNER": 1, "MAX_QUEUED_PER_OWNER": 0}
    signed_in, go = asyncio.Event(), asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        await ctx.auth_required("who are you?")
        await signed_in.wait()
        await ctx.working()
        await go.wait()

    agent = made_of(run)
    for _ in range(3):
        await send(agent)
    assert taken() == 0
    signed_in.set()
    await when(lambda: taken() == 3)  # what was allowed to begin goes on, beyond the quota if need be
    with pytest.raises(ThrottledError):
        await send(agent)
    go.set()
    await quiet()


async def test_an_answer_to_a_question_counts_from_its_beginning() -> None:
    """The task is still parked when its next run begins; the run is at work all the same."""
    go = asyncio.Event()

    async def run(ctx: TaskContext) -> None:
        if len(ctx.history) == 1:
            await ctx.input_required("?")
        else:
            await go.wait()

    agent = made_of(run)
    task = await send(agent)
    await quiet()
    await send(agent, task_id=task["id"], immediately=True)
    assert taken() == 1
    go.set()
    await quiet()


def raising(error: BaseException) -> Callable[..., Any]:
    async def run(ctx: TaskContext) -> None:
        await ctx.auth_required("?")
        raise error

    return run


async def slow(ctx: TaskContext) -> None:
    await asyncio.sleep(60)


async def parked(ctx: TaskContext) -> None:
    await ctx.auth_required("?")
    await asyncio.sleep(60)


async def answer(ctx: TaskContext) -> None:
    await ctx.reply("hello")


@pytest.mark.parametrize(
    ("run", "attributes"),
    [
        (raising(ZeroDivisionError()), {}),
        (raising(SystemExit()), {}),
        (raising(asyncio.CancelledError()), {}),
        (slow, {"timeout": 0.05}),
        (parked, {"timeout": 0.2}),
        (answer, {"mode": "message"}),
        (answer, {"mode": "auto"}),
        (lambda ctx: [ctx.working(), ctx.input_required("?"), ctx.working(), ctx.complete()], {}),
    ],
)
async def test_however_a_run_ends_it_no_longer_counts(run: Callable[..., Any], attributes: dict[str, Any]) -> None:
    agent = made_of(run, **attributes)
    with suppress(Exception):
        await send(agent)
    await quiet()


async def test_a_cancelled_run_no_longer_counts(steps: Steps) -> None:
    agent = steps.agent()
    for parked_first in (False, True):
        agent = made_of(parked) if parked_first else steps.agent()
        task = await send(agent, immediately=True)
        await when(lambda: taken() == (0 if parked_first else 1))  # noqa: B023
        assert state_of(await cancel(agent, task["id"])) == "CANCELED"
        await quiet()


async def test_a_thread_that_outlives_its_run_does_not_count_again() -> None:
    """A plain agent cannot be stopped: its thread goes on after the time is over, and says what it has to say."""
    reported = threading.Event()
    said: list[str] = []

    def run(ctx: SyncTaskContext) -> None:
        ctx.auth_required("?")
        reported.wait(20)
        try:
            ctx.working()
        except Exception as error:
            said.append(type(error).__name__)

    agent = made_of(run, timeout=0.3)
    task = await send(agent, immediately=True)
    await when(lambda: not engine.get().runner._runs)
    share = engine.get().runner.quota
    reported.set()
    await when(lambda: said)
    assert share.taken("alice") == 0
    assert task["id"]


async def test_a_transaction_that_is_rolled_back_parks_nothing() -> None:
    """The run has said in a transaction that it waits; after the rollback it is at work again, and counts."""
    seen: list[int] = []
    held = threading.Event()

    def run(ctx: SyncTaskContext) -> None:
        with suppress(RuntimeError), transaction.atomic():
            ctx.auth_required("?")
            seen.append(taken())
            raise RuntimeError
        ctx.artifact("x")
        seen.append(taken())
        held.wait(20)

    agent = made_of(run)
    await send(agent, immediately=True)
    await when(lambda: len(seen) == 2)
    assert seen == [0, 1]
    held.set()
    await quiet()


async def test_a_database_that_fails_leaves_nothing_counted(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    steps.go.set()
    agent = steps.agent()

    def fail(*args: Any, **options: Any) -> Any:
        raise IntegrityError("poison")

    with monkeypatch.context() as patched:
        patched.setattr(Batch, "create", fail)
        for mode in ("task", "auto"):
            with pytest.raises(Exception, match=r"poison|Internal error"):
                await send(steps.agent(mode=mode))
    await quiet()

    asking = made_of(lambda ctx: ctx.input_required("?"))
    task = await send(asking)
    await quiet()

    def away(*args: Any, **options: Any) -> Any:
        raise DatabaseError("away")

    with monkeypatch.context() as patched:
        patched.setattr(history, "past_of", away)
        with pytest.raises(DatabaseError):
            await send(agent, task_id=task["id"])
    await quiet()


async def test_a_message_that_waits_its_turn_takes_no_run(steps: Steps, settings: Settings) -> None:
    agent: Agent = steps.agent()
    task = await send(agent, immediately=True)
    for _ in range(5):
        await send(agent, task_id=task["id"], immediately=True)
    assert taken() == 1
    steps.go.set()
    await quiet()
