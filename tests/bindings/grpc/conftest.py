"""What the tests of the gRPC binding share: a real server on the loop of the test, and real clients."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import grpc
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from a2a_django.bindings.grpc.server import Server

SERVICE = "/lf.a2a.v1.A2AService/"

#: Every client of a test has connections of its own.
OPTIONS = (("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1))

Connect = Callable[..., grpc.aio.Channel]


class Running:
    """A server, and ways to call it."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.channels: list[grpc.aio.Channel] = []

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    def channel(self) -> grpc.aio.Channel:
        self.channels.append(grpc.aio.insecure_channel(self.address, options=OPTIONS))
        return self.channels[-1]

    def stub(self) -> Any:
        """The official SDK's generated client."""
        return a2a_pb2_grpc.A2AServiceStub(self.channel())

    async def raw(self, method: str, frame: bytes = b"", *, path: str = SERVICE, **arguments: Any) -> bytes:
        """Send the bytes of a request to a method that does not stream."""
        return await self.channel().unary_unary(path + method)(frame, **arguments)  # type: ignore[no-any-return]

    async def close(self) -> None:
        for channel in self.channels:
            await channel.close()
        await self.server.drain(0)


@pytest.fixture
async def serve(transactional_db: None) -> AsyncIterator[Callable[..., Awaitable[Running]]]:
    """Start servers with the arguments of ``Server``."""
    running: list[Running] = []

    async def start(**arguments: Any) -> Running:
        server = Server("127.0.0.1:0", **arguments)
        running.append(Running(server))
        await server.start()
        return running[-1]

    yield start
    for each in running:
        await each.close()


@pytest.fixture
async def live(serve: Callable[..., Awaitable[Running]]) -> Running:
    return await serve()


def ask(text: str, **members: Any) -> a2a_pb2.SendMessageRequest:
    """A request with a user's message."""
    message = a2a_pb2.Message(
        message_id="m-1", role=a2a_pb2.ROLE_USER, parts=[a2a_pb2.Part(text=text)], **members.pop("message", {})
    )
    return a2a_pb2.SendMessageRequest(message=message, **members)


class Refusal:
    """An error as the caller has it, and what is packed into it."""

    def __init__(self, error: grpc.aio.AioRpcError) -> None:
        self.code = error.code().name
        self.message = error.details()
        self.trailing = dict(error.trailing_metadata() or ())
        self.status = status_pb2.Status.FromString(self.trailing.get("grpc-status-details-bin", b""))

    def detail(self, kind: type[Message]) -> Any:
        """The detail of a kind, None when there is none."""
        for packed in self.status.details:
            found = kind()
            if packed.Unpack(found):
                return found
        return None

    @property
    def reason(self) -> str:
        """The reason of the ErrorInfo, which has to come first."""
        info = error_details_pb2.ErrorInfo()
        assert self.status.details[0].Unpack(info)
        assert info.domain == "a2a-protocol.org"
        return str(info.reason)

    @property
    def fields(self) -> list[str]:
        """The wrong fields."""
        bad = self.detail(error_details_pb2.BadRequest)
        return [violation.field for violation in bad.field_violations] if bad else []


async def refusal(call: Any) -> Refusal:
    """Wait for a call, which has to fail; a stream is read until it does."""

    async def to_the_end() -> None:
        if isinstance(call, grpc.aio.UnaryStreamCall):
            async for _ in call:
                pass
        else:
            await call

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await to_the_end()
    return Refusal(caught.value)
