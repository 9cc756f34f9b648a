"""The RPCs of service a2a.v1.A2AService, which gRPC and HTTP+JSON of 0.3 have in common (facts 2, 3.1)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from a2a_django.bindings import sse
from a2a_django.bindings.calls import text_of
from a2a_django.bindings.v0_3 import cards
from a2a_django.bindings.v0_3.operations import CHANGED, RESUBSCRIBE
from a2a_django.bindings.v0_3.streams import OldEvents, T, WriteEvent, WriteText
from a2a_django.operations import OPERATIONS, CallContext, Operation
from a2a_django.protocol.errors import InternalError
from a2a_django.protocol.v0_3 import requests
from a2a_django.protocol.v0_3.protojson import WRITER
from a2a_django.protocol.wire import Wire


@dataclass(frozen=True, slots=True)
class Rpc:
    """One RPC: ``operation`` carries it out, ``request`` is the name of its message in package a2a.v1.

    ``read`` makes a request of 1.0 of that message, ``write`` makes of the operation's decoded answer, or of one event
    of a stream, the message that the RPC answers with, both in canonical form.
    """

    name: str
    request: str
    operation: Operation
    read: Callable[[Wire], Wire]
    write: Callable[[Wire], Wire]

    async def answer(self, call: CallContext, request: Wire) -> Wire:
        """Return what an RPC that does not stream answers."""
        return self.write(json.loads(await text_of(self.operation, call, request)))

    def events(self, events: sse.Events, write: WriteEvent[T], quick: WriteText[T] | None = None) -> OldEvents[T]:
        """Return the events of the operation as those of this RPC."""
        return OldEvents(events, write, holds=self.operation is not RESUBSCRIBE, quick=quick)


def event(response: Wire, final: bool) -> Wire:
    """Return an event of 1.0 as a StreamResponse."""
    return WRITER.event(response, final=final)


def _card(card: Wire) -> Wire:
    """Return the pure card of the JSON schema."""
    try:
        return cards.pure(card)
    except ValueError:  # nobody knows where the site is
        raise InternalError() from None


def _nothing(answer: Wire) -> dict[str, Any]:
    return {}


def _rpc(name: str, request: str, operation: str, read: Callable[[Wire], Wire], write: Callable[[Wire], Wire]) -> Rpc:
    found = CHANGED.get(operation) or OPERATIONS[operation]
    return Rpc(name, request, found, read, write)


_CREATE, _GET, _LIST, _DELETE = (
    "CreateTaskPushNotificationConfig",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfig",
    "DeleteTaskPushNotificationConfig",
)

#: By the name of the operation of 1.0. What the RPC of the card writes is the card of the JSON schema.
RPCS: Final[dict[str, Rpc]] = {
    rpc.operation.name: rpc
    for rpc in (
        _rpc("SendMessage", "SendMessageRequest", "SendMessage", requests.send, WRITER.event),
        _rpc("SendStreamingMessage", "SendMessageRequest", "SendStreamingMessage", requests.send, WRITER.event),
        _rpc("GetTask", "GetTaskRequest", "GetTask", requests.get, WRITER.task),
        _rpc("CancelTask", "CancelTaskRequest", "CancelTask", requests.of_task, WRITER.task),
        _rpc("TaskSubscription", "TaskSubscriptionRequest", "SubscribeToTask", requests.of_task, WRITER.event),
        _rpc(_CREATE, f"{_CREATE}Request", _CREATE, requests.create_config, WRITER.config),
        _rpc(_GET, f"{_GET}Request", _GET, requests.of_config, WRITER.config),
        _rpc(_LIST, f"{_LIST}Request", f"{_LIST}s", requests.list_configs, WRITER.configs),
        _rpc(_DELETE, f"{_DELETE}Request", _DELETE, requests.of_config, _nothing),
        _rpc("GetAgentCard", "GetAgentCardRequest", "GetExtendedAgentCard", requests.card, _card),
    )
}
