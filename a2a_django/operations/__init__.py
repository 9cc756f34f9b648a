"""The operations of the protocol, once, knowing no binding: ``(CallContext, request) -> text or stream``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from a2a_django.operations import cards, messages, push, tasks
from a2a_django.operations.context import CallContext
from a2a_django.operations.streams import EventStream
from a2a_django.protocol.wire import Wire


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation: its name is the method name of JSON-RPC and gRPC, ``request`` the name of its request message.

    ``required_extensions``: the extensions that the agent requires have to be active (D-11).
    """

    name: str
    request: str
    call: Callable[[CallContext, Wire], Awaitable[str | EventStream]]
    streaming: bool = False
    required_extensions: bool = False


OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation("SendMessage", "SendMessageRequest", messages.send_message, required_extensions=True),
        Operation(
            "SendStreamingMessage",
            "SendMessageRequest",
            messages.send_streaming_message,
            streaming=True,
            required_extensions=True,
        ),
        Operation("GetTask", "GetTaskRequest", tasks.get_task),
        Operation("ListTasks", "ListTasksRequest", tasks.list_tasks),
        Operation("CancelTask", "CancelTaskRequest", tasks.cancel_task),
        Operation("SubscribeToTask", "SubscribeToTaskRequest", tasks.subscribe_to_task, streaming=True),
        Operation("CreateTaskPushNotificationConfig", "TaskPushNotificationConfig", push.create_config),
        Operation("GetTaskPushNotificationConfig", "GetTaskPushNotificationConfigRequest", push.get_config),
        Operation("ListTaskPushNotificationConfigs", "ListTaskPushNotificationConfigsRequest", push.list_configs),
        Operation("DeleteTaskPushNotificationConfig", "DeleteTaskPushNotificationConfigRequest", push.delete_config),
        Operation("GetExtendedAgentCard", "GetExtendedAgentCardRequest", cards.get_extended_agent_card),
    )
}

__all__ = ["OPERATIONS", "CallContext", "EventStream", "Operation"]
