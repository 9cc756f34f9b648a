"""Whether a process can serve calls, as load balancers ask it."""

from __future__ import annotations

import asyncio
import json

import pytest
from django.db import OperationalError
from django.test import AsyncClient

from a2a_django import engine
from a2a_django.bindings import health
from tests.bindings.carriers import Carrier

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client(carrier: Carrier, monkeypatch: pytest.MonkeyPatch) -> AsyncClient:
    monkeypatch.setattr(health, "_database", health._Database())  # what the last test has found out counts no more
    return carrier.client()


async def test_all_is_well(client: AsyncClient) -> None:
    response = await client.get("/a2a/health")
    assert response.status_code == 200
    assert json.loads(response.content) == {"status": "ok", "parts": {"database": "ok", "runs": "ok"}}
    assert response.headers["Cache-Control"] == "no-store"


async def test_other_verbs(client: AsyncClient) -> None:
    head = await client.head("/a2a/health")
    assert (head.status_code, head.content) == (200, b"")
    assert (await client.options("/a2a/health")).headers["Allow"] == "GET, HEAD, OPTIONS"
    assert (await client.post("/a2a/health")).status_code == 405


async def test_a_database_that_fails(client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def look() -> None:
        raise OperationalError("secret of the server")

    monkeypatch.setattr(health, "_look", look)
    response = await client.get("/a2a/health")
    assert response.status_code == 503
    assert json.loads(response.content)["parts"] == {"database": "no answer", "runs": "ok"}
    assert b"secret" not in response.content
    assert response.headers["Retry-After"] == "1"


async def test_however_many_ask_it_is_looked_once(client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(health, "_look", lambda: looks.append(1))
    answers = await asyncio.gather(*(client.get("/a2a/health") for _ in range(10)))
    assert [answer.status_code for answer in answers] == [200] * 10
    assert looks == [1]


async def test_a_process_that_ends_wants_no_more(client: AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.get().runner, "closing", True)
    response = await client.get("/a2a/health")
    assert response.status_code == 503
    assert json.loads(response.content)["parts"]["runs"] == "stopping"
