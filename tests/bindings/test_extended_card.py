"""The extended card on every binding: for known users, what the agent makes for each of them (B9, D-29)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from pytest_django import Settings

from a2a_django import Agent, Skill
from a2a_django.access import create_api_key
from tests.bindings.conftest import Echo
from tests.bindings.doors import Door, door, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("3.1.11")]

__all__ = ["door", "serve"]

OPEN = {"PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]}
UNAUTHENTICATED = {"JSONRPC": 401, "HTTP+JSON": 401, "GRPC": "UNAUTHENTICATED"}
FAILED = {"JSONRPC": 200, "HTTP+JSON": 400, "GRPC": "FAILED_PRECONDITION"}


class Graded(Echo):
    """Shows more to those who are in the group of partners."""

    extended_agent_card = True

    def extended_card(self, user: Any) -> dict[str, Any] | None:
        """Return a card for partners, and none for others."""
        if not user.groups.filter(name="partners").exists():
            return None
        return self.card(skills=[*self.skills, Skill("deal", "Deal", f"For {user.username}", tags=["x"])])


@pytest.fixture
async def keys(serve: Any) -> dict[str, dict[str, str]]:
    """Credentials of a partner and of somebody else."""
    found = {"nobody": {}}
    partners = await Group.objects.acreate(name="partners")
    for name in ("alice", "bob"):
        user = await User.objects.acreate(username=name)
        if name == "alice":
            await user.groups.aadd(partners)
        found[name] = {"Authorization": f"Bearer {(await asyncio.to_thread(create_api_key, user))[1]}"}
    return found


@pytest.mark.spec("13.3")
async def test_who_gets_which_card(
    door: Door, keys: dict[str, dict[str, str]], register: Callable[[Agent], Agent], settings: Settings
) -> None:
    register(Graded())
    for policy in ({}, OPEN):  # nobody is asked for a name on an open site; this card wants one all the same
        settings.A2A = {"GRPC_URL": "shop.example:50051", **policy}
        refused = await door.call("GetExtendedAgentCard", headers=keys["nobody"])
        assert (refused.status, refused.reason) == (UNAUTHENTICATED[door.name], "UNAUTHENTICATED")
        wrong = await door.call("GetExtendedAgentCard", headers={"Authorization": "Bearer no.such"})
        assert wrong.reason == "UNAUTHENTICATED"
        none = await door.call("GetExtendedAgentCard", headers=keys["bob"])
        assert (none.status, none.reason) == (FAILED[door.name], "EXTENDED_AGENT_CARD_NOT_CONFIGURED")
        card = (await door.call("GetExtendedAgentCard", headers=keys["alice"])).value
        assert [skill["description"] for skill in card["skills"]] == ["Says it again", "For alice"]
        assert card["capabilities"]["extendedAgentCard"] is True


async def test_for_all_by_setting(
    door: Door, keys: dict[str, dict[str, str]], register: Callable[[Agent], Agent], settings: Settings
) -> None:
    class Open(Echo):
        extended_agent_card = True

        def extended_card(self, user: Any) -> dict[str, Any]:
            return self.card(skills=[Skill("deal", "Deal", f"For {user.username or 'anybody'}", tags=["x"])])

    register(Open())
    settings.A2A = {"GRPC_URL": "shop.example:50051", "EXTENDED_CARD_FOR_ALL": True, **OPEN}
    for name, reader in (("nobody", "anybody"), ("bob", "bob")):
        card = (await door.call("GetExtendedAgentCard", headers=keys[name])).value
        assert [skill["description"] for skill in card["skills"]] == [f"For {reader}"]
    wrong = await door.call("GetExtendedAgentCard", headers={"Authorization": "Bearer no.such"})
    assert wrong.reason == "UNAUTHENTICATED"


@pytest.mark.spec("3.3.4")
async def test_what_is_not_declared_is_not_supported(
    door: Door, keys: dict[str, dict[str, str]], register: Callable[[Agent], Agent], settings: Settings
) -> None:
    class Plain(Graded):
        extended_agent_card = False

    register(Plain())
    settings.A2A = OPEN
    for name in ("nobody", "alice"):
        refused = await door.call("GetExtendedAgentCard", headers=keys[name])
        assert (refused.status, refused.reason) == (FAILED[door.name], "UNSUPPORTED_OPERATION")
