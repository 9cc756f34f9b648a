"""Every RPC, called with the official SDK's stubs and with bare bytes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from a2a.types import a2a_pb2
from google.protobuf import json_format, struct_pb2

from a2a_django import Agent, Skill
from a2a_django.agents import TaskContext
from a2a_django.bindings.grpc.methods import METHODS
from a2a_django.models import Task
from a2a_django.operations import OPERATIONS
from tests.bindings.conftest import Echo
from tests.bindings.grpc.conftest import Running, ask, refusal

pytestmark = pytest.mark.spec("10")

COMPLETED, CANCELED = a2a_pb2.TASK_STATE_COMPLETED, a2a_pb2.TASK_STATE_CANCELED
INPUT_REQUIRED = a2a_pb2.TASK_STATE_INPUT_REQUIRED


@pytest.mark.spec("5.1", "5.3")
def test_every_operation_has_its_method() -> None:
    assert {method.operation.name for method in METHODS.values()} == set(OPERATIONS)
    assert len(METHODS) == 11


async def test_a_task_from_its_message_to_its_list(live: Running, echo: Agent) -> None:
    stub = live.stub()
    task = (await stub.SendMessage(ask("hello"))).task
    assert task.status.state == COMPLETED
    assert [part.text for part in task.artifacts[0].parts] == ["hello"]
    assert (await stub.GetTask(a2a_pb2.GetTaskRequest(id=task.id))).artifacts == task.artifacts
    page = await stub.ListTasks(a2a_pb2.ListTasksRequest(context_id=task.context_id))
    assert [each.id for each in page.tasks] == [task.id]
    assert (page.page_size, page.total_size, page.next_page_token) == (50, 1, "")


async def test_bytes_in_and_bytes_out(live: Running, echo: Agent) -> None:
    answer = await live.raw("SendMessage", ask("hello").SerializeToString())
    assert a2a_pb2.SendMessageResponse.FromString(answer).task.status.state == COMPLETED


async def test_an_answer_without_a_task(live: Running, register: Callable[[Agent], Agent]) -> None:
    class Greeter(Echo):
        mode = "message"

        async def run(self, ctx: TaskContext) -> str:
            return "good day"

    register(Greeter())
    answer = await live.stub().SendMessage(ask("hello"))
    assert answer.message.parts[0].text == "good day"
    assert [each.message.parts[0].text async for each in live.stub().SendStreamingMessage(ask("hello"))] == ["good day"]


async def test_a_conversation_and_its_cancel(live: Running, echo: Agent) -> None:
    stub = live.stub()
    task = (await stub.SendMessage(ask("ask"))).task
    assert task.status.state == INPUT_REQUIRED
    again = (await stub.SendMessage(ask("yes", message={"task_id": task.id}))).task
    assert (again.id, again.status.state) == (task.id, COMPLETED)
    parked = (await stub.SendMessage(ask("ask"))).task
    assert (await stub.CancelTask(a2a_pb2.CancelTaskRequest(id=parked.id))).status.state == CANCELED


async def test_a_stream(live: Running, echo: Agent) -> None:
    events = [event async for event in live.stub().SendStreamingMessage(ask("hello"))]
    kinds = [event.WhichOneof("payload") for event in events]
    assert kinds[0] == "task"
    assert kinds[-1] == "status_update"
    assert events[-1].status_update.status.state == COMPLETED
    assert any(event.artifact_update.artifact.parts[:1] for event in events if event.HasField("artifact_update"))


@pytest.mark.spec("3.1.6")
async def test_a_subscription_sees_the_rest(live: Running, echo: Agent) -> None:
    stub = live.stub()
    task = (await stub.SendMessage(ask("ask"))).task
    stream = aiter(stub.SubscribeToTask(a2a_pb2.SubscribeToTaskRequest(id=task.id)))
    assert (await anext(stream)).task.status.state == INPUT_REQUIRED
    await stub.SendMessage(ask("yes", message={"task_id": task.id}))
    states = [event.status_update.status.state async for event in stream if event.HasField("status_update")]
    assert states[-1] == COMPLETED


async def test_events_that_are_ready_together_are_written_one_by_one(
    live: Running, register: Callable[[Agent], Agent]
) -> None:
    class Many(Echo):
        async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
            for number in range(500):
                yield f"{number};"

    register(Many())
    stream = live.stub().SendStreamingMessage(ask("go"))
    chunks = [each.artifact_update.artifact async for each in stream if each.HasField("artifact_update")]
    assert [chunk.parts[0].text for chunk in chunks] == [f"{number};" for number in range(500)]


@pytest.mark.parametrize(
    ("method", "request_"),
    [
        (
            "CreateTaskPushNotificationConfig",
            a2a_pb2.TaskPushNotificationConfig(task_id="t", url="https://hook.example"),
        ),
        ("GetTaskPushNotificationConfig", a2a_pb2.GetTaskPushNotificationConfigRequest(task_id="t", id="c")),
        ("ListTaskPushNotificationConfigs", a2a_pb2.ListTaskPushNotificationConfigsRequest(task_id="t")),
        ("DeleteTaskPushNotificationConfig", a2a_pb2.DeleteTaskPushNotificationConfigRequest(task_id="t", id="c")),
    ],
)
async def test_push_configs_reach_their_operations(live: Running, echo: Agent, method: str, request_: Any) -> None:
    refused = await refusal(getattr(live.stub(), method)(request_))
    assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "PUSH_NOTIFICATION_NOT_SUPPORTED")


def test_the_answer_of_a_deletion_is_empty() -> None:
    assert METHODS["/lf.a2a.v1.A2AService/DeleteTaskPushNotificationConfig"].write("{}") == b""


class Member(Echo):
    extended_agent_card = True

    def extended_card(self, user: Any) -> Any:
        return self.card(skills=[*self.skills, Skill("more", "More", "For members", tags=["test"])])


@pytest.mark.parametrize(
    ("base", "listed"),
    [
        (None, [("GRPC", "agents.example:443")]),
        (
            "https://shop.example",
            [
                ("JSONRPC", "https://shop.example/a2a/"),
                ("HTTP+JSON", "https://shop.example/a2a"),
                ("GRPC", "agents.example:443"),
            ],
        ),
    ],
)
async def test_the_extended_card_lists_what_is_known(
    serve: Any,
    register: Callable[[Agent], Agent],
    settings: Any,
    django_user_model: Any,
    base: str | None,
    listed: list[tuple[str, str]],
) -> None:
    register(Member())
    settings.A2A = {"BASE_URL": base, "GRPC_URL": "agents.example:443"}
    from a2a_django.access import create_api_key

    key = await asyncio.to_thread(lambda: create_api_key(django_user_model.objects.create_user("alice"))[1])
    live = await serve()
    card = await live.stub().GetExtendedAgentCard(
        a2a_pb2.GetExtendedAgentCardRequest(), metadata=(("authorization", f"Bearer {key}"),)
    )
    assert [skill.id for skill in card.skills] == ["echo", "more"]
    assert [(each.protocol_binding, each.url) for each in card.supported_interfaces] == listed


async def test_every_kind_of_value_comes_back_equal(live: Running, register: Callable[[Agent], Agent]) -> None:
    class Copy(Echo):
        async def run(self, ctx: TaskContext) -> None:
            await ctx.artifact(*ctx.message.parts)

    register(Copy())
    value = json_format.ParseDict({"a": [1, 2.5, None, True, "ü\u2028", {"b": {}}], "c": []}, struct_pb2.Value())
    parts = [
        a2a_pb2.Part(data=value, metadata={"k": 1}),
        a2a_pb2.Part(raw=bytes(range(256)), media_type="text/plain", filename="all.bin"),
        a2a_pb2.Part(text="\U0001f600"),
    ]
    message = a2a_pb2.Message(message_id="m", role=a2a_pb2.ROLE_USER, parts=parts)
    task = (await live.stub().SendMessage(a2a_pb2.SendMessageRequest(message=message))).task
    assert list(task.artifacts[0].parts) == parts
    assert task.history[0].parts == message.parts


async def test_an_artifact_of_8_megabytes(live: Running, register: Callable[[Agent], Agent]) -> None:
    class Large(Echo):
        async def run(self, ctx: TaskContext) -> str:
            return "x" * 8_000_000

    register(Large())
    task = (await live.stub().SendMessage(ask("go"))).task
    assert len(task.artifacts[0].parts[0].text) == 8_000_000


async def test_several_agents_are_told_apart_by_the_tenant_field(
    live: Running, register: Callable[[Agent], Agent], settings: Any
) -> None:
    class Other(Echo):
        async def run(self, ctx: TaskContext) -> str:
            return "other"

    register(Echo())
    register(Other())
    settings.A2A = {**settings.A2A, "DEFAULT_AGENT": "echo"}
    stub = live.stub()
    for tenant, text in (("", "hello"), ("echo", "hello"), ("other", "other")):
        task = (await stub.SendMessage(ask("hello", tenant=tenant))).task
        assert task.artifacts[0].parts[0].text == text
        assert (await Task.objects.aget(pk=task.id)).tenant == tenant
    for call in (
        stub.GetTask(a2a_pb2.GetTaskRequest(id="x", tenant="nobody")),
        stub.SendMessage(ask("x", tenant="v1")),
    ):
        refused = await refusal(call)
        assert (refused.code, refused.reason, refused.fields) == ("INVALID_ARGUMENT", "INVALID_PARAMS", ["tenant"])
