"""One POST to a webhook: it reaches the judged address and no other, and whatever answers cannot keep it."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import ipaddress
import ssl
import threading
from collections.abc import AsyncIterator, Sequence
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pytest_django import Settings

from a2a_django.push import guard, transport
from a2a_django.push.names import Address, Resolver
from a2a_django.push.transport import Outcome, Transport, tls_context
from tests.certificates import Authority, Pair
from tests.push.servers import LIMIT, Raw, eventually, hook, names, raw, read_request

pytestmark = pytest.mark.spec("4.3.3")

HEADERS = {"Content-Type": "application/a2a+json"}
LOOPBACK = ["127.0.0.0/8"]


@pytest.fixture(autouse=True)
async def in_time() -> AsyncIterator[None]:
    async with asyncio.timeout(4 * LIMIT):
        yield


@pytest.fixture
async def sender() -> AsyncIterator[Transport]:
    made = Transport()
    yield made
    await made.close()


@pytest.fixture
def local(settings: Settings) -> None:
    """The site lists its own machine."""
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": LOOPBACK}


async def send(sender: Transport, url: str, body: bytes = b"{}", seconds: float = LIMIT, **headers: str) -> Outcome:
    return await sender.post(url, body, {**HEADERS, **headers}, seconds)


# --- What arrives ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("local")
async def test_the_request_arrives_as_it_was_given(sender: Transport) -> None:
    async with hook() as there:
        path = "/a%2Fb/../c?x=%20&y=[z]&u=https://127.0.0.1/"
        outcome = await send(
            sender, there.url(path), b'{"a": 1}', Authorization="Bearer s3cret", traceparent="00-1-2-03"
        )
    assert outcome == Outcome(200)
    assert outcome.ok
    (request,) = there.requests
    assert (request.method, request.raw_path, there.bodies) == ("POST", path, [b'{"a": 1}'])
    assert dict(request.headers) == {
        "Host": f"127.0.0.1:{there.port}",
        "User-Agent": "a2a-django",
        "Content-Type": "application/a2a+json",
        "Authorization": "Bearer s3cret",
        "traceparent": "00-1-2-03",
        "Accept": "*/*",
        "Content-Length": "8",
    }


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("body", [b"", b"x" * 3_000_000])
async def test_bodies_of_any_size(sender: Transport, body: bytes) -> None:
    async with hook() as there:
        assert await send(sender, there.url(), body) == Outcome(200)
    assert there.bodies == [body]


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "a\x7f", "\ud800"])
async def test_a_value_that_would_be_another_header_is_not_sent(sender: Transport, value: str) -> None:
    async with hook() as there:
        for headers in ({"Authorization": value}, {value: "a"}, {"": "a"}, {"A B": "a"}):
            outcome = await sender.post(there.url(), b"{}", headers, LIMIT)
            assert outcome == Outcome(error="a header has a character in it that cannot be sent")
    assert there.requests == []


@pytest.mark.usefixtures("local")
async def test_a_token_may_have_any_letters(sender: Transport) -> None:
    async with hook() as there:
        assert (await send(sender, there.url(), Token="Grüße\t✓")).ok
    assert there.requests[0].headers["Token"].encode("utf-8", "surrogateescape").decode() == "Grüße\t✓"


@pytest.mark.usefixtures("local")
async def test_nothing_from_the_environment(sender: Transport, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password s3cret\ndefault login me password s3cret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with hook() as there, raw(talk) as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert (await send(sender, there.url())).ok
    assert proxy.calls == 0
    assert "Authorization" not in there.requests[0].headers


@pytest.mark.usefixtures("local")
async def test_cookies_are_forgotten(sender: Transport) -> None:
    async def answer(request: web.Request) -> web.Response:
        response = web.Response()
        response.set_cookie("session", "1")
        return response

    async with hook(answer) as there:
        for _ in range(2):
            assert (await send(sender, there.url(host="localhost"))).ok
    assert [request.headers.get("Cookie") for request in there.requests] == [None, None]


# --- The guard -------------------------------------------------------------------------------------------------------


@pytest.mark.spec("13.2")
async def test_a_private_address_is_not_called(sender: Transport) -> None:
    async with hook() as there:
        for host in ("127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]", "user@127.0.0.1"):
            for scheme in ("http", "https"):
                outcome = await send(sender, there.url(host=host, scheme=scheme))
                assert outcome.refused
                assert not outcome.ok
                assert outcome.error.startswith("refused: ")
    assert there.connections == []


@pytest.mark.spec("13.2")
@pytest.mark.parametrize("https_only", [True, False])
async def test_a_name_that_changes_its_answer_after_the_check_does_not_help(
    settings: Settings, https_only: bool
) -> None:
    settings.A2A = {"WEBHOOK_HTTPS_ONLY": https_only}
    answers = [["8.8.8.8"], ["127.0.0.1"]]

    def rebind(host: str) -> Sequence[Address]:
        return [ipaddress.ip_address(text) for text in answers.pop(0)]

    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    resolver = Resolver(rebind, remember=0)
    sender = Transport(names=resolver)
    async with raw(talk) as there:
        url = f"http{'s' if https_only else ''}://hook.example:{there.port}/"
        await guard.check(url, names=resolver)
        outcome = await send(sender, url)
    await sender.close()
    assert outcome == Outcome(error="refused: its host is not in the public network", refused=True)
    assert answers == []
    assert there.calls == 0


@pytest.mark.spec("13.2")
@pytest.mark.parametrize("addresses", [("8.8.8.8", "127.0.0.1"), ("127.0.0.1", "2606:4700::1111"), ("::1",)])
async def test_one_private_address_among_public_ones_is_enough(addresses: tuple[str, ...]) -> None:
    sender = Transport(names=names(*addresses))
    outcome = await send(sender, "https://hook.example/")
    await sender.close()
    assert outcome.refused


@pytest.mark.spec("13.2")
@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["127.0.0.1", "::1"]])
async def test_the_address_is_judged_once_more_where_the_socket_is_made(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, addresses: list[str]
) -> None:
    """The resolver lets everything pass here; still no socket is connected."""
    settings.A2A = {"WEBHOOK_HTTPS_ONLY": False}
    judge = transport._Judge.resolve

    async def lax(self: Any, host: str, port: int = 0, family: Any = 0) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(guard, "check_addresses", lambda *args: None)
            return await judge(self, host, port, family)

    async with hook() as there:
        monkeypatch.setattr(transport._Judge, "resolve", lax)
        sender = Transport(names=names(*addresses))
        outcome = await send(sender, there.url(host="hook.example"))
        await sender.close()
    assert outcome == Outcome(error="refused: its host is not in the public network", refused=True)
    assert there.connections == []


async def test_a_listed_name_reaches_any_address(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": ["hook.example"]}
    sender = Transport(names=names("127.0.0.1"))
    async with hook() as there:
        assert (await send(sender, there.url(host="hook.example"))).ok
        assert (await send(sender, there.url(host="other.example"))).refused
    await sender.close()
    assert there.requests[0].headers["Host"] == f"hook.example:{there.port}"


@pytest.mark.spec("13.2")
async def test_a_listed_network_reaches_its_addresses_under_any_name(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": LOOPBACK}
    async with hook() as there:
        for addresses, reached in ((("127.0.0.1",), True), (("127.0.0.1", "10.0.0.1"), False), (("8.8.8.8",), False)):
            sender = Transport(names=names(*addresses))
            outcome = await send(sender, there.url(host="any.example"))
            await sender.close()
            assert (outcome.ok, outcome.refused) == (reached, not reached)
    assert len(there.requests) == 1


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_redirects_are_not_followed(sender: Transport, status: int) -> None:
    async with hook() as private:

        async def answer(request: web.Request) -> web.Response:
            return web.Response(status=status, headers={"Location": private.url()})

        async with hook(answer) as there:
            outcome = await send(sender, there.url())
    assert outcome == Outcome(status, f"answered {status}: redirects are not followed")
    assert not outcome.ok
    assert len(there.requests) == 1
    assert private.requests == []


# --- TLS -------------------------------------------------------------------------------------------------------------


def server_tls(pair: Pair) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    return context


@pytest.fixture
def authority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Authority:
    """An authority that the process trusts as a site would make it: by the environment."""
    made = Authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.certificate))
    return made


@pytest.mark.usefixtures("local")
async def test_tls_is_for_the_name_and_the_connection_for_the_address(authority: Authority) -> None:
    pair = authority.issue("server", "hook.example")
    sender = Transport(names=names("127.0.0.1"))
    async with hook(tls=server_tls(pair)) as there:
        for _ in range(2):
            assert await send(sender, there.url(host="Hook.Example.", scheme="https")) == Outcome(200)
    await sender.close()
    assert there.names == ["hook.example"]  # one handshake
    assert {request.headers["Host"] for request in there.requests} == {f"hook.example:{there.port}"}


@pytest.mark.usefixtures("local")
async def test_a_certificate_for_an_address(authority: Authority) -> None:
    sender = Transport()
    async with hook(tls=server_tls(authority.issue("server"))) as there:
        assert await send(sender, there.url(scheme="https")) == Outcome(200)
    await sender.close()
    assert there.names == [None]


@pytest.mark.usefixtures("local")
async def test_a_certificate_for_another_name_is_not_accepted(authority: Authority) -> None:
    sender = Transport(names=names("127.0.0.1"))
    async with hook(tls=server_tls(authority.issue("server", "other.example"))) as there:
        outcome = await send(sender, there.url(host="hook.example", scheme="https"))
    await sender.close()
    assert outcome.status is None
    assert outcome.error.startswith("the certificate is not accepted: Hostname mismatch")
    assert there.requests == []


@pytest.mark.usefixtures("local")
async def test_a_certificate_of_an_unknown_authority_is_not_accepted(tmp_path: Path) -> None:
    sender = Transport()
    async with hook(tls=server_tls(Authority(tmp_path).issue("server"))) as there:
        outcome = await send(sender, there.url(scheme="https"))
    await sender.close()
    assert outcome.error.startswith("the certificate is not accepted: ")
    assert there.requests == []


@pytest.mark.usefixtures("local")
async def test_a_server_that_speaks_no_tls(sender: Transport) -> None:
    async with hook() as there:
        outcome = await send(sender, there.url(scheme="https"))
    assert outcome.status is None
    assert outcome.error.startswith("no TLS connection: ")


def test_what_verifies_is_kept_until_the_environment_changes(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = tls_context()
    assert tls_context() is first
    assert first.verify_mode is ssl.CERT_REQUIRED
    assert first.check_hostname
    monkeypatch.delenv("SSL_CERT_FILE")
    assert tls_context() is not first


# --- Answers ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_2xx_is_taken(sender: Transport, status: int) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, headers={"Retry-After": "7"})

    async with hook(answer) as there:
        outcome = await send(sender, there.url())
    assert outcome == Outcome(status)
    assert outcome.ok


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("status", [400, 401, 404, 410, 429, 500, 503, 600, 999])
async def test_everything_else_is_not(sender: Transport, status: int) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, reason="s3cret", text="s3cret")

    async with hook(answer) as there:
        outcome = await send(sender, there.url())
    assert outcome == Outcome(status, f"answered {status}")  # no word of the answer
    assert not outcome.ok


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        (" 120 ", 120),
        ("999999999", 999_999_999),
        ("Mon, 01 Jan 2001 00:00:00 GMT", 0),
        ("9" * 5000, None),
        ("-1", None),
        ("1.5", None),
        ("٣", None),
        ("soon", None),
        ("", None),
        ("Mon, 99 Jan 2001 00:00:00 GMT", None),
        ("Mon, 01 Jan 99999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2001 00:00:00 -0000", None),
        ("Mon, 01 Jan 2001 00:00:00 +9999999999", None),
    ],
)
async def test_retry_after(sender: Transport, text: str, seconds: float | None) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=503, headers={"Retry-After": text})

    async with hook(answer) as there:
        assert await send(sender, there.url()) == Outcome(503, "answered 503", seconds)


@pytest.mark.usefixtures("local")
async def test_retry_after_as_a_date(sender: Transport) -> None:
    async def answer(request: web.Request) -> web.Response:
        date = dt.datetime.now(dt.UTC) + dt.timedelta(hours=1)
        return web.Response(status=429, headers={"Retry-After": format_datetime(date, usegmt=True)})

    async with hook(answer) as there:
        outcome = await send(sender, there.url())
    assert outcome.retry_after is not None
    assert 3600 - LIMIT <= outcome.retry_after <= 3600


# --- Connections -----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("status", "size", "kept"), [(200, 0, True), (200, 60_000, True), (500, 60_000, True), (200, 10_000_000, False)]
)
async def test_a_connection_is_kept_when_the_answer_is_short(
    sender: Transport, status: int, size: int, kept: bool
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status, body=b"x" * size)

    async with hook(answer) as there:
        for _ in range(3):
            assert (await send(sender, there.url())).status == status
    assert len({id(connection) for connection in there.connections}) == (1 if kept else 3)


@pytest.mark.usefixtures("local")
async def test_a_compressed_answer_is_not_unpacked(sender: Transport) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    assert len(bomb) < transport.MAX_ANSWER

    async def answer(request: web.Request) -> web.Response:
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip"})

    async with hook(answer) as there:
        for _ in range(2):
            assert (await send(sender, there.url())).ok
    assert len({id(connection) for connection in there.connections}) == 1


@pytest.mark.usefixtures("local")
async def test_hundreds_at_once_do_not_wait_for_each_other(sender: Transport) -> None:
    together = asyncio.Barrier(300)

    async def answer(request: web.Request) -> web.Response:
        await together.wait()
        return web.Response()

    async with hook(answer) as there:
        outcomes = await asyncio.gather(*[send(sender, there.url()) for _ in range(300)])
    assert {outcome.status for outcome in outcomes} == {200}


@pytest.mark.usefixtures("local")
async def test_a_connection_that_the_server_closed_is_not_used_again(sender: Transport) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")  # as if it would be kept

    async with raw(talk) as there:
        for _ in range(5):
            assert await send(sender, there.url) == Outcome(200)
            await eventually(lambda: there.left == there.calls)
            await asyncio.sleep(0.05)
    assert there.calls == 5


async def test_nobody_there(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": [*LOOPBACK, "::1"]}

    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with raw(talk) as there:
        pass
    for addresses in (["127.0.0.1"], ["127.0.0.1", "127.0.0.2"], ["::1", "127.0.0.1"]):
        sender = Transport(names=names(*addresses))
        outcome = await send(sender, there.url.replace("127.0.0.1", "hook.example"))
        await sender.close()
        assert outcome == Outcome(error="no connection: Connection refused")


async def test_of_several_addresses_one_that_answers_is_enough(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": LOOPBACK}
    sender = Transport(names=names("127.0.0.2", "127.0.0.1"))  # nobody listens on the first
    async with hook() as there:
        assert (await send(sender, there.url(host="hook.example"))).ok
    await sender.close()


@pytest.mark.spec("13.2")
async def test_a_name_that_nobody_knows(sender: Transport) -> None:
    outcome = await send(sender, "https://no-such-name.invalid/")
    assert outcome == Outcome(error="the host name cannot be looked up")


async def test_a_silent_name_server_costs_its_own_webhook_only(settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": LOOPBACK}
    release = threading.Event()

    def look_up(host: str) -> Sequence[Address]:
        if "silent" in host:
            release.wait(LIMIT)
        return [ipaddress.ip_address("127.0.0.1")]

    sender = Transport(names=Resolver(look_up))
    try:
        async with hook() as there:
            silent = [
                asyncio.ensure_future(send(sender, there.url(host=f"{n}.silent.example"), seconds=0.5))
                for n in range(100)
            ]
            others = [send(sender, there.url(host=f"hook.zone{n}")) for n in range(100)]
            assert {outcome.status for outcome in await asyncio.gather(*others)} == {200}
            assert {outcome.error for outcome in await asyncio.gather(*silent)} == {"no answer in time"}
    finally:
        release.set()
        await sender.close()


@pytest.mark.usefixtures("local")
async def test_no_connection_in_time(sender: Transport, monkeypatch: pytest.MonkeyPatch) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # the handshake, which is never answered

    monkeypatch.setattr(transport, "CONNECT_SECONDS", 0.2)
    async with raw(talk) as there:
        outcome = await send(sender, there.url.replace("http:", "https:"))
        await eventually(lambda: there.left >= 1)
    assert outcome == Outcome(error="no connection in time")


# --- Hostile servers -------------------------------------------------------------------------------------------------

OK = b"HTTP/1.1 200 OK\r\n"
NO_HTTP = "the answer is no HTTP"
CLOSED = "the connection was closed before an answer came"


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (b"", Outcome(error=CLOSED)),
        (OK, Outcome(error=CLOSED)),
        (b"SSH-2.0-OpenSSH_9.9\r\n", Outcome(error=NO_HTTP)),
        (b"\x00\x01\x02\x03", Outcome(error=NO_HTTP)),
        (b"HTTP/1.1 OK\r\n\r\n", Outcome(error=NO_HTTP)),
        (OK + b"Content-Length: x\r\n\r\n", Outcome(error=NO_HTTP)),
        (OK + b"Content-Length: -1\r\n\r\n", Outcome(error=NO_HTTP)),
        (OK + b"X: " + b"x" * 1_000_000 + b"\r\n\r\n", Outcome(error=NO_HTTP)),
        (OK + b"X: x\r\n" * 100_000 + b"\r\n", Outcome(error=NO_HTTP)),
        (OK + b"Content-Length: 1000\r\n\r\nshort", Outcome(200)),
        (OK + b"Content-Length: 1000000000000\r\n\r\nshort", Outcome(200)),
        (OK + b"\r\nuntil the end", Outcome(200)),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\nno number\r\n", Outcome(error=NO_HTTP)),
        (OK + b"Content-Length: 0\r\n\r\n" + OK + b"Content-Length: 0\r\n\r\n", Outcome(200)),
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 1000 + OK + b"Content-Length: 0\r\n\r\n", Outcome(200)),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            Outcome(101, "answered 101"),
        ),
        (b"HTTP/1.0 200 OK\r\n\r\n", Outcome(200)),
    ],
)
async def test_odd_answers(sender: Transport, answer: bytes, outcome: Outcome) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answer)
        await writer.drain()

    async with raw(talk) as there:
        for _ in range(2):  # what one answer leaves behind is not taken for the next one
            assert await send(sender, there.url) == outcome
            await asyncio.sleep(0.02)
    assert there.calls == 2


ENDLESS = [
    OK + b"Content-Length: 50000000000\r\n\r\n",
    OK + b"Connection: close\r\n\r\n",
    OK + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
]


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("head", ENDLESS)
async def test_an_endless_answer_is_not_read(sender: Transport, head: bytes) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(head)
        while True:
            writer.write(b"x" * 65536)
            await writer.drain()
            made.sent += 65536

    async with raw(talk) as there:
        assert await send(sender, there.url) == Outcome(200)
        await eventually(lambda: there.left >= 1)
    assert there.sent < 20_000_000  # most of it is what the two sockets held


async def trickle(made: Raw, writer: asyncio.StreamWriter, head: bytes, piece: bytes) -> None:
    writer.write(head)
    while True:
        writer.write(piece)
        await writer.drain()
        made.sent += 1
        await asyncio.sleep(0.01)


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"", b""),
        (b"", b"\r\n"),
        (b"HTTP/1.1 200 ", b"O"),
        (OK + b"X: ", b"x"),
        (OK, b"X: x\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
async def test_a_trickle_before_the_answer_is_cut_off(sender: Transport, head: bytes, piece: bytes) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        await trickle(made, writer, head, piece)

    async with raw(talk) as there:
        assert await send(sender, there.url, seconds=0.5) == Outcome(error="no answer in time")
        if piece:
            await eventually(lambda: there.left >= 1)


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("seconds", [0.3, LIMIT])
@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (OK + b"Content-Length: 60000\r\n\r\n", b"x"),
        (OK + b"Connection: close\r\n\r\n", b"x"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: x\r\n"),
    ],
)
async def test_a_trickle_behind_the_status_is_cut_off_and_the_status_counts(
    sender: Transport, monkeypatch: pytest.MonkeyPatch, seconds: float, head: bytes, piece: bytes
) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        await trickle(made, writer, head, piece)

    monkeypatch.setattr(transport, "ANSWER_SECONDS", 0.3 if seconds == LIMIT else 2 * LIMIT)
    async with raw(talk) as there:
        async with asyncio.timeout(LIMIT / 2):
            assert await send(sender, there.url, seconds=seconds) == Outcome(200)
        await eventually(lambda: there.left >= 1)


@pytest.mark.usefixtures("local")
async def test_a_server_that_reads_nothing_is_left(sender: Transport) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(2 * LIMIT)

    async with raw(talk) as there:
        outcome = await send(sender, there.url, b"x" * 50_000_000, seconds=0.5)
    assert outcome == Outcome(error="no answer in time")


@pytest.mark.usefixtures("local")
@pytest.mark.parametrize("status", [200, 413])
async def test_an_answer_before_the_whole_body_is_read_counts(sender: Transport, status: int) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)
        await writer.drain()
        await asyncio.sleep(2 * LIMIT)

    async with raw(talk) as there:
        async with asyncio.timeout(LIMIT / 2):
            assert (await send(sender, there.url, b"x" * 50_000_000)).status == status
        async with asyncio.timeout(LIMIT / 2):
            assert (await send(sender, there.url, b"x" * 50_000_000)).status == status
    assert there.calls == 2


# --- Ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("local")
async def test_cancelling_closes_the_connection(sender: Transport) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with raw(talk) as there:
        task = asyncio.ensure_future(send(sender, there.url))
        await eventually(lambda: there.calls >= 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(lambda: there.left >= 1)


@pytest.mark.usefixtures("local")
async def test_closing_closes_what_is_kept(sender: Transport) -> None:
    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK + b"Content-Length: 0\r\n\r\n")
        await reader.read()

    async with raw(talk) as there:
        assert (await send(sender, there.url)).ok
        assert there.left == 0
        await sender.close()
        await sender.close()
        await eventually(lambda: there.left >= 1)
        assert await send(sender, there.url) == Outcome(error="the sender has stopped")


async def test_a_wrong_setting_is_an_outcome_too(sender: Transport, settings: Settings) -> None:
    settings.A2A = {"WEBHOOK_ALLOWED_HOSTS": ["*"]}
    assert await send(sender, "https://hook.example/") == Outcome(error="unexpected ImproperlyConfigured")


@pytest.mark.usefixtures("local")
async def test_no_secret_is_in_any_error(sender: Transport, caplog: pytest.LogCaptureFixture) -> None:
    secret = "s3cret-" * 3
    answers = [
        b"",
        b"garbage " + secret.encode(),
        b"HTTP/1.1 500 " + secret.encode() + b"\r\nContent-Length: 0\r\n\r\n",
    ]

    async def talk(made: Raw, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(answers[made.calls - 1])

    async with raw(talk) as there:
        for _ in answers:
            outcome = await send(sender, f"{there.url}?key={secret}", Authorization=f"Bearer {secret}")
            assert outcome.error
            assert secret not in outcome.error
    assert secret not in caplog.text
