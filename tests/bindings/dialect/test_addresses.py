"""The addresses of the dialect are there while it is on, and only then."""

from __future__ import annotations

import json

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from a2a_django.bindings.addresses import endpoint_near
from tests.bindings.carriers import Carrier

CARDS = ["/.well-known/agent-card", "/.well-known/agent.json"]


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


@pytest.mark.parametrize(
    ("path_info", "endpoint"),
    [
        ("/", "/a2a"),
        ("/sse", "/a2a"),
        ("/a2a/sse", "/a2a"),
        ("/x/", "/x/a2a"),
        ("/x/sse", "/x/a2a"),
        ("/a2a", "/a2a"),
        ("/a2a/", "/a2a"),
        ("/x/a2a/", "/x/a2a"),
    ],
)
def test_where_the_endpoints_are(path_info: str, endpoint: str) -> None:
    assert endpoint_near(path_info) == endpoint


@pytest.mark.parametrize("path", CARDS)
@pytest.mark.usefixtures("echo")
async def test_the_card_has_more_names(client: AsyncClient, settings: Settings, path: str) -> None:
    settings.A2A = {**settings.A2A, "TUTORIAL_DIALECT": True}
    real = await client.get("/.well-known/agent-card.json")
    response = await client.get(path)
    assert (response.status_code, response.content) == (200, real.content)
    assert response.headers["ETag"] == real.headers["ETag"]
    assert json.loads(response.content)["supportedInterfaces"][0]["url"] == "http://testserver/a2a/"


@pytest.mark.parametrize("path", [*CARDS, "/sse?taskId=x", "/a2a/sse?taskId=x"])
@pytest.mark.usefixtures("echo")
async def test_nothing_is_there_while_it_is_off(carrier: Carrier, client: AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404
    carrier.passed_on.clear()


@pytest.mark.usefixtures("echo")
async def test_the_root_is_the_sites_while_it_is_off(carrier: Carrier, client: AsyncClient) -> None:
    assert (await client.post("/", data="{}", content_type="application/json")).status_code == 404
    carrier.passed_on.clear()
