"""The list of a site's public agents: what a client that knows only the site begins with (spec 8.2, R-193).

The specification has no form for it. Of each agent it tells what there is to choose by and where its card is; the card
tells the rest, signed and in the version that the client asks for.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from a2a_django.access import default_agent, resolve_agent
from a2a_django.agents import Agent, registry
from a2a_django.agents.cards import CardBase
from a2a_django.agents.directory import directory
from a2a_django.bindings import documents
from a2a_django.bindings.addresses import CARD_PATH, card_address
from a2a_django.bindings.documents import Document
from a2a_django.bindings.http import Answer
from a2a_django.protocol import codec
from a2a_django.protocol.errors import MethodNotFoundError


async def handle(method: str, headers: Mapping[str, str], base: CardBase) -> Answer:
    """Answer a request for the list. Never raises but for cancellation."""
    return await documents.answer(method, headers, partial(_catalogue, base))


async def _catalogue(base: CardBase) -> Document:
    default = await default_agent()
    entries = []
    for agent in registry.all():
        if not (agent.public and directory.has(agent)):
            continue
        if default is not None and default.slug == agent.slug:
            address = card_address(base)
        elif await _is_tenant(agent):
            address = f"{base.endpoint}/{agent.slug}{CARD_PATH}"
        else:
            continue
        shown = directory.presented(agent)
        entries.append(
            {
                "slug": agent.slug,
                "name": str(shown.name),
                "description": str(shown.description),
                "version": str(agent.version),
                "cardUrl": address,
            }
        )
    return Document(codec.dumps({"agents": entries}).encode("ascii"))


async def _is_tenant(agent: Agent) -> bool:
    """Whether an agent is reached by its slug; a site's ``TENANT_RESOLVER`` may have other names for it."""
    try:
        return (await resolve_agent(agent.slug, in_path=True)).slug == agent.slug
    except MethodNotFoundError:
        return False
