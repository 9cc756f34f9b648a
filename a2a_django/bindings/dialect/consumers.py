"""The addresses of the dialect as consumers."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import AnonymousUser

from a2a_django.access import Identity
from a2a_django.bindings import rest
from a2a_django.bindings.consumers.consumer import HttpConsumer, Reply
from a2a_django.bindings.dialect import updates
from a2a_django.bindings.http import Answer, Exchange


class UpdatesConsumer(HttpConsumer):
    """The event stream of a task."""

    async def identify(self) -> Identity:
        """Return who is calling; of OPTIONS that is not asked, browsers send it without credentials."""
        if self.method == "OPTIONS":
            return Identity(AnonymousUser(), "")
        return await self.caller()

    async def handle(self, exchange: Exchange) -> Reply:
        """Carry out a request."""
        return await updates.handle(exchange)

    def refuse(self, error: Exception, head: bytes) -> Answer:
        """Return an error."""
        return rest.refuse(error, self.headers)


CONSUMERS: Final[dict[str, type[HttpConsumer]]] = {"updates": UpdatesConsumer}
