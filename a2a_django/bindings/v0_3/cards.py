"""Agent cards for clients of 0.3: where they find the endpoints, and who gets which form (D-25, facts 9)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from a2a_django.protocol import versions
from a2a_django.protocol.v0_3 import cards
from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire

#: The bindings over which 0.3 is spoken.
OFFERED: Final = frozenset({"JSONRPC", "HTTP+JSON", "GRPC"})


def wants_union(headers: Mapping[str, str]) -> bool:
    """Whether a request for a card may come from a client of 0.3: all but those that say they are of 1.x."""
    asked = headers.get("a2a-version", "").split(",", 1)[0].strip()
    version = versions.parse(asked)
    return version is None or not version.startswith("1.")


def with_interfaces(card: Wire) -> Wire:
    """Return a card with interfaces of 0.3 beside those of 1.0, unless it has some; they are the same endpoints.

    There are no tenants in 0.3, so the address says whose agent it is; gRPC has no such address.
    """
    entries = card.get("supportedInterfaces", [])
    if any(entry.get("protocolVersion") == V0_3 for entry in entries):
        return card
    old = [
        {"url": url, "protocolBinding": entry["protocolBinding"], "protocolVersion": V0_3}
        for entry in entries
        if entry["protocolBinding"] in OFFERED and (url := _address(entry))
    ]
    return {**card, "supportedInterfaces": [*entries, *old]}


def _address(entry: Wire) -> str:
    url: str = entry["url"]
    tenant = quote(entry.get("tenant", ""), safe="")
    if not tenant:
        return url
    return {"JSONRPC": f"{url}?tenant={tenant}", "HTTP+JSON": f"{url}/{tenant}"}.get(entry["protocolBinding"], "")


def speaks_0_3(card: Wire) -> bool:
    """Whether a card has an interface of 0.3; where the site's address is not known there may be none."""
    return any(entry.get("protocolVersion") == V0_3 for entry in card.get("supportedInterfaces", ()))


def union(card: Wire) -> Wire:
    """Return a card with interfaces of 0.3 for readers of both versions."""
    return cards.union(card) if speaks_0_3(card) else card


def pure(card: Wire) -> Wire:
    """Return a card as the operations of 0.3 give it, of one of 1.0.

    Raises ``ValueError`` when no endpoint of 0.3 is known.
    """
    return cards.pure(with_interfaces(card))
