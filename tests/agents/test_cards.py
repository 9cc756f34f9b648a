"""The content of a card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy
from pytest_django import Settings

from a2a_django import Agent, Extension, Provider, Skill
from a2a_django.agents import registry
from a2a_django.agents.cards import CardBase, build_card, configured_base, current_base, using_base
from a2a_django.protocol import codec

pytestmark = pytest.mark.spec("4.4")

BASE = CardBase("https://shop.example", "/a2a")


class Plain(Agent):
    """Says nothing special."""

    abstract = True


class Rich(Agent):
    """Has everything."""

    abstract = True
    name = gettext_lazy("Rich agent")
    slug = "rich"
    version = "2.1"
    skills = [
        Skill(
            "a", "A", "Does A", tags=["x"], examples=["do a"], input_modes=["text/plain"], output_modes=["image/png"]
        ),
        Skill("b", "B", "Does B"),
    ]
    input_modes = ["text/plain"]
    output_modes = ["text/plain", "image/png"]
    push_notifications = True
    extended_agent_card = True
    extensions = [
        Extension("https://e.example/a", "A", required=True, params={"n": 1}),
        Extension("https://e.example/b"),
    ]
    provider = Provider("Shop", "https://shop.example")
    documentation_url = "https://shop.example/docs"
    icon_url = "https://shop.example/icon.png"


@pytest.fixture(autouse=True)
def add(monkeypatch: pytest.MonkeyPatch) -> Callable[[Agent], Agent]:
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})

    def add(agent: Agent) -> Agent:
        registry.add(agent)
        return agent

    return add


def test_a_plain_card_has_all_that_is_required_and_nothing_else(add: Callable[[Agent], Agent]) -> None:
    card = build_card(add(Plain()), BASE)
    assert card == {
        "name": "Plain",
        "description": "Says nothing special.",
        "supportedInterfaces": [
            {"url": "https://shop.example/a2a/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "https://shop.example/a2a", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
        ],
        "version": "1.0",
        "capabilities": {"streaming": True, "pushNotifications": False, "extendedAgentCard": False},
        "defaultInputModes": ["text/plain", "application/json"],
        "defaultOutputModes": ["text/plain", "application/json"],
        "skills": [],
    }


def test_a_rich_card_is_canonical(add: Callable[[Agent], Agent]) -> None:
    add(Plain())
    card = build_card(add(Rich()), BASE)
    assert codec.decode("AgentCard", card) == card
    assert card["provider"] == {"organization": "Shop", "url": "https://shop.example"}
    assert card["documentationUrl"] == "https://shop.example/docs"
    assert card["iconUrl"] == "https://shop.example/icon.png"
    assert card["capabilities"]["pushNotifications"] is True
    assert card["capabilities"]["extensions"] == [
        {"uri": "https://e.example/a", "description": "A", "required": True, "params": {"n": 1}},
        {"uri": "https://e.example/b"},
    ]
    assert card["skills"][1] == {"id": "b", "name": "B", "description": "Does B", "tags": []}
    assert codec.dumps(card)  # lazy translations are text by now


def test_the_tenant_stands_in_the_interfaces_of_all_but_the_default_agent(
    add: Callable[[Agent], Agent], settings: Settings
) -> None:
    plain, rich = add(Plain()), add(Rich())

    def tenants(agent: Agent, **kw: Any) -> set[str | None]:
        return {entry.get("tenant") for entry in build_card(agent, BASE, **kw)["supportedInterfaces"]}

    assert (tenants(plain), tenants(rich)) == ({"plain"}, {"rich"})
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "rich"}
    assert (tenants(plain), tenants(rich)) == ({"plain"}, {None})
    assert (tenants(plain, tenant="acme"), tenants(rich, tenant="acme")) == ({"acme"}, {None})


def test_without_streams_the_card_says_so(add: Callable[[Agent], Agent]) -> None:
    agent = add(Plain())
    assert build_card(agent, BASE, streaming=False)["capabilities"]["streaming"] is False
    assert build_card(agent, CardBase("https://x.example", "/a2a", False))["capabilities"]["streaming"] is False
    agent.streaming = False
    assert build_card(agent, BASE)["capabilities"]["streaming"] is False


def test_an_agent_builds_its_extended_card_from_the_public_one(
    add: Callable[[Agent], Agent], settings: Settings
) -> None:
    agent = add(Plain())
    with using_base(CardBase("https://asked.example", "/x/a2a"), streaming=False):
        card = agent.card(skills=[Skill("extra", "Extra", "For users")])
    assert card["skills"][0]["id"] == "extra"
    assert card["supportedInterfaces"][0]["url"] == "https://asked.example/x/a2a/"
    assert card["capabilities"]["streaming"] is False
    with pytest.raises(ImproperlyConfigured, match="BASE_URL"):
        current_base()
    settings.A2A = {**settings.A2A, "BASE_URL": "https://shop.example/"}
    assert current_base() == configured_base() == BASE
