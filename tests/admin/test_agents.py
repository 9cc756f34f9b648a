"""The registry in the admin: who may see and change what, and what the card's page says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.admin.models import LogEntry
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings

from a2a_django import Agent, Extension, Skill
from a2a_django.admin import inspection
from a2a_django.admin import register as register_on
from a2a_django.admin.inspection import inspect
from a2a_django.agents import registry
from a2a_django.agents.cards import CardBase
from a2a_django.models import AgentSetting
from tests.admin.kit import at, operator
from tests.bindings.conftest import Echo, register
from tests.keys import pem

__all__ = ["register"]

pytestmark = pytest.mark.django_db

LIST = "/admin/a2a_django/agentsetting/"
EVIL = "<script>alert(1)</script>\u202e\u0001"


@pytest.fixture
def agents(register: Callable[[Agent], Agent]) -> None:
    """A site with a good agent and one whose author was not careful, or worse."""
    register(Echo())
    register(Echo(slug="evil", name=EVIL, description=EVIL, skills=[Skill("x", EVIL, EVIL, tags=[EVIL])]))


PAGES = {
    "list": (LIST, "view_agentsetting"),
    "agent": (f"{LIST}echo/change/", "view_agentsetting"),
    "dashboard": (f"{LIST}dashboard/", "view_task"),
    "figures": (f"{LIST}dashboard/figures/", "view_task"),
    "playground": (f"{LIST}playground/", "use_playground"),
    "keys": ("/admin/a2a_django/apikey/", "view_apikey"),
    "new key": ("/admin/a2a_django/apikey/add/", "add_apikey"),
    "webhooks": ("/admin/a2a_django/pushconfig/", "view_pushconfig"),
    "deliveries": ("/admin/a2a_django/pushdelivery/", "view_pushdelivery"),
}


@pytest.mark.usefixtures("agents")
@pytest.mark.parametrize("page", PAGES)
def test_each_page_has_a_permission(page: str) -> None:
    address, permission = PAGES[page]
    assert operator(permission).get(address).status_code == 200
    assert operator(name="other").get(address).status_code == 403
    everything = [each for _, each in PAGES.values() if each != permission]
    if page in {"list", "agent"}:  # who may talk to agents may see them
        everything.remove("use_playground")
    assert operator(*everything, name="third").get(address).status_code == 403
    answer = Client().get(address)
    assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (302, "/admin/login/")


@pytest.mark.usefixtures("agents")
def test_an_agent_is_switched_by_whoever_may_change_it() -> None:
    address = at("switch", "echo", model="agent")
    assert operator("view_agentsetting", name="viewer").post(address, {"on": "0"}).status_code == 403
    client = operator("view_agentsetting", "change_agentsetting")
    assert client.get(address).status_code == 405
    assert client.post(at("switch", "nobody", model="agent"), {"on": "0"}).status_code == 404
    assert not AgentSetting.objects.exists()
    assert b"is off: callers do not know it" in client.post(address, {"on": "0"}, follow=True).content
    assert AgentSetting.objects.get().enabled is False
    client.post(address, {"on": "0"})  # nothing new, nothing for the log
    client.post(address, {"on": "1"})
    assert list(LogEntry.objects.order_by("pk").values_list("change_message", flat=True)) == [
        "Switched off.",
        "Switched on.",
    ]


@pytest.mark.usefixtures("agents")
def test_an_agent_is_renamed_by_its_form() -> None:
    client = operator("view_agentsetting", "change_agentsetting")
    page = client.get(f"{LIST}echo/change/").content.decode()
    assert "None/history" not in page
    client.post(f"{LIST}echo/change/", {"enabled": "on", "name": EVIL, "description": ""})
    row = AgentSetting.objects.get()
    assert (row.slug, row.enabled, row.name) == ("echo", True, EVIL)
    assert LogEntry.objects.get().object_id == str(row.pk)
    for address in (LIST, f"{LIST}echo/change/", f"{LIST}{row.pk}/change/", f"{LIST}{row.pk}/history/"):
        page = client.get(address).content.decode()
        assert "&lt;script&gt;" in page or "history" in address
        assert "<script>alert" not in page
    assert client.get(f"{LIST}nobody/change/", follow=True).redirect_chain


@pytest.mark.usefixtures("agents")
def test_a_row_without_an_agent_is_shown_and_may_be_deleted() -> None:
    row = AgentSetting.objects.create(slug="gone")
    client = operator(superuser=True)
    assert "not in the code" in client.get(LIST).content.decode()
    assert "no agent with this slug" in client.get(f"{LIST}gone/change/").content.decode()
    assert client.get(f"{LIST}echo/delete/").status_code == 403
    client.post(f"{LIST}gone/delete/", {"post": "yes"})
    assert not AgentSetting.objects.filter(pk=row.pk).exists()
    assert client.get(f"{LIST}add/").status_code == 403


@pytest.mark.usefixtures("agents")
def test_the_list_costs_the_same_however_many_agents_there_are(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    client = operator(superuser=True)
    for number in range(30):
        registry.add(Echo(slug=f"agent-{number}"))
    with django_assert_max_num_queries(8):
        assert client.get(LIST).status_code == 200


def problems(agent: Agent, base: CardBase | None = None) -> list[str]:
    found = inspect(agent, agent, base or CardBase("http://testserver", "/a2a"))
    return [problem.text for problem in found.problems]


def test_what_is_wrong_with_a_card_is_said(register: Callable[[Agent], Agent]) -> None:
    assert problems(Echo()) == []
    assert any("lacks: skills" in each for each in problems(Echo(skills=[])))
    assert any("no address" in each for each in problems(Echo(), CardBase("", "")))
    broken = Echo(extensions=[Extension("https://x.example", params={"n": object()})])
    assert any("The card cannot be made: TypeError" in each for each in problems(broken))
    assert any("has to be a list of Skill" in each for each in problems(Echo(skills="no")))


def test_signatures_are_judged_by_the_keys_that_the_site_publishes(settings: Settings) -> None:
    base = CardBase("http://testserver", "/a2a")
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [pem()]}
    found = inspect(Echo(), Echo(), base)
    assert found.signatures
    assert all(each.good and each.algorithm == "ES256" for each in found.signatures)
    assert found.signatures[0].jku == "http://testserver/a2a/jwks.json"
    assert (found.problems, found.unsigned) == ([], "")
    signed = json.loads(found.text)
    settings.A2A = {**settings.A2A, "SIGN_CARDS": False}
    assert "SIGN_CARDS" in inspect(Echo(), Echo(), base).unsigned
    settings.A2A = {**settings.A2A, "SIGN_CARDS": True, "SIGNING_KEYS": [pem()]}
    other = inspection.Inspection(card=signed)
    inspection._validate(other, signed)
    assert [each.good for each in other.signatures] == [False] * len(other.signatures)
    assert all("is not right" in problem.text for problem in other.problems)


@pytest.mark.usefixtures("agents")
def test_the_pages_are_those_of_a_site_of_its_own_too(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.admin.urls_own"
    client = operator(superuser=True)
    for page in ("agentsetting/", "agentsetting/echo/change/", "agentsetting/playground/", "agentsetting/dashboard/"):
        content = client.get(f"/elsewhere/desk/a2a_django/{page}").content.decode()
        assert "/elsewhere/desk/a2a_django/" in content
        assert "/admin/a2a_django" not in content
    index = client.get("/elsewhere/desk/a2a_django/").content.decode()
    assert "/elsewhere/desk/a2a_django/agentsetting/dashboard/" in index


def test_a_site_keeps_what_it_has_registered_itself() -> None:
    site = AdminSite(name="own")
    site.register(AgentSetting, ModelAdmin)
    register_on(site)
    assert type(site._registry[AgentSetting]) is ModelAdmin
