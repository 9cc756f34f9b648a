"""Agents and tenants on every binding: wherever the tenant stands, the same agent, and nobody else's tasks (D-08)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from a2a_django import Agent
from a2a_django.access import create_api_key, owner_at
from a2a_django.agents import TaskContext
from a2a_django.models import Task
from a2a_django.operations import OPERATIONS
from tests.bindings.conftest import Echo, message
from tests.bindings.doors import PATHS, Door, Outcome, door, serve

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spec("8.3")]

__all__ = ["door", "serve"]

#: Where the tenant may stand, beside each other.
PLACES = ("path", "query", "body")

REQUESTS: dict[str, dict[str, Any]] = {
    "SendMessage": {"message": message("x")},
    "SendStreamingMessage": {"message": message("x")},
    "CreateTaskPushNotificationConfig": {"taskId": "nobody", "url": "https://hooks.example/a"},
    "ListTasks": {},
    "GetExtendedAgentCard": {},
}


def request_of(operation: str) -> dict[str, Any]:
    """A request that is right; tasks it names do not exist."""
    if operation in REQUESTS:
        return dict(REQUESTS[operation])
    names = {"id", "taskId"} if "{taskId}" in PATHS[operation][1] else {"id"}
    if operation == "ListTaskPushNotificationConfigs":
        names = {"taskId"}
    return dict.fromkeys(names, "nobody")


class Second(Echo):
    """Another agent of the site."""


@pytest.fixture
def agents(register: Callable[[Agent], Agent], settings: Settings) -> dict[str, Agent]:
    """A site with two agents, of which the first is the default."""
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "echo"}
    return {agent.slug: register(agent) for agent in (Echo(), Second())}


def places_of(door: Door) -> list[str]:
    return [
        place for place in PLACES if place in {"GRPC": ("body",), "JSONRPC": ("query", "body")}.get(door.name, PLACES)
    ]


async def call(door: Door, operation: str, request: dict[str, Any], **at: str) -> Outcome:
    """Carry out an operation with a tenant in each of the named places."""
    if "body" in at:
        request = {**request, "tenant": at["body"]}
    query = {"tenant": at["query"]} if "query" in at else None
    if query and "body" in at and door.name == "HTTP+JSON" and PATHS[operation][0] != "POST":
        pytest.skip("the query is the body")
    return await door.call(operation, request, path_tenant=at.get("path", ""), query=query)


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.usefixtures("agents")
async def test_a_tenant_leads_to_its_agent_wherever_it_stands(door: Door, operation: str) -> None:
    request = request_of(operation)
    without = await call(door, operation, request)
    for place in places_of(door):
        there = await call(door, operation, request, **{place: "second"})
        assert (there.status, there.reason, there.fields) == (without.status, without.reason, without.fields)
        if operation == "SendMessage":
            row = await Task.objects.aget(pk=there.task["id"])
            assert (row.agent, row.tenant) == ("second", "second")
            row = await Task.objects.aget(pk=without.task["id"])
            assert (row.agent, row.tenant) == ("echo", "")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.usefixtures("agents")
async def test_an_unknown_tenant_is_told_wherever_it_stands(door: Door, operation: str) -> None:
    for place in places_of(door):
        for tenant in ("third", "SECOND", *(["v1"] if place != "path" else [])):  # there begin the paths of 0.3
            refused = await call(door, operation, request_of(operation), **{place: tenant})
            if place == "path":
                assert (refused.status, refused.reason) == (404, "METHOD_NOT_FOUND")
            else:
                assert (refused.reason, refused.fields) == ("INVALID_PARAMS", ["tenant"])
    assert await Task.objects.acount() == 0


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.usefixtures("agents")
async def test_two_tenants_are_a_conflict_and_one_said_twice_is_none(door: Door, operation: str) -> None:
    places = places_of(door)
    pairs = [(one, other) for one in places for other in places if one < other]
    if door.name == "HTTP+JSON" and PATHS[operation][0] != "POST":
        pairs = [pair for pair in pairs if set(pair) != {"query", "body"}]
    for one, other in pairs:
        without = await call(door, operation, request_of(operation))
        same = await call(door, operation, request_of(operation), **{one: "second", other: "second"})
        assert (same.reason, same.fields) == (without.reason, without.fields)
        before = await Task.objects.acount()
        for first, second in (("second", "echo"), ("echo", "second"), ("second", "third")):
            refused = await call(door, operation, request_of(operation), **{one: first, other: second})
            if refused.status == 404:  # the path does not exist, whatever else is said
                assert "third" in (first, second)
                continue
            assert (refused.reason, refused.fields) == ("INVALID_PARAMS", ["tenant"])
        assert await Task.objects.acount() == before


# -- whose tasks


class Reporting(Echo):
    """Answers with what it is given of other tasks."""

    push_notifications = True

    async def run(self, ctx: TaskContext) -> Any:
        """Name the tasks and texts that the caller is said to know."""
        if ctx.text == "ask":
            await ctx.input_required("yes?")
            return
        known = [task.pk for task in ctx.references]
        earlier = ["".join(part.text for part in each.parts) for each in await ctx.conversation()]
        yield {"tenant": ctx.tenant, "references": known, "conversation": earlier}


CUSTOMERS = {
    "acme": "reporting",
    "umbrella": "reporting",
    "Acme": "reporting",
    "other": "second",
    "reporting": "reporting",
}


def resolver(tenant: str) -> str | None:
    """Several customers of the site, most of them with the same agent."""
    return CUSTOMERS.get(tenant)


@pytest.fixture
def customers(register: Callable[[Agent], Agent], settings: Settings) -> Agent:
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "reporting", "TENANT_RESOLVER": f"{__name__}.resolver"}
    settings.A2A |= {"WEBHOOK_ALLOWED_HOSTS": ["127.0.0.1"], "PUSH_IN_PROCESS": False}
    register(Second(push_notifications=True))
    return register(Reporting())


async def key(settings: Settings) -> dict[str, str]:
    """The credentials of one user, who calls under several tenants."""
    settings.A2A = {name: value for name, value in settings.A2A.items() if not name.endswith("_CLASSES")}
    user = await User.objects.acreate(username="alice")
    return {"Authorization": f"Bearer {(await asyncio.to_thread(create_api_key, user))[1]}"}


@pytest.mark.usefixtures("customers")
async def test_tasks_of_one_customer_do_not_exist_for_another(door: Door, settings: Settings) -> None:
    """The same user, the same agent, another tenant: nothing is there, on no operation, and lists have none of it."""
    headers = await key(settings)

    async def at(tenant: str, operation: str, **request: Any) -> Outcome:
        return await door.call(operation, {**request, **({"tenant": tenant} if tenant else {})}, headers=headers)

    tenants = ["acme", "umbrella", "Acme", "other", ""]
    asked = {
        tenant: (await at(tenant, "SendMessage", message=message("ask", contextId="shared"))).task["id"]
        for tenant in tenants
    }
    for tenant, task_id in asked.items():
        hook = {"taskId": task_id, "id": "hook", "url": "http://127.0.0.1:9/hook"}
        assert not (await at(tenant, "CreateTaskPushNotificationConfig", **hook)).reason
    said = await at("acme", "SendMessage", message=message("acme's secret", contextId="shared"))
    assert said.task["id"]
    for tenant in tenants:
        mine = {asked[tenant], *([said.task["id"]] if tenant == "acme" else [])}
        for criteria in ({}, {"contextId": "shared"}, {"status": "TASK_STATE_INPUT_REQUIRED"}):
            page = (await at(tenant, "ListTasks", **criteria)).value
            expected = mine if "status" not in criteria else {asked[tenant]}
            assert {task["id"] for task in page["tasks"]} == expected
            assert page["totalSize"] == len(expected)
        for other in tenants:
            if other == tenant:
                continue
            for operation, request in (
                ("GetTask", {"id": asked[other]}),
                ("SubscribeToTask", {"id": asked[other]}),
                ("CancelTask", {"id": asked[other]}),
                ("SendMessage", {"message": message("blue", taskId=asked[other])}),
                ("SendStreamingMessage", {"message": message("blue", taskId=asked[other])}),
                ("CreateTaskPushNotificationConfig", {"taskId": asked[other], "url": "http://127.0.0.1:9/hook"}),
                ("GetTaskPushNotificationConfig", {"taskId": asked[other], "id": "hook"}),
                ("ListTaskPushNotificationConfigs", {"taskId": asked[other]}),
                ("DeleteTaskPushNotificationConfig", {"taskId": asked[other], "id": "hook"}),
            ):
                assert (await at(tenant, operation, **request)).reason == "TASK_NOT_FOUND"
        assert (await at(tenant, "GetTask", id=asked[tenant])).value["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    told = await at(
        "umbrella", "SendMessage", message=message("?", contextId="shared", referenceTaskIds=list(asked.values()))
    )
    ((part,),) = [artifact["parts"] for artifact in told.task["artifacts"]]
    assert part["data"] == {"tenant": "umbrella", "references": [asked["umbrella"]], "conversation": ["ask"]}


@pytest.mark.usefixtures("customers")
async def test_a_page_token_is_of_one_customer(door: Door, settings: Settings) -> None:
    headers = await key(settings)
    for tenant in ("acme", "umbrella"):
        for _ in range(2):
            await door.call("SendMessage", {"tenant": tenant, "message": message("x")}, headers=headers)
    first = await door.call("ListTasks", {"tenant": "acme", "pageSize": 1}, headers=headers)
    following = {"pageSize": 1, "pageToken": first.value["nextPageToken"]}
    assert len((await door.call("ListTasks", {"tenant": "acme", **following}, headers=headers)).value["tasks"]) == 1
    refused = await door.call("ListTasks", {"tenant": "umbrella", **following}, headers=headers)
    assert refused.fields == ["page_token"]


@pytest.mark.usefixtures("customers")
async def test_cards_name_the_tenant_they_were_asked_for_under(
    door: Door, settings: Settings, customers: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also that of the default agent: without its tenant a customer would call as somebody else (R-201)."""
    headers = await key(settings)
    monkeypatch.setattr(type(customers), "extended_agent_card", True)
    monkeypatch.setattr(type(customers), "extended_card", lambda self, user: self.card())
    settings.A2A = {**settings.A2A, "GRPC_URL": "shop.example:50051"}
    for tenant in ("acme", "umbrella", ""):
        card = (await door.call("GetExtendedAgentCard", {"tenant": tenant} if tenant else {}, headers=headers)).value
        assert {entry.get("tenant", "") for entry in card["supportedInterfaces"]} == {tenant}


