"""The server's lifespan begins and ends the engine, whether the site knows it or not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from a2a_django import engine
from a2a_django.asgi import get_asgi_application

pytestmark = pytest.mark.django_db(transaction=True)

WAIT = 10


class Server:
    """The server's side."""

    def __init__(self) -> None:
        self.messages: asyncio.Queue[Any] = asyncio.Queue()
        self.answers: asyncio.Queue[Any] = asyncio.Queue()

    async def ask(self, what: str) -> str:
        await self.messages.put({"type": f"lifespan.{what}"})
        return str((await asyncio.wait_for(self.answers.get(), WAIT))["type"])


async def knows_nothing(scope: Any, receive: Any, send: Any) -> None:
    raise ValueError("only HTTP")


async def fails_over_it(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    raise RuntimeError("no start")


class Knowing:
    """A site with a lifespan of its own, and whether the engine was there when it was told."""

    def __init__(self) -> None:
        self.found: list[tuple[str, bool]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        for what in ("startup", "shutdown"):
            message = await receive()
            self.found.append((message["type"], engine._engine is not None))
            await send({"type": f"lifespan.{what}.complete"})


@pytest.mark.parametrize("site", [knows_nothing, Knowing(), None], ids=["knows nothing", "knows", "Django's"])
async def test_it_begins_and_ends_the_engine(site: Any) -> None:
    server = Server()
    living = asyncio.create_task(
        get_asgi_application(site)({"type": "lifespan"}, server.messages.get, server.answers.put)
    )
    assert await server.ask("startup") == "lifespan.startup.complete"
    assert engine._engine is not None
    assert await server.ask("shutdown") == "lifespan.shutdown.complete"
    assert engine._engine is None
    await asyncio.wait_for(living, WAIT)
    if isinstance(site, Knowing):
        assert site.found == [("lifespan.startup", True), ("lifespan.shutdown", False)]


async def test_a_site_that_cannot_start_says_so() -> None:
    server = Server()
    await server.messages.put({"type": "lifespan.startup"})
    with pytest.raises(RuntimeError, match="no start"):
        await get_asgi_application(fails_over_it)({"type": "lifespan"}, server.messages.get, server.answers.put)
    assert server.answers.empty()


async def test_without_a_lifespan_the_first_request_begins_the_engine() -> None:
    """What a process that died has left is not to wait for the first call: daphne knows no lifespan."""
    engine.shutdown()

    async def site(scope: Any, receive: Any, send: Any) -> None:
        assert engine._engine is not None

    await get_asgi_application(site)({"type": "http", "path": "/x", "headers": []}, None, None)  # type: ignore[arg-type]
    assert engine._engine is not None
