"""Who calls, which agent, and how: what every operation is told besides its request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from a2a_django.access import Identity
from a2a_django.agents import Agent
from a2a_django.agents.cards import CardBase


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call. ``tenant`` is "" when the request named none, ``streaming`` False where the carrier cannot stream."""

    agent: Agent
    tenant: str
    owner: str
    user: Any
    version: str
    extensions: tuple[str, ...]
    binding: str
    streaming: bool
    base: CardBase
    #: The W3C trace context that the request came with, "" without.
    traceparent: str = ""
    #: What the caller's rights rest on, for calls that last.
    identity: Identity | None = None
    #: The number of the last event that the caller has of a stream that was cut off, None without.
    after: int | None = None
    #: Whether ``user`` is an operator of the site, who answers in the place of the task's owner.
    operator: bool = False
    #: For a message that is to be taken in only while its task waits: how many messages the task had when it asked.
    answers: int | None = None

    def activated(self) -> tuple[str, ...]:
        """Return the extensions that were asked for and that the agent offers (R-229, D-11)."""
        if not self.extensions:
            return ()
        offered = {extension.uri for extension in self.agent.extensions}
        return tuple(uri for uri in self.extensions if uri in offered)

    def user_pk(self) -> str:
        """Return the user's primary key as text, "" for an anonymous caller."""
        return str(self.user.pk) if self.user is not None and self.user.pk is not None else ""
