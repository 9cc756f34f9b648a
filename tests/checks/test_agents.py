"""The checks of the agents: when each speaks, and that it is silent otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.checks import CheckMessage
from django.utils.translation import gettext_lazy
from pytest_django import Settings
from rest_framework.permissions import AllowAny, IsAdminUser, IsAuthenticated

from a2a_django import Agent, Extension, Provider, Skill, agent
from a2a_django.agents import registry
from a2a_django.checks.agents import RULES
from tests.checks.kit import Good, found, messages

Only = Callable[[Agent], dict[str, CheckMessage]]


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch) -> Only:
    """Return what is said when an agent is the site's only one."""

    def check(agent: Agent) -> dict[str, CheckMessage]:
        monkeypatch.setattr(registry, "_agents", {agent.slug: agent})
        return found(deploy=True)

    return check


def test_w010_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    assert set(found()) == {"W010"}


def test_w011_e012_which_of_several_agents(settings: Settings) -> None:
    registry.add(Good(name="Other"))
    assert set(found()) == {"W011"}
    settings.A2A = {"DEFAULT_AGENT": "other"}
    assert set(found()) == set()
    settings.A2A = {"DEFAULT_AGENT": "nobody"}
    assert "'good', 'other'" in str(found()["E012"].hint)


def test_e013_two_agents_with_one_slug() -> None:
    registry.add(Good())
    assert "'good'" in found()["E013"].msg


@pytest.mark.parametrize("slug", ["tasks", "message:send", "v1", "a/b", "a b", "a?b"])
def test_e014_slugs_that_are_no_tenants(settings: Settings, slug: str) -> None:
    settings.A2A = {"DEFAULT_AGENT": "good"}
    registry.add(Good(slug=slug))
    assert set(found()) == {"E014"}


class Bare(Good):
    __doc__ = None
    abstract = True
    input_modes = []
    version = ""
    skills = []


def test_w015_lists_that_a_card_should_not_lack_in_one_line_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_agents", {})
    for one in (Bare(version="1", description="x"), Good(name="Other", skills=()), Good()):
        registry.add(one)
    said = [message.msg for message in messages() if message.id == "a2a_django.W015"]
    assert said == ["Agents without skills: <Bare bare>, <Good other>.", "Agents without input_modes: <Bare bare>."]


def test_w016_texts_that_a_card_should_not_lack(only: Only) -> None:
    assert only(Bare())["W016"].msg == "<Bare bare> has no description, version."


@pytest.mark.parametrize(
    "permissions",
    [
        "rest_framework.permissions.AllowAny",
        AllowAny,
        None,
        ["no.such.Permission"],
        ["rest_framework.permissions.Nobody"],
        ["."],
        [""],
        ["rest_framework.permissions"],
        [AllowAny()],
        [Good],
        [7],
    ],
)
def test_e017_permissions_that_are_none(only: Only, permissions: Any) -> None:
    assert set(only(Good(permissions=permissions))) == {"E017"}


@pytest.mark.parametrize(
    "permissions",
    [(), ["rest_framework.permissions.IsAdminUser"], [AllowAny], [IsAdminUser & IsAuthenticated], [~AllowAny]],
)
def test_permissions(only: Only, permissions: Any) -> None:
    assert only(Good(permissions=permissions)) == {}


