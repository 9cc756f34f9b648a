"""Callers who say nothing of themselves, where a site lets them in: they see what they know the id of."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from pytest_django import Settings

from tests.bindings.conftest import echo, message, register
from tests.bindings.doors import Door, door, serve

__all__ = ["door", "echo", "register", "serve"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("echo")]


async def start(door: Door, text: str = "ask") -> dict[str, Any]:
    return (await door.call("SendMessage", {"message": message(text)})).task


async def listed(door: Door, **criteria: Any) -> list[str]:
    page = (await door.call("ListTasks", criteria)).value
    found = [task["id"] for task in page.get("tasks", [])]
    assert page.get("totalSize", 0) == len(found)
    assert not page.get("nextPageToken")
    return found


async def test_tasks_are_found_by_their_id_and_by_their_context(door: Door) -> None:
    mine, other = await start(door), await start(door, "hello")
    assert (await door.call("GetTask", {"id": mine["id"]})).value["id"] == mine["id"]
    assert await listed(door, contextId=mine["contextId"]) == [mine["id"]]
    assert await listed(door, contextId=other["contextId"], status="TASK_STATE_COMPLETED") == [other["id"]]
    assert await listed(door, contextId=other["contextId"], status="TASK_STATE_CANCELED") == []
    assert await listed(door, contextId="nobody") == []
    for criteria in (
        {},
        {"pageSize": 1},
        {"status": "TASK_STATE_COMPLETED"},
        {"status": "TASK_STATE_INPUT_REQUIRED"},
        {"statusTimestampAfter": "2020-01-01T00:00:00Z"},
        {"includeArtifacts": True, "historyLength": 5},
    ):
        assert await listed(door, **criteria) == []
    assert (await door.call("ListTasks", {"pageToken": "made up"})).reason == "INVALID_PARAMS"
    assert (await door.call("CancelTask", {"id": mine["id"]})).value["status"]["state"] == "TASK_STATE_CANCELED"


async def test_a_page_token_of_a_context_opens_no_other_list(door: Door) -> None:
    first = await start(door, "a")
    await door.call("SendMessage", {"message": message("b", contextId=first["contextId"])})
    page = (await door.call("ListTasks", {"contextId": first["contextId"], "pageSize": 1})).value
    assert page["totalSize"] == 2
    assert (await door.call("ListTasks", {"pageToken": page["nextPageToken"]})).reason == "INVALID_PARAMS"


def slug(tenant: str) -> str:
    return "echo"


async def test_the_same_under_customers(door: Door, settings: Settings) -> None:
    """There the owner in the rows is never empty."""
    settings.A2A = {**settings.A2A, "TENANT_RESOLVER": f"{__name__}.slug"}
    for tenant in ({}, {"tenant": "acme"}):
        task = (await door.call("SendMessage", {"message": message("x"), **tenant})).task
        assert await listed(door, **tenant) == []
        assert await listed(door, contextId=task["contextId"], **tenant) == [task["id"]]
    assert await listed(door, contextId=task["contextId"], tenant="umbrella") == []


def visitor(user: Any, auth: Any) -> str:
    assert isinstance(user, AnonymousUser)
    return "visitor"


async def test_a_site_may_tell_them_apart(door: Door, settings: Settings) -> None:
    """With an owner of their own, they are somebody, and have a list."""
    settings.A2A = {**settings.A2A, "OWNER_RESOLVER": f"{__name__}.visitor"}
    task = await start(door)
    assert await listed(door) == [task["id"]]
