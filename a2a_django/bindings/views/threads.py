"""A stream must not hold a thread and a database connection.

Under ASGI Django gives each request a thread of its own for synchronous code, and the connections opened there stay
open until the response ends. That is fine for answers and ruinous for streams: a thousand silent streams would be a
thousand threads, and a hundred that had touched the database would be all connections of a PostgreSQL server.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from asgiref.sync import SyncToAsync
from django.db import connections


async def release_request_thread() -> None:
    """Close the connections of this request's thread and let the thread end; asgiref makes a new one when it needs one.

    To be called when the middleware is through, that is, by the first step of the response's content. Reaches into
    asgiref, which has no public way to give a thread back early; where its insides look different, nothing happens and
    a stream costs a thread again. Does nothing where the thread is not this request's alone: in tests with
    ``AsyncClient``, and in code called from a synchronous frame that waits for us.
    """
    context = getattr(SyncToAsync, "thread_sensitive_context", None)
    executors = getattr(SyncToAsync, "context_to_thread_executor", None)
    request_context = context.get(None) if context is not None else None
    if request_context is None or executors is None:
        return
    executor = executors.get(request_context)
    if not isinstance(executor, ThreadPoolExecutor):  # none yet, or one that is not asgiref's
        return
    await asyncio.get_running_loop().run_in_executor(executor, _close_connections)
    if executors.pop(request_context, None) is not None:
        executor.shutdown(wait=False)


def _close_connections() -> None:
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()
