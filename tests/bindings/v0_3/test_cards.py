"""Agent cards for both generations of clients: as they are served, by whom they are read, and that signatures hold."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from a2a.client.card_resolver import parse_agent_card
from a2a.compat.v0_3 import types
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.test import AsyncClient
from google.protobuf.json_format import MessageToDict
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.access import create_api_key
from a2a_django.bindings.v0_3.cards import OFFERED
from tests.bindings.test_card_signatures import own_verify, sdk_verify
from tests.bindings.v0_3.conftest import Scripted, Talker, call, refusal
from tests.keys import pem

pytestmark = pytest.mark.spec("A")

CARD = "/.well-known/agent-card.json"
OLD = ("url", "preferredTransport", "protocolVersion", "additionalInterfaces")


async def fetched(client: AsyncClient, path: str = CARD, **headers: str) -> dict[str, Any]:
    response = await client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    assert response.status_code == 200, response.content
    assert response.headers["Vary"] == "A2A-Version"
    card: dict[str, Any] = json.loads(response.content)
    return card


def without_old(card: dict[str, Any]) -> dict[str, Any]:
    """The card as a reader of 1.0 sees it, but for the interfaces of 0.3."""
    found = {name: value for name, value in card.items() if name not in (*OLD, "security")}
    found.pop("supportsAuthenticatedExtendedCard", None)
    found["supportedInterfaces"] = [one for one in card["supportedInterfaces"] if one["protocolVersion"] == "1.0"]
    return found


@pytest.mark.usefixtures("agent")
async def test_readers_of_both_versions_find_theirs(client: AsyncClient) -> None:
    card = await fetched(client)
    new = await fetched(client, A2A_Version="1.0")
    assert not set(new) & {*OLD, "security"}
    assert without_old(card) == new
    assert (card["url"], card["preferredTransport"]) == ("http://testserver/a2a/", "JSONRPC")
    assert card["protocolVersion"] == "0.3.0"
    assert card["supportsAuthenticatedExtendedCard"] is True
    old = [one for one in card["supportedInterfaces"] if one["protocolVersion"] == "0.3"]
    assert card["supportedInterfaces"] == [*new["supportedInterfaces"], *old]
    assert [(one["url"], one["transport"]) for one in card["additionalInterfaces"]] == [
        (one["url"], one["protocolBinding"]) for one in old
    ]
    assert {one["protocolBinding"] for one in old} == OFFERED - {"GRPC"}
    model = types.AgentCard.model_validate(card)
    assert (model.name, model.url, model.skills[0].id) == ("Scripted", "http://testserver/a2a/", "script")


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("version", ["1", "1.0", "1.0.1", "1.4", " 1.0 , 0.3"])
async def test_who_says_1_gets_the_card_of_1_0(client: AsyncClient, version: str) -> None:
    assert "url" not in await fetched(client, A2A_Version=version)


@pytest.mark.usefixtures("agent")
@pytest.mark.parametrize("version", ["", "0.3", "0.3.0", "x", "2.0"])
async def test_all_others_get_the_united_one(client: AsyncClient, version: str) -> None:
    assert "url" in await fetched(client, A2A_Version=version)


@pytest.mark.usefixtures("agent")
async def test_both_forms_have_tags_of_their_own(client: AsyncClient, settings: Settings) -> None:
    for keys in ([], [pem()]):
        settings.A2A = {**settings.A2A, "SIGNING_KEYS": keys}
        tags = [
            (await client.get(CARD, headers={"A2A-Version": version})).headers["ETag"] for version in ("1.0", "0.3")
        ]
        assert tags[0] != tags[1]
        for version, tag, status in (("1.0", tags[0], 304), ("0.3", tags[1], 304), ("0.3", tags[0], 200)):
            response = await client.get(CARD, headers={"A2A-Version": version, "If-None-Match": tag})
            assert response.status_code == status


@pytest.mark.usefixtures("agent")
async def test_where_0_3_is_off_there_is_one_card(client: AsyncClient, settings: Settings) -> None:
    before = await fetched(client, A2A_Version="1.0")
    settings.A2A = {**settings.A2A, "PROTOCOL_0_3": False}
    assert await fetched(client) == await fetched(client, A2A_Version="0.3") == before


async def test_agents_behind_a_tenant_have_addresses_of_their_own(
    client: AsyncClient, register: Callable[[Agent], Agent], settings: Settings
) -> None:
    register(Scripted())
    register(Talker())
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "scripted", "GRPC_URL": "127.0.0.1:50051"}
    card = await fetched(client, "/a2a/talker" + CARD)
    assert card["url"] == "http://testserver/a2a/?tenant=talker"
    transports = {one["transport"]: one["url"] for one in card["additionalInterfaces"]}
    assert transports.get("HTTP+JSON", "http://testserver/a2a/talker") == "http://testserver/a2a/talker"
    assert "GRPC" not in transports  # it has no tenants in 0.3
    assert (await fetched(client))["url"] == "http://testserver/a2a/"


# -- signatures


@pytest.fixture
def signing(settings: Settings) -> None:
    """A site that signs and whose callers have to be known."""
    settings.A2A = {
        **settings.A2A,
        "SIGNING_KEYS": [pem()],
        "AUTHENTICATION_CLASSES": ["a2a_django.access.APIKeyAuthentication"],
        "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    }


@pytest.mark.usefixtures("agent", "signing")
async def test_the_signature_of_a_united_card_is_good(client: AsyncClient) -> None:
    card = await fetched(client)
    scheme = card["securitySchemes"]["bearer"]
    assert (scheme["type"], scheme["scheme"]) == ("http", scheme["httpAuthSecurityScheme"]["scheme"])
    assert card["security"] == [{"bearer": []}]
    assert card["signatures"]
    assert own_verify(card) == len(card["signatures"])
    sdk_verify(card)
    types.AgentCard.model_validate(card)
    # As the resolver of the SDK reads it.
    sdk_verify(MessageToDict(parse_agent_card(card)))


class OAuth:
    """Declares a scheme of which 0.3 cannot say all."""

    security_scheme = (
        "oauth",
        {
            "oauth2SecurityScheme": {
                "flows": {
                    "authorizationCode": {
                        "authorizationUrl": "https://a.example/authorize",
                        "tokenUrl": "https://a.example/token",
                        "scopes": {"read": "Read"},
                        "pkceRequired": True,
                    }
                }
            }
        },
    )


@pytest.mark.usefixtures("agent", "signing")
async def test_a_scheme_that_0_3_cannot_say_does_not_break_the_signature(
    client: AsyncClient, settings: Settings
) -> None:
    settings.A2A = {**settings.A2A, "AUTHENTICATION_CLASSES": ["tests.bindings.v0_3.test_cards.OAuth"]}
    card = await fetched(client)
    assert "type" not in card["securitySchemes"]["oauth"]
    assert own_verify(card) == len(card["signatures"]) > 0
    sdk_verify(MessageToDict(parse_agent_card(card)))
    settings.A2A = {**settings.A2A, "SIGN_CARDS": False}
    scheme = (await fetched(client))["securitySchemes"]["oauth"]
    assert scheme["type"] == "oauth2"
    assert "pkceRequired" not in scheme["flows"]["authorizationCode"]
    assert scheme["oauth2SecurityScheme"]["flows"]["authorizationCode"]["pkceRequired"] is True


# -- the extended card


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("agent", "signing")
@pytest.mark.parametrize("method", ["agent/getAuthenticatedExtendedCard", "agent/authenticatedExtendedCard"])
async def test_the_extended_card_is_one_of_0_3(client: AsyncClient, method: str) -> None:
    __, key = await sync_to_async(create_api_key)(await get_user_model().objects.acreate(username="alice"))
    card = await call(client, method, Authorization=f"Bearer {key}")
    types.AgentCard.model_validate(card)
    assert not set(card) & {"supportedInterfaces", "securityRequirements", "signatures"}
    assert "extendedAgentCard" not in card["capabilities"]
    assert [skill["id"] for skill in card["skills"]] == ["script", "more"]
    assert card["protocolVersion"] == "0.3.0"
    assert card["url"] == "http://testserver/a2a/"
    assert card["supportsAuthenticatedExtendedCard"] is True
    assert card["securitySchemes"]["bearer"]["type"] == "http"
    assert card["security"] == [{"bearer": []}]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("agent")
async def test_there_is_none_for_nobody(client: AsyncClient, register: Callable[[Agent], Agent]) -> None:
    method = "agent/getAuthenticatedExtendedCard"
    assert (await refusal(client, method, status=401))["message"] == "Authentication required"
    register(Talker())
    assert (await refusal(client, method, {}, path="/a2a/?tenant=talker"))["code"] == -32007
