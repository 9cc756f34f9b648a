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
