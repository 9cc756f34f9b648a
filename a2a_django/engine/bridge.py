"""A lasting loop for code that has none.

Under WSGI every request gets an event loop that dies with it; a run must not. Such requests are carried out on one
background loop per process.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def background_loop() -> asyncio.AbstractEventLoop:
    """Return the process's background loop; its thread is started on first use."""
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="a2a-loop", daemon=True).start()
        return _loop


async def call(function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Carry out ``await function(*args, **kwargs)`` on the background loop and return what it returns."""

    async def carry_out() -> T:
        return await function(*args, **kwargs)

    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(carry_out(), background_loop()))


def shutdown() -> None:
    """Stop the background loop."""
    global _loop
    with _lock:
        loop, _loop = _loop, None
    if loop is not None:
        loop.call_soon_threadsafe(loop.stop)


def forget() -> None:
    """After a fork: the thread is gone."""
    global _loop
    _loop = None
