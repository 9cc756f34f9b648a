"""HTTP+JSON (spec 11; R-176 to R-191): one exchange in, one answer or stream out.

Paths are matched on decoded segments: a ``%3A`` is a colon, and a ``%2F`` stays inside the id it stands in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from a2a_django.access import RESERVED_TENANTS, resolve_agent
from a2a_django.agents import Agent
from a2a_django.bindings import errors, sse
from a2a_django.bindings.calls import (
    Pairs,
    context,
    extension_headers,
    open_stream,
    tenant_of,
    text_of,
    version_of,
    with_challenge,
)
from a2a_django.bindings.http import (
    Answer,
    Exchange,
    StreamAnswer,
    answer_type,
    check_content_type,
    error_type,
    query_pairs,
)
from a2a_django.conf import a2a_settings
from a2a_django.operations import OPERATIONS, Operation
from a2a_django.protocol import codec
from a2a_django.protocol.errors import InvalidParamsError, MethodNotAllowedError, MethodNotFoundError
from a2a_django.protocol.wire import Wire

BINDING: Final = "HTTP+JSON"

#: The operations whose request says nothing beside the path, so that their body may be empty (D-01, A2).
BODY_MAY_BE_EMPTY: Final = frozenset({"CancelTask", "SubscribeToTask"})

_SNAKE: Final = {"id": "id", "taskId": "task_id"}


@dataclass(frozen=True, slots=True)
class Route:
    """What a path stands for: operations by verb, and the request's fields that the path gives."""

    verbs: Mapping[str, str]
    fields: Mapping[str, str]

    def allow(self) -> list[str]:
        """Return the value of an Allow header. HEAD comes with GET, but not where GET opens a stream."""
        verbs = [*self.verbs, "OPTIONS"]
        if "GET" in self.verbs and not OPERATIONS[self.verbs["GET"]].streaming:
            verbs.insert(verbs.index("GET") + 1, "HEAD")
        return verbs


def route(path: tuple[str, ...]) -> Route | None:
    """Return what the segments of a path stand for, tenant left out; None for no path of the protocol (A2)."""
    if "" in path:
        return None
    match path:
        case ("message:send",):
            return Route({"POST": "SendMessage"}, {})
        case ("message:stream",):
            return Route({"POST": "SendStreamingMessage"}, {})
        case ("extendedAgentCard",):
            return Route({"GET": "GetExtendedAgentCard"}, {})
        case ("tasks",):
            return Route({"GET": "ListTasks"}, {})
        case ("tasks", last):
            task_id, colon, verb = last.rpartition(":")  # ids may hold colons: the verb follows the last one
            if colon and verb == "cancel":
                return Route({"POST": "CancelTask"}, {"id": task_id})
            if colon and verb == "subscribe":
                return Route({"POST": "SubscribeToTask", "GET": "SubscribeToTask"}, {"id": task_id})  # D-01
            return Route({"GET": "GetTask"}, {"id": last})
        case ("tasks", task_id, "pushNotificationConfigs"):
            verbs = {"POST": "CreateTaskPushNotificationConfig", "GET": "ListTaskPushNotificationConfigs"}
            return Route(verbs, {"taskId": task_id})
        case ("tasks", task_id, "pushNotificationConfigs", config_id):
            verbs = {"GET": "GetTaskPushNotificationConfig", "DELETE": "DeleteTaskPushNotificationConfig"}
            return Route(verbs, {"taskId": task_id, "id": config_id})
    return None


def find_route(path: tuple[str, ...]) -> tuple[str, Route]:
    """Return the tenant in the path ("" for none) and the route. Raises ``MethodNotFoundError`` (404)."""
    found = route(path)
    if found is not None:
        return "", found
    if len(path) > 1 and path[0] and path[0] not in RESERVED_TENANTS:
        found = route(path[1:])
        if found is not None:
            return path[0], found
    raise MethodNotFoundError()


async def handle(exchange: Exchange) -> Answer | StreamAnswer:
    """Answer one request. Never raises but for cancellation: what goes wrong is an answer too."""
    return await answered(exchange, find_route, _call, refuse)


FindRoute = Callable[[tuple[str, ...]], tuple[str, Route]]
Call = Callable[[Exchange, Operation, str, Mapping[str, str], str, Agent | None], Awaitable[Answer | StreamAnswer]]
Refuse = Callable[[Exception, Mapping[str, str]], Answer]


