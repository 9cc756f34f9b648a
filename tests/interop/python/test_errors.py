"""Whatever is refused reaches the Python client as the SDK's own exception for it, over every binding."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from a2a.client import A2AClientError, ClientCallContext
from a2a.helpers import new_data_part, new_text_part
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    ContentTypeNotSupportedError,
    DeleteTaskPushNotificationConfigRequest,
    ExtendedAgentCardNotConfiguredError,
    ExtensionSupportRequiredError,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    InternalError,
    InvalidAgentResponseError,
    InvalidParamsError,
    InvalidRequestError,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    MethodNotFoundError,
    Part,
    PushNotificationNotSupportedError,
    SendMessageRequest,
    SubscribeToTaskRequest,
    Task,
    TaskNotCancelableError,
    TaskNotFoundError,
    TaskPushNotificationConfig,
    UnsupportedOperationError,
    VersionNotSupportedError,
)
from a2a.utils.errors import JSONParseError

from tests.interop.live_site import Live
from tests.interop.python.sdk import Connect, collect, connected, extensions, request, sent, state_of

UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"
REQUIRED, OPTIONAL = "https://e.example/ext/a/v1", "https://e.example/ext/b/v1"


#: For what the client cannot do over gRPC: its requests cannot be rewritten, a method has no address, and it sends its
#: own version before the one that it is told.
over_http = pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"], ids=["jsonrpc", "rest"])


def offer(capability: str) -> Callable[[AgentCard], None]:
    """Return an edit after which the card offers what the server does not."""

    def edit(card: AgentCard) -> None:
        setattr(card.capabilities, capability, True)

    return edit


# -- tasks


async def test_task_not_found(connect: Connect) -> None:
    client = (await connect()).client
    calls: list[Coroutine[Any, Any, Any]] = [
        client.get_task(GetTaskRequest(id=UNKNOWN)),
        client.get_task(GetTaskRequest(id="no id of ours/../%2e")),
        client.cancel_task(CancelTaskRequest(id=UNKNOWN)),
        collect(client.subscribe(SubscribeToTaskRequest(id=UNKNOWN))),
        collect(client.send_message(request("hello", task=Task(id=UNKNOWN)))),
    ]
    for call in calls:
        with pytest.raises(TaskNotFoundError):
            await call


async def test_a_foreign_task_is_not_found(connect: Connect) -> None:
    alice, bob = await connect(streaming=False), await connect(user="bob")
    task = await sent(alice.client, "ask")
    calls: list[Coroutine[Any, Any, Any]] = [
        bob.client.get_task(GetTaskRequest(id=task.id)),
        bob.client.cancel_task(CancelTaskRequest(id=task.id)),
        collect(bob.client.subscribe(SubscribeToTaskRequest(id=task.id))),
        collect(bob.client.send_message(request("blue", task=task))),
    ]
    for call in calls:
        with pytest.raises(TaskNotFoundError):
            await call


async def test_task_not_cancelable(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "echo x")
    with pytest.raises(TaskNotCancelableError):
        await client.cancel_task(CancelTaskRequest(id=task.id))


async def test_a_canceled_task_may_be_canceled_again(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "ask")
    canceled = await client.cancel_task(CancelTaskRequest(id=task.id))
    assert await client.cancel_task(CancelTaskRequest(id=task.id)) == canceled


async def test_unsupported_operation_on_an_ended_task(connect: Connect) -> None:
    client, sender = (await connect()).client, (await connect(streaming=False)).client
    task = await sent(sender, "echo x")
    for stream in (
        client.subscribe(SubscribeToTaskRequest(id=task.id)),
        client.send_message(request("again", task=task)),
        sender.send_message(request("again", task=task)),
    ):
        with pytest.raises(UnsupportedOperationError):
            await collect(stream)


# -- what the agent does not offer


async def test_unsupported_operation_without_streams(connect: Connect) -> None:
    client = (await connect("plain", edit=offer("streaming"))).client
    with pytest.raises(UnsupportedOperationError):
        await collect(client.send_message(request("slow 1")))
    task = await sent((await connect("plain")).client, "ask")
    with pytest.raises(UnsupportedOperationError):
        await collect(client.subscribe(SubscribeToTaskRequest(id=task.id)))


async def test_unsupported_operation_without_extended_card(connect: Connect) -> None:
    client = (await connect("plain", edit=offer("extended_agent_card"))).client
    with pytest.raises(UnsupportedOperationError):
        await client.get_extended_agent_card(GetExtendedAgentCardRequest())


async def test_extended_agent_card_not_configured(connect: Connect) -> None:
    client = (await connect("strict")).client
    with pytest.raises(ExtendedAgentCardNotConfiguredError):
        await client.get_extended_agent_card(GetExtendedAgentCardRequest())


async def test_push_notification_not_supported(connect: Connect) -> None:
    client = (await connect("plain", streaming=False)).client
    task = await sent(client, "ask")
    config = TaskPushNotificationConfig(id="c1", task_id=task.id, url="https://e.example/hook")
    calls: list[Coroutine[Any, Any, Any]] = [
        client.create_task_push_notification_config(config),
        client.get_task_push_notification_config(GetTaskPushNotificationConfigRequest(task_id=task.id, id="c1")),
        client.list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest(task_id=task.id)),
        client.delete_task_push_notification_config(
            DeleteTaskPushNotificationConfigRequest(task_id=task.id, id="c1"),
        ),
        collect(client.send_message(request("echo x", task_push_notification_config=config))),
    ]
    for call in calls:
        with pytest.raises(PushNotificationNotSupportedError):
            await call


async def test_extension_support_required(connect: Connect) -> None:
    for streaming in (False, True):
        client = (await connect("strict", streaming=streaming)).client
        with pytest.raises(ExtensionSupportRequiredError, match=REQUIRED):
            await collect(client.send_message(request("echo x")))
        with pytest.raises(ExtensionSupportRequiredError):
            await collect(client.send_message(request("echo x"), context=extensions(OPTIONAL)))
        assert await collect(client.send_message(request("echo x"), context=extensions(REQUIRED)))
        assert await collect(client.send_message(request("echo x"), context=extensions(OPTIONAL, REQUIRED)))


async def test_content_type_not_supported(connect: Connect) -> None:
    for streaming in (False, True):
        client = (await connect(streaming=streaming)).client
        with pytest.raises(ContentTypeNotSupportedError, match="media_type"):
            await collect(client.send_message(request("copy", new_text_part("x", media_type="image/png"))))


# -- requests that are wrong


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        pytest.param(request(), "message.parts", id="no parts"),
        pytest.param(request("x", Part(filename="empty.txt")), r"message.parts\[1\]", id="a part without content"),
        pytest.param(request("x", history=-1), r"history_?[lL]ength", id="negative history length"),
        pytest.param(SendMessageRequest(), "message", id="no message"),
    ],
)
async def test_invalid_params_of_a_message(connect: Connect, wrong: SendMessageRequest, field: str) -> None:
    for streaming in (False, True):
        client = (await connect(streaming=streaming)).client
        with pytest.raises(InvalidParamsError, match=field):
            await collect(client.send_message(wrong))


async def test_invalid_params_of_a_foreign_context(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "ask")
    with pytest.raises(InvalidParamsError, match="context"):
        await sent(client, "blue", task=Task(id=task.id, context_id="another"))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        pytest.param(ListTasksRequest(page_size=0), r"page_?[sS]ize", id="page size 0"),
        pytest.param(ListTasksRequest(page_size=101), r"page_?[sS]ize", id="page size 101"),
        pytest.param(ListTasksRequest(page_token="made up"), r"page_?[tT]oken", id="page token"),
        pytest.param(ListTasksRequest(history_length=-1), r"history_?[lL]ength", id="history length"),
        pytest.param(ListTasksRequest(status=77), "status", id="unknown state"),  # type: ignore[arg-type]
    ],
)
async def test_invalid_params_of_a_list(connect: Connect, wrong: ListTasksRequest, field: str) -> None:
    client = (await connect()).client
    with pytest.raises(InvalidParamsError, match=field):
        await client.list_tasks(wrong)


async def test_invalid_params_of_get(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    task = await sent(client, "echo x")
    with pytest.raises(InvalidParamsError, match=r"history_?[lL]ength"):
        await client.get_task(GetTaskRequest(id=task.id, history_length=-1))


@over_http
async def test_invalid_params_of_numbers_that_nothing_can_hold(connect: Connect) -> None:
    client = (await connect(streaming=False, rewrite=lambda body: body.replace(b"4711.0", b"1e400"))).client
    with pytest.raises(InvalidParamsError, match=r"message\.parts\[1\]"):
        await sent(client, "copy", new_data_part({"n": 4711}))


@over_http
async def test_version_not_supported(connect: Connect) -> None:
    client = (await connect()).client
    for version in ("9.9", "1.1", "0.2", "text"):
        context = ClientCallContext(service_parameters={"A2A-Version": version})
        with pytest.raises(VersionNotSupportedError, match=r"1\.0"):
            await client.get_task(GetTaskRequest(id=UNKNOWN), context=context)
        with pytest.raises(VersionNotSupportedError):
            await collect(client.send_message(request("echo x"), context=context))
    for version in ("1.0", "1.0.7", "1"):
        context = ClientCallContext(service_parameters={"A2A-Version": version})
        assert await collect(client.send_message(request("echo x"), context=context))


@over_http
async def test_parse_error(connect: Connect, binding: str) -> None:
    """The table of the SDK's HTTP+JSON client has no reason for it: there it is the general client error."""
    for rewrite in (lambda body: body[:-1], lambda body: b"\xff" + body, lambda body: body.replace(b"4711.0", b"NaN")):
        client = (await connect(streaming=False, rewrite=rewrite)).client
        with pytest.raises(JSONParseError if binding == "JSONRPC" else A2AClientError):
            await sent(client, "copy", new_data_part({"n": 4711}))


