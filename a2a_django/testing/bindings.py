"""The bindings as a client speaks them: an operation of 1.0 with its request in, its answer in the form of 1.0 out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, ClassVar, Final
from urllib.parse import quote, urlencode

from google.protobuf.message import Message

from a2a_django.agents.cards import endpoint_path
from a2a_django.bindings import older
from a2a_django.bindings.grpc.methods import METHODS, SERVICE_NAME
from a2a_django.operations import OPERATIONS
from a2a_django.protocol import codec
from a2a_django.protocol.v1 import a2a_pb2
from a2a_django.protocol.versions import V0_3, V1_0
from a2a_django.protocol.wire import Wire
from a2a_django.testing.exchanges import Site, UnexpectedAnswer, error_in, events, rpc, rpc_events

JSONRPC: Final = "JSONRPC"
REST: Final = "HTTP+JSON"
GRPC: Final = "GRPC"

#: Verb and path of an operation over HTTP+JSON; what is in braces is taken out of the request.
PATHS: Final = {
    "SendMessage": ("POST", "/message:send"),
    "SendStreamingMessage": ("POST", "/message:stream"),
    "GetTask": ("GET", "/tasks/{id}"),
    "ListTasks": ("GET", "/tasks"),
    "CancelTask": ("POST", "/tasks/{id}:cancel"),
    "SubscribeToTask": ("POST", "/tasks/{id}:subscribe"),
    "CreateTaskPushNotificationConfig": ("POST", "/tasks/{taskId}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "/tasks/{taskId}/pushNotificationConfigs/{id}"),
    "ListTaskPushNotificationConfigs": ("GET", "/tasks/{taskId}/pushNotificationConfigs"),
    "DeleteTaskPushNotificationConfig": ("DELETE", "/tasks/{taskId}/pushNotificationConfigs/{id}"),
    "GetExtendedAgentCard": ("GET", "/extendedAgentCard"),
}


class Binding:
    """One binding of one version."""

    version: ClassVar[str] = V1_0

    def __init__(self, site: Site) -> None:
        self.site = site

    def call(self, operation: str, request: Wire, tenant: str, headers: Mapping[str, str]) -> Any:
        """Carry out an operation that does not stream (awaitable). Raises ``A2AError``."""
        raise NotImplementedError

    def events(self, operation: str, request: Wire, tenant: str, headers: Mapping[str, str]) -> AsyncIterator[Wire]:
        """Carry out one that streams. Raises ``A2AError``."""
        raise NotImplementedError


class _Http(Binding):
    """A binding over HTTP: subclasses make the request, and read what came."""

    def made(self, operation: str, request: Wire, tenant: str) -> tuple[str, str, bytes]:
        """Return verb, path below the endpoints, and body."""
        raise NotImplementedError

    def read(self, operation: str, body: Any) -> Wire:
        """Return the answer. Raises ``A2AError``."""
        raise NotImplementedError

    def event(self, body: Any) -> Wire:
        """Return an event. Raises ``A2AError``."""
        raise NotImplementedError

    async def call(self, operation: str, request: Wire, tenant: str, headers: Mapping[str, str]) -> Wire:
        """Carry out an operation that does not stream."""
        return self.read(operation, _body(await self._response(operation, request, tenant, headers)))

    async def events(
        self, operation: str, request: Wire, tenant: str, headers: Mapping[str, str]
    ) -> AsyncIterator[Wire]:
        """Carry out one that streams."""
        response = await self._response(operation, request, tenant, headers)
        if not response.streaming:
            self.read(operation, _body(response))
            raise UnexpectedAnswer(f"{_told(response)} is no stream")
        async with aclosing(events(response)) as found:
            async for name, data in found:
                body = json.loads(data)
                if name == "error":
                    self.read(operation, body)
                yield self.event(body)

    async def _response(self, operation: str, request: Wire, tenant: str, headers: Mapping[str, str]) -> Any:
        verb, path, body = self.made(operation, request, tenant)
        return await self.site.request(
            verb, endpoint_path() + path, body=body, headers={"A2A-Version": self.version} | dict(headers)
        )


def _told(response: Any) -> str:
    request = response.asgi_request
    return f"The answer {response.status_code} to {request.method} {request.path}"


def _body(response: Any) -> Any:
    """Return the JSON of a response. Raises ``UnexpectedAnswer``."""
    if response.streaming:
        raise UnexpectedAnswer(f"{_told(response)} is a stream")
    if not response.content:
        return {}
    if "json" not in response.headers.get("Content-Type", ""):
        where = f" to {response.headers['Location']}" if "Location" in response.headers else ""
        raise UnexpectedAnswer(f"{_told(response)} is not the protocol's{where}: {response.content[:200]!r}")
    return json.loads(response.content)


def _raise_rpc(body: Any) -> None:
    if (error := body.get("error")) is not None:
        data = error.get("data")
        raise error_in(data if isinstance(data, list) else [{"reason": "METHOD_NOT_FOUND"}], error["message"])


def _raise_status(body: Any) -> None:
    if isinstance(error := body.get("error"), dict):
        raise error_in(error["details"], error["message"])


class JsonRpc(_Http):
    """JSON-RPC of 1.0."""

    def made(self, operation: str, request: Wire, tenant: str) -> tuple[str, str, bytes]:
        """Return verb, path and body."""
        return "POST", "/", envelope(operation, {**request, **({"tenant": tenant} if tenant else {})})

    def read(self, operation: str, body: Any) -> Wire:
        """Return the answer."""
        _raise_rpc(body)
        return body["result"] or {}

    def event(self, body: Any) -> Wire:
        """Return an event."""
        found: Wire = body["result"]
        return found


def envelope(method: str, params: Wire) -> bytes:
    """Return the body of a JSON-RPC request."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


