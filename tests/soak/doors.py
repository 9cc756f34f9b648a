"""The ways into the site: each server process is a door, with calls and streams that tell apart what may go wrong.

The clients are written for this purpose: HTTP by hand over asyncio, so that a reader can be slow and a broken
connection is never taken for the end of a stream; gRPC with the official SDK's stubs.
"""

from __future__ import annotations

import asyncio
import json
import socket
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Final

import grpc
from a2a.types import a2a_pb2, a2a_pb2_grpc
from google.protobuf.json_format import MessageToDict, ParseDict
from google.rpc import error_details_pb2, status_pb2

Json = dict[str, Any]

#: A door may be paused for some seconds; one that says nothing for so long, not even a keep-alive, is broken.
SILENT_SECONDS: Final = 60.0
SLOW_BUFFER: Final = 8192

REQUESTS: Final = {
    "SendMessage": "SendMessageRequest",
    "SendStreamingMessage": "SendMessageRequest",
    "GetTask": "GetTaskRequest",
    "CancelTask": "CancelTaskRequest",
    "SubscribeToTask": "SubscribeToTaskRequest",
}


class Gone(Exception):
    """The connection was refused or broke: the process at the other end has been killed."""


class Silent(Exception):
    """The process says nothing although it has had the time."""


class Refused(Exception):
    """The call was answered with an error; ``reason`` is the protocol's word for it."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason = reason


class Door(ABC):
    """One server process, as its clients see it."""

    def __init__(self, name: str, port: int) -> None:
        self.name, self.port = name, port

    @abstractmethod
    async def call(self, method: str, params: Json) -> Json:
        """Return the result. Raises ``Gone``, ``Refused``, ``Silent``."""

    @abstractmethod
    def stream(self, method: str, params: Json, *, slow: bool = False) -> AsyncGenerator[Json, None]:
        """Yield the events up to the stream's own end. ``slow``: with as little buffered on the way as possible.
        Raises ``Gone``, ``Refused``, ``Silent``."""


class HttpDoor(Door):
    """JSON-RPC, a connection for each call."""

    async def call(self, method: str, params: Json) -> Json:
        async with aclosing(self._exchange(method, params, "application/json", slow=False)) as pieces:
            body = b"".join([piece async for _, piece in pieces])
        return _result(json.loads(body))

    async def stream(self, method: str, params: Json, *, slow: bool = False) -> AsyncGenerator[Json, None]:
        rest = b""
        async with aclosing(self._exchange(method, params, "text/event-stream", slow=slow)) as pieces:
            async for is_stream, piece in pieces:
                if not is_stream:
                    _result(json.loads(piece))
                    raise Refused("NO_STREAM", repr(piece[:200]))
                *frames, rest = (rest + piece).split(b"\n\n")
                for frame in frames:
                    if data := b"\n".join(line[6:] for line in frame.split(b"\n") if line.startswith(b"data: ")):
                        yield _result(json.loads(data))

    async def _exchange(
        self, method: str, params: Json, accept: str, *, slow: bool
    ) -> AsyncGenerator[tuple[bool, bytes], None]:
        """Yield the pieces of the body as they come, each with whether it is of an event stream."""
        body = json.dumps({"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": method, "params": params}).encode()
        head = (
            f"POST /a2a/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: application/json\r\n"
            f"Accept: {accept}\r\nA2A-Version: 1.0\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer: asyncio.StreamWriter | None = None
        try:
            line = socket.socket()
            line.setblocking(False)
            if slow:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER)
            await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", self.port))
            reader, writer = await asyncio.open_connection(sock=line, limit=SLOW_BUFFER if slow else 1 << 20)
            writer.write(head.encode() + body)
            answer = await _timely(reader.readuntil(b"\r\n\r\n"), method, self)
            fields = answer.lower()
            is_stream = b"content-type: text/event-stream" in fields
            if b"transfer-encoding: chunked" in fields:
                while size := int(await _timely(reader.readuntil(b"\r\n"), method, self), 16):
                    yield is_stream, (await _timely(reader.readexactly(size + 2), method, self))[:-2]
            elif b"content-length:" in fields:
                length = int(fields.partition(b"content-length:")[2].split(b"\r\n")[0])
                yield is_stream, await _timely(reader.readexactly(length), method, self)
            else:
                raise Refused("NO_HTTP", repr(answer[:200]))
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Gone(repr(error)) from error
        finally:
            if writer is not None:
                writer.transport.abort()
            else:
                line.close()


class GrpcDoor(Door):
    """gRPC, a channel for each call: one that has lost its server waits before it tries again, which would only keep
    clients away from a process that has just been started."""

    async def call(self, method: str, params: Json) -> Json:
        async with self._channel() as channel:
            try:
                answer = await _timely(self._begin(channel, method, params), method, self)
            except grpc.aio.AioRpcError as error:
                raise _failed(error) from error
        return _dict(answer)

    async def stream(self, method: str, params: Json, *, slow: bool = False) -> AsyncGenerator[Json, None]:
        async with self._channel() as channel:
            call = self._begin(channel, method, params)
            try:
                while (event := await _timely(call.read(), method, self, patient=True)) is not grpc.aio.EOF:
                    yield _dict(event)
            except grpc.aio.AioRpcError as error:
                raise _failed(error) from error
            finally:
                call.cancel()

    def _channel(self) -> grpc.aio.Channel:
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1))
        return grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options=options)

    @staticmethod
    def _begin(channel: grpc.aio.Channel, method: str, params: Json) -> Any:
        request = ParseDict(params, getattr(a2a_pb2, REQUESTS[method])())
        stub = a2a_pb2_grpc.A2AServiceStub(channel)  # type: ignore[no-untyped-call]
        return getattr(stub, method)(request, metadata=(("a2a-version", "1.0"),))


def _dict(message: Any) -> Json:
    """Return a message in ProtoJSON, with moments as the site writes them: protobuf leaves out three zeros."""
    result: Json = MessageToDict(message)
    task, update = result.get("task", result), result.get("statusUpdate", {})
    for status in (task.get("status", {}), update.get("status", {})):
        if len(moment := status.get("timestamp", "")) == len("2026-11-30T00:27:49Z"):
            status["timestamp"] = moment.replace("Z", ".000Z")
    return result


def _failed(error: grpc.aio.AioRpcError) -> Exception:
    if error.code() is grpc.StatusCode.UNAVAILABLE:  # killed, or just ending
        return Gone(error.details())
    for key, value in error.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info = error_details_pb2.ErrorInfo()
                if detail.Unpack(info):
                    return Refused(info.reason, error.details() or "")
    return Refused(error.code().name, error.details() or "")


async def _timely(waiting: Any, method: str, door: Door, *, patient: bool = False) -> Any:
    """Wait, but not for ever; gRPC has no keep-alive events, so its streams may be quiet for longer."""
    try:
        async with asyncio.timeout(SILENT_SECONDS * (4 if patient else 1)):
            return await waiting
    except TimeoutError:
        raise Silent(f"{door.name} said nothing to {method} for so long") from None


def _result(answer: Json) -> Json:
    if (error := answer.get("error")) is not None:
        reasons = [detail["reason"] for detail in error.get("data") or () if "reason" in detail]
        raise Refused(reasons[0] if reasons else str(error.get("code")), error.get("message", ""))
    result: Json = answer["result"]
    return result
