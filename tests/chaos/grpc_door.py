"""The way into a gRPC process, with the official SDK's stubs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, Final

import grpc
from a2a.types import a2a_pb2, a2a_pb2_grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from google.rpc import error_details_pb2, status_pb2

from tests.chaos.doors import Door, Event, Gone, Json, Refused, timely

REQUESTS: Final = {
    "SendMessage": "SendMessageRequest",
    "SendStreamingMessage": "SendMessageRequest",
    "GetTask": "GetTaskRequest",
    "ListTasks": "ListTasksRequest",
    "CancelTask": "CancelTaskRequest",
    "SubscribeToTask": "SubscribeToTaskRequest",
}


class GrpcDoor(Door):
    """gRPC, a channel for each call: one that has lost its server waits before it tries again, which would only keep
    clients away from a process that has just been started."""

    async def call(self, method: str, params: Json) -> Json:
        async with self._channel() as channel:
            try:
                answer = await timely(self._begin(channel, method, params), method, self)
            except grpc.aio.AioRpcError as error:
                raise _failed(error) from error
        return _dict(answer)

    async def stream(
        self, method: str, params: Json, *, slow: bool = False, after: int | None = None
    ) -> AsyncGenerator[Event, None]:
        async with self._channel() as channel:
            call = self._begin(channel, method, params)
            try:
                while (event := await timely(call.read(), method, self, patient=True)) is not grpc.aio.EOF:
                    yield Event(None, _dict(event))
            except grpc.aio.AioRpcError as error:
                raise _failed(error) from error
            finally:
                call.cancel()

    def _channel(self) -> grpc.aio.Channel:
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1))
        return grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options=options)

    def _begin(self, channel: grpc.aio.Channel, method: str, params: Json) -> Any:
        request = ParseDict(params, getattr(a2a_pb2, REQUESTS[method])())
        stub = a2a_pb2_grpc.A2AServiceStub(channel)  # type: ignore[no-untyped-call]
        metadata = (("a2a-version", "1.0"), ("authorization", f"Bearer {self.key}"))
        return getattr(stub, method)(request, metadata=metadata)


def _dict(message: Any) -> Json:
    """Return a message in ProtoJSON, with moments as the site writes them: protobuf leaves out three zeros."""
    result: Json = MessageToDict(message)
    tasks = [*result.get("tasks", ()), result.get("task", result)]
    for status in (*(task.get("status", {}) for task in tasks), result.get("statusUpdate", {}).get("status", {})):
        if len(moment := status.get("timestamp", "")) == len("2026-11-30T00:27:49Z"):
            status["timestamp"] = moment.replace("Z", ".000Z")
    return result


def _failed(error: grpc.aio.AioRpcError) -> Exception:
    # Killed, or just ending; those that do not even read are cut off then.
    if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
        return Gone(error.details())
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return Refused(info.reason, error.details() or "")
    return Refused(error.code().name, error.details() or "")
