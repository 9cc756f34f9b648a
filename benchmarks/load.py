"""The load generator: hand-written HTTP/1.1 over asyncio protocols, so that it costs little beside a server.

A `Connection` is one keep-alive connection. `call()` answers with the whole body; `stream()` hands over the `data:`
lines of a Server-Sent Events answer as they arrive. Anything unexpected (another status than 200, a closed connection,
a malformed answer) raises `LoadError`: a benchmark with wrong answers has no result.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import cast

ANSWER_TIMEOUT = 600.0


class LoadError(RuntimeError):
    """The server answered wrongly, or not at all."""


def request_bytes(
    path: str, body: bytes, *, accept: str = "application/json", caller: str = "", version: str = "1.0"
) -> bytes:
    """One complete POST of a JSON-RPC body, ready for the socket; `caller` says who sends it, where that matters.

    Clients of version 0.3 do not say which they speak: "" for `version`.
    """
    name = f"X-Bench-Caller: {caller}\r\n" if caller else ""
    spoken = f"A2A-Version: {version}\r\n" if version else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: {accept}\r\n"
        f"{spoken}{name}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body


class Connection(asyncio.Protocol):
    """One keep-alive connection that carries one exchange at a time."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._left = -1  # body bytes that are still to come; -1: the head is not read yet, -2: chunked
        self._body = bytearray()
        self._on_data: Callable[[bytes], None] | None = None
        self._answer: asyncio.Future[bytes] | None = None

    @classmethod
    async def open(cls, port: int) -> Connection:
        """A new connection to a server on this machine."""
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(cls, "127.0.0.1", port)
        return connection

    async def call(self, request: bytes) -> bytes:
        """Sends a request and returns the body of its answer."""
        return await self._exchange(request, None)

    async def stream(self, request: bytes) -> AsyncIterator[list[bytes]]:
        """Sends a request and yields lists of the events' data, as they come; ends with the answer."""
        frames = _Frames()
        ready = asyncio.Event()

        def take(data: bytes) -> None:
            frames.feed(data)
            ready.set()

        answer = asyncio.ensure_future(self._exchange(request, take))
        answer.add_done_callback(lambda _: ready.set())
        try:
            while not answer.done():
                await ready.wait()
                ready.clear()
                if events := frames.take():
                    yield events
            answer.result()
            if events := frames.take():
                yield events
        finally:
            answer.cancel()

    def close(self) -> None:
        """Closes the connection; an exchange under way fails."""
        if self._transport is not None:
            self._transport.abort()

    async def _exchange(self, request: bytes, on_data: Callable[[bytes], None] | None) -> bytes:
        if self._transport is None or self._transport.is_closing():
            raise LoadError("the server closed the connection")
        self._left = -1
        self._body = bytearray()
        self._on_data = on_data
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's class does not inherit from it

    def connection_lost(self, exc: Exception | None) -> None:
        self._fail(f"the connection was lost in the middle of an answer ({exc})")

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        try:
            if self._left == -1 and not self._read_head():
                return
            if self._left == -2:
                self._read_chunks()
            else:
                self._read_plain()
        except (LoadError, ValueError, IndexError) as error:
            self._fail(str(error))
            self.close()

    def _fail(self, why: str) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(LoadError(why))

    def _finish(self) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(bytes(self._body))

    def _pass_on(self, data: bytes) -> None:
        if self._on_data is None:
            self._body += data
        else:
            self._on_data(data)

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return False
        head = bytes(self._buffer[:end]).lower()
        rest = bytes(self._buffer[end + 4 :])
        if not head.startswith(b"http/1.1 200"):
            raise LoadError(f"unexpected answer: {head.splitlines()[0]!r} {rest[:300]!r}")
        self._buffer = bytearray(rest)
        at = head.find(b"content-length:")
        if at >= 0:
            self._left = int(head[at + 15 :].split(b"\r\n", 1)[0])
        elif b"transfer-encoding: chunked" in head:
            self._left = -2
        else:
            raise LoadError("an answer without a length")
        return True

    def _read_plain(self) -> None:
        data = bytes(self._buffer[: self._left])
        del self._buffer[: len(data)]
        self._left -= len(data)
        self._pass_on(data)
        if self._left == 0:
            self._finish()

    def _read_chunks(self) -> None:
        buffer, at, whole = self._buffer, 0, []
        while True:
            line = buffer.find(b"\r\n", at)
            if line < 0:
                break
            size = int(bytes(buffer[at:line]).split(b";", 1)[0], 16)
            if len(buffer) < line + 4 + size:
                break
            whole.append(bytes(buffer[line + 2 : line + 2 + size]))
            at = line + 4 + size
            if size == 0:
                break
        del buffer[:at]
        if data := b"".join(whole):
            self._pass_on(data)
        if whole and whole[-1] == b"":
            self._finish()


class _Frames:
    """Splits the bytes of an event stream into the data of its events."""

    def __init__(self) -> None:
        self._rest = b""
        self._ready: list[bytes] = []

    def feed(self, data: bytes) -> None:
        text = (self._rest + data).replace(b"\r\n", b"\n")
        if text.endswith(b"\r"):  # half of a line end: the other half comes with the next bytes
            self._rest = text
            return
        *blocks, self._rest = text.split(b"\n\n")
        for block in blocks:
            lines = [line[5:].lstrip(b" ") for line in block.split(b"\n") if line.startswith(b"data:")]
            if lines:
                self._ready.append(b"\n".join(lines))

    def take(self) -> list[bytes]:
        ready, self._ready = self._ready, []
        return ready


@dataclass
class Load:
    """What a closed loop of calls did."""

    calls: int
    seconds: float
    client_cpu_seconds: float
    latencies: list[float] = field(repr=False)

    @property
    def per_second(self) -> float:
        return self.calls / self.seconds


async def closed_loop(
    port: int,
    *,
    connections: int,
    make: Callable[[int], bytes],
    check: Callable[[int, bytes], None],
    seconds: float | None = None,
    calls: int | None = None,
) -> Load:
    """Keeps `connections` calls in flight until the time is over or the number of calls is reached.

    `make(n)` gives the n-th request, `check(n, body)` raises `LoadError` for a wrong answer.
    """
    if seconds is None and calls is None:
        raise ValueError("a loop needs an end: give seconds or calls")
    lines = [await Connection.open(port) for _ in range(connections)]
    latencies: list[float] = []
    started_cpu, started = time.process_time(), time.perf_counter()
    number = 0

    async def one(line: Connection) -> None:
        nonlocal number
        while True:
            begun = time.perf_counter()
            if (calls is not None and number >= calls) or (seconds is not None and begun - started >= seconds):
                return
            mine, number = number, number + 1
            check(mine, await line.call(make(mine)))
            latencies.append(time.perf_counter() - begun)

    try:
        async with asyncio.timeout(ANSWER_TIMEOUT), asyncio.TaskGroup() as group:
            for line in lines:
                group.create_task(one(line))
    except* LoadError as errors:
        raise errors.exceptions[0] from None
    except* TimeoutError:
        raise LoadError(f"no end after {ANSWER_TIMEOUT:.0f} s") from None
    finally:
        for line in lines:
            line.close()
    return Load(len(latencies), time.perf_counter() - started, time.process_time() - started_cpu, latencies)
