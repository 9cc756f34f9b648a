"""The server's lifespan: the engine begins with it, and ends with it in order."""

from __future__ import annotations

import asyncio

from a2a_django import engine
from a2a_django.bindings.consumers.asgi import AsgiApplication, Message, Receive, Scope, Send


async def live(site: AsgiApplication, scope: Scope, receive: Receive, send: Send) -> None:
    """Start the engine; at the end let its runs come to an end, before the site's own end. Raises what the site raises.

    The site is asked, too. Django's application knows no lifespan and says so by an exception, after which servers ask
    nobody any more; so for a site without one, the answers are given here.
    """
    engine.get()  # it takes up what a process that died has left: tasks, and deliveries to webhooks
    asked = False

    async def heard() -> Message:
        nonlocal asked
        asked = True
        return await _heard(receive)

    try:
        await site(scope, heard, send)
    except Exception:
        if asked:
            raise
        await _heard(receive)
        await send({"type": "lifespan.startup.complete"})
        await _heard(receive)
        await send({"type": "lifespan.shutdown.complete"})


async def _heard(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "lifespan.shutdown":
        await asyncio.to_thread(engine.shutdown)  # the loop goes on, and the runs on it
    return message
