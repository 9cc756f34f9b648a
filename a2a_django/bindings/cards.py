"""The public agent card over HTTP (spec 8.2, 8.6, 14.3; R-192 to R-196, R-220 to R-222, D-26)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from a2a_django.access import default_agent, resolve_agent
from a2a_django.agents.cards import CardBase, build_card
from a2a_django.agents.directory import directory
from a2a_django.agents.signatures import signed_text, signer, signs
from a2a_django.bindings import documents, older
from a2a_django.bindings.documents import Document
from a2a_django.bindings.http import Answer
from a2a_django.protocol.errors import MethodNotFoundError
from a2a_django.protocol.wire import text_of


async def handle(method: str, tenant: str, headers: Mapping[str, str], base: CardBase) -> Answer:
    """Answer a request for the card of a tenant's agent, of the default agent for "" (404 without one).

    Never raises but for cancellation.
    """

    async def card() -> Document:
        agent = await (resolve_agent(tenant, in_path=True) if tenant else default_agent())
        if agent is None:
            raise MethodNotFoundError("This site has no default agent")
        made = build_card(directory.presented(agent), base, tenant=tenant or None)
        if older.speaks_0_3() and (old := older.part("cards")).wants_union(headers):
            made = old.with_interfaces(made)
            body = text_of(old.union(json.loads(signed_text(made, base)))).encode("ascii")
        else:
            body = signed_text(made, base).encode("ascii")
        # No two signatures of the same card are alike, so other processes have other ones.
        version = f"{text_of(made)} {signer()}".encode("ascii") if signs() else b""
        return Document(body, version)

    return await documents.answer(method, headers, card, vary="A2A-Version")
