"""JSON-RPC of version 0.3 (facts 1): methods with a slash, at the address of 1.0 and over the same operations."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from a2a_django.bindings import sse
from a2a_django.bindings.calls import (
    Pairs,
    context,
    open_stream,
    tenant_of,
    text_of,
    version_of,
    with_challenge,
)
from a2a_django.bindings.errors import as_a2a, headers, rpc_status
from a2a_django.bindings.http import JSON, Answer, Exchange, StreamAnswer
from a2a_django.bindings.v0_3 import errors
from a2a_django.bindings.v0_3.headers import extension_headers
from a2a_django.bindings.v0_3.operations import EXTENDED_CARD, RESUBSCRIBE, all_configs, extended_card, one_config, read
from a2a_django.bindings.v0_3.streams import OldEvents
from a2a_django.operations import OPERATIONS, CallContext, Operation
from a2a_django.protocol.codec import dumps
from a2a_django.protocol.errors import MethodNotFoundError
from a2a_django.protocol.v0_3 import params
from a2a_django.protocol.v0_3.chunks import json_chunk
from a2a_django.protocol.v0_3.json_form import WRITER
from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire

BINDING: Final = "JSONRPC"

_HEADERS: Final = {"Content-Type": JSON, "Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Method:
    """One method: the operation it stands for, how its params are read, and what makes its result of a request.

    ``call`` returns the result as a JSON value; a method without one is a stream.
    """

    operation: Operation
    read: Callable[[Any], Wire]
    call: Callable[[CallContext, Wire], Awaitable[Any]] | None = None


async def _send(call: CallContext, request: Wire) -> Wire:
    return WRITER.event(json.loads(await text_of(OPERATIONS["SendMessage"], call, request)))


async def _get(call: CallContext, request: Wire) -> Wire:
    return WRITER.task(json.loads(await text_of(OPERATIONS["GetTask"], call, request)))


async def _cancel(call: CallContext, request: Wire) -> Wire:
    return WRITER.task(json.loads(await text_of(OPERATIONS["CancelTask"], call, request)))


async def _set_config(call: CallContext, request: Wire) -> Wire:
    return WRITER.config(await read(call, "CreateTaskPushNotificationConfig", request))


async def _get_config(call: CallContext, request: Wire) -> Wire:
    return WRITER.config(await one_config(call, request))


async def _list_configs(call: CallContext, request: Wire) -> list[Wire]:
    return [WRITER.config(config) for config in await all_configs(call, request)]


async def _delete_config(call: CallContext, request: Wire) -> None:
    await text_of(OPERATIONS["DeleteTaskPushNotificationConfig"], call, request)


_EXTENDED_CARD: Final = Method(EXTENDED_CARD, params.card, extended_card)

METHODS: Final[dict[str, Method]] = {
    "message/send": Method(OPERATIONS["SendMessage"], params.send, _send),
    "message/stream": Method(OPERATIONS["SendStreamingMessage"], params.send),
    "tasks/get": Method(OPERATIONS["GetTask"], params.get, _get),
    "tasks/cancel": Method(OPERATIONS["CancelTask"], params.cancel, _cancel),
    "tasks/resubscribe": Method(RESUBSCRIBE, params.resubscribe),
    "tasks/pushNotificationConfig/set": Method(
        OPERATIONS["CreateTaskPushNotificationConfig"], params.set_config, _set_config
    ),
    "tasks/pushNotificationConfig/get": Method(
        OPERATIONS["GetTaskPushNotificationConfig"], params.get_config, _get_config
    ),
    "tasks/pushNotificationConfig/list": Method(
        OPERATIONS["ListTaskPushNotificationConfigs"], params.list_configs, _list_configs
    ),
    "tasks/pushNotificationConfig/delete": Method(
        OPERATIONS["DeleteTaskPushNotificationConfig"], params.delete_config, _delete_config
    ),
    "agent/getAuthenticatedExtendedCard": _EXTENDED_CARD,
    "agent/authenticatedExtendedCard": _EXTENDED_CARD,  # so written once in the specification (11.1.3)
}


async def handle(
    exchange: Exchange, name: str, given: dict[str, Any], pairs: Pairs, request_id: str
) -> Answer | StreamAnswer:
    """Answer a call of the method ``name`` with the params ``given``; ``request_id`` is JSON text.

    Never raises but for cancellation: what goes wrong is an answer in the form of 0.3.
    """
    try:
        return await _call(exchange, name, given, pairs, request_id)
    except Exception as error:
        return refuse(error, exchange, request_id)


def refuse(error: Exception, exchange: Exchange, request_id: str) -> Answer:
    """Return the answer for an error; ``request_id`` is JSON text."""
    known = as_a2a(with_challenge(error, exchange))
    text = errors.rpc_text(known, request_id)
    return Answer(rpc_status(known), _HEADERS | headers(known), text.encode("ascii"))


async def _call(
    exchange: Exchange, name: str, given: dict[str, Any], pairs: Pairs, request_id: str
) -> Answer | StreamAnswer:
    version = version_of(exchange, pairs, native=V0_3)
    method = METHODS.get(name)
    if method is None:
        raise MethodNotFoundError()
    request = method.read(given)
    tenant = tenant_of("", pairs, request)
    call = await context(exchange, method.operation, binding=BINDING, version=version, tenant=tenant)
    head = f'{{"jsonrpc":"2.0","id":{request_id},"result":'
    if method.call is None:
        holds = method.operation is not RESUBSCRIBE

        def frames(events: sse.Events, place: sse.Place) -> sse.Frames:
            return sse.Frames(
                OldEvents(events, _event, holds=holds, quick=json_chunk),
                place,
                error=partial(errors.rpc_text, request_id=request_id),
                head=head,
                tail="}",
            )

        return StreamAnswer(
            sse.HEADERS | extension_headers(call), await open_stream(method.operation, call, request, frames)
        )
    result = await method.call(call, request)
    return Answer(200, _HEADERS | extension_headers(call), f"{head}{dumps(result)}}}".encode("ascii"))


def _event(event: Wire, final: bool) -> str:
    return dumps(WRITER.event(event, final=final))