class AtAcme(BasePermission):
    """Only calls under one tenant."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Look where the call goes."""
        return bool(view.kwargs["tenant"] == "acme")


async def test_permissions_of_an_agent_know_the_tenant(door: Door, settings: Settings, customers: Agent) -> None:
    headers = await key(settings)
    customers.permissions = [AtAcme]
    assert not (await door.call("ListTasks", {"tenant": "acme"}, headers=headers)).reason
    assert (await door.call("ListTasks", {"tenant": "umbrella"}, headers=headers)).reason == "PERMISSION_DENIED"
    assert (await door.call("ListTasks", headers=headers)).reason == "PERMISSION_DENIED"


def test_owners_at_tenants(settings: Settings) -> None:
    assert owner_at("acme", "7") == "7"
    settings.A2A = {**settings.A2A, "TENANT_RESOLVER": f"{__name__}.resolver"}
    tenants, owners = ("", "acme", "Acme", "acme ", "a/b", "t" * 500), ("", "7", "b/7", "o" * 190, "o" * 189)
    scoped = {owner_at(tenant, owner) for tenant in tenants for owner in owners}
    assert len(scoped) == len(tenants) * len(owners)
    assert max(map(len, scoped)) <= Task._meta.get_field("owner").max_length
    assert len({text.lower().rstrip() for text in scoped}) == len(scoped)