async def test_invalid_request(live: Live) -> None:
    """Of JSON-RPC only: the others have no envelope that could be wrong."""
    for key, value in (("jsonrpc", "1.0"), ("id", {"no": "id"}), ("method", 7), ("params", "text")):

        def rewrite(body: bytes, key: str = key, value: object = value) -> bytes:
            return json.dumps({**json.loads(body), key: value}).encode()

        async with connected(live, "main", "JSONRPC", rewrite=rewrite) as connection:
            with pytest.raises(InvalidParamsError if key == "params" else InvalidRequestError):
                await connection.client.get_task(GetTaskRequest(id=UNKNOWN))


async def test_a_body_that_is_too_large(connect: Connect, binding: str) -> None:
    """Over HTTP+JSON it has the status 413 and a reason of its own, for which the SDK has no class; gRPC likewise."""
    client = (await connect(streaming=False)).client
    kind, words = {
        "JSONRPC": (InvalidRequestError, "large"),
        "HTTP+JSON": (A2AClientError, "413"),
        "GRPC": (A2AClientError, "RESOURCE_EXHAUSTED"),
    }[binding]
    with pytest.raises(kind, match=words):
        await sent(client, "echo " + "x" * 11_000_000)


@over_http
async def test_method_not_found(connect: Connect, binding: str) -> None:
    def below(card: AgentCard) -> None:
        for interface in card.supported_interfaces:
            interface.url = interface.url.rstrip("/") + "/nothing/is/here"

    if binding == "JSONRPC":
        connection = await connect(rewrite=lambda body: body.replace(b'"GetTask"', b'"GetTusk"'))
    else:
        connection = await connect(edit=below)
    with pytest.raises(MethodNotFoundError):
        await connection.client.get_task(GetTaskRequest(id=UNKNOWN))


