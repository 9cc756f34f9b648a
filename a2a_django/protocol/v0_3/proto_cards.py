"""The agent card of package a2a.v1, made of the card of 0.3's JSON schema (facts 2, 4, 6.6)."""

from __future__ import annotations

from typing import Any, Final

from a2a_django.protocol.v0_3.protojson import CODEC
from a2a_django.protocol.wire import Wire

#: ``type`` of a scheme -> its member in a SecurityScheme.
_MEMBERS: Final = {
    "apiKey": "apiKeySecurityScheme",
    "http": "httpAuthSecurityScheme",
    "oauth2": "oauth2SecurityScheme",
    "openIdConnect": "openIdConnectSecurityScheme",
    "mutualTLS": "mtlsSecurityScheme",
}


def proto_card(card: Wire) -> Wire:
    """Return an AgentCard in canonical form."""
    old = {**card, **_security(card)}
    if "securitySchemes" in card:
        old["securitySchemes"] = {name: _scheme(scheme) for name, scheme in card["securitySchemes"].items()}
    old["skills"] = [{**skill, **_security(skill)} for skill in card.get("skills", ())]
    return CODEC.decode("AgentCard", old)


def card_for_rest(card: Wire) -> Wire:
    """Return the card with schemes in both forms: clients of HTTP+JSON read the card as JSON schema, but for some that
    want the schemes as ProtoJSON (facts 2)."""
    if "securitySchemes" not in card:
        return card
    schemes = {name: {**scheme, **_scheme(scheme)} for name, scheme in card["securitySchemes"].items()}
    return {**card, "securitySchemes": schemes}


def _scheme(scheme: Wire) -> Wire:
    found = {name: value for name, value in scheme.items() if name != "type"}
    if "in" in found:
        found["location"] = found.pop("in")
    return {_MEMBERS[scheme["type"]]: found}


def _security(holder: Wire) -> dict[str, Any]:
    if "security" not in holder:
        return {}
    return {
        "security": [
            {"schemes": {name: {"list": scopes} for name, scopes in alternative.items()}}
            for alternative in holder["security"]
        ]
    }
