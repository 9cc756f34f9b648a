"""The bindings of version 0.3 as a client speaks them; what they answer is told in the form of 1.0.

The two forms of 0.3 have the same objects under other names; see ``protocol/v0_3``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from google.protobuf.message import Message

from a2a_django.protocol.v0_3 import a2a_pb2, json_form, names, protojson
from a2a_django.protocol.v0_3.meaning import Reader, Writer
from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire
from a2a_django.testing import bindings
from a2a_django.testing.bindings import Binding

_METHODS: Final = {
    "SendMessage": "message/send",
    "SendStreamingMessage": "message/stream",
    "GetTask": "tasks/get",
    "CancelTask": "tasks/cancel",
    "SubscribeToTask": "tasks/resubscribe",
    "CreateTaskPushNotificationConfig": "tasks/pushNotificationConfig/set",
}

_RPCS: Final = {
    "SendMessage": ("SendMessage", "POST", "/v1/message:send", "SendMessageResponse"),
    "SendStreamingMessage": ("SendStreamingMessage", "POST", "/v1/message:stream", "StreamResponse"),
    "GetTask": ("GetTask", "GET", "/v1/{name}", "Task"),
    "CancelTask": ("CancelTask", "POST", "/v1/{name}:cancel", "Task"),
    "SubscribeToTask": ("TaskSubscription", "POST", "/v1/{name}:subscribe", "StreamResponse"),
    "CreateTaskPushNotificationConfig": (
        "CreateTaskPushNotificationConfig",
        "POST",
        "/v1/{parent}/pushNotificationConfigs",
        "TaskPushNotificationConfig",
    ),
}

_KINDS: Final = {
    "task": "task",
    "message": "message",
    "status-update": "statusUpdate",
    "artifact-update": "artifactUpdate",
}


class Form:
    """One of the two forms, both ways."""

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self._writer, self._reader = writer, reader
        self._states = {old: new for new, old in writer.states.items()}

    def send_request(self, request: Wire) -> Wire:
        """Return a request that sends a message."""
        old: Wire = {**request, "message": self._writer.message(request["message"])}
        if (given := request.get("configuration")) is not None:
            configuration: Wire = {"blocking": not given.get("returnImmediately", False)}
            configuration |= {n: given[n] for n in ("acceptedOutputModes", "historyLength") if n in given}
            if "taskPushNotificationConfig" in given:
                configuration[self._reader.webhook] = self._writer.push_config(given["taskPushNotificationConfig"])
            old["configuration"] = configuration
        else:
            old["configuration"] = {"blocking": True}
        return old

    def config(self, request: Wire) -> Wire:
        """Return the webhook of a request that leaves one."""
        return self._writer.push_config(request)

    def task(self, old: Wire) -> Wire:
        """Return a Task."""
        task: Wire = {name: old[name] for name in ("id", "contextId", "metadata") if name in old}
        task["status"] = self._status(old["status"])
        if old.get("history"):
            task["history"] = [self.message(message) for message in old["history"]]
        if old.get("artifacts"):
            task["artifacts"] = [self._artifact(artifact) for artifact in old["artifacts"]]
        return task

    def message(self, old: Wire) -> Wire:
        """Return a Message."""
        return self._reader.message(old)

    def _status(self, old: Wire) -> Wire:
        status = {**old, "state": self._states[old["state"]]}
        if "message" in old:
            status["message"] = self.message(old["message"])
        return status

    def _artifact(self, old: Wire) -> Wire:
        return {**old, "parts": [self._reader.part(part) for part in old["parts"]]}

    def event(self, member: str, old: Wire) -> Wire:
        """Return an event or the answer to a message: the named member of a StreamResponse."""
        if member == "task":
            return {"task": self.task(old)}
        if member == "message":
            return {"message": self.message(old)}
        kept = {name: value for name, value in old.items() if name not in ("kind", "final", "status", "artifact")}
        if member == "statusUpdate":
            return {member: {**kept, "status": self._status(old["status"])}}
        return {member: {**kept, "artifact": self._artifact(old["artifact"])}}


JSON: Final = Form(json_form.WRITER, json_form.READER)
PROTO: Final = Form(protojson.WRITER, protojson.READER)


def pushed(body: Wire) -> Wire:
    """Return what a webhook of 0.3 was sent, a task, as an event of 1.0."""
    return {"task": JSON.task(body)}


def _known(operation: str, table: Mapping[str, Any]) -> Any:
    if operation not in table:
        raise ValueError(f"{operation} is tested with version 1.0")
    return table[operation]


class OldJsonRpc(bindings.JsonRpc):
    """JSON-RPC of 0.3."""

    version = V0_3

    def made(self, operation: str, request: Wire, tenant: str) -> tuple[str, str, bytes]:
        """Return verb, path and body."""
        method, params = _known(operation, _METHODS), dict(request)
        if "message" in request:
            params = JSON.send_request(request)
        elif "url" in request:
            params = {"taskId": request["taskId"], "pushNotificationConfig": JSON.config(request)}
        return "POST", "/", bindings.envelope(method, {**params, **({"tenant": tenant} if tenant else {})})

    def read(self, operation: str, body: Any) -> Wire:
        """Return the answer."""
        old = super().read(operation, body)
        if operation == "SendMessage":
            return JSON.event(_KINDS[old["kind"]], old)
        return JSON.task(old) if "status" in old else old

    def event(self, body: Any) -> Wire:
        """Return an event."""
        old = super().event(body)
        return JSON.event(_KINDS[old["kind"]], old)


def _rpc_request(operation: str, request: Wire) -> Wire:
    """Return the request of an RPC in ProtoJSON."""
    _known(operation, _RPCS)
    if "message" in request:
        return PROTO.send_request(request)
    if "url" in request:
        config = {"pushNotificationConfig": PROTO.config(request)}
        return {"parent": names.of_task(request["taskId"]), "config": config}
    rest = {name: value for name, value in request.items() if name != "id"}
    return {"name": names.of_task(request["id"]), **rest}


def _rpc_answer(operation: str, answer: Wire) -> Wire:
    kind = _RPCS[operation][3]
    if kind == "Task":
        return PROTO.task(answer)
    if kind.endswith("Response"):
        ((member, old),) = answer.items()
        return PROTO.event(member, old)
    return answer


class OldRest(bindings.Rest):
    """HTTP+JSON of 0.3."""

    version = V0_3

    def made(self, operation: str, request: Wire, tenant: str) -> tuple[str, str, bytes]:
        """Return verb, path and body."""
        old = _rpc_request(operation, request)
        _, verb, path, _ = _RPCS[operation]
        return bindings.path_and_body(verb, path, old, tenant)

    def read(self, operation: str, body: Any) -> Wire:
        """Return the answer."""
        return _rpc_answer(operation, super().read(operation, body))

    def event(self, body: Any) -> Wire:
        """Return an event."""
        return _rpc_answer("SendStreamingMessage", body)


class OldGrpc(bindings.Grpc):
    """gRPC of 0.3."""

    version = V0_3

    def made(self, operation: str, request: Wire, tenant: str) -> tuple[str, bytes]:
        """Return the path, and the bytes of the message."""
        if tenant:
            raise ValueError("A call of gRPC 0.3 cannot name an agent")
        old = _rpc_request(operation, request)
        name = _RPCS[operation][0]
        message = "SendMessageRequest" if name == "SendStreamingMessage" else f"{name}Request"
        frame = protojson.CODEC.to_message(message, protojson.CODEC.decode(message, old)).SerializeToString()
        service: str = a2a_pb2.DESCRIPTOR.services_by_name["A2AService"].full_name
        return f"/{service}/{name}", frame

    def read(self, operation: str, frame: bytes) -> Wire:
        """Return an answer or an event."""
        message: Message = getattr(a2a_pb2, _RPCS[operation][3]).FromString(frame)
        return _rpc_answer(operation, protojson.CODEC.from_message(message))


BINDINGS: Final[Mapping[str, type[Binding]]] = {
    bindings.JSONRPC: OldJsonRpc,
    bindings.REST: OldRest,
    bindings.GRPC: OldGrpc,
}

__all__ = ["BINDINGS", "pushed"]