class Rest(_Http):
    """HTTP+JSON of 1.0."""

    def made(self, operation: str, request: Wire, tenant: str) -> tuple[str, str, bytes]:
        """Return verb, path and body."""
        verb, path = PATHS[operation]
        return path_and_body(verb, path, dict(request), tenant)

    def read(self, operation: str, body: Any) -> Wire:
        """Return the answer."""
        _raise_status(body)
        found: Wire = body
        return found

    def event(self, body: Any) -> Wire:
        """Return an event."""
        _raise_status(body)
        found: Wire = body
        return found


def path_and_body(verb: str, path: str, request: Wire, tenant: str) -> tuple[str, str, bytes]:
    """Return verb, path and body of a request whose rest goes into the body or the query."""
    for name in ("id", "taskId", "name", "parent"):
        if "{" + name + "}" in path:
            path = path.replace(
                "{" + name + "}", quote(request.pop(name), safe="/" if name in ("name", "parent") else "")
            )
    body = b""
    if verb == "POST":
        body = json.dumps(request).encode()
    elif request:
        path += "?" + urlencode({n: v if isinstance(v, str) else json.dumps(v) for n, v in request.items()})
    return verb, (f"/{quote(tenant, safe='')}" if tenant else "") + path, body


class Grpc(Binding):
    """gRPC of 1.0."""

    def made(self, operation: str, request: Wire, tenant: str) -> tuple[str, bytes]:
        """Return the path, and the bytes of the message."""
        wire = {**request, **({"tenant": tenant} if tenant else {})}
        name = OPERATIONS[operation].request
        return f"/{SERVICE_NAME}/{operation}", codec.to_message(name, codec.decode(name, wire)).SerializeToString()

    def read(self, operation: str, frame: bytes) -> Wire:
        """Return an answer or an event."""
        answer = METHODS[f"/{SERVICE_NAME}/{operation}"].answer
        if not answer:
            return {}
        message: Message = getattr(a2a_pb2, answer).FromString(frame)
        return codec.from_message(message)

    async def call(self, operation: str, request: Wire, tenant: str, headers: Mapping[str, str]) -> Wire:
        """Carry out an operation that does not stream."""
        path, frame = self.made(operation, request, tenant)
        return self.read(operation, await rpc(path, frame, {"a2a-version": self.version} | dict(headers)))

    async def events(
        self, operation: str, request: Wire, tenant: str, headers: Mapping[str, str]
    ) -> AsyncIterator[Wire]:
        """Carry out one that streams."""
        path, frame = self.made(operation, request, tenant)
        async with aclosing(rpc_events(path, frame, {"a2a-version": self.version} | dict(headers))) as frames:
            async for found in frames:
                yield self.read(operation, found)


def binding_of(name: str, version: str) -> type[Binding]:
    """Return a binding by its name and version. Raises ``ValueError``."""
    found: Mapping[str, type[Binding]] = {JSONRPC: JsonRpc, REST: Rest, GRPC: Grpc}
    if version == V0_3 and older.part("jsonrpc") is not None:
        from a2a_django.testing import old

        found = old.BINDINGS
    elif version != V1_0:
        raise ValueError(f"There is no version {version} of the protocol here")
    if name not in found:
        raise ValueError(f"A binding is one of {', '.join(found)}, not {name!r}")
    return found[name]
