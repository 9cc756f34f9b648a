"""Which agents the site has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.module_loading import autodiscover_modules

from a2a_django.conf import a2a_settings

if TYPE_CHECKING:
    from a2a_django.agents.base import Agent

_pending: list[tuple[type[Agent], dict[str, Any]]] = []
_agents: dict[str, Agent] = {}
#: Slugs given to more than one agent; reported by the system checks.
duplicates: list[str] = []


def register(cls: type[Agent], **attributes: Any) -> None:
    """Add an agent class to the site; with ``attributes`` (``name="..."``) for several instances of one class."""
    _pending.append((cls, attributes))


def add(agent: Agent) -> None:
    """Add a ready agent."""
    if agent.slug in _agents:
        duplicates.append(agent.slug)
    _agents[agent.slug] = agent


def discover() -> None:
    """Import ``agents.py`` of every installed app, as the admin does with ``admin.py``."""
    autodiscover_modules("agents")


def _settle() -> None:
    # A class registers itself while it is being defined; it is only made into an agent when it is complete.
    while _pending:
        cls, attributes = _pending.pop(0)
        add(cls(**attributes))


def all() -> list[Agent]:
    """Return the agents in the order in which they were registered."""
    _settle()
    return list(_agents.values())


def get(slug: str) -> Agent | None:
    """Return the agent with a slug."""
    _settle()
    return _agents.get(slug)


def default() -> Agent | None:
    """Return the agent that answers requests without a tenant: ``DEFAULT_AGENT``, or the only one there is."""
    _settle()
    if a2a_settings.DEFAULT_AGENT:
        return _agents.get(a2a_settings.DEFAULT_AGENT)
    return next(iter(_agents.values())) if len(_agents) == 1 else None


def remove(agent: Agent) -> None:
    """Take an agent out again; for tests."""
    if _agents.get(agent.slug) is agent:
        del _agents[agent.slug]
