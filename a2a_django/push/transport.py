"""One HTTP POST to a webhook: to an address that was judged, within limits of time and size, whatever answers.

The server at the other end is a stranger's. It gets no second request by way of redirects, leaves no cookie, and can
neither keep a delivery longer than its time nor make this process read more than ``MAX_ANSWER`` bytes of its answer;
only the status and Retry-After of that are looked at.

The client is aiohttp: its parser and writer are compiled (a small POST over a kept connection costs a fraction of what
it costs with httpx), and its connector asks before each connect, which is where ``guard.permits`` has its say.
Connections are kept per host and port; one that was kept belongs to an address that was judged when it was made.
"""

from __future__ import annotations

import asyncio
import errno
import io
import ipaddress
import logging
import os
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import lru_cache, partial
from typing import Final

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from django.utils import timezone
from yarl import URL

from a2a_django.push import guard
from a2a_django.push.guard import Reach, Refused
from a2a_django.push.names import Resolver, resolver

logger = logging.getLogger("a2a_django.push")

#: Seconds for name, connection and TLS together.
CONNECT_SECONDS: Final = 10.0

#: An answer is read to its end, so that the connection can be kept, if that takes no more than this.
MAX_ANSWER: Final = 64 * 1024
ANSWER_SECONDS: Final = 1.0

#: Seconds that an idle connection is kept: less than most servers do, so that they close none that is about to be used.
KEEP_SECONDS: Final = 4.0

#: Longer bodies are written bit by bit: aiohttp warns of others.
_ONE_PIECE: Final = 1024 * 1024

_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_NOT_IN_VALUES: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]")
_SECONDS: Final = re.compile(r"[0-9]{1,9}", re.ASCII)

#: aiohttp would say that it understands compressed answers; nobody reads them here.
_NOT_SENT: Final = ("Accept-Encoding",)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a request. ``error`` is for the people who run the site; it has no secret and no word of the
    answer in it."""

    #: Of the answer; None when none came.
    status: int | None = None
    error: str = ""
    #: Seconds the webhook asks to be left alone (Retry-After).
    retry_after: float | None = None
    #: The guard said no: nothing was sent.
    refused: bool = False

    @property
    def ok(self) -> bool:
        """Return whether the webhook has taken the request (R-137)."""
        return self.status is not None and 200 <= self.status < 300


class Transport:
    """Sends requests; made and used on one event loop. Any number of requests may be under way."""

    def __init__(self, *, names: Resolver = resolver, tls: ssl.SSLContext | None = None) -> None:
        self._names = names
        self._tls = tls or tls_context()
        self._sessions: dict[Reach, aiohttp.ClientSession] = {}
        self._closed = False

    async def post(self, url: str, body: bytes, headers: Mapping[str, str], timeout: float) -> Outcome:  # noqa: ASYNC109
        """Send ``body`` to ``url`` and return what came of it, after ``timeout`` seconds at the latest.

        Raises nothing but ``CancelledError``.
        """
        if self._closed:
            return Outcome(error="the sender has stopped")
        try:
            if not all(_NAME.fullmatch(name) and not _NOT_IN_VALUES.search(value) for name, value in headers.items()):
                return Outcome(error="a header has a character in it that cannot be sent")
            return await self._post(guard.target(url), body, headers, timeout)
        except Refused as refused:
            return Outcome(error=f"refused: {refused.reason}", refused=True)
        except TimeoutError as error:
            connecting = isinstance(error, aiohttp.ConnectionTimeoutError)
            return Outcome(error="no connection in time" if connecting else "no answer in time")
        except Exception as error:
            return _failure(error)

    async def close(self) -> None:
        """Close all connections; later requests fail."""
        self._closed = True
        sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            await session.close()

    async def _post(self, target: guard.Target, body: bytes, headers: Mapping[str, str], seconds: float) -> Outcome:
        session = self._session(target.reach)
        async with asyncio.timeout(seconds) as limit:
            url = URL(target.url, encoded=True)
            data = body if len(body) <= _ONE_PIECE else io.BytesIO(body)
            answer = await session.post(url, data=data, headers=headers, allow_redirects=False)
        try:
            outcome = _outcome(answer)
            await _read(answer, limit.when())
        finally:
            answer.close()  # the connection too, unless the answer was read to its end
        return outcome

    def _session(self, reach: Reach) -> aiohttp.ClientSession:
        session = self._sessions.get(reach)
        if session is None:
            session = self._sessions[reach] = self._make(reach)
        return session

    def _make(self, reach: Reach) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            resolver=_Judge(reach, self._names),
            socket_factory=partial(_socket, reach),
            use_dns_cache=False,  # the resolver remembers
            ssl=self._tls,
            limit=0,  # the caller bounds what is under way
            keepalive_timeout=KEEP_SECONDS,
        )
        return aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"User-Agent": "a2a-django"},
            skip_auto_headers=_NOT_SENT,
            timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
            auto_decompress=False,
            trust_env=False,
            read_bufsize=MAX_ANSWER // 4,
        )


@lru_cache(maxsize=4)
def _tls_context(file: str | None, folder: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


def tls_context() -> ssl.SSLContext:
    """Return what verifies servers: the system's authorities, or those that SSL_CERT_FILE and SSL_CERT_DIR name.

    Reading the authorities takes some ten milliseconds, so they are kept.
    """
    return _tls_context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


class _Judge(AbstractResolver):
    """The connector's way to addresses: only those of names all of whose addresses are permitted."""

    def __init__(self, reach: Reach, names: Resolver) -> None:
        self._reach = reach
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a name. Raises ``OSError`` if it has none, ``Refused`` if one is not permitted."""
        addresses = await self._names.addresses(host)
        guard.check_addresses(self._reach, addresses, port)
        return [
            ResolveResult(
                hostname=host,
                host=str(address),
                port=port,
                family=socket.AF_INET6 if address.version == 6 else socket.AF_INET,
                proto=socket.IPPROTO_TCP,
                flags=socket.AI_NUMERICHOST,
            )
            for address in addresses
        ]

    async def close(self) -> None:
        """Nothing is held."""


class _Forbidden(OSError):
    """What the connector understands of ``Refused``."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(errno.EACCES, refused.reason)
        self.reason = refused.reason


