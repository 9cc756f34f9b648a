"""The agent card: what a caller has to know before the first call (spec 4.4, 8; R-192 to R-204).

A card is built for each request: where the site is reached and whether the server can stream are facts of the request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.urls import get_script_prefix, reverse

from a2a_django.agents import registry
from a2a_django.agents.security import security_requirements, security_schemes
from a2a_django.conf import a2a_settings
from a2a_django.protocol.wire import Wire

if TYPE_CHECKING:
    from a2a_django.agents import Agent, Skill

#: Major.Minor only (R-146, R-204).
PROTOCOL_VERSION: Final = "1.0"


@dataclass(frozen=True, slots=True)
class CardBase:
    """Where the protocol is reached.

    ``url`` is the root of the site including any script prefix, without trailing slash (``https://host/prefix``), or ""
    where that is unknown; ``path`` the place of the endpoints below it (``/a2a``). ``streaming`` is False where the
    server cannot hold a stream open (WSGI); the card then says so. ``tenant`` is the one of the call, None where there
    is no call.
    """

    url: str
    path: str
    streaming: bool = True
    tenant: str | None = None

    @property
    def endpoint(self) -> str:
        """The address of the HTTP+JSON binding; that of JSON-RPC is the same with a slash behind it (D-30)."""
        return self.url + self.path


_current: ContextVar[CardBase] = ContextVar("a2a_django_card_base")


@contextmanager
def using_base(base: CardBase, *, streaming: bool = True, tenant: str | None = None) -> Iterator[None]:
    """Inside, ``current_base`` is ``base``: for code of agents that builds a card while a call is answered."""
    token = _current.set(replace(base, streaming=base.streaming and streaming, tenant=tenant))
    try:
        yield
    finally:
        _current.reset(token)


def current_base() -> CardBase:
    """Return the base of the call that is being answered; outside of any, the one of the settings.

    Raises ``ImproperlyConfigured`` when there is neither a call nor ``A2A["BASE_URL"]``.
    """
    return _current.get(None) or configured_base()


def configured_base() -> CardBase:
    """Return the base as ``A2A["BASE_URL"]`` and the site's urls have it. Raises ``ImproperlyConfigured`` without."""
    if not a2a_settings.BASE_URL:
        raise ImproperlyConfigured('A2A["BASE_URL"] is needed to write a card outside of a request')
    return CardBase(a2a_settings.BASE_URL.rstrip("/"), endpoint_path())


def endpoint_path() -> str:
    """Return where the site's urls have the endpoints. Raises ``NoReverseMatch`` for a site without them."""
    return reverse("a2a_django:jsonrpc").removeprefix(get_script_prefix().rstrip("/")).rstrip("/")


def build_card(agent: Agent, base: CardBase, *, streaming: bool = True, tenant: str | None = None) -> Wire:
    """Return the public card of ``agent`` in canonical ProtoJSON.

    ``streaming=False`` makes it say that there are no streams, whatever the agent and ``base`` say (R-103). ``tenant``
    is the one under which the agent was asked for, by default that of ``base``, else its slug; and nothing for the
    site's default agent, which answers calls without tenant (R-201, D-08), unless tenants are customers of the site.
    """
    tenant = base.tenant if tenant is None else tenant
    default = registry.default()
    if default is not None and default.slug == agent.slug and not (tenant and a2a_settings.TENANT_RESOLVER):
        tenant = ""
    elif tenant is None:
        tenant = agent.slug
    card: Wire = {
        "name": str(agent.name),
        "description": str(agent.description),
        "supportedInterfaces": list(interfaces(base, tenant)),
        "version": str(agent.version),
        "capabilities": capabilities(agent, streaming=streaming and base.streaming),
        "defaultInputModes": list(agent.input_modes),
        "defaultOutputModes": list(agent.output_modes),
        "skills": [skill(item) for item in agent.skills],
    }
    if agent.provider:
        card["provider"] = {"organization": str(agent.provider.organization), "url": str(agent.provider.url)}
    if agent.documentation_url:
        card["documentationUrl"] = str(agent.documentation_url)
    if agent.icon_url:
        card["iconUrl"] = str(agent.icon_url)
    schemes = security_schemes(base)
    if schemes:
        card["securitySchemes"] = schemes
        if requirements := security_requirements(agent, schemes):
            card["securityRequirements"] = requirements
    return card


def interfaces(base: CardBase, tenant: str) -> Iterable[Wire]:
    """Return the interfaces in order of preference (R-198, R-199), those of which the address is known."""
    addresses = [("JSONRPC", base.endpoint + "/"), ("HTTP+JSON", base.endpoint)] if base.url else []
    if a2a_settings.GRPC_URL:
        addresses.append(("GRPC", a2a_settings.GRPC_URL))  # a bare host:port (D-02)
    for binding, url in addresses:
        entry: Wire = {"url": url, "protocolBinding": binding}
        if tenant:
            entry["tenant"] = tenant
        entry["protocolVersion"] = PROTOCOL_VERSION
        yield entry


def capabilities(agent: Agent, *, streaming: bool) -> Wire:
    """Return what the agent can do. The three booleans have presence, so they are always said (R-012)."""
    found: Wire = {
        "streaming": bool(agent.streaming and streaming),
        "pushNotifications": bool(agent.push_notifications),
    }
    if agent.extensions:
        found["extensions"] = [
            _without_empty(
                uri=extension.uri,
                description=str(extension.description),
                required=extension.required,
                params=dict(extension.params or {}),
            )
            for extension in agent.extensions
        ]
    found["extendedAgentCard"] = bool(agent.extended_agent_card)
    return found


def skill(item: Skill) -> Wire:
    """Return one skill; its four REQUIRED fields are there also when they are empty (R-009, D-24)."""
    wire: Wire = {
        "id": item.id,
        "name": str(item.name),
        "description": str(item.description),
        "tags": [str(tag) for tag in item.tags],
    }
    return wire | _without_empty(
        examples=[str(example) for example in item.examples],
        inputModes=list(item.input_modes),
        outputModes=list(item.output_modes),
    )


def _without_empty(**members: Any) -> Wire:
    return {name: value for name, value in members.items() if value}
