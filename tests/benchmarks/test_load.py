"""The load generator reads HTTP answers and event streams right, however they are cut into packets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from benchmarks.load import Connection, LoadError, closed_loop, request_bytes

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
    return await reader.readexactly(length)


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[int]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await handler(reader, writer)
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def answering(*pieces: bytes) -> Handler:
    """A server that gives the same answer to every request, in these packets."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await read_request(reader)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0)

    return handler


def bytewise(data: bytes) -> list[bytes]:
    return [data[at : at + 1] for at in range(len(data))]


REQUEST = request_bytes("/a2a/", b"{}")
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
STREAM = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    b"12\r\ndata: one\r\n\r\ndata:\r\n"
    b"d\r\n two\n\n: ping\n\r\n"
    b"c\r\n\ndata: 3\r\n\r\n\r\n"
    b"0\r\n\r\n"
)


@pytest.mark.parametrize("pieces", [[PLAIN], bytewise(PLAIN)], ids=["whole", "bytewise"])
async def test_plain_answers_on_one_connection(pieces: list[bytes]) -> None:
    async with serving(answering(*pieces)) as port:
        line = await Connection.open(port)
        assert [await line.call(REQUEST) for _ in range(3)] == [b"hello"] * 3
        line.close()


@pytest.mark.parametrize("pieces", [[STREAM], bytewise(STREAM)], ids=["whole", "bytewise"])
async def test_streams_on_one_connection(pieces: list[bytes]) -> None:
    async with serving(answering(*pieces)) as port:
        line = await Connection.open(port)
        for _ in range(2):
            events = [event async for ready in line.stream(REQUEST) for event in ready]
            assert events == [b"one", b"two", b"3"]
        line.close()


async def test_chunked_answer_to_a_plain_call() -> None:
    answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n"
    async with serving(answering(answer)) as port:
        line = await Connection.open(port)
        assert await line.call(REQUEST) == b"hello"
        line.close()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno", "500"),
        (b"HTTP/1.1 200 OK\r\n\r\n", "without a length"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "invalid literal"),
    ],
)
async def test_a_wrong_answer_is_an_error(answer: bytes, why: str) -> None:
    async with serving(answering(answer)) as port:
        line = await Connection.open(port)
        with pytest.raises(LoadError, match=why):
            await line.call(REQUEST)


async def test_a_lost_connection_is_an_error_in_call_and_stream() -> None:
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(STREAM[:80])

    async with serving(cut) as port:
        line = await Connection.open(port)
        with pytest.raises(LoadError, match="lost"):
            await line.call(REQUEST)
        line = await Connection.open(port)
        with pytest.raises(LoadError, match="lost"):
            async for _ in line.stream(REQUEST):
                pass


async def test_closed_loop_makes_the_asked_number_of_calls_and_checks_each() -> None:
    checked: list[int] = []

    def check(number: int, body: bytes) -> None:
        assert body == b"hello"
        checked.append(number)

    async with serving(answering(PLAIN)) as port:
        load = await closed_loop(port, connections=4, make=lambda _: REQUEST, check=check, calls=37)
    assert load.calls == 37
    assert sorted(checked) == list(range(37))


async def test_closed_loop_ends_with_the_first_wrong_answer() -> None:
    def check(number: int, body: bytes) -> None:
        if number == 5:
            raise LoadError("the fifth is wrong")

    async with serving(answering(PLAIN)) as port:
        with pytest.raises(LoadError, match="fifth"):
            await closed_loop(port, connections=4, make=lambda _: REQUEST, check=check, calls=1000)