async def answered(exchange: Exchange, find: FindRoute, call: Call, refuse: Refuse) -> Answer | StreamAnswer:
    """Answer one request by the routes of one version. Never raises but for cancellation.

    ``call`` gets the operation that the route names, the verb (GET for HEAD), the fields of the path, and the tenant in
    the path with its agent.
    """
    try:
        tenant, found = find(exchange.path)
        agent = await resolve_agent(tenant, in_path=True) if tenant else None
        if exchange.method == "OPTIONS":
            return Answer(200, {"Allow": ", ".join(found.allow()), "Content-Type": "text/plain"}, b"")
        allowed = found.allow()
        if exchange.method not in allowed:
            raise MethodNotAllowedError(allowed)
        verb = "GET" if exchange.method == "HEAD" else exchange.method
        answer = await call(exchange, OPERATIONS[found.verbs[verb]], verb, found.fields, tenant, agent)
    except Exception as error:
        answer = refuse(with_challenge(error, exchange), exchange.headers)
    if exchange.method == "HEAD" and isinstance(answer, Answer):
        return Answer(answer.status, answer.headers | {"Content-Length": str(len(answer.body))}, b"")
    return answer


async def _call(
    exchange: Exchange,
    operation: Operation,
    verb: str,
    fields: Mapping[str, str],
    tenant: str,
    agent: Agent | None,
) -> Answer | StreamAnswer:
    pairs = query_pairs(exchange.query)
    version = version_of(exchange, pairs)
    if verb == "POST":
        request = _from_body(exchange, operation, pairs, fields)
    else:
        request = codec.decode_query(operation.request, [*pairs, *fields.items()])
    effective = tenant_of(tenant, pairs, request)
    call = await context(
        exchange, operation, binding=BINDING, version=version, tenant=effective, agent=agent, numbered=True
    )
    if operation.streaming:
        frames = await open_stream(operation, call, request, partial(sse.Frames, error=errors.status_text))
        return StreamAnswer(sse.HEADERS | extension_headers(call), frames)
    text = await text_of(operation, call, request)
    headers = {
        "Content-Type": answer_type(
            exchange.headers.get("accept", ""), exchange.headers.get("content-type", ""), a2a_settings.REST_MEDIA_TYPE
        ),
        "Cache-Control": "no-store",
    }
    return Answer(200, headers | extension_headers(call), text.encode("ascii"))


def _from_body(exchange: Exchange, operation: Operation, pairs: Pairs, fields: Mapping[str, str]) -> Wire:
    return codec.decode(operation.request, _with_path(body_of(exchange, operation), pairs, fields))


def body_of(exchange: Exchange, operation: Operation) -> dict[str, Any]:
    """Return the object in the body of a POST, an empty one where the operation needs no body and there is none.

    Raises ``ContentTypeNotSupportedError``, ``ParseError``, ``InvalidParamsError``.
    """
    check_content_type(exchange.headers.get("content-type", ""), exchange.body)
    may_be_empty = operation.name in BODY_MAY_BE_EMPTY
    body: Any = {} if may_be_empty and not exchange.body.strip() else codec.parse_json(exchange.body)
    if body is None and may_be_empty:
        return {}
    if type(body) is not dict:
        raise InvalidParamsError("Invalid parameters: the body has to be an object")
    return body


def _with_path(body: dict[str, Any], pairs: Pairs, fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the body with the fields of the path. Raises ``InvalidParamsError`` where body or query contradict it."""
    result = dict(body)
    for name, value in fields.items():
        snake = _SNAKE[name]
        given = [result.pop(key, None) for key in {name, snake}]
        given += [text for key, text in pairs if key in (name, snake)]
        if any(other not in (None, "", value) for other in given):
            raise InvalidParamsError.of(snake, "is not the one of the path")
        result[name] = value
    return result


def refuse(error: Exception, request_headers: Mapping[str, str]) -> Answer:
    """Return the answer for an error in the google.rpc.Status form (C2); its media type depends on Accept (D-03)."""
    known = errors.as_a2a(error)
    headers = {"Content-Type": error_type(request_headers.get("accept", "")), "Cache-Control": "no-store"}
    return Answer(known.http_status, headers | errors.headers(known), errors.status_text(known).encode("ascii"))
