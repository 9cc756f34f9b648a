"""Which agent a tenant names (D-08, R-201): its slug, unless the site's ``TENANT_RESOLVER`` decides.

With a resolver, tenants are the site's customers, and several of them may have the same agent. Then the owner of a task
is somebody *at* a tenant: whoever calls under two of them finds the tasks of neither under the other (R-202, R-256).
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Final

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from a2a_django.agents import registry
from a2a_django.agents.directory import directory
from a2a_django.conf import a2a_settings
from a2a_django.models.fields import key_of
from a2a_django.protocol.errors import InvalidParamsError, MethodNotFoundError

if TYPE_CHECKING:
    from a2a_django.agents import Agent

#: First segments of HTTP+JSON paths that mean something else, so they cannot be tenants (D-08).
RESERVED_TENANTS: Final = frozenset(
    {"message:send", "message:stream", "tasks", "extendedAgentCard", "v1", ".well-known"}
)

#: Room for an owner in a row.
_LONGEST: Final = 190


def owner_at(tenant: str, owner: str) -> str:
    """Return the owner that stands in the rows of ``owner``'s tasks under a tenant, "" for none.

    With a ``TENANT_RESOLVER`` it begins with a digest of the tenant, of which databases do not take one for another as
    they may do with texts that differ in case. So it is part of every look-up, and of every index, without more ado.
    """
    if a2a_settings.TENANT_RESOLVER is None:
        return owner
    key = key_of(tenant)
    scoped = f"{key}/{owner}"
    return scoped if len(scoped) <= _LONGEST else f"{key}/{key_of(owner)}"


async def resolve_agent(tenant: str, *, in_path: bool) -> Agent:
    """Return the agent for a tenant; for "" the site's default agent.

    An unknown tenant is a ``MethodNotFoundError`` (404, as any unknown path) where it stands in the path, and an
    ``InvalidParamsError`` on ``tenant`` where it is a field; so is that of an agent which is switched off in the
    database. Without tenant on a site that has several agents and no default one: ``InvalidParamsError``.
    """
    if not tenant:
        agent = await default_agent()
        if agent is None:
            raise InvalidParamsError.of("tenant", "required, this site has no default agent")
        return agent
    await directory.refresh()
    slug = None if tenant in RESERVED_TENANTS else await _slug_of(tenant)
    agent = registry.get(slug) if slug else None
    if agent is None or not directory.has(agent):
        raise MethodNotFoundError() if in_path else InvalidParamsError.of("tenant", "unknown")
    return agent


async def default_agent() -> Agent | None:
    """Return the agent that answers requests without a tenant; None when there is none, or when it is switched off."""
    await directory.refresh()
    agent = registry.default()
    return agent if agent is not None and directory.has(agent) else None


async def _slug_of(tenant: str) -> str | None:
    resolver = a2a_settings.TENANT_RESOLVER
    if resolver is None:
        return tenant
    if inspect.iscoroutinefunction(resolver):
        slug: str | None = await resolver(tenant)
        return slug
    # It may ask the database, so it gets a thread.
    return await sync_to_async(_call_resolver)(tenant)


def _call_resolver(tenant: str) -> str | None:
    resolver = a2a_settings.TENANT_RESOLVER
    try:
        return resolver(tenant) if resolver is not None else tenant
    finally:
        close_old_connections()  # under WSGI and gRPC this thread serves no request that would do it
