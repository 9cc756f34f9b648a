"""The Python client finds the agent by its card."""

from __future__ import annotations

import grpc
import httpx
import jwt
import pytest
from a2a.client import (
    A2ACardResolver,
    A2AClientError,
    AgentCardResolutionError,
    ClientConfig,
    ClientFactory,
    create_client,
)
from a2a.types import AgentCard, GetExtendedAgentCardRequest
from a2a.utils.constants import TransportProtocol
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier

from tests.interop.live_site import Live
from tests.interop.python.sdk import Connect, collect, replay, request, sent, state_of, states, texts


async def resolved(url: str, path: str | None = None) -> AgentCard:
    async with httpx.AsyncClient() as http:
        return await A2ACardResolver(http, url).get_agent_card(path)


async def test_the_resolver_reads_the_whole_card(live: Live) -> None:
    card = await resolved(live.urls["main"])
    assert (card.name, card.version) == ("Scripted agent", "1.0")
    assert card.description
    new = [one for one in card.supported_interfaces if one.protocol_version == "1.0"]
    assert list(card.supported_interfaces[: len(new)]) == new  # those of 0.3 come behind
    assert [(one.protocol_binding, one.protocol_version) for one in new] == [
        (TransportProtocol.JSONRPC.value, "1.0"),
        (TransportProtocol.HTTP_JSON.value, "1.0"),
        (TransportProtocol.GRPC.value, "1.0"),
    ]
    *http, last = new
    assert all(one.url.startswith(live.urls["main"]) for one in http)
    assert last.url == f"127.0.0.1:{live.grpc['main'].port}"
    assert card.capabilities.streaming
    assert card.capabilities.extended_agent_card
    assert card.capabilities.push_notifications
    assert list(card.default_input_modes) == ["text/plain", "application/json"]
    assert list(card.default_output_modes) == ["text/plain", "application/json"]
    assert [(skill.id, list(skill.tags)) for skill in card.skills] == [("script", ["test"])]
    assert card.security_schemes["bearer"].http_auth_security_scheme.scheme == "Bearer"
    assert list(card.security_requirements[0].schemes) == ["bearer"]


async def test_the_resolver_reads_extensions(live: Live) -> None:
    card = await resolved(live.urls["strict"])
    assert [(one.uri, one.required) for one in card.capabilities.extensions] == [
        ("https://e.example/ext/a/v1", True),
        ("https://e.example/ext/b/v1", False),
    ]


async def test_the_resolver_finds_the_signature_good(live: Live) -> None:
    def key(kid: str | None, jku: str | None) -> jwt.PyJWK:
        assert jku == f"{live.urls['main']}/a2a/jwks.json"
        return jwt.PyJWKSet.from_dict(httpx.get(jku).json())[str(kid)]

    verify = create_signature_verifier(key, ["ES256"])
    async with httpx.AsyncClient() as http:
        card = await A2ACardResolver(http, live.urls["main"]).get_agent_card(signature_verifier=verify)
    assert card.name == "Scripted agent"
    card.name = "Another agent"
    with pytest.raises(InvalidSignaturesError):
        verify(card)


async def test_a_card_that_is_not_there_is_a_resolution_error(live: Live) -> None:
    with pytest.raises(AgentCardResolutionError) as caught:
        await resolved(live.urls["main"], "/no-card-here.json")
    assert caught.value.status_code == 404


async def test_one_address_is_enough_to_make_a_client(live: Live, binding: str) -> None:
    """No key: the call reaches the endpoint that the card names for the binding and is refused there."""
    config = ClientConfig(supported_protocol_bindings=[binding], grpc_channel_factory=grpc.aio.insecure_channel)
    for client in (
        await create_client(live.urls["main"], config),
        await ClientFactory(config).create_from_url(live.urls["main"]),
    ):
        async with client:
            with pytest.raises(A2AClientError, match="UNAUTHENTICATED" if binding == "GRPC" else "401"):
                await collect(client.send_message(request("echo hello")))


async def test_the_extended_card_has_more_and_serves_on(connect: Connect) -> None:
    connection = await connect(streaming=False)
    card = await connection.client.get_extended_agent_card(GetExtendedAgentCardRequest())
    assert len(card.signatures) == len(connection.card.signatures) > 0
    assert [skill.id for skill in card.skills] == ["script", "extra"]
    new = [one for one in connection.card.supported_interfaces if one.protocol_version == "1.0"]
    assert list(card.supported_interfaces) == new
    assert await collect(connection.client.send_message(request("echo hello")))


async def test_a_card_without_extended_card_stays_the_card(connect: Connect) -> None:
    connection = await connect("plain")
    assert await connection.client.get_extended_agent_card(GetExtendedAgentCardRequest()) == connection.card


async def test_the_example_site_talks_to_a_client_that_knows_nothing_but_its_address(connect: Connect) -> None:
    client = (await connect("shop", user=None, streaming=False)).client
    order = await sent(client, "Where is order 1003?")
    assert state_of(order.status.state) == "COMPLETED"
    assert "1003" in texts(order.artifacts[0])[0]
    asked = await sent(client, "Where is my order?")
    assert state_of(asked.status.state) == "INPUT_REQUIRED"
    assert state_of((await sent(client, "1003", task=asked)).status.state) == "COMPLETED"
    reader = (await connect("shop", user=None)).client
    events = await collect(reader.send_message(request("Please do a stocktake")))
    assert states(events)[-1] == "COMPLETED"
    assert all("in stock" in text for text in texts(replay(events).artifacts[0]))
