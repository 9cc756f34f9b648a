"""The ways into the site: each binding of each server process is a door, with calls and streams that tell apart what
may go wrong.

The clients are written for this purpose: HTTP by hand over asyncio, so that a reader can be slow and a broken
connection is never taken for the end of a stream. The one for gRPC is in ``grpc_door.py``.
"""

from __future__ import annotations

import asyncio
import json
import socket
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

Json = dict[str, Any]

#: A door may be paused for some seconds; one that says nothing for so long, not even a keep-alive, is broken.
SILENT_SECONDS: Final = 60.0
SLOW_BUFFER: Final = 8192


class Gone(Exception):
    """The connection was refused or broke: the process at the other end has been killed."""


class Silent(Exception):
    """The process says nothing although it has had the time."""


class Refused(Exception):
    """The call was answered with an error; ``reason`` is the protocol's word for it."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(f"{reason}: {text}")
        self.reason = reason


class Event(NamedTuple):
    """An event of a stream, with its number where the binding tells it."""

    number: int | None
    content: Json


class Door(ABC):
    """One binding of one server process, as its clients see it. ``numbered``: streams tell the numbers of events, and
    go on after the one that is named."""

    numbered = False

    def __init__(self, process: str, port: int, key: str) -> None:
        self.process, self.port, self.key = process, port, key
        self.name = f"{process}/{type(self).__name__.removesuffix('Door').lower()}"

    @abstractmethod
    async def call(self, method: str, params: Json) -> Json:
        """Return the result. Raises ``Gone``, ``Refused``, ``Silent``."""

    @abstractmethod
    def stream(
        self, method: str, params: Json, *, slow: bool = False, after: int | None = None
    ) -> AsyncGenerator[Event, None]:
        """Yield the events up to the stream's own end. ``slow``: with as little buffered on the way as possible;
        ``after``: the number of the last event that the caller has seen. Raises ``Gone``, ``Refused``, ``Silent``."""


class HttpDoor(Door):
    """A connection for each call."""

    numbered = True

    @abstractmethod
    def request(self, method: str, params: Json) -> tuple[str, str, Json | None]:
        """Return verb, path and body of a call."""

    @abstractmethod
    def result(self, answer: Json) -> Json:
        """Return what was answered. Raises ``Refused``."""

    async def call(self, method: str, params: Json) -> Json:
        async with aclosing(self._exchange(method, params, "application/json", {}, slow=False)) as pieces:
            body = b"".join([piece async for _, piece in pieces])
        return self.result(json.loads(body))

    async def stream(
        self, method: str, params: Json, *, slow: bool = False, after: int | None = None
    ) -> AsyncGenerator[Event, None]:
        rest = b""
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        async with aclosing(self._exchange(method, params, "text/event-stream", headers, slow=slow)) as pieces:
            async for is_stream, piece in pieces:
                if not is_stream:
                    self.result(json.loads(piece))
                    raise Refused("NO_STREAM", repr(piece[:200]))
                *frames, rest = (rest + piece).split(b"\n\n")
                for frame in frames:
                    lines = [line.partition(b": ") for line in frame.split(b"\n")]
                    if data := b"\n".join(value for name, _, value in lines if name == b"data"):
                        numbers = [int(value) for name, _, value in lines if name == b"id"]
                        yield Event(numbers[0] if numbers else None, self.result(json.loads(data)))

    async def _exchange(
        self, method: str, params: Json, accept: str, headers: Mapping[str, str], *, slow: bool
    ) -> AsyncGenerator[tuple[bool, bytes], None]:
        """Yield the pieces of the body as they come, each with whether it is of an event stream."""
        verb, path, content = self.request(method, params)
        body = b"" if content is None else json.dumps(content).encode()
        fields = {"Host": "127.0.0.1", "Connection": "close", "Accept": accept, "A2A-Version": "1.0", **headers}
        fields["Authorization"] = f"Bearer {self.key}"
        if content is not None:
            fields |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer: asyncio.StreamWriter | None = None
        line = socket.socket()
        try:
            line.setblocking(False)
            if slow:
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SLOW_BUFFER)
            await asyncio.get_running_loop().sock_connect(line, ("127.0.0.1", self.port))
            reader, writer = await asyncio.open_connection(sock=line, limit=SLOW_BUFFER if slow else 1 << 20)
            writer.write(f"{verb} {path} HTTP/1.1\r\n{head}\r\n".encode() + body)
            answer = await timely(reader.readuntil(b"\r\n\r\n"), method, self)
            known = answer.lower()
            is_stream = b"content-type: text/event-stream" in known
            if b"content-type: text/plain" in known and known.split()[1].startswith(b"5"):
                raise Gone("the server ends, and has cut the call off")  # uvicorn's own answer
            if b"transfer-encoding: chunked" in known:
                while size := int(await timely(reader.readuntil(b"\r\n"), method, self), 16):
                    yield is_stream, (await timely(reader.readexactly(size + 2), method, self))[:-2]
            elif b"content-length:" in known:
                length = int(known.partition(b"content-length:")[2].split(b"\r\n")[0])
                yield is_stream, await timely(reader.readexactly(length), method, self)
            else:
                raise Refused("NO_HTTP", repr(answer[:200]))
        except (OSError, asyncio.IncompleteReadError) as error:
            raise Gone(repr(error)) from error
        finally:
            if writer is not None:
                writer.transport.abort()
            else:
                line.close()


class JsonRpcDoor(HttpDoor):
    """JSON-RPC."""

    def request(self, method: str, params: Json) -> tuple[str, str, Json | None]:
        return "POST", "/a2a/", {"jsonrpc": "2.0", "id": uuid.uuid4().hex, "method": method, "params": params}

    def result(self, answer: Json) -> Json:
        if (error := answer.get("error")) is not None:
            reasons = [detail["reason"] for detail in error.get("data") or () if "reason" in detail]
            raise Refused(reasons[0] if reasons else str(error.get("code")), error.get("message", ""))
        result: Json = answer["result"]
        return result


class RestDoor(HttpDoor):
    """HTTP+JSON, with the tenant in the path."""

    def request(self, method: str, params: Json) -> tuple[str, str, Json | None]:
        rest = {name: value for name, value in params.items() if name not in ("tenant", "id")}
        tasks = f"/a2a/{params['tenant']}/tasks"
        match method:
            case "SendMessage":
                return "POST", f"/a2a/{params['tenant']}/message:send", rest
            case "SendStreamingMessage":
                return "POST", f"/a2a/{params['tenant']}/message:stream", rest
            case "CancelTask":
                return "POST", f"{tasks}/{params['id']}:cancel", {}
            case "SubscribeToTask":
                return "POST", f"{tasks}/{params['id']}:subscribe", {}
            case "GetTask":
                return "GET", f"{tasks}/{params['id']}", None
        flat = {name: str(value).lower() if isinstance(value, bool) else value for name, value in rest.items()}
        return "GET", f"{tasks}?{urlencode(flat)}", None

    def result(self, answer: Json) -> Json:
        if isinstance(error := answer.get("error"), dict):
            reasons = [detail["reason"] for detail in error.get("details") or () if "reason" in detail]
            raise Refused(reasons[0] if reasons else str(error.get("status")), error.get("message", ""))
        return answer


async def timely(waiting: Any, method: str, door: Door, *, patient: bool = False) -> Any:
    """Wait, but not for ever; gRPC has no keep-alive events, so its streams may be quiet for longer."""
    try:
        async with asyncio.timeout(SILENT_SECONDS * (4 if patient else 1)):
            return await waiting
    except TimeoutError:
        raise Silent(f"{door.name} said nothing to {method} for so long") from None
