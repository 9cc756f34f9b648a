"""The public agent card over HTTP (spec 8.2, 8.6, 14.3; R-192 to R-196, R-220 to R-222, D-26)."""

from __future__ import annotations

from collections.abc import Mapping

from a2a_django.access import default_agent, resolve_agent
from a2a_django.agents.cards import CardBase, build_card
from a2a_django.agents.directory import directory
from a2a_django.bindings import documents
from a2a_django.bindings.http import Answer
from a2a_django.protocol import codec
from a2a_django.protocol.errors import MethodNotFoundError


async def handle(method: str, tenant: str, headers: Mapping[str, str], base: CardBase) -> Answer:
    """Answer a request for the card of a tenant's agent, of the default agent for "" (404 without one).

    Never raises but for cancellation.
    """

    async def card() -> bytes:
        agent = await (resolve_agent(tenant, in_path=True) if tenant else default_agent())
        if agent is None:
            raise MethodNotFoundError("This site has no default agent")
        return codec.dumps(build_card(directory.presented(agent), base, tenant=tenant or None)).encode("ascii")

    return await documents.answer(method, headers, card)
