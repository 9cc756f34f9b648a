"""The public card over HTTP: content, caching, addresses."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils.http import http_date, parse_http_date
from pytest_django import Settings

from a2a_django import Agent
from a2a_django.bindings.documents import STARTED
from tests.bindings.carriers import Carrier
from tests.bindings.conftest import Echo

CARD = "/.well-known/agent-card.json"


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


def urls(response: Any) -> list[tuple[str, str, str]]:
    """The interfaces of 1.0, which come first."""
    return [
        (entry["protocolBinding"], entry["url"], entry.get("tenant", ""))
        for entry in json.loads(response.content)["supportedInterfaces"]
        if entry["protocolVersion"] == "1.0"
    ]


@pytest.mark.spec("8.2", "14.3", "8.6")
@pytest.mark.usefixtures("echo")
async def test_the_card_and_its_headers(client: AsyncClient) -> None:
    response = await client.get(CARD, headers={"Accept": "text/html"})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "public, max-age=300"
    assert parse_http_date(response.headers["Last-Modified"]) == STARTED
    assert response.headers["ETag"].startswith('"')
    card = json.loads(response.content)
    assert card["name"] == "Echo"
    assert card["description"] == "Says it again; asks back when it is told to."
    assert urls(response) == [
        ("JSONRPC", "http://testserver/a2a/", ""),
        ("HTTP+JSON", "http://testserver/a2a", ""),
    ]


@pytest.mark.spec("8.6")
@pytest.mark.usefixtures("echo")
async def test_what_the_caller_has_already_is_not_sent_again(client: AsyncClient) -> None:
    first = await client.get(CARD)
    etag = first.headers["ETag"]
    old, new = http_date(STARTED - 60), http_date(STARTED)
    for headers, status in (
        ({"If-None-Match": etag}, 304),
        ({"If-None-Match": f'"x", W/{etag}'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"x"'}, 200),
        ({"If-None-Match": '"x"', "If-Modified-Since": new}, 200),  # the tag decides alone
        ({"If-Modified-Since": new}, 304),
        ({"If-Modified-Since": old}, 200),
        ({"If-Modified-Since": "nonsense"}, 200),
    ):
        response = await client.get(CARD, headers=headers)
        assert response.status_code == status, headers
        assert response.headers["ETag"] == etag
        if status == 304:
            assert response.content == b""
            assert "Content-Type" not in response.headers


@pytest.mark.usefixtures("echo")
async def test_head_options_and_other_verbs(client: AsyncClient) -> None:
    get, head = await client.get(CARD), await client.head(CARD)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Length"] == str(len(get.content))
    assert head.headers["ETag"] == get.headers["ETag"]
    assert (await client.options(CARD)).headers["Allow"] == "GET, HEAD, OPTIONS"
    post = await client.post(CARD)
    assert (post.status_code, post.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert post.headers["Content-Type"] == "application/json"


async def test_without_a_default_agent_there_is_no_card(
    client: AsyncClient, register: Callable[[Agent], Agent], settings: Settings
) -> None:
    response = await client.get(CARD)
    assert response.status_code == 404
    assert json.loads(response.content)["error"]["code"] == 404
    register(Echo(name="One"))
    register(Echo(name="Two"))
    assert (await client.get(CARD)).status_code == 404
    for slug in ("one", "two"):
        response = await client.get(f"/a2a/{slug}/.well-known/agent-card.json")
        assert urls(response)[0] == ("JSONRPC", "http://testserver/a2a/", slug)
    assert (await client.get("/a2a/three/.well-known/agent-card.json")).status_code == 404
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "two"}
    for path in (CARD, "/a2a/two/.well-known/agent-card.json"):
        assert urls(await client.get(path))[0] == ("JSONRPC", "http://testserver/a2a/", "")


@pytest.mark.spec("8.3")
@pytest.mark.usefixtures("echo")
async def test_addresses_follow_the_site(client: AsyncClient, settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.bindings.urls_prefix"
    response = await client.get("/agents/x" + CARD)
    assert urls(response)[0][1] == "http://testserver/agents/x/a2a/"
    response = await client.get("/agents/x/a2a/echo" + CARD)
    assert urls(response)[1][1] == "http://testserver/agents/x/a2a"
    settings.FORCE_SCRIPT_NAME = "/shop"
    response = await client.get("/agents/x" + CARD, headers={"X-Forwarded-Proto": "https"})
    assert urls(response)[0][1] == "http://testserver/shop/agents/x/a2a/"
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    settings.USE_X_FORWARDED_HOST = True
    headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "shop.example"}
    response = await client.get("/agents/x" + CARD, headers=headers)
    assert urls(response)[0][1] == "https://shop.example/shop/agents/x/a2a/"
    settings.A2A = {**settings.A2A, "BASE_URL": "https://agents.example/", "GRPC_URL": "agents.example:50051"}
    response = await client.get("/agents/x" + CARD, headers=headers)
    assert urls(response) == [
        ("JSONRPC", "https://agents.example/agents/x/a2a/", ""),
        ("HTTP+JSON", "https://agents.example/agents/x/a2a", ""),
        ("GRPC", "agents.example:50051", ""),
    ]


@pytest.mark.spec("3.3.4", "4.4")
@pytest.mark.usefixtures("echo")
def test_under_wsgi_the_card_says_that_there_are_no_streams() -> None:
    response = Client().get(CARD)
    assert json.loads(response.content)["capabilities"]["streaming"] is False


@pytest.mark.usefixtures("echo")
async def test_a_host_that_is_not_served_is_json_too(client: AsyncClient, carrier: Carrier, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["shop.example"]
    settings.MIDDLEWARE = []
    response = await client.get(CARD)
    assert response.status_code == 400
    assert json.loads(response.content)["error"]["status"] == "INVALID_ARGUMENT"
    carrier.passed_on.clear()


def tenants(tenant: str) -> str | None:
    return {"acme": "echo", "lost": "nobody"}.get(tenant)


@pytest.mark.spec("8.3")
@pytest.mark.django_db  # a resolver may look into the database
@pytest.mark.usefixtures("echo")
async def test_with_a_resolver_the_card_names_the_tenant_that_was_asked_for(
    client: AsyncClient, register: Callable[[Agent], Agent], settings: Settings
) -> None:
    register(Echo(name="Main"))
    settings.A2A = {
        **settings.A2A,
        "DEFAULT_AGENT": "main",
        "TENANT_RESOLVER": "tests.bindings.test_cards.tenants",
    }
    assert urls(await client.get("/a2a/acme" + CARD))[0][2] == "acme"
    for unknown in ("echo", "lost", "nobody"):
        assert (await client.get(f"/a2a/{unknown}{CARD}")).status_code == 404
