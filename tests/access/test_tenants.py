"""Which agent a tenant names."""

from __future__ import annotations

import threading

import pytest
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.access import RESERVED_TENANTS, resolve_agent
from a2a_django.agents import registry
from a2a_django.protocol.errors import InvalidParamsError, MethodNotFoundError

HERE = "tests.access.test_tenants."


class Some(Agent):
    """Any agent."""

    abstract = True


@pytest.fixture(autouse=True)
def agents(monkeypatch: pytest.MonkeyPatch) -> list[Agent]:
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})
    made = [Some(name="One"), Some(name="Two")]
    for agent in made:
        registry.add(agent)
    return made


async def test_a_tenant_is_a_slug(agents: list[Agent]) -> None:
    assert await resolve_agent("two", in_path=False) is agents[1]
    assert await resolve_agent("two", in_path=True) is agents[1]


async def test_unknown_tenants(settings: Settings) -> None:
    for tenant in ("three", "TWO", *RESERVED_TENANTS):
        with pytest.raises(MethodNotFoundError):
            await resolve_agent(tenant, in_path=True)
        with pytest.raises(InvalidParamsError) as caught:
            await resolve_agent(tenant, in_path=False)
        assert caught.value.violations[0].field == "tenant"


async def test_without_a_tenant_the_default_agent_is_meant(agents: list[Agent], settings: Settings) -> None:
    with pytest.raises(InvalidParamsError):
        await resolve_agent("", in_path=False)
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "two"}
    assert await resolve_agent("", in_path=False) is agents[1]


threads: list[int] = []


def blocking(tenant: str) -> str | None:
    threads.append(threading.get_ident())
    return {"acme": "one"}.get(tenant)


async def waiting(tenant: str) -> str | None:
    return {"acme": "one", "tasks": "one", "lost": "nobody"}.get(tenant)


@pytest.mark.django_db
@pytest.mark.parametrize("resolver", ["blocking", "waiting"])
async def test_the_site_may_decide(agents: list[Agent], settings: Settings, resolver: str) -> None:
    settings.A2A = {**settings.A2A, "TENANT_RESOLVER": HERE + resolver, "DEFAULT_AGENT": "two"}
    assert await resolve_agent("acme", in_path=False) is agents[0]
    assert await resolve_agent("", in_path=False) is agents[1]
    for tenant in ("one", "lost", "tasks"):
        with pytest.raises(InvalidParamsError):
            await resolve_agent(tenant, in_path=False)


@pytest.mark.django_db
async def test_a_resolver_that_may_block_has_a_thread(settings: Settings) -> None:
    threads.clear()
    settings.A2A = {**settings.A2A, "TENANT_RESOLVER": HERE + "blocking"}
    await resolve_agent("acme", in_path=False)
    assert threads != [threading.get_ident()]
