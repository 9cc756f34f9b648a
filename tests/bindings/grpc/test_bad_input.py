"""What should not come but does: bytes that are no message, strings that are no text, messages without measure."""

from __future__ import annotations

import asyncio
from typing import Any

import grpc
import pytest
from a2a.types import a2a_pb2
from google.protobuf import json_format
from google.protobuf.message import Message

from a2a_django.bindings.grpc.methods import METHODS
from a2a_django.models import Task
from a2a_django.protocol.wellknown import MAX_NESTING
from tests.bindings.grpc.conftest import Running, ask, refusal

pytestmark = [pytest.mark.usefixtures("echo"), pytest.mark.spec("10")]


async def still_answers(live: Running) -> None:
    task = (await live.stub().SendMessage(ask("still there"))).task
    assert task.artifacts[0].parts[0].text == "still there"


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number: int, content: bytes) -> bytes:
    """A field of length-delimited content."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def nested(depth: int) -> bytes:
    """The bytes of a SendMessageRequest whose data part is a list in a list in a list."""
    value = b""
    for _ in range(depth):
        value = field(6, field(1, value))  # Value.list_value, ListValue.values
    head = a2a_pb2.Message(message_id="m", role=a2a_pb2.ROLE_USER).SerializeToString()
    part = field(number_of(a2a_pb2.Part, "data"), value)
    message = head + field(number_of(a2a_pb2.Message, "parts"), part)
    return field(number_of(a2a_pb2.SendMessageRequest, "message"), message)


def number_of(message: type[Message], name: str) -> int:
    return int(message.DESCRIPTOR.fields_by_name[name].number)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"\xff", "INVALID_REQUEST"),
        (b"\x12\xff\xff\xff\xff\x0f", "INVALID_REQUEST"),
        (b"{}", "INVALID_REQUEST"),
        (b"\x00" * 100, "INVALID_REQUEST"),
        (ask("Zq").SerializeToString().replace(b"Zq", b"\xc3\x28"), "INVALID_REQUEST"),
        (ask("Zqq").SerializeToString().replace(b"Zqq", b"\xed\xa0\x80"), "INVALID_REQUEST"),  # a lone surrogate
        (ask("Z").SerializeToString().replace(b"Z", b"\x00"), "INVALID_PARAMS"),  # NUL, which PostgreSQL cannot store
        (b"", "INVALID_PARAMS"),
        (nested(MAX_NESTING + 1), "INVALID_PARAMS"),
        (nested(200), "INVALID_PARAMS"),
        (nested(100_000), "INVALID_PARAMS"),
    ],
)
@pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
async def test_a_frame_that_is_no_request(live: Running, method: str, frame: bytes, reason: str) -> None:
    kind = "unary_stream" if METHODS[f"/lf.a2a.v1.A2AService/{method}"].operation.streaming else "unary_unary"
    call = getattr(live.channel(), kind)(f"/lf.a2a.v1.A2AService/{method}")(frame)
    refused = await refusal(call)
    assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", reason)
    assert await Task.objects.acount() == 0
    await still_answers(live)


async def test_what_is_as_deep_as_allowed_is_taken(live: Running) -> None:
    answer = await live.raw("SendMessage", nested(MAX_NESTING))
    task = a2a_pb2.SendMessageResponse.FromString(answer).task
    assert task.history[0].parts[0].HasField("data")


@pytest.mark.spec("3.3.2")
async def test_the_wrong_fields_are_named(live: Running) -> None:
    request = a2a_pb2.SendMessageRequest()
    json_format.ParseDict({"message": {"parts": [{}], "contextId": "c" * 2000}}, request)
    refused = await refusal(live.stub().SendMessage(request))
    assert refused.reason == "INVALID_PARAMS"
    assert set(refused.fields) == {"message.message_id", "message.role", "message.parts[0]", "message.context_id"}
    refused = await refusal(live.stub().ListTasks(a2a_pb2.ListTasksRequest(page_size=0, history_length=-1)))
    assert set(refused.fields) == {"page_size", "history_length"}


async def test_unknown_fields_and_enum_numbers(live: Running) -> None:
    known = ask("hello").SerializeToString()
    answer = await live.raw("SendMessage", known + field(1000, b"what is this"))
    assert a2a_pb2.SendMessageResponse.FromString(answer).task.artifacts[0].parts[0].text == "hello"
    request = ask("hello")
    request.message.role = 77
    assert (await refusal(live.stub().SendMessage(request))).fields == ["message.role"]


class TestLargeMessages:
    """One limit for every binding (D-35)."""

    LIMIT = 100_000

    @pytest.fixture
    async def live(self, serve: Any, settings: Any) -> Running:
        settings.A2A = {**settings.A2A, "MAX_BODY_BYTES": self.LIMIT}
        running: Running = await serve()
        return running

    @pytest.mark.spec("13.4")
    async def test_up_to_the_limit(self, live: Running) -> None:
        request = ask("x" * self.LIMIT)
        request.message.parts[0].text = "x" * (2 * self.LIMIT - request.ByteSize())
        assert request.ByteSize() == self.LIMIT
        assert (await live.stub().SendMessage(request)).task.artifacts

    @pytest.mark.spec("13.4")
    @pytest.mark.parametrize("size", [LIMIT + 1, LIMIT * 2 - 100])
    async def test_beyond_the_limit(self, live: Running, size: int) -> None:
        refused = await refusal(live.raw("SendMessage", bytes(size)))
        assert (refused.code, refused.reason) == ("RESOURCE_EXHAUSTED", "REQUEST_TOO_LARGE")
        assert str(self.LIMIT) in refused.message
        await still_answers(live)

    @pytest.mark.spec("13.4")
    @pytest.mark.parametrize("size", [LIMIT * 2 + 1, LIMIT * 100])
    async def test_far_beyond_the_limit_the_transport_refuses(self, live: Running, size: int) -> None:
        assert (await refusal(live.raw("SendMessage", bytes(size)))).code == "RESOURCE_EXHAUSTED"
        await still_answers(live)

    async def test_compressed_messages_count_as_what_they_hold(self, live: Running) -> None:
        call = live.raw("SendMessage", bytes(self.LIMIT * 100), compression=grpc.Compression.Gzip)
        assert (await refusal(call)).code == "RESOURCE_EXHAUSTED"
        call = live.raw("SendMessage", ask("x" * 1000).SerializeToString(), compression=grpc.Compression.Gzip)
        assert a2a_pb2.SendMessageResponse.FromString(await call).task.artifacts


@pytest.mark.spec("13.4")
async def test_metadata_without_measure(live: Running) -> None:
    call = live.raw("ListTasks", metadata=(("x-fill", "a" * 60_000),))
    assert (await refusal(call)).code == "RESOURCE_EXHAUSTED"
    await still_answers(live)


@pytest.mark.parametrize(
    "path",
    [
        "/lf.a2a.v1.A2AService/NoSuchMethod",
        "/lf.a2a.v1.A2AService/sendmessage",
        "/lf.a2a.v1.A2AService/",
        "/a2a.v1.A2AService/NoSuchMethod",
        "/no.such.Service/Method",
        "/",
    ],
)
async def test_an_unknown_method(live: Running, path: str) -> None:
    channel = live.channel()
    for call in (channel.unary_unary(path)(b""), channel.unary_stream(path)(b"")):
        refused = await refusal(call)
        assert (refused.code, refused.reason) == ("UNIMPLEMENTED", "METHOD_NOT_FOUND")
    # One that never gets its message is answered all the same.
    refused = await refusal(channel.stream_unary(path)(silent()))
    assert refused.code == "UNIMPLEMENTED"
    await still_answers(live)


async def silent() -> Any:
    await asyncio.sleep(3600)
    yield b""


async def test_a_call_without_message(live: Running) -> None:
    call = live.channel().stream_unary("/lf.a2a.v1.A2AService/GetTask")(iter(()))
    refused = await refusal(call)
    assert (refused.code, refused.reason) == ("INVALID_ARGUMENT", "INVALID_REQUEST")
    await still_answers(live)
