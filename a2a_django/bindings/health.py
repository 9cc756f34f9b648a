"""Whether this process can serve calls: for load balancers and orchestrators, who have no credentials.

Invariants: however many ask, the database is asked once at a time and at most once in ``GOOD_SECONDS``; and the answer
names parts of the package and nothing else.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

from django.db import DatabaseError, InterfaceError

from a2a_django import engine
from a2a_django.bindings.http import JSON, Answer
from a2a_django.bindings.rest import refuse
from a2a_django.engine import database
from a2a_django.models import Task
from a2a_django.protocol.errors import MethodNotAllowedError
from a2a_django.protocol.wire import text_of

_ALLOW: Final = ("GET", "HEAD", "OPTIONS")
_HEADERS: Final = {"Content-Type": JSON, "Cache-Control": "no-store"}

#: How long an answer of the database counts, and how long it may take.
GOOD_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 3.0


async def handle(method: str) -> Answer:
    """Answer a request: 200 ``{"status": "ok", ...}``, or 503 with the parts that are not well."""
    if method == "OPTIONS":
        return Answer(200, {"Allow": ", ".join(_ALLOW), "Content-Type": "text/plain"}, b"")
    if method not in _ALLOW:
        return refuse(MethodNotAllowedError(_ALLOW), {})
    parts = {
        "database": "ok" if await _database.answers() else "no answer",
        "runs": "stopping" if engine.get().runner.closing else "ok",
    }
    well = all(state == "ok" for state in parts.values())
    status = 200 if well else 503
    body = text_of({"status": "ok" if well else "unavailable", "parts": parts}).encode("ascii")
    headers = _HEADERS if well else _HEADERS | {"Retry-After": "1"}
    if method == "HEAD":
        return Answer(status, headers | {"Content-Length": str(len(body))}, b"")
    return Answer(status, headers, body)


class _Database:
    """What is known of the database."""

    def __init__(self) -> None:
        self._until = 0.0
        self._good = False
        self._asking: dict[asyncio.AbstractEventLoop, asyncio.Task[bool]] = {}

    async def answers(self) -> bool:
        """Return whether the database answers a query on a table of this package."""
        if time.monotonic() < self._until:
            return self._good
        loop = asyncio.get_running_loop()
        asking = self._asking.get(loop)
        if asking is None or asking.done():
            asking = loop.create_task(self._ask())
            self._asking = {loop: asking}
        return await asyncio.shield(asking)

    async def _ask(self) -> bool:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await database.read(_look)
            self._good = True
        except (TimeoutError, DatabaseError, InterfaceError):
            self._good = False
        self._until = time.monotonic() + GOOD_SECONDS
        return self._good


_database = _Database()


def _look() -> None:
    """Ask something that needs the table: a database that has not been migrated serves nobody."""
    Task.objects.using(database.alias()).filter(pk="").exists()
