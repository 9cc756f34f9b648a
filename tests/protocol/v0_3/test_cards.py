"""Cards of 0.3 and united cards, with the official SDK's types, conversions and reader as second opinion."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from a2a.client.card_resolver import parse_agent_card
from a2a.compat.v0_3 import conversions, types
from a2a.types import AgentCard
from google.protobuf.json_format import ParseDict
from hypothesis import HealthCheck, given, settings

from a2a_django.protocol import codec
from a2a_django.protocol.cards import canonical
from a2a_django.protocol.v0_3 import cards
from a2a_django.protocol.wire import Wire
from tests.protocol.strategies import messages

pytestmark = pytest.mark.spec("A")

some = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)

INTERFACES = [
    {"url": "https://x.example/a2a/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
    {"url": "https://x.example/a2a/", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
    {"url": "https://x.example/a2a", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"},
]
CARD: Wire = {
    "name": "Shop",
    "description": "Answers",
    "version": "2",
    "supportedInterfaces": INTERFACES,
    "provider": {"organization": "O", "url": "https://o.example"},
    "iconUrl": "https://x.example/i.png",
    "documentationUrl": "https://x.example/d",
    "capabilities": {
        "streaming": True,
        "pushNotifications": False,
        "extendedAgentCard": True,
        "extensions": [{"uri": "https://e.example", "required": True, "params": {"a": 1}}],
    },
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "S", "description": "D", "tags": ["t"], "examples": ["e"], "inputModes": ["a/b"]}],
}
FLOW = {"authorizationUrl": "https://a.example/a", "tokenUrl": "https://a.example/t", "scopes": {"r": "Read"}}
PKCE = {"oauth2SecurityScheme": {"flows": {"authorizationCode": {**FLOW, "pkceRequired": True}}}}
DEVICE = {
    "oauth2SecurityScheme": {
        "flows": {"deviceCode": {"deviceAuthorizationUrl": "https://a.example/d", "tokenUrl": "u", "scopes": {}}}
    }
}
SCHEMES: list[tuple[Wire, Wire]] = [
    (
        {"apiKeySecurityScheme": {"description": "D", "location": "header", "name": "X-Key"}},
        {"type": "apiKey", "description": "D", "in": "header", "name": "X-Key"},
    ),
    (
        {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT"}},
        {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    ),
    (
        {"oauth2SecurityScheme": {"flows": {"authorizationCode": FLOW}, "oauth2MetadataUrl": "https://a.example/m"}},
        {"type": "oauth2", "flows": {"authorizationCode": FLOW}, "oauth2MetadataUrl": "https://a.example/m"},
    ),
    (
        {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "https://a.example/t"}}}},
        {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://a.example/t", "scopes": {}}}},
    ),
    (
        {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://a.example/o"}},
        {"type": "openIdConnect", "openIdConnectUrl": "https://a.example/o"},
    ),
    ({"mtlsSecurityScheme": {"description": "D"}}, {"type": "mutualTLS", "description": "D"}),
]


def secured(scheme: Wire, **more: Any) -> Wire:
    requirement = {"schemes": {"x": {"list": ["r"]}}}
    skills = [{**CARD["skills"][0], "securityRequirements": [requirement]}]
    return {
        **CARD,
        "securitySchemes": {"x": scheme},
        "securityRequirements": [requirement],
        "skills": skills,
        **more,
    }


def test_the_pure_card() -> None:
    old = cards.pure(CARD)
    assert old == {
        "protocolVersion": "0.3.0",
        "name": "Shop",
        "description": "Answers",
        "version": "2",
        "url": "https://x.example/a2a/",
        "preferredTransport": "JSONRPC",
        "additionalInterfaces": [
            {"url": "https://x.example/a2a/", "transport": "JSONRPC"},
            {"url": "https://x.example/a2a", "transport": "HTTP+JSON"},
        ],
        "provider": CARD["provider"],
        "iconUrl": CARD["iconUrl"],
        "documentationUrl": CARD["documentationUrl"],
        "capabilities": {
            "streaming": True,
            "pushNotifications": False,
            "extensions": CARD["capabilities"]["extensions"],
        },
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": CARD["skills"],
        "supportsAuthenticatedExtendedCard": True,
    }
    types.AgentCard.model_validate(old)


@pytest.mark.parametrize(("new", "old"), SCHEMES)
def test_schemes(new: Wire, old: Wire) -> None:
    card = secured(new)
    pure, united = cards.pure(card), cards.union(card)
    assert pure["securitySchemes"] == {"x": old}
    assert united["securitySchemes"] == {"x": {**old, **new}}
    for made in (pure, united):
        assert made["security"] == made["skills"][0]["security"] == [{"x": ["r"]}]
        model = types.AgentCard.model_validate(made)
        theirs = codec.from_message(conversions.to_core_agent_card(model))["securitySchemes"]
        assert theirs == codec.decode("AgentCard", card)["securitySchemes"]
    # What 1.0 reads of it is the card, for us and for the SDK.
    assert canonical(united) == canonical(card)
    assert parse_agent_card(copy.deepcopy(united)) == ParseDict(card, AgentCard())


def test_a_scheme_that_cannot_be_said_has_no_type_and_no_requirement() -> None:
    card = secured(DEVICE)
    pure, united = cards.pure(card), cards.union(card)
    assert "securitySchemes" not in pure
    assert united["securitySchemes"] == {"x": DEVICE}
    for made in (pure, united):
        assert "security" not in made
        assert "security" not in made["skills"][0]
    either = {"schemes": {"y": {}}}
    card["securitySchemes"]["y"] = {"httpAuthSecurityScheme": {"scheme": "bearer"}}
    card["securityRequirements"] = [*card["securityRequirements"], either, {"schemes": {"x": {}, "y": {}}}]
    assert cards.union(card)["security"] == [{"y": []}]


def test_a_scheme_that_can_be_said_in_part() -> None:
    assert cards.pure(secured(PKCE))["securitySchemes"]["x"] == {"type": "oauth2", "flows": {"authorizationCode": FLOW}}
    united = cards.union(secured(PKCE))
    assert united["securitySchemes"]["x"]["type"] == "oauth2"
    assert canonical(united) == canonical(secured(PKCE))
    # The reader of the SDK takes the part for the whole, so a signature would be wrong.
    signed = cards.union(secured(PKCE, signatures=[{"protected": "p", "signature": "s"}]))
    assert signed["securitySchemes"]["x"] == PKCE


@pytest.mark.parametrize("interfaces", [[], INTERFACES[:1]])
def test_without_an_address_there_is_no_card(interfaces: list[Wire]) -> None:
    for make in (cards.pure, cards.union):
        with pytest.raises(ValueError, match=r"0\.3"):
            make({**CARD, "supportedInterfaces": interfaces})


def test_without_extended_card_nothing_is_said_of_it() -> None:
    for capabilities in ({}, {"extendedAgentCard": False}):
        for make in (cards.pure, cards.union):
            assert "supportsAuthenticatedExtendedCard" not in make({**CARD, "capabilities": capabilities})


def test_a_pure_card_has_no_signatures() -> None:
    assert "signatures" not in cards.pure({**CARD, "signatures": [{"protected": "p", "signature": "s"}]})


@some
@given(messages("AgentCard"))
def test_what_1_0_reads_of_a_united_card_is_the_card(value: Any) -> None:
    wire = codec.decode("AgentCard", value)
    wire["supportedInterfaces"] = [*wire.get("supportedInterfaces", []), *INTERFACES[1:]]
    before = copy.deepcopy(wire)
    united = cards.union(wire)
    assert wire == before
    assert codec.decode("AgentCard", united) == codec.decode("AgentCard", wire)
    assert canonical(united) == canonical(wire)
    cards.pure(wire)
