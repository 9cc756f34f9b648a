"""GetExtendedAgentCard (Spec 3.1.11)."""

from __future__ import annotations

import inspect

from a2a_django.agents import cards
from a2a_django.agents.signatures import signed_text
from a2a_django.conf import a2a_settings
from a2a_django.engine import database
from a2a_django.operations.context import CallContext
from a2a_django.protocol.errors import (
    ExtendedAgentCardNotConfiguredError,
    UnauthenticatedError,
    UnsupportedOperationError,
)
from a2a_django.protocol.wire import Wire


async def get_extended_agent_card(call: CallContext, request: Wire) -> str:
    """Return the text of the card for this user (R-075 to R-084, D-29).

    Raises ``UnsupportedOperationError`` when the public card does not declare one, ``UnauthenticatedError`` for an
    anonymous caller (unless ``EXTENDED_CARD_FOR_ALL``), ``ExtendedAgentCardNotConfiguredError`` when there is none for
    this user.
    """
    agent = call.agent
    if not agent.extended_agent_card:
        raise UnsupportedOperationError("This agent has no extended card")
    if not (getattr(call.user, "is_authenticated", False) or a2a_settings.EXTENDED_CARD_FOR_ALL):
        raise UnauthenticatedError()
    with cards.using_base(call.base, tenant=call.tenant):
        if inspect.iscoroutinefunction(agent.extended_card):
            card = await agent.extended_card(call.user)
        else:
            card = await database.run(_extended, call)
    if card is None:
        raise ExtendedAgentCardNotConfiguredError()
    return signed_text(card, call.base)


def _extended(call: CallContext) -> Wire | None:
    with cards.using_base(call.base, tenant=call.tenant):  # the thread has a context of its own
        return call.agent.extended_card(call.user)
