"""Which requests are answered by consumers, and by which; everything else is the site's."""

from __future__ import annotations

from typing import Final

from a2a_django import engine
from a2a_django.bindings.consumers.asgi import AsgiApplication, Receive, Scope, Send
from a2a_django.bindings.consumers.calls import CONSUMERS
from a2a_django.bindings.consumers.consumer import HttpConsumer
from a2a_django.bindings.consumers.lifespan import live
from a2a_django.bindings.consumers.requests import headers_of
from a2a_django.bindings.consumers.site import find_address, script_prefix, visit_of

#: How the paths end that do not lead through ``a2a/``. Others are not looked at: most requests are for the site.
ENDINGS: Final = ("/agent-card.json", "/agent-cards", "/agent-card", "/agent.json", "/sse")


class Application:
    """An ASGI 3 application: consumers for the protocol's addresses, ``site`` for everything else."""

    def __init__(self, site: AsgiApplication) -> None:
        self.site = site
        self._started = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on."""
        if scope["type"] == "lifespan":
            await live(self.site, scope, receive, send)
            return
        if not self._started:  # servers without a lifespan (daphne): the first request is not always a call
            self._started = True
            engine.get()
        consumer = consumer_for(scope)
        await (self.site if consumer is None else consumer)(scope, receive, send)


def consumer_for(scope: Scope) -> HttpConsumer | None:
    """Return the consumer that answers a request, None for one that the site has to see.

    To that belong the protocol's own addresses when the request is one that the site's settings refuse or redirect.
    """
    if scope["type"] != "http":
        return None
    path: str = scope["path"]
    if "a2a" not in path and path != "/" and not path.endswith(ENDINGS):
        return None
    address = find_address(path, script_prefix(scope))
    if address is None:
        return None
    try:
        query = scope.get("query_string", b"").decode()
    except UnicodeDecodeError:
        return None
    headers = headers_of(scope)
    visit = visit_of(scope, headers)
    return None if visit is None else CONSUMERS[address.kind](address, visit, headers, query)
