"""One RPC of a2a.v1, three doors: HTTP+JSON on both carriers, and gRPC with the official SDK's generated client.

Requests and answers are ProtoJSON, whatever goes over the wire.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import grpc
import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2, a2a_v0_3_pb2_grpc
from google.protobuf import json_format

from tests.bindings.asgi import AsgiCall
from tests.bindings.carriers import CARRIERS
from tests.bindings.grpc.conftest import Refusal, Running, serve

__all__ = ["Door", "Outcome", "door", "say", "serve"]

#: Verb and path of an RPC.
PATHS = {
    "SendMessage": ("POST", "/message:send"),
    "SendStreamingMessage": ("POST", "/message:stream"),
    "GetTask": ("GET", "/{name}"),
    "CancelTask": ("POST", "/{name}:cancel"),
    "TaskSubscription": ("POST", "/{name}:subscribe"),
    "CreateTaskPushNotificationConfig": ("POST", "/{parent}/pushNotificationConfigs"),
    "GetTaskPushNotificationConfig": ("GET", "/{name}"),
    "ListTaskPushNotificationConfig": ("GET", "/{parent}/pushNotificationConfigs"),
    "DeleteTaskPushNotificationConfig": ("DELETE", "/{name}"),
    "GetAgentCard": ("GET", "/card"),
}
STREAMS = frozenset({"SendStreamingMessage", "TaskSubscription"})


def say(text: str, **members: Any) -> dict[str, Any]:
    """A user's message."""
    return {"messageId": f"m-{text}", "role": "ROLE_USER", "content": [{"text": text}], **members}


@dataclass
class Outcome:
    """What came of a call: ``value`` is its answer, ``reason`` says why there is none."""

    status: Any
    value: Any = None
    reason: str = ""
    message: str = ""
    fields: list[str] = field(default_factory=list)
    extensions: str = ""


class Door:
    """A site, called over one binding: an ASGI application, or a gRPC server."""

    def __init__(self, name: str, application: Any = None, live: Running | None = None) -> None:
        self.name = name
        self.application = application
        self.live = live

    @property
    def is_grpc(self) -> bool:
        return self.live is not None

    async def call(self, rpc: str, request: dict[str, Any] | None = None, **headers: str) -> Outcome:
        """Carry out an RPC that does not stream, or one whose stream is refused."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.is_grpc:
            return await self._grpc(rpc, request or {}, sent)
        async with self._http(rpc, dict(request or {}), sent) as call:
            status, found = await call.head()
            assert found["content-type"] == "application/json", found
            body = json.loads(await call.body())
        if status == 200:
            return Outcome(200, body, extensions=found.get("x-a2a-extensions", ""))
        details = body["error"]["details"]
        assert body["error"]["code"] == status
        assert body["message"] == body["error"]["message"]
        return Outcome(
            status,
            body,
            reason=details[0]["reason"],
            message=body["message"],
            fields=[each["field"] for part in details for each in part.get("fieldViolations", ())],
        )

    async def ok(self, rpc: str, request: dict[str, Any] | None = None, **headers: str) -> Any:
        """Return the answer of a call that goes well."""
        found = await self.call(rpc, request, **headers)
        assert found.status in (200, "OK"), found
        return found.value

    async def events(self, rpc: str, request: dict[str, Any], **headers: str) -> AsyncIterator[dict[str, Any]]:
        """The events of a stream as they come."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.is_grpc:
            call = self._call(rpc, request, sent)
            try:
                async for answer in call:
                    yield json_format.MessageToDict(answer)
            finally:
                call.cancel()
            return
        async with self._http(rpc, dict(request), sent) as call:
            status, found = await call.head()
            assert (status, found["content-type"]) == (200, "text/event-stream")
            rest = b""
            while chunk := await call.chunk():
                *blocks, rest = (rest + chunk).split(b"\n\n")
                for block in blocks:
                    if block.startswith(b"data: "):
                        yield json.loads(block.removeprefix(b"data: "))

    async def stream(self, rpc: str, request: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
        """The events of a stream, read to its end."""
        return [event async for event in self.events(rpc, request, **headers)]

    def _http(self, rpc: str, wire: dict[str, Any], sent: dict[str, str]) -> AsgiCall:
        verb, path = PATHS[rpc]
        for name in ("name", "parent"):
            if "{" + name + "}" in path:
                path = path.replace("{" + name + "}", quote(wire.pop(name)))
        body = json.dumps(wire).encode() if verb == "POST" else b""
        query = "&".join(f"{name}={value}" for name, value in wire.items()) if verb != "POST" else ""
        headers = {"a2a-version": ""} | {name.lower(): value for name, value in sent.items()}
        return AsgiCall(self.application, verb, f"/a2a/v1{path}", body=body, headers=headers, query=query)

    def _call(self, rpc: str, request: dict[str, Any], sent: dict[str, str]) -> Any:
        assert self.live is not None
        name = "SendMessageRequest" if rpc == "SendStreamingMessage" else f"{rpc}Request"
        message = json_format.ParseDict(request, getattr(a2a_v0_3_pb2, name)())
        stub = a2a_v0_3_pb2_grpc.A2AServiceStub(self.live.channel())
        return getattr(stub, rpc)(message, metadata=tuple((key.lower(), value) for key, value in sent.items()))

    async def _grpc(self, rpc: str, request: dict[str, Any], sent: dict[str, str]) -> Outcome:
        call = self._call(rpc, request, sent)
        try:
            answer = await (anext(aiter(call)) if rpc in STREAMS else call)
        except grpc.aio.AioRpcError as error:
            refusal = Refusal(error)
            assert refusal.status.message == refusal.message
            return Outcome(refusal.code, reason=refusal.reason, message=refusal.message, fields=refusal.fields)
        echoed = dict(await call.initial_metadata() or ())
        value = json_format.MessageToDict(answer)
        return Outcome("OK", value, extensions=str(echoed.get("x-a2a-extensions", "")))


@pytest.fixture(params=["views", "consumers", "GRPC"])
async def door(request: pytest.FixtureRequest, serve: Callable[..., Awaitable[Running]]) -> Door:
    """HTTP+JSON on each of its carriers, and gRPC."""
    if request.param == "GRPC":
        return Door("GRPC", live=await serve())
    return Door("HTTP+JSON", CARRIERS[request.param]().application())
