"""A lasting loop for code that has none.

Under WSGI every request gets an event loop that dies with it; a run must not. Such requests are carried out on one
background loop per process, which the watch over other processes uses too.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger("a2a_django.engine")

STOP_SECONDS = 5.0
CANCEL_ROUNDS = 4
CANCEL_SECONDS = 0.5

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
_tasks: set[asyncio.Task[Any]] = set()
#: Another loop in the place of this one, in tests.
_lent: asyncio.AbstractEventLoop | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """Return the process's background loop; its thread is started on first use."""
    global _loop, _thread
    with _lock:
        if _lent is not None:
            return _lent
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(target=_run, args=(_loop,), name="a2a-loop", daemon=True)
            _thread.start()
        return _loop


def lend(loop: asyncio.AbstractEventLoop | None) -> None:
    """Have ``spawn`` use another loop until None is given; for tests. ``call`` is refused meanwhile."""
    global _lent
    with _lock:
        _lent = loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        # Once is not enough for all: clients of Redis take a cancellation for a lost connection and go on.
        for _ in range(CANCEL_ROUNDS):
            if not (left := asyncio.all_tasks(loop)):
                break
            for task in left:
                task.cancel()
            loop.run_until_complete(asyncio.wait(left, timeout=CANCEL_SECONDS))
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def call(function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Carry out ``await function(*args, **kwargs)`` on the background loop and return what it returns.

    Raises ``RuntimeError`` while a loop is lent.
    """
    if _lent is not None:
        raise RuntimeError(
            "Django's synchronous test client cannot call agents once a2a_django.testing is at work: use its A2AClient"
        )

    async def carry_out() -> T:
        return await function(*args, **kwargs)

    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(carry_out(), background_loop()))


def spawn(function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Start ``function`` on the background loop, in a clean context; from any thread."""
    loop = background_loop()

    def start() -> None:
        task = loop.create_task(function(), context=contextvars.Context())
        _tasks.add(task)
        task.add_done_callback(_ended)

    loop.call_soon_threadsafe(start)


def _ended(task: asyncio.Task[Any]) -> None:
    _tasks.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("A background task failed", exc_info=error)


def shutdown() -> None:
    """Cancel what runs on the background loop, and stop it."""
    global _loop, _thread
    with _lock:
        loop, thread = _loop, _thread
        _loop = _thread = None
    if loop is not None and thread is not None:
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(STOP_SECONDS)


def forget() -> None:
    """After a fork: the thread is gone."""
    global _loop, _thread
    _loop = _thread = None
    _tasks.clear()