# -- who calls


@pytest.mark.parametrize("user", [None, "mallory"])
async def test_unauthenticated(connect: Connect, binding: str, user: str | None) -> None:
    """The SDK has no class for it but its general client error, which tells the status."""
    client = (await connect(user=user)).client
    calls: list[Coroutine[Any, Any, Any]] = [
        client.get_task(GetTaskRequest(id=UNKNOWN)),
        client.get_extended_agent_card(GetExtendedAgentCardRequest()),
        collect(client.send_message(request("echo x"))),
        collect(client.subscribe(SubscribeToTaskRequest(id=UNKNOWN))),
    ]
    for call in calls:
        with pytest.raises(A2AClientError, match="UNAUTHENTICATED" if binding == "GRPC" else "401"):
            await call


async def test_forbidden(connect: Connect, binding: str) -> None:
    """No class for it either."""
    status = "PERMISSION_DENIED" if binding == "GRPC" else "403"
    client = (await connect("several", tenant="staff")).client
    with pytest.raises(A2AClientError, match=status):
        await client.get_task(GetTaskRequest(id=UNKNOWN))
    with pytest.raises(A2AClientError, match=status):
        await collect(client.send_message(request("hello")))


# -- what the agent does wrong


async def test_invalid_agent_response(connect: Connect) -> None:
    for streaming in (False, True):
        client = (await connect("several", tenant="faulty", streaming=streaming)).client
        with pytest.raises(InvalidAgentResponseError):
            await collect(client.send_message(request("wrong")))


async def test_internal_error(connect: Connect) -> None:
    for streaming in (False, True):
        client = (await connect("several", tenant="faulty", streaming=streaming)).client
        with pytest.raises(InternalError) as caught:
            await collect(client.send_message(request("crash")))
        assert "secret" not in str(caught.value)


async def test_a_task_whose_agent_is_faulty_has_failed(connect: Connect) -> None:
    client = (await connect(streaming=False)).client
    for text in ("boom 2", "noparts", "msgafter"):
        task = await sent(client, text)
        assert state_of(task.status.state) == "FAILED"
        assert task.status.message.parts
        assert "secret" not in str(task)
