"""Which version a call speaks (D-09), and what is left when 0.3 is off."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import AsyncClient
from pytest_django import Settings

from tests.bindings.v0_3.conftest import call, post, refusal, say

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("agent"), pytest.mark.spec("A")]

SEND = {"message": say("hi")}
NEW = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}


@pytest.mark.parametrize("version", ["0.3", "0.3.0", "0.3.7", "", " ", " 0.3 ", "0.3, 1.0"])
async def test_methods_with_a_slash_are_0_3(client: AsyncClient, version: str) -> None:
    assert (await call(client, "message/send", SEND, A2A_Version=version))["kind"] == "task"


@pytest.mark.parametrize("version", ["1.0", "1", "1.0.1", "0.2", "0.4", "2.0", "v0.3", "x"])
async def test_other_versions_are_refused_in_the_form_of_0_3(client: AsyncClient, version: str) -> None:
    error = await refusal(client, "message/send", SEND, A2A_Version=version)
    assert error["code"] == -32009
    assert "1.0, 0.3" in error["message"]
    assert error["data"][0]["metadata"] == {"supportedVersions": "1.0, 0.3"}


async def test_the_query_counts_where_there_is_no_header(client: AsyncClient) -> None:
    for query, header in (("0.3", ""), ("1.0", "0.3")):
        found = await call(client, "message/send", SEND, path=f"/a2a/?A2A-Version={query}", A2A_Version=header)
        assert found["kind"] == "task"
    assert (await refusal(client, "message/send", SEND, path="/a2a/?a2a-version=1.0"))["code"] == -32009


async def test_methods_of_1_0_are_not_of_0_3(client: AsyncClient) -> None:
    error = await refusal(client, "SendMessage", NEW, A2A_Version="0.3")
    assert error["code"] == -32009
    assert error["data"][0]["metadata"] == {"supportedVersions": "1.0, 0.3"}
    assert "task" in await call(client, "SendMessage", NEW)  # inferred


async def test_strict_versions(client: AsyncClient, settings: Settings) -> None:
    settings.A2A = {**settings.A2A, "STRICT_VERSION": True}
    assert (await call(client, "message/send", SEND))["kind"] == "task"
    assert (await refusal(client, "SendMessage", NEW))["code"] == -32009
    assert (await refusal(client, "Foo", NEW))["code"] == -32009


@pytest.mark.parametrize("method", ["message/send", "tasks/get", "agent/getAuthenticatedExtendedCard"])
async def test_where_it_is_off_there_are_no_such_methods(client: AsyncClient, settings: Settings, method: str) -> None:
    settings.A2A = {**settings.A2A, "PROTOCOL_0_3": False}
    error = await refusal(client, method, SEND)
    assert (error["code"], error["data"][0]["reason"]) == (-32601, "METHOD_NOT_FOUND")
    error = await refusal(client, method, SEND, A2A_Version="0.3")
    assert (error["code"], error["data"][0]["metadata"]) == (-32009, {"supportedVersions": "1.0"})


async def test_bodies_of_one_version_are_none_of_the_other(client: AsyncClient) -> None:
    bodies: list[tuple[str, Any]] = [("message/send", NEW), ("SendMessage", SEND)]
    for method, params in bodies:
        assert (await refusal(client, method, params))["code"] == -32602


async def test_both_are_served_at_both_addresses(client: AsyncClient) -> None:
    for path in ("/a2a", "/a2a/"):
        assert (await call(client, "message/send", SEND, path=path))["kind"] == "task"
        response = await post(client, "SendMessage", NEW, path=path, A2A_Version="1.0")
        assert "task" in json.loads(response.content)["result"]
