"""Requests against an ASGI application, made as a server makes them: with real threads and connections."""

from __future__ import annotations

import asyncio
from typing import Any


class AsgiCall:
    """One request; ``async with AsgiCall(...) as call``, at whose end the client is gone.

    With ``body=None`` it has no body before ``send`` sends it. ``scope`` goes over what a server would say.
    """

    def __init__(
        self,
        application: Any,
        method: str,
        path: str,
        *,
        body: bytes | None = b"",
        headers: dict[str, str] | None = None,
        query: str = "",
        raw_path: str | None = None,
        scope: dict[str, Any] | None = None,
    ) -> None:
        sent = {"host": "testserver", "content-type": "application/json", "a2a-version": "1.0", **(headers or {})}
        self._application = application
        self._scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "scheme": "http",
            "method": method,
            "path": path,
            "raw_path": (raw_path or path).encode(),
            "query_string": query.encode(),
            "headers": [(name.lower().encode(), value.encode("latin1")) for name, value in sent.items()],
            "client": ("127.0.0.1", 1),
            "server": ("testserver", 80),
            **(scope or {}),
        }
        self._received: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        if body is not None:
            self.send(body)
        self.task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> AsgiCall:
        self.task = asyncio.create_task(self._application(self._scope, self._received.get, self._sent.put))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.leave()

    def send(self, body: bytes, *, more: bool = False) -> None:
        """Send a piece of the body, the last one unless there is ``more``."""
        self._received.put_nowait({"type": "http.request", "body": body, "more_body": more})

    async def _next(self) -> dict[str, Any]:
        async with asyncio.timeout(10):
            return await self._sent.get()

    async def head(self) -> tuple[int, dict[str, str]]:
        """Return status and headers."""
        message = await self._next()
        return message["status"], {name.decode().lower(): value.decode() for name, value in message["headers"]}

    async def chunk(self) -> bytes:
        """Return the next piece of the body, b"" at its end."""
        body: bytes = (await self._next()).get("body", b"")
        return body

    async def body(self) -> bytes:
        """Return the whole body."""
        pieces = []
        while True:
            message = await self._next()
            pieces.append(message.get("body", b""))
            if not message.get("more_body"):
                return b"".join(pieces)

    async def leave(self) -> None:
        """Close the connection and wait for the handler to be through."""
        self._received.put_nowait({"type": "http.disconnect"})
        assert self.task is not None
        done, __ = await asyncio.wait((self.task,), timeout=10)
        assert done, "The application does not end"
        self.task.result()
