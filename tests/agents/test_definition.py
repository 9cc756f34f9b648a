"""Defining agents: classes, ``@agent``, ``register``, defaults of names and slugs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from django.utils import translation
from django.utils.translation import gettext_lazy
from pytest_django import Settings

from a2a_django import Agent, agent, register
from a2a_django.agents import registry
from tests.engine.kit import outputs, send


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A site without agents."""
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})
    monkeypatch.setattr(registry, "duplicates", [])
    yield
    registry._pending.clear()


def define(source: str, module: str = "some_app.agents") -> dict[str, Any]:
    """Carry out the text of an app's module."""
    made = ModuleType(module)
    sys.modules[module] = made
    try:
        exec("from a2a_django import Agent, agent, register\n" + source, made.__dict__)  # noqa: S102
    finally:
        del sys.modules[module]
    return made.__dict__


def slugs() -> list[str]:
    return [one.slug for one in registry.all()]


def test_a_class_in_an_agents_module_is_registered_once_it_is_complete() -> None:
    define(
        """
class Concierge(Agent):
    '''Answers questions.

        Indented.
    '''
    def __init__(self, **attributes):
        super().__init__(**attributes)
        self.ready = LATER
LATER = True
"""
    )
    (found,) = registry.all()
    assert (found.name, found.slug, found.ready) == ("Concierge", "concierge", True)  # type: ignore[attr-defined]
    assert found.description == "Answers questions.\n\nIndented."
    assert registry.get("concierge") is found
    assert registry.default() is found


@pytest.mark.parametrize("module", ["some_app.agents.orders", "agents"])
def test_packages_of_agents_count(module: str) -> None:
    define("class Orders(Agent): pass", module)
    assert slugs() == ["orders"]


@pytest.mark.parametrize("module", ["some_app.views", "some_app.agents_old", "tests.x", "a2a_django.agents.x"])
def test_classes_elsewhere_are_not_registered(module: str) -> None:
    define("class Orders(Agent): pass\n@agent()\ndef echo(ctx): pass", module)
    assert slugs() == []


def test_abstract_is_not_inherited() -> None:
    define(
        """
class Base(Agent):
    abstract = True
    version = "7"
class Orders(Base): pass
class Returns(Base):
    name = "Returns desk"
    slug = "desk"
"""
    )
    assert slugs() == ["orders", "desk"]
    assert {one.version for one in registry.all()} == {"7"}


@pytest.mark.parametrize(
    ("name", "words", "slug"),
    [
        ("OrderDesk", "Order Desk", "order-desk"),
        ("FAQAgent", "FAQ Agent", "faq-agent"),
        ("Shop2Go", "Shop2 Go", "shop2-go"),
        ("A", "A", "a"),
    ],
)
def test_names_and_slugs_come_from_the_class(name: str, words: str, slug: str) -> None:
    found = type(name, (Agent,), {"abstract": True})()
    assert (found.name, found.slug, found.description) == (words, slug, "")


def test_where_the_name_makes_no_slug_the_class_does() -> None:
    found = type("OrderDesk", (Agent,), {"abstract": True, "name": "\u0421\u043a\u043b\u0430\u0434"})()
    assert (found.name, found.slug) == ("\u0421\u043a\u043b\u0430\u0434", "order-desk")


def test_the_slug_of_a_translated_name_does_not_depend_on_the_language() -> None:
    with translation.override("de"):
        found = type("Desk", (Agent,), {"abstract": True, "name": gettext_lazy("Yes")})()
        assert (str(found.name), found.slug, type(found.slug)) == ("Ja", "yes", str)


def test_register_makes_several_agents_of_a_class() -> None:
    made = define(
        """
class Desk(Agent):
    abstract = True
register(Desk, name="Berlin desk")
register(Desk, name="Wien", slug="vienna", version="2")
"""
    )
    assert slugs() == ["berlin-desk", "vienna"]
    assert made["Desk"].name == ""
    assert registry.get("vienna").version == "2"  # type: ignore[union-attr]


def test_an_attribute_that_does_not_exist_is_refused() -> None:
    register(Agent, name="x", colour="red")
    with pytest.raises(TypeError, match="colour"):
        registry.all()


def test_a_slug_that_is_used_twice_is_noted() -> None:
    define("class Desk(Agent): pass\nregister(Desk, name='desk')")
    registry.all()
    assert registry.duplicates == ["desk"]


def test_the_default_agent(settings: Settings) -> None:
    define("class One(Agent): pass\nclass Two(Agent): pass")
    assert registry.default() is None
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "two"}
    assert registry.default() is registry.get("two")
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "three"}
    assert registry.default() is None


def test_the_decorator_makes_an_agent_of_a_function_and_registers_it() -> None:
    made = define(
        """
@agent(version="3", mode="message")
async def order_status(ctx):
    '''Tells where an order is.'''
@agent(name="Echo agent", slug="echo", description="Says it again.")
def echo(ctx):
    return ctx.text
@agent
def parrot(ctx):
    return ctx.text
"""
    )
    assert slugs() == ["order-status", "echo", "parrot"]
    one, two, three = registry.all()
    assert made["parrot"] is three
    assert made["order_status"] is one
    assert (one.name, one.description, one.version, one.mode) == (
        "Order status",
        "Tells where an order is.",
        "3",
        "message",
    )
    assert (two.name, two.description) == ("Echo agent", "Says it again.")


@pytest.mark.usefixtures("sound_rows")
async def test_an_agent_of_a_function_runs() -> None:
    made = define(
        """
@agent()
def plain(ctx):
    return "plain " + ctx.text
@agent()
async def pieces(ctx):
    yield "a"
    yield "b"
"""
    )
    assert outputs(await send(made["plain"], "text")) == ["plain text"]
    assert outputs(await send(made["pieces"])) == ["a", "b"]


def test_everything_an_author_needs_is_importable_from_the_package() -> None:
    import a2a_django

    for name in a2a_django.__all__:
        assert getattr(a2a_django, name) is not None
    with pytest.raises(AttributeError):
        a2a_django.nothing  # noqa: B018
    assert agent is a2a_django.agent
