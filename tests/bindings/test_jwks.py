"""The site's public keys over HTTP."""

from __future__ import annotations

import json

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from tests.bindings.carriers import Carrier
from tests.keys import jwk, pem

JWKS = "/a2a/jwks.json"


@pytest.fixture
def client(carrier: Carrier) -> AsyncClient:
    return carrier.client()


async def test_without_keys_there_is_nothing(client: AsyncClient) -> None:
    response = await client.get(JWKS)
    assert response.status_code == 404
    assert json.loads(response.content)["error"]["message"] == "This site has no signing keys"


async def test_the_public_halves_and_nothing_else(client: AsyncClient, settings: Settings) -> None:
    named = jwk(kid="2026-11", key_ops=["sign"], x5u="https://x.example")
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [pem(), named]}
    response = await client.get(JWKS, headers={"Accept": "text/html"})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.headers["Cache-Control"] == "public, max-age=300"
    first, second = json.loads(response.content)["keys"]
    assert set(first) == {"kty", "crv", "x", "y", "kid", "use", "alg"}
    assert (first["kty"], first["crv"], first["use"], first["alg"]) == ("EC", "P-256", "sig", "ES256")
    public = {name: named[name] for name in ("kty", "crv", "x", "y", "kid")}
    assert second == {**public, "use": "sig", "alg": "ES256"}


async def test_what_the_caller_has_already_is_not_sent_again(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [pem()]}
    first = await client.get(JWKS)
    tag = {"If-None-Match": first.headers["ETag"]}
    assert (await client.get(JWKS, headers=tag)).status_code == 304
    assert (await client.head(JWKS)).headers["Content-Length"] == str(len(first.content))
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [pem()]}
    assert (await client.get(JWKS, headers=tag)).status_code == 200


async def test_other_verbs_are_refused(client: AsyncClient) -> None:
    assert (await client.options(JWKS)).headers["Allow"] == "GET, HEAD, OPTIONS"
    assert (await client.post(JWKS)).status_code == 405


async def test_the_address_follows_the_site(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": [pem()]}
    settings.ROOT_URLCONF = "tests.bindings.urls_prefix"
    assert (await client.get("/agents/x" + JWKS)).status_code == 200


async def test_a_key_that_cannot_be_used_does_not_show_itself(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "SIGNING_KEYS": ["s3cret"]}
    response = await client.get(JWKS)
    assert response.status_code == 500
    assert b"s3cret" not in response.content
    assert b"SIGNING_KEYS" not in response.content
