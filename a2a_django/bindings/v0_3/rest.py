"""HTTP+JSON of version 0.3 (facts 2): below ``/v1``, ProtoJSON of package a2a.v1, over the operations of 1.0.

There are no tenants in 0.3. Where a site has several agents, the address says which is meant: the tenant stands before
``v1``, so that it is part of the address in the agent's card.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from a2a_django.access import RESERVED_TENANTS
from a2a_django.agents import Agent
from a2a_django.bindings import older, rest, sse
from a2a_django.bindings.calls import Pairs, context, open_stream, tenant_of, version_of
from a2a_django.bindings.errors import as_a2a, headers
from a2a_django.bindings.http import JSON, Answer, Exchange, StreamAnswer, query_pairs
from a2a_django.bindings.v0_3.errors import status_text
from a2a_django.bindings.v0_3.headers import extension_headers
from a2a_django.bindings.v0_3.rpcs import RPCS, Rpc, event
from a2a_django.operations import Operation
from a2a_django.protocol.codec import dumps
from a2a_django.protocol.errors import InvalidParamsError, MethodNotFoundError
from a2a_django.protocol.v0_3 import names
from a2a_django.protocol.v0_3.chunks import proto_chunk
from a2a_django.protocol.v0_3.proto_cards import card_for_rest
from a2a_django.protocol.v0_3.protojson import CODEC
from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire

BINDING: Final = rest.BINDING

#: The first segment of all paths, behind a tenant if there is one.
PREFIX: Final = "v1"

_CARD: Final = "GetExtendedAgentCard"
_CREATE: Final = "CreateTaskPushNotificationConfig"


def route(path: tuple[str, ...]) -> rest.Route | None:
    """Return what the segments below ``v1`` stand for, None for no path of the protocol.

    The fields are those of the request of 0.3: resource names.
    """
    if "" in path:
        return None
    match path:
        case ("message:send",):
            return rest.Route({"POST": "SendMessage"}, {})
        case ("message:stream",):
            return rest.Route({"POST": "SendStreamingMessage"}, {})
        case ("card",):
            return rest.Route({"GET": _CARD}, {})
        case ("tasks", last):
            task_id, colon, verb = last.rpartition(":")  # ids may hold colons: the verb follows the last one
            if colon and verb == "cancel":
                return rest.Route({"POST": "CancelTask"}, {"name": names.of_task(task_id)})
            if colon and verb == "subscribe":  # the text of 0.3 says POST, its proto GET
                fields = {"name": names.of_task(task_id)}
                return rest.Route({"POST": "SubscribeToTask", "GET": "SubscribeToTask"}, fields)
            return rest.Route({"GET": "GetTask"}, {"name": names.of_task(last)})
        case ("tasks", task_id, "pushNotificationConfigs"):
            verbs = {"POST": _CREATE, "GET": "ListTaskPushNotificationConfigs"}
            return rest.Route(verbs, {"parent": names.of_task(task_id)})
        case ("tasks", task_id, "pushNotificationConfigs", *rest_of_id):  # clients do not encode the slashes in it
            config_id = "/".join(rest_of_id)
            verbs = {"GET": "GetTaskPushNotificationConfig", "DELETE": "DeleteTaskPushNotificationConfig"}
            return rest.Route(verbs, {"name": names.of_config(task_id, config_id)})
    return None


def find_route(path: tuple[str, ...]) -> tuple[str, rest.Route]:
    """Return the tenant in the path ("" for none) and the route. Raises ``MethodNotFoundError`` (404)."""
    tenant = ""
    if path[:1] != (PREFIX,) and len(path) > 1 and path[0] and path[0] not in RESERVED_TENANTS:
        tenant, path = path[0], path[1:]
    found = route(path[1:]) if path[:1] == (PREFIX,) else None
    if found is None:
        raise MethodNotFoundError()
    return tenant, found


async def handle(exchange: Exchange) -> Answer | StreamAnswer:
    """Answer one request. Never raises but for cancellation: what goes wrong is an answer too."""
    if not older.speaks_0_3():
        return await rest.handle(exchange)
    return await rest.answered(exchange, find_route, _call, refuse)


async def _call(
    exchange: Exchange,
    operation: Operation,
    verb: str,
    fields: Mapping[str, str],
    tenant: str,
    agent: Agent | None,
) -> Answer | StreamAnswer:
    rpc = RPCS[operation.name]
    pairs = query_pairs(exchange.query)
    version = version_of(exchange, pairs, native=V0_3)
    request = rpc.read(_asked(exchange, rpc, verb, pairs, fields))
    effective = tenant_of(tenant, pairs, request)
    call = await context(exchange, operation, binding=BINDING, version=version, tenant=effective, agent=agent)
    if operation.streaming:
        frames = await open_stream(rpc.operation, call, request, partial(_frames, rpc))
        return StreamAnswer(sse.HEADERS | extension_headers(call), frames)
    answer = await rpc.answer(call, request)
    if operation.name == _CARD:
        answer = card_for_rest(answer)
    found = {"Content-Type": JSON, "Cache-Control": "no-store"}
    return Answer(200, found | extension_headers(call), dumps(answer).encode("ascii"))


def _frames(rpc: Rpc, events: sse.Events, place: sse.Place) -> sse.Frames:
    return sse.Frames(rpc.events(events, _event, proto_chunk), place, error=status_text)


def _event(response: Wire, final: bool) -> str:
    return dumps(event(response, final))


def _asked(exchange: Exchange, rpc: Rpc, verb: str, pairs: Pairs, fields: Mapping[str, str]) -> Wire:
    """Return the request of 0.3 in canonical form. Raises ``InvalidParamsError``, ``ParseError``,
    ``ContentTypeNotSupportedError``."""
    if verb != "POST":
        return CODEC.decode_query(rpc.request, [*pairs, *fields.items()])
    body = rest.body_of(exchange, rpc.operation)
    if rpc.operation.name == _CREATE and "config" not in body:
        body = {"config": body}  # the body is the config itself, as the proto has it
    return CODEC.decode(rpc.request, _with_path(body, fields))


def _with_path(body: dict[str, Any], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the body with the names that are in the path. Raises ``InvalidParamsError`` where it has other ones."""
    result = dict(body)
    for field, name in fields.items():
        # Clients write the parent of a webhook as it stands in the path, too: with what follows the task.
        if result.get(field) not in (None, "", name, f"{name}/pushNotificationConfigs"):
            raise InvalidParamsError.of(field, "is not the one of the path")
        result[field] = name
    return result


def refuse(error: Exception, request_headers: Mapping[str, str]) -> Answer:
    """Return the answer for an error: a status of 1.0's table, and a body in which all SDKs of 0.3 find it."""
    if not older.speaks_0_3():
        return rest.refuse(error, request_headers)
    known = as_a2a(error)
    found = {"Content-Type": JSON, "Cache-Control": "no-store"}
    return Answer(known.http_status, found | headers(known), status_text(known).encode("ascii"))
