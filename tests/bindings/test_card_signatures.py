"""Signed cards as they are served: good for the official SDK, for the specification's own rules, and cheap."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from a2a.types import AgentCard
from a2a.utils.signing import InvalidSignaturesError, NoSignatureError, create_signature_verifier
from asgiref.sync import sync_to_async
from django.contrib.auth import get_user_model
from django.test import AsyncClient
from google.protobuf.json_format import ParseDict
from pytest_django import Settings

from a2a_django import Agent, Extension, Skill
from a2a_django.access import create_api_key
from a2a_django.agents import signatures
from a2a_django.agents.cards import CardBase
from a2a_django.protocol.cards import good_signatures
from a2a_django.signing import public_jwks, signing_keys
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import Echo, envelope, rpc
from tests.keys import jwk, pem

pytestmark = pytest.mark.spec("8.4")

CARD = "/.well-known/agent-card.json"


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


@pytest.fixture(autouse=True)
def keys(settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [jwk(kid="first"), pem()]}


def header_of(entry: dict[str, str]) -> dict[str, Any]:
    text = entry["protected"]
    found: dict[str, Any] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    return found


def sdk_verify(card: dict[str, Any]) -> None:
    """Verify as a client of the official SDK does. Raises its errors."""
    keys = {key["kid"]: jwt.PyJWK(key) for key in public_jwks()["keys"]}
    verify = create_signature_verifier(lambda kid, jku: keys[str(kid)], ["ES256"])
    verify(ParseDict(card, AgentCard(), ignore_unknown_fields=True))


def own_verify(card: dict[str, Any]) -> int:
    """Return how many signatures are good by the rules of the specification."""
    keys = {key.kid: key.key for key in signing_keys()}
    return len(good_signatures(card, lambda header: keys.get(header["kid"])))


async def fetched(client: AsyncClient, path: str = CARD, **headers: str) -> dict[str, Any]:
    response = await client.get(path, headers={"A2A-Version": "1.0", **headers})
    assert response.status_code == 200
    card: dict[str, Any] = json.loads(response.content)
    return card


@pytest.mark.usefixtures("echo")
async def test_a_card_is_signed_as_soon_as_there_is_a_key(client: AsyncClient) -> None:
    card = await fetched(client)
    (entry,) = card["signatures"]
    assert set(entry) == {"protected", "signature"}
    assert header_of(entry) == {
        "alg": "ES256",
        "kid": "first",
        "typ": "JOSE",
        "jku": "http://testserver/a2a/jwks.json",
    }
    assert (await client.get("/a2a/jwks.json")).status_code == 200
    sdk_verify(card)
    assert own_verify(card) == 1


@pytest.mark.usefixtures("echo")
async def test_a_changed_card_is_no_longer_good(client: AsyncClient) -> None:
    card = await fetched(client)
    for change in (
        {"name": "Ech0"},
        {"description": ""},
        {"skills": []},
        {"supportedInterfaces": card["supportedInterfaces"][::-1]},
        {"capabilities": card["capabilities"] | {"streaming": False}},
        {"iconUrl": "https://x.example/icon.png"},
    ):
        with pytest.raises(InvalidSignaturesError):
            sdk_verify(card | change)
        assert own_verify(card | change) == 0
    sdk_verify(card | {"x-unknown": 1})


async def test_what_is_there_and_empty_is_signed_in_both_forms(
    client: AsyncClient, register: Callable[[Agent], Agent], settings: Settings
) -> None:
    class Bare(Echo):
        abstract = True
        description = ""
        skills: Any = ()
        documentation_url = "https://shop.example/ünïcode/\U0001f600"
        extensions = [
            Extension(
                "https://e.example/x", "Ex", params={"b": [1.5, None, "", {}], "a": "", "\U0001f600": 1, "\ufb33": 2}
            )
        ]

    settings.A2A = {**settings.A2A, "AUTHENTICATION_CLASSES": ["a2a_django.access.APIKeyAuthentication"]}
    settings.A2A = {**settings.A2A, "PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"]}
    register(Bare())
    card = await fetched(client)
    assert card["securityRequirements"] == [{"schemes": {"bearer": {}}}]
    assert len(card["signatures"]) == 2
    sdk_verify(card)
    assert own_verify(card) == 2


@pytest.mark.usefixtures("echo")
async def test_the_setting_turns_it_off(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "SIGN_CARDS": False}
    card = await fetched(client)
    assert "signatures" not in card
    with pytest.raises(NoSignatureError):
        sdk_verify(card)
    assert (await client.get("/a2a/jwks.json")).status_code == 200
    settings.A2A = {**settings.A2A, "SIGN_CARDS": True, "SIGNING_KEYS": []}
    assert "signatures" not in await fetched(client)


@pytest.mark.usefixtures("echo")
async def test_the_jku_follows_the_site(client: AsyncClient, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.bindings.urls_prefix"
    settings.A2A = {**settings.A2A, "BASE_URL": "https://agents.example/"}
    for path in ("/agents/x" + CARD, "/agents/x/a2a/echo" + CARD):
        card = await fetched(client, path)
        assert header_of(card["signatures"][0])["jku"] == "https://agents.example/agents/x/a2a/jwks.json"
        sdk_verify(card)


@pytest.mark.usefixtures("echo")
async def test_who_asks_again_gets_the_same_and_nobody_signs_anew(
    client: AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await client.get(CARD)
    monkeypatch.setattr(signatures, "sign", None)
    again = await client.get(CARD)
    assert again.content == first.content


@pytest.mark.usefixtures("echo")
async def test_processes_that_say_the_same_have_the_same_tag(client: AsyncClient, settings: Settings) -> None:
    first = await client.get(CARD)
    tag = first.headers["ETag"]
    assert tag.startswith('W/"')
    signatures._entries.cache_clear()  # as another process, which has signed nothing yet
    other = await client.get(CARD)
    assert other.content != first.content
    assert other.headers["ETag"] == tag
    assert (await client.get(CARD, headers={"If-None-Match": tag})).status_code == 304
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [jwk(kid="next"), *settings.A2A["SIGNING_KEYS"]]}
    fresh = await client.get(CARD, headers={"If-None-Match": tag})
    assert fresh.status_code == 200
    assert header_of(json.loads(fresh.content)["signatures"][0])["kid"] == "next"


class Discreet(Echo):
    """Has more for those it knows."""

    abstract = True
    extended_agent_card = True

    def extended_card(self, user: Any) -> Any:
        """Return a card that names the user."""
        return self.card(skills=[*self.skills, Skill("more", f"More for {user.username}", "More", tags=["x"])])


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("binding", ["jsonrpc", "rest"])
async def test_extended_cards_are_signed_too(
    client: AsyncClient, register: Callable[[Agent], Agent], settings: Settings, binding: str
) -> None:
    settings.A2A = {**settings.A2A, "AUTHENTICATION_CLASSES": ["a2a_django.access.APIKeyAuthentication"]}
    register(Discreet())
    for name in ("alice", "bob"):
        user = await get_user_model().objects.acreate(username=name)
        __, key = await sync_to_async(create_api_key)(user)
        headers = {"Authorization": f"Bearer {key}"}
        if binding == "rest":
            card = await fetched(client, "/a2a/extendedAgentCard", **headers)
        else:
            answer = await rpc(client, envelope("GetExtendedAgentCard", {}), Authorization=f"Bearer {key}")
            card = json.loads(answer.content)["result"]
        assert card["skills"][-1]["name"] == f"More for {name}"
        sdk_verify(card)
        assert own_verify(card) == len(card["signatures"])
        assert header_of(card["signatures"][0])["jku"] == "http://testserver/a2a/jwks.json"


BASE = CardBase("https://shop.example", "/a2a")


def test_signatures_of_the_author_are_left_alone() -> None:
    own = [{"protected": "x", "signature": "y"}]
    assert json.loads(signatures.signed_text({"name": "A", "signatures": own}, BASE))["signatures"] == own


def test_a_card_that_cannot_be_signed_is_served_without(caplog: pytest.LogCaptureFixture) -> None:
    card = {"name": "A", "securitySchemes": {"x": {"apiKeySecurityScheme": {}, "mtlsSecurityScheme": {}}}}
    assert json.loads(signatures.signed_text(card, BASE)) == card
    assert "cannot be signed" in caplog.text


def test_where_the_site_is_unknown_there_is_no_jku() -> None:
    card = json.loads(signatures.signed_text({"name": "A"}, CardBase("", "/a2a")))
    assert all("jku" not in header_of(entry) for entry in card["signatures"])
