"""Where a test's agents run: an engine without threads of its own, on the thread that has the test's transaction.

A synchronous test has an event loop on a thread beside it, which turns only while the client is being called: between
two calls time stands still for the agents. While it turns, the test's thread does the work that meets the database. An
asynchronous test has its own loop, and the database work goes where Django sends it.
"""

from __future__ import annotations

import asyncio
import contextvars
import queue
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from asgiref.sync import SyncToAsync, sync_to_async

from a2a_django import engine
from a2a_django.access import failures
from a2a_django.agents import Agent, registry
from a2a_django.agents.directory import directory
from a2a_django.engine import bridge, database
from a2a_django.engine.immediate import GivenThread, ImmediateEngine
from a2a_django.push.names import Address, resolver
from a2a_django.testing.receiver import Receivers

T = TypeVar("T")

#: How long what is cancelled at the end of a test may take.
END_SECONDS = 5.0


class Stage:
    """What is put in the place of the process's engine for the time of one test; there is one at a time."""

    def __init__(self) -> None:
        #: What agents have raised, by task.
        self.failures: dict[str, BaseException] = {}
        self.receivers = Receivers()
        self._added: list[Agent] = []

    def _open(self, loop: asyncio.AbstractEventLoop, thread: GivenThread) -> None:
        global _stage
        engine.shutdown()
        _forget()
        bridge.lend(loop)
        database.pools.lent = thread
        self._names = resolver._function
        resolver._function = _nobody_knows
        self.engine = ImmediateEngine(thread, self.receivers.transport)
        self.engine.runner.on_failure = self.failures.__setitem__
        engine.install(self.engine)
        _stage = self

    def _close(self) -> None:
        global _stage
        _stage = None
        engine.install(None)
        database.pools.lent = None
        bridge.lend(None)
        resolver._function = self._names
        for agent in self._added:
            registry.remove(agent)
        _forget()

    def close(self) -> None:
        """End everything; agents that are still at work are cancelled."""
        raise NotImplementedError

    def serve(self, agent: Agent) -> None:
        """Serve an agent that is not in any ``agents.py`` until the test ends."""
        if registry.get(agent.slug) is not agent:
            registry.add(agent)
            self._added.append(agent)


_stage: Stage | None = None


def current() -> Stage | None:
    """Return the stage of this test, None without one."""
    return _stage


def _forget() -> None:
    """Forget what was remembered of rows that another test has rolled back."""
    from a2a_django.access import keys

    directory.forget()
    keys._known.forget()
    failures.forget()
    resolver.forget()


def _nobody_knows(host: str) -> Sequence[Address]:
    raise OSError(f"{host} is not looked up in a test")


class ServedThread(GivenThread):
    """The thread of a synchronous test, while it waits for the loop beside it."""

    def __init__(self) -> None:
        super().__init__()
        self._queue: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()

    def hand_in(self, future: Future[Any], call: Callable[[], Any]) -> None:
        """Hand work in."""
        self._queue.put((future, call))

    def move_on(self) -> None:
        """Move what waits to where the thread takes it."""
        for _ in range(self._queue.qsize()):
            item = self._queue.get_nowait()
            if item is None or not self._to_inner(*item):
                self._queue.put(item)

    def serve(self, until: Future[Any]) -> None:
        """Carry out what comes until ``until`` is done."""
        until.add_done_callback(lambda _: self._queue.put(None))
        while True:
            item = self._queue.get()
            if item is not None:
                self.carry_out(*item)
            elif until.done():
                return


@contextmanager
def _as_asgiref_left_it() -> Iterator[None]:
    """asgiref remembers in a thread which loop it has worked for, and hands its next coroutine to that; ours has
    stopped then."""
    known = SyncToAsync.threadlocal.__dict__
    before = dict(known)
    try:
        yield
    finally:
        known.clear()
        known.update(before)


