"""The server: where it listens, how large messages may be, and how it ends."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path
from typing import Final

import grpc

from a2a_django.bindings.grpc.extras import Health, add_reflection
from a2a_django.bindings.grpc.methods import services
from a2a_django.bindings.grpc.servicer import Servicer
from a2a_django.conf import a2a_settings

#: The transport takes messages up to so many times ``MAX_BODY_BYTES``. Those above the limit are refused here, with
#: details; those that the transport refuses have none.
HEADROOM: Final = 2

#: What is left of a call that was told to end gets so long to send its status.
LAST_WORDS_SECONDS: Final = 1.0
#: Time for those who watch the health to be told before the connections close.
HEARING_SECONDS: Final = 0.3

#: Clients may ask so often whether the connection still lives; gRPC's own limit of five minutes would cut off streams
#: whose clients use usual keep-alive times.
PING_SECONDS: Final = 5

_MAX_INT: Final = 2**31 - 1


class AddressInUse(Exception):
    """The address cannot be bound."""


class Server:
    """A gRPC server on the running loop.

    ``address`` is ``host:port``; ``port`` tells which one it became. ``shared_port``: other processes listen on the
    same one. Raises ``AddressInUse``, and ``ImproperlyConfigured`` when ``health`` or ``reflection`` are asked for and
    not installed.
    """

    def __init__(
        self,
        address: str,
        *,
        credentials: grpc.ServerCredentials | None = None,
        shared_port: bool = False,
        max_concurrent_rpcs: int | None = None,
        health: bool = True,
        reflection: bool = True,
    ) -> None:
        self._server = grpc.aio.server(options=_options(shared_port), maximum_concurrent_rpcs=max_concurrent_rpcs)
        self._health = Health(self._server, *services()) if health else None
        if reflection:
            add_reflection(self._server, *services(), *([Health.name] if health else []))
        self._servicer = Servicer(encrypted=credentials is not None)
        self._server.add_generic_rpc_handlers((self._servicer,))  # last: it answers for every path
        try:
            if credentials is None:
                self.port = self._server.add_insecure_port(address)
            else:
                self.port = self._server.add_secure_port(address, credentials)
        except RuntimeError as error:
            raise AddressInUse(address) from error

    async def start(self) -> None:
        """Begin to answer."""
        await self._server.start()
        if self._health is not None:
            await self._health.begin()

    async def drain(self, grace: float) -> None:
        """Take no further calls, let those in progress end for up to ``grace`` seconds, then end them.

        Who only watches the health of the server is not waited for.
        """
        if self._health is not None:
            await self._health.leave()
            await asyncio.sleep(HEARING_SECONDS)
        stopping = asyncio.ensure_future(self._server.stop(grace + 2 * LAST_WORDS_SECONDS))
        if not await self._servicer.idle(grace):
            self._servicer.end_calls()
            await self._servicer.idle(LAST_WORDS_SECONDS)
        await self._server.stop(None)
        await stopping


def _options(shared_port: bool) -> list[tuple[str, int]]:
    return [
        # On by default: a second server would take half of the first one's connections without a word.
        ("grpc.so_reuseport", int(shared_port)),
        ("grpc.max_receive_message_length", min(HEADROOM * a2a_settings.MAX_BODY_BYTES, _MAX_INT)),
        ("grpc.max_send_message_length", -1),
        # A silent stream is kept open for proxies, and a caller who has vanished is noticed.
        ("grpc.keepalive_time_ms", min(int(a2a_settings.KEEPALIVE_SECONDS * 1000), _MAX_INT)),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", PING_SECONDS * 1000),
        ("grpc.keepalive_permit_without_calls", 1),
    ]


def tls(certificate: Path, key: Path, client_ca: Path | None = None) -> grpc.ServerCredentials:
    """Return the credentials of a server with TLS; with ``client_ca`` callers need a certificate of that authority.

    Raises ``OSError`` for files that cannot be read and ``ValueError`` for what is in them.
    """
    pair = key.read_bytes(), certificate.read_bytes()
    authorities = client_ca.read_bytes() if client_ca is not None else None
    # gRPC would only find out when somebody calls.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key, password=_no_password)
    except ssl.SSLError as error:
        raise ValueError(f"{certificate} and {key} are no certificate and key that belong together: {error}") from None
    if authorities is not None:
        try:
            context.load_verify_locations(client_ca)
        except ssl.SSLError as error:
            raise ValueError(f"{client_ca} is no certificate: {error}") from None
    return grpc.ssl_server_credentials(
        [pair], root_certificates=authorities, require_client_auth=authorities is not None
    )


def _no_password() -> str:
    raise ValueError("The key is encrypted; gRPC takes only keys without a password")
