"""Webhooks that cost little beside a server: hand-written HTTP/1.1, each on a port of its own."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import cast

from benchmarks.load import LoadError
from benchmarks.wire import COMPLETED, chunk_text

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
FAILURE = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n"


@dataclass
class Webhook:
    """One webhook: ``answer`` is what it says, None: nothing, for ever. ``ended`` is set when it is told of the end."""

    answer: bytes | None = OK
    bodies: list[bytes] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0
    server: asyncio.Server | None = None
    lines: set[asyncio.Transport] = field(default_factory=set)

    async def start(self) -> None:
        """Listen on a free port."""
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: _Line(self), "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Listen no more, and end the connections that there are."""
        assert self.server is not None
        self.server.close()
        for transport in list(self.lines):
            transport.abort()

    @property
    def url(self) -> str:
        """Where to send."""
        return f"http://127.0.0.1:{self.port}/hook"

    def take(self, body: bytes) -> None:
        """Keep what came; it is looked at when the clock has stopped."""
        self.bodies.append(body)
        if COMPLETED.encode() in body:
            self.ended.set()

    def check(self, chunks: int) -> int:
        """Every chunk once and in order; returns how many deliveries there were. Raises ``LoadError``."""
        texts = []
        for body in self.bodies:
            event = json.loads(body)
            if "artifactUpdate" in event:
                texts += [part["text"] for part in event["artifactUpdate"]["artifact"]["parts"]]
        if texts != [chunk_text(number) for number in range(chunks)]:
            raise LoadError(f"a webhook was told of {len(texts)} chunks, not of {chunks} in order")
        return len(self.bodies)


class _Line(asyncio.Protocol):
    def __init__(self, webhook: Webhook) -> None:
        self._webhook = webhook
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._webhook.lines.add(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:
        self._webhook.lines.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            start = head.index(b"content-length:") + len(b"content-length:")
            length = int(head[start:].split(b"\r\n", 1)[0])
            if len(self._buffer) < end + 4 + length:
                return
            body, self._buffer = self._buffer[end + 4 : end + 4 + length], self._buffer[end + 4 + length :]
            if self._webhook.answer is None:
                return
            self._transport.write(self._webhook.answer)
            if self._webhook.answer is OK:
                self._webhook.take(body)
