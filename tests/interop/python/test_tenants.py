"""Several agents at one address: the client sends the tenant that the card of an agent names."""

from __future__ import annotations

import asyncio

import pytest
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    GetExtendedAgentCardRequest,
    GetTaskRequest,
    InvalidParamsError,
    ListTasksRequest,
    MethodNotFoundError,
    SubscribeToTaskRequest,
    TaskNotFoundError,
)

from tests.interop.python.sdk import Connect, collect, request, sent, state_of, states, texts


async def test_every_operation_reaches_the_agent_of_the_card(connect: Connect) -> None:
    streaming = await connect("several", tenant="second")
    client, reader = (await connect("several", tenant="second", streaming=False)).client, streaming.client
    assert streaming.card.name == "Second desk"
    # Those of 0.3, which has no tenants, have it in their addresses.
    interfaces = [each for each in streaming.card.supported_interfaces if each.protocol_version == "1.0"]
    assert {interface.tenant for interface in interfaces} == {"second"}

    task = await sent(client, "ask")
    subscribed = asyncio.ensure_future(collect(reader.subscribe(SubscribeToTaskRequest(id=task.id))))
    assert (await client.get_task(GetTaskRequest(id=task.id))).id == task.id
    listed = await client.list_tasks(ListTasksRequest(context_id=task.context_id))
    assert [one.id for one in listed.tasks] == [task.id]
    answered = await collect(reader.send_message(request("blue", task=task)))
    assert states(answered)[-1] == "COMPLETED"
    assert states(await subscribed)[-1] == "COMPLETED"
    canceled = await client.cancel_task(CancelTaskRequest(id=(await sent(client, "ask")).id))
    assert state_of(canceled.status.state) == "CANCELED"
    extended = await reader.get_extended_agent_card(GetExtendedAgentCardRequest())
    assert (extended.name, [skill.id for skill in extended.skills]) == ("Second desk", ["script", "extra"])


async def test_a_task_belongs_to_its_agent(connect: Connect) -> None:
    second = (await connect("several", tenant="second", streaming=False)).client
    default = (await connect("several", streaming=False)).client
    task = await sent(second, "echo hello")
    assert texts(task.artifacts[0]) == ["hello"]
    with pytest.raises(TaskNotFoundError):
        await default.get_task(GetTaskRequest(id=task.id))
    assert not (await default.list_tasks(ListTasksRequest(context_id=task.context_id))).tasks


async def test_an_unknown_tenant(connect: Connect, binding: str) -> None:
    """In the path of HTTP+JSON it is an unknown path, in the params of JSON-RPC and over gRPC a wrong field."""

    def elsewhere(card: AgentCard) -> None:
        for interface in card.supported_interfaces:
            interface.tenant = "nobody"

    client = (await connect("several", edit=elsewhere, streaming=False)).client
    with pytest.raises(MethodNotFoundError if binding == "HTTP+JSON" else InvalidParamsError):
        await sent(client, "echo hello")
