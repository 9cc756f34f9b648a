"""The consumers of each kind of addresses."""

from __future__ import annotations

from typing import Any, Final

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from rest_framework.views import APIView

from a2a_django.access import Identity
from a2a_django.bindings import addresses, cards, catalogue, health, jsonrpc, jwks
from a2a_django.bindings.consumers.consumer import HttpConsumer, Reply
from a2a_django.bindings.http import Answer, Exchange
from a2a_django.bindings.optional import from_optional


class JSONRPCConsumer(HttpConsumer):
    """The address of JSON-RPC."""

    told_with_head = True

    async def at_once(self) -> Answer | None:
        """Return the answer to every verb but POST."""
        return jsonrpc.other_verb(self.method)

    async def handle(self, exchange: Exchange) -> Reply:
        """Carry out a call."""
        return await jsonrpc.handle(exchange)

    def refuse(self, error: Exception, head: bytes) -> Answer:
        """Return an error, with the id of the call if it stands near the body's beginning."""
        return jsonrpc.refuse(error, jsonrpc.peek_id(head))


class RestConsumer(HttpConsumer):
    """The addresses of HTTP+JSON, also those that do not exist."""

    @property
    def _binding(self) -> Any:
        """The module that answers for the path: the one of the view that stands in ``urls.py``."""
        view: Any = self.address.match.func
        return view.initkwargs.get("binding", view.cls.binding)

    async def identify(self) -> Identity:
        """Return who is calling; of OPTIONS that is not asked, browsers send it without credentials."""
        if self.method == "OPTIONS":
            return Identity(AnonymousUser(), "")
        return await self.caller()

    def path(self) -> tuple[str, ...]:
        """Return the decoded segments that belong to the protocol."""
        return addresses.segments_below(self.address.path_info, addresses.raw_path(self.scope), self.address.below)

    async def handle(self, exchange: Exchange) -> Reply:
        """Carry out a request."""
        return await self._binding.handle(exchange)  # type: ignore[no-any-return]

    def refuse(self, error: Exception, head: bytes) -> Answer:
        """Return an error."""
        return self._binding.refuse(error, self.headers)  # type: ignore[no-any-return]

    def policy_view(self, request: HttpRequest) -> APIView | None:
        """Return the view that stands in ``urls.py``, as Django would have made it for this request."""
        match = self.address.match
        made: Any = match.func
        view: APIView = made.cls(**made.initkwargs)
        view.setup(request, *match.args, **match.kwargs)
        return view


class CardConsumer(HttpConsumer):
    """The addresses of the agent cards, which are public."""

    async def at_once(self) -> Answer | None:
        """Return the card, or that there is none."""
        return await cards.handle(self.method, self.address.tenant, self.headers, self.base())


class CatalogueConsumer(HttpConsumer):
    """The address of the list of agents, which is public."""

    async def at_once(self) -> Answer | None:
        """Return the list."""
        return await catalogue.handle(self.method, self.headers, self.base())


class JwksConsumer(HttpConsumer):
    """The address of the site's public keys."""

    async def at_once(self) -> Answer | None:
        """Return the key set, or that there is none."""
        return await jwks.handle(self.method, self.headers)


class HealthConsumer(HttpConsumer):
    """The address that says whether this process can serve calls."""

    async def at_once(self) -> Answer | None:
        """Return what it says."""
        return await health.handle(self.method)


CONSUMERS: Final[dict[str, type[HttpConsumer]]] = {
    "jsonrpc": JSONRPCConsumer,
    "rest": RestConsumer,
    "card": CardConsumer,
    "catalogue": CatalogueConsumer,
    "jwks": JwksConsumer,
    "health": HealthConsumer,
    **from_optional("dialect.consumers", "CONSUMERS", {}),
}
