"""Agents switched off and renamed, and the list of them, as callers see it on every binding and carrier."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import AsyncClient
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.access import create_api_key
from a2a_django.models import AgentSetting
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import Echo, message
from tests.bindings.doors import Door, door, serve

pytestmark = pytest.mark.django_db(transaction=True)

__all__ = ["door", "serve"]


class Second(Echo):
    """Another agent of the site."""


@pytest.fixture
def agents(register: Callable[[Agent], Agent], settings: Settings) -> dict[str, Agent]:
    """A site with two agents, of which the first is the default."""
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "echo"}
    return {agent.slug: register(agent) for agent in (Echo(), Second())}


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


async def say(slug: str, **values: Any) -> None:
    await AgentSetting.objects.aupdate_or_create(slug=slug, defaults=values)


async def card_of(client: AsyncClient, slug: str = "", **headers: str) -> Any:
    path = f"/a2a/{slug}" if slug else ""
    return await client.get(f"{path}/.well-known/agent-card.json", headers=headers)


@pytest.mark.usefixtures("agents")
async def test_an_agent_that_is_switched_off_is_unknown(door: Door) -> None:
    asked = (await door.call("SendMessage", {"tenant": "second", "message": message("ask")})).task
    await say("second", enabled=False)
    for operation, request in (
        ("SendMessage", {"message": message("x")}),
        ("SendStreamingMessage", {"message": message("x")}),
        ("GetTask", {"id": asked["id"]}),
        ("SubscribeToTask", {"id": asked["id"]}),
        ("ListTasks", {}),
        ("CancelTask", {"id": asked["id"]}),
        ("GetExtendedAgentCard", {}),
    ):
        off = await door.call(operation, {**request, "tenant": "second"})
        unknown = await door.call(operation, {**request, "tenant": "third"})
        assert (off.status, off.reason, off.fields) == (unknown.status, unknown.reason, unknown.fields)
        assert (off.reason, off.fields) == ("INVALID_PARAMS", ["tenant"])
        if door.name == "HTTP+JSON":
            assert (await door.call(operation, request, path_tenant="second")).status == 404
    assert not (await door.call("ListTasks")).reason
    await say("second", enabled=True)
    assert (await door.call("GetTask", {"id": asked["id"], "tenant": "second"})).value["id"] == asked["id"]


@pytest.mark.usefixtures("agents")
async def test_without_its_default_agent_a_site_wants_a_tenant(door: Door) -> None:
    await say("echo", enabled=False)
    assert (await door.call("ListTasks")).fields == ["tenant"]
    assert not (await door.call("ListTasks", {"tenant": "second"})).reason


@pytest.mark.usefixtures("agents")
async def test_cards_follow_without_a_restart(client: AsyncClient) -> None:
    before = await card_of(client, "second")
    default = await card_of(client)
    await say("second", name="Zweiter", description="Sagt alles noch einmal.")
    after = await card_of(client, "second", if_none_match=before.headers["ETag"])
    assert after.status_code == 200
    card = json.loads(after.content)
    assert (card["name"], card["description"]) == ("Zweiter", "Sagt alles noch einmal.")
    assert (await card_of(client, "second", if_none_match=after.headers["ETag"])).status_code == 304
    assert (await card_of(client, if_none_match=default.headers["ETag"])).status_code == 304
    await say("second", enabled=False)
    assert (await card_of(client, "second")).status_code == (await card_of(client, "third")).status_code == 404
    await say("echo", enabled=False)
    assert (await card_of(client)).status_code == 404


async def test_the_extended_card_has_the_name_too(
    door: Door, agents: dict[str, Agent], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.A2A = {"DEFAULT_AGENT": "echo", "BASE_URL": "https://shop.example"}
    user = await User.objects.acreate(username="alice")
    headers = {"Authorization": f"Bearer {(await asyncio.to_thread(create_api_key, user))[1]}"}
    monkeypatch.setattr(Second, "extended_agent_card", True)
    monkeypatch.setattr(Second, "extended_card", lambda self, user: self.card(description=f"For {user.username}"))
    await say("second", name="Zweiter", description="not this one")
    card = (await door.call("GetExtendedAgentCard", {"tenant": "second"}, headers=headers)).value
    assert (card["name"], card["description"]) == ("Zweiter", "For alice")


# -- the list

LIST = "/.well-known/agent-cards"


def entries(response: Any) -> dict[str, Any]:
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    found: list[dict[str, Any]] = json.loads(response.content)["agents"]
    return {entry["slug"]: entry for entry in found}


async def test_the_list_leads_to_every_public_agent(
    client: AsyncClient, agents: dict[str, Agent], register: Callable[[Agent], Agent]
) -> None:
    hidden = Echo(name="Hidden", public=False)
    register(hidden)
    found = entries(await client.get(LIST))
    assert list(found) == ["echo", "second"]
    assert found["second"] == {
        "slug": "second",
        "name": "Second",
        "description": "Another agent of the site.",
        "version": "1.0",
        "cardUrl": "http://testserver/a2a/second/.well-known/agent-card.json",
    }
    assert found["echo"]["cardUrl"] == "http://testserver/.well-known/agent-card.json"
    for slug, entry in found.items():
        card = json.loads((await client.get(entry["cardUrl"].removeprefix("http://testserver"))).content)
        assert card["name"] == entry["name"]
        assert card["supportedInterfaces"][0].get("tenant", "echo") == slug
    assert (await card_of(client, "hidden")).status_code == 200  # left out of the list, and served all the same


@pytest.mark.usefixtures("agents")
async def test_the_list_follows_the_database_and_is_cached_like_a_card(client: AsyncClient) -> None:
    first = await client.get(LIST)
    known = {"If-None-Match": first.headers["ETag"]}
    assert first.headers["Cache-Control"] == "public, max-age=300"
    assert (await client.get(LIST, headers=known)).status_code == 304
    assert (await client.post(LIST)).status_code == 405
    await say("second", name="Zweiter")
    assert entries(await client.get(LIST, headers=known))["second"]["name"] == "Zweiter"
    await say("second", enabled=False)
    assert list(entries(await client.get(LIST, headers=known))) == ["echo"]
    await say("echo", enabled=False)
    assert entries(await client.get(LIST)) == {}


@pytest.mark.usefixtures("agents")
async def test_the_list_under_a_prefix(client: AsyncClient, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.bindings.urls_prefix"
    found = entries(await client.get(f"/agents/x{LIST}"))
    assert found["echo"]["cardUrl"] == "http://testserver/agents/x/.well-known/agent-card.json"
    assert found["second"]["cardUrl"] == "http://testserver/agents/x/a2a/second/.well-known/agent-card.json"


def resolver(tenant: str) -> str | None:
    return {"acme": "second"}.get(tenant)


@pytest.mark.usefixtures("agents")
async def test_the_list_tells_no_customers(client: AsyncClient, settings: Settings) -> None:
    """Agents that are reached only under names of customers have no address that everybody may know."""
    settings.A2A = {**settings.A2A, "TENANT_RESOLVER": f"{__name__}.resolver"}
    assert list(entries(await client.get(LIST))) == ["echo"]


@pytest.mark.parametrize("path", [LIST, "/.well-known/agent-card.json", "/a2a/second/.well-known/agent-card.json"])
@pytest.mark.usefixtures("agents")
async def test_pages_of_other_sites(client: AsyncClient, settings: Settings, path: str) -> None:
    origin = {"Origin": "https://app.example"}
    plain = await client.get(path, headers=origin)
    assert not [name for name in plain.headers if name.startswith("Access-Control")]
    assert "Origin" not in plain.headers.get("Vary", "")
    assert ("A2A-Version" in plain.headers.get("Vary", "")) is (path != LIST)

    settings.A2A = {**settings.A2A, "CARD_CORS_ORIGINS": ["https://app.example"]}
    for sent, allowed in ((origin, "https://app.example"), ({"Origin": "https://evil.example"}, None), ({}, None)):
        for response in (await client.get(path, headers=sent), await client.options(path, headers=sent)):
            assert response.headers.get("Access-Control-Allow-Origin") == allowed
            assert "Origin" in response.headers["Vary"]
    asked = await client.options(path, headers={**origin, "Access-Control-Request-Method": "GET"})
    assert asked.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    assert "A2A-Version" in asked.headers["Access-Control-Allow-Headers"]
    known = {**origin, "If-None-Match": plain.headers["ETag"]}
    assert (await client.get(path, headers=known)).headers["Access-Control-Allow-Origin"] == "https://app.example"

    settings.A2A = {**settings.A2A, "CARD_CORS_ORIGINS": ["*"]}
    response = await client.get(path, headers=origin)
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Expose-Headers"] == "ETag"
    called = await client.post("/a2a/", "{}", content_type="application/json", headers=origin)
    assert "Access-Control-Allow-Origin" not in called.headers  # only what is public