class SyncStage(Stage):
    """The stage of a synchronous test."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = ServedThread()
        self._loop = asyncio.new_event_loop()
        self._turns = ThreadPoolExecutor(1, "a2a-test-loop")
        self._busy = False
        self._open(self._loop, self._thread)

    def call(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Have the loop turn until a coroutine is done and return what it returns."""
        if self._busy:
            raise RuntimeError("An agent of this test cannot use the client that is waiting for it")
        self._busy = True
        try:
            with _as_asgiref_left_it():
                done = self._turns.submit(self._turn, make)
                self._thread.serve(done)
            return done.result()
        finally:
            self._busy = False

    def _turn(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(make())

    def close(self) -> None:
        """End everything."""
        try:
            self.call(_end_all)
        finally:
            self._turns.submit(self._close_loop).result()
            self._turns.shutdown()
            self._close()

    def _close_loop(self) -> None:
        self._loop.close()
        asyncio.set_event_loop(None)


async def _end_all() -> None:
    here = asyncio.current_task()
    if tasks := {task for task in asyncio.all_tasks() if task is not here}:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=END_SECONDS)
    loop = asyncio.get_running_loop()
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()


class DjangosThread(GivenThread):
    """Where synchronous code of an asynchronous test runs: Django's own choice, which for ``TestCase`` is the thread
    that has the transaction."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._context = contextvars.copy_context()
        self._tasks: set[asyncio.Task[None]] = set()

    def hand_in(self, future: Future[Any], call: Callable[[], Any]) -> None:
        """Hand work in."""
        try:
            self._loop.call_soon_threadsafe(self._start, future, call)
        except RuntimeError:  # the test is over, and its loop closed
            future.cancel()

    def _start(self, future: Future[Any], call: Callable[[], Any]) -> None:
        task = self._loop.create_task(self._pass_on(future, call), context=self._context.copy())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, future: Future[Any], call: Callable[[], Any]) -> None:
        try:
            await sync_to_async(self.carry_out)(future, call)
        except RuntimeError:  # the test's thread does not wait any more: the test is over
            future.cancel()
        finally:
            if not future.done():
                future.cancel()


class AsyncStage(Stage):
    """The stage of an asynchronous test, on its loop."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.get_running_loop()
        self._open(self.loop, DjangosThread(self.loop))

    async def _end(self) -> None:
        sender, runs = self.engine.sender, list(self.engine.runner._runs.values())
        tasks = {run._aio for run in runs if run._aio is not None} | self.engine.runner._background
        tasks |= {task for task in (sender._task, *self.engine.runner.keeper.timers) if task is not None}
        for run in runs:
            run.give_up()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_SECONDS)

    def close(self) -> None:
        """End everything; not on the loop. Where that has ended, it has cancelled what was at work on it."""
        try:
            if not self.loop.is_closed() and not self.loop.is_running():
                self.loop.run_until_complete(self._end())
        finally:
            self._close()


def sync_stage() -> SyncStage:
    """Return the stage of this synchronous test, made on first use. Raises ``RuntimeError`` outside of one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise RuntimeError("This is an asynchronous test: use AsyncA2AClient, and await its methods")
    if isinstance(_stage, SyncStage):
        return _stage
    _check("A2AClient", "a2a_client")
    return SyncStage()


def async_stage() -> AsyncStage:
    """Return the stage of this asynchronous test, made on first use. Raises ``RuntimeError`` outside of one."""
    if isinstance(_stage, AsyncStage):
        if _stage.loop is not asyncio.get_running_loop():
            raise RuntimeError("A test has one event loop: this one has used its client on another before")
        return _stage
    _check("AsyncA2AClient", "async_a2a_client")
    return AsyncStage()


#: How many ``in_process`` are around.
_around = 0


def _check(client: str, name: str) -> None:
    """Raise ``RuntimeError`` unless a stage may be made now."""
    if _stage is not None:
        raise RuntimeError("A test has one kind of client: this one has used another before")
    if not _around:
        raise RuntimeError(
            f"{client} works in a test of A2ATestCase (or another class with A2ATestMixin), in one with the pytest"
            f" fixture `{name}`, and inside `with a2a_django.testing.in_process():`"
        )


@contextmanager
def in_process() -> Iterator[None]:
    """Inside, the clients may be used: from their first call on agents run on this thread and its connection.

    ``A2ATestMixin`` and the fixtures have it around each test. For an asynchronous test it is outside of its loop.
    """
    global _around
    _around += 1
    try:
        yield
    finally:
        _around -= 1
        if _stage is not None and not _around:
            _stage.close()