def test_every_attribute_has_a_rule_that_its_default_fits() -> None:
    attributes = {name for name in vars(Agent) if name[0] != "_" and not callable(getattr(Agent, name))}
    assert set(RULES) | {"abstract", "permissions"} == attributes
    assert [name for name, rule in RULES.items() if not rule.fits(getattr(Agent, name))] == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("mode", "tasks", "one of 'task', 'message', 'auto'"),
        ("mode", ["task"], "one of 'task', 'message', 'auto'"),
        ("timeout", 0, "a number of seconds above 0 or None"),
        ("timeout", -1.5, "a number of seconds above 0 or None"),
        ("timeout", "30", "a number of seconds above 0 or None"),
        ("timeout", True, "a number of seconds above 0 or None"),
        ("timeout", float("nan"), "a number of seconds above 0 or None"),
        ("max_attempts", 0, "a whole number above 0"),
        ("max_attempts", 1.0, "a whole number above 0"),
        ("max_attempts", None, "a whole number above 0"),
        ("skills", ["order-status"], "a list of Skill"),
        ("skills", Skill("a", "A", "Does A"), "a list of Skill"),
        ("skills", None, "a list of Skill"),
        ("extensions", ["https://e.example/v1"], "a list of Extension"),
        ("extensions", Extension("https://e.example/v1"), "a list of Extension"),
        ("provider", "Shop", "a Provider or None"),
        ("provider", {"organization": "Shop"}, "a Provider or None"),
        ("input_modes", "text/plain", "a list of media types"),
        ("output_modes", [1], "a list of media types"),
        ("streaming", "no", "True or False"),
        ("version", 1.1, "a text"),
        ("slug", 7, "a text"),
    ],
)
def test_e018_values_of_the_wrong_kind(only: Only, name: str, value: Any, words: str) -> None:
    agent = Good(**{name: value})
    assert {key: message.msg for key, message in only(agent).items() if key[0] == "E"} == {
        "E018": f"{name} of {agent!r} has to be {words}, not {value!r}."
    }


def test_values_of_the_right_kind(only: Only) -> None:
    agent = Good(
        name=gettext_lazy("Good"),
        mode="auto",
        timeout=0.5,
        max_attempts=3,
        extensions=(Extension("https://e.example/v1"),),
        provider=Provider("Shop", "https://shop.example"),
        skills=(Skill("a", gettext_lazy("A"), "Does A", tags=("x", gettext_lazy("y"))),),
    )
    assert only(agent) == {}


def test_e018_lists_of_a_skill(only: Only) -> None:
    said = only(Good(skills=[Skill("a", "A", "Does A", tags="orders")]))["E018"]
    assert said.msg == "tags of the skill 'a' of <Good good> has to be a list of texts, not 'orders'."
    assert said.hint == "Write ['orders']."


def test_e019_an_agent_that_cannot_run(only: Only) -> None:
    assert set(only(Agent(name="Idle", description="x", skills=Good.skills))) == {"E019"}
    assert set(only(Good(run=None))) == {"E019"}


def test_agents_made_of_functions_can_run(only: Only) -> None:
    @agent(skills=Good.skills)
    def echo(ctx: Any) -> str:
        """Say it again."""
        return str(ctx.text)

    assert only(echo) == {}


class Misspelt(Good):
    abstract = True
    permission = ["rest_framework.permissions.IsAdminUser"]
    skill = Good.skills


class AlsoMisspelt(Misspelt):
    abstract = True
    input_mode = ["text/plain"]
    max_attempt = 3


def test_w050_names_near_to_those_of_an_agent() -> None:
    registry.add(AlsoMisspelt(name="One"))
    registry.add(AlsoMisspelt(name="Two"))
    said = [message for message in messages() if message.id == "a2a_django.W050"]
    assert [
        (message.msg.split("'")[1], message.msg.split()[-1], str(message.hint).split("'")[1]) for message in said
    ] == [
        ("input_mode", "AlsoMisspelt.", "input_modes"),
        ("max_attempt", "AlsoMisspelt.", "max_attempts"),
        ("permission", "Misspelt.", "permissions"),
        ("skill", "Misspelt.", "skills"),
    ]


class Mixin:
    prompt = "You are a shop."


class OwnNames(Mixin, Good):
    abstract = True
    model = "small"
    greeting = "Hello"
    _skill = None

    def skilled(self) -> None:
        """Is a method."""

    @classmethod
    def timeouts(cls) -> None:
        """Is a method."""

    class Names:
        """Is a class."""


def test_names_of_an_authors_own_are_left_alone(only: Only) -> None:
    assert only(OwnNames(description="x")) == {}