def _socket(reach: Reach, info: aiohttp.AddrInfoType) -> socket.socket:
    """Make the socket for one address: the last place where it can be judged, and no connection comes past it."""
    family, kind, protocol, _, address = info
    try:
        guard.check_addresses(reach, [ipaddress.ip_address(address[0])], address[1])
    except Refused as refused:
        raise _Forbidden(refused) from refused
    return socket.socket(family, kind, protocol)


def _outcome(answer: aiohttp.ClientResponse) -> Outcome:
    status = answer.status
    if 200 <= status < 300:
        return Outcome(status)
    error = f"answered {status}"
    if 300 <= status < 400:
        error += ": redirects are not followed"
    return Outcome(status, error, _retry_after(answer.headers.get("Retry-After", "")))


def _retry_after(text: str) -> float | None:
    """Return the seconds that a Retry-After header asks for, as a number or as a date; None when it is neither."""
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    if date.tzinfo is None:  # "-0000", or a zone that nobody knows
        return None
    return max(0.0, (date - timezone.now()).total_seconds())


async def _read(answer: aiohttp.ClientResponse, limit: float | None) -> None:
    """Read a short answer to its end, so that its connection can be kept; give up a long or slow one."""
    left = MAX_ANSWER
    if (answer.content_length or 0) > left:
        return
    until = asyncio.get_running_loop().time() + ANSWER_SECONDS
    try:
        async with asyncio.timeout_at(until if limit is None else min(limit, until)):
            while left > 0 and (piece := await answer.content.readany()):
                left -= len(piece)
    except (TimeoutError, aiohttp.ClientError):
        return  # the status has come, and says all


def _failure(error: Exception) -> Outcome:
    """Return what to say of a request that got no answer."""
    match error:
        case aiohttp.ClientConnectorDNSError():
            text = "the host name cannot be looked up"
        case aiohttp.ClientConnectorCertificateError(certificate_error=ssl.SSLCertVerificationError() as reason):
            text = f"the certificate is not accepted: {reason.verify_message}"
        case aiohttp.ClientConnectorSSLError():
            text = f"no TLS connection: {error.os_error.reason or 'handshake failed'}"
        case aiohttp.ClientConnectorError(os_error=_Forbidden() as reason):
            return Outcome(error=f"refused: {reason.reason}", refused=True)
        case aiohttp.ClientConnectorError():
            text = f"no connection: {os.strerror(error.os_error.errno or errno.ECONNREFUSED)}"
        case aiohttp.ClientConnectionError():
            text = "the connection was closed before an answer came"
        case aiohttp.ClientResponseError():
            text = "the answer is no HTTP"
        case _:
            logger.error("A webhook could not be called", exc_info=error)
            text = f"unexpected {type(error).__name__}"
    return Outcome(error=text)
