"""The agent card of package a2a.v1, made of the one of the JSON schema."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as official
from google.protobuf import json_format

from a2a_django.protocol.v0_3.proto_cards import card_for_rest, proto_card
from a2a_django.protocol.v0_3.protojson import CODEC

pytestmark = pytest.mark.spec("A")

CARD: dict[str, Any] = {
    "protocolVersion": "0.3.0",
    "name": "Shop",
    "description": "Sells",
    "version": "1",
    "url": "https://shop.example/a2a/",
    "preferredTransport": "JSONRPC",
    "additionalInterfaces": [{"url": "https://shop.example/a2a", "transport": "HTTP+JSON"}],
    "capabilities": {
        "streaming": True,
        "extensions": [{"uri": "https://e.example", "required": True, "params": {"a": 1}}],
    },
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "S", "description": "Sell", "tags": ["x"], "security": [{"key": ["read"]}]}],
    "provider": {"organization": "Shop", "url": "https://shop.example"},
    "supportsAuthenticatedExtendedCard": True,
}
FLOW = {"tokenUrl": "https://id.example/token", "scopes": {"read": "Read"}}

SCHEMES = [
    (
        {"type": "apiKey", "in": "header", "name": "X-Key", "description": "d"},
        {"apiKeySecurityScheme": {"location": "header", "name": "X-Key", "description": "d"}},
    ),
    (
        {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
        {"httpAuthSecurityScheme": {"scheme": "bearer", "bearerFormat": "JWT"}},
    ),
    (
        {"type": "oauth2", "flows": {"clientCredentials": FLOW}, "oauth2MetadataUrl": "https://id.example/m"},
        {"oauth2SecurityScheme": {"flows": {"clientCredentials": FLOW}, "oauth2MetadataUrl": "https://id.example/m"}},
    ),
    (
        {"type": "openIdConnect", "openIdConnectUrl": "https://id.example"},
        {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://id.example"}},
    ),
    ({"type": "mutualTLS"}, {"mtlsSecurityScheme": {}}),
]


@pytest.mark.parametrize(("old", "member"), SCHEMES)
def test_schemes(old: dict[str, Any], member: dict[str, Any]) -> None:
    card = {**CARD, "securitySchemes": {"key": old}, "security": [{"key": ["read"]}, {}]}
    found = proto_card(card)
    assert found["securitySchemes"] == {"key": member}
    assert found["security"] == [{"schemes": {"key": {"list": ["read"]}}}, {}]
    theirs = json_format.ParseDict(found, official.AgentCard())
    assert official.AgentCard.FromString(CODEC.to_message("AgentCard", found).SerializeToString()) == theirs
    # For HTTP+JSON the card stays what it is, but for schemes that both kinds of readers read.
    assert card_for_rest(card) == {**card, "securitySchemes": {"key": {**old, **member}}}


def test_the_rest_of_a_card() -> None:
    found = proto_card(CARD)
    security = {"security": [{"schemes": {"key": {"list": ["read"]}}}]}
    assert found == {**CARD, "skills": [{**CARD["skills"][0], **security}]}
    assert card_for_rest(CARD) == CARD
