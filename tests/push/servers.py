"""Webhooks for tests, on real sockets of this machine: well-behaved ones, and hostile ones written by hand."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from aiohttp import web

from a2a_django.push.names import Resolver

#: Nothing in these tests takes so long, unless it hangs.
LIMIT = 30

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Hook:
    """A well-behaved webhook and what it was sent."""

    port: int = 0
    requests: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    #: One for each request: the connections, and the names that TLS clients asked for.
    connections: list[asyncio.BaseTransport | None] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)

    def url(self, path: str = "/", host: str = "127.0.0.1", scheme: str = "http") -> str:
        """Return where it is."""
        return f"{scheme}://{host}:{self.port}{path}"


@asynccontextmanager
async def hook(answer: Answer | None = None, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[Hook]:
    """Serve a webhook that answers what ``answer`` returns, 200 with a short body by default."""
    made = Hook()

    async def handle(request: web.Request) -> web.StreamResponse:
        made.requests.append(request)
        made.connections.append(request.transport)
        made.bodies.append(await request.read())
        return web.Response(text="thanks") if answer is None else await answer(request)

    if tls is not None:
        tls.sni_callback = lambda connection, name, context: made.names.append(name)
    app = web.Application(client_max_size=64 * 1024 * 1024)
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, keepalive_timeout=60)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    made.port = runner.addresses[0][1]
    try:
        yield made
    finally:
        await runner.cleanup()


@dataclass
class Raw:
    """A webhook that is only a socket, and how many came to it."""

    port: int
    calls: int = 0
    #: Bytes that it got rid of; and connections that the other side has closed.
    sent: int = 0
    left: int = 0

    @property
    def url(self) -> str:
        """Return where it is."""
        return f"http://127.0.0.1:{self.port}/"


@asynccontextmanager
async def raw(talk: Callable[[Raw, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[Raw]:
    """Serve with ``talk``, which gets each connection as it comes; it is closed afterwards."""
    made = Raw(0)
    tasks: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        made.calls += 1
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await talk(made, reader, writer)
        finally:
            made.left += 1
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        for task in tasks:
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until a condition is true."""
    async with asyncio.timeout(LIMIT):
        while not condition():  # noqa: ASYNC110 - it comes true elsewhere
            await asyncio.sleep(0.005)


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """Read one request of the tests, whose bodies are ``{}``."""
    return await reader.readuntil(b"\r\n\r\n") + await reader.readexactly(2)


def names(*addresses: str) -> Resolver:
    """Return a resolver that knows every name, with these addresses, and remembers none."""
    found = [ipaddress.ip_address(address) for address in addresses]
    return Resolver(lambda host: found, remember=0)
