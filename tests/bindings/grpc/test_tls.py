"""TLS and mutual TLS, both ways, and what happens when one side does not speak it."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from a2a.types import a2a_pb2, a2a_pb2_grpc
from rest_framework.authentication import BaseAuthentication

from a2a_django.bindings.grpc.server import tls
from a2a_django.models import Task
from tests.bindings.grpc.conftest import OPTIONS, Running, ask, refusal
from tests.certificates import Authority, Pair

pytestmark = pytest.mark.usefixtures("echo")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def pair(authority: Authority) -> Pair:
    return authority.issue("server")


class Callers:
    """Clients of one server with all kinds of credentials."""

    def __init__(self) -> None:
        self.channels: list[grpc.aio.Channel] = []

    def secure(self, live: Running, authority: Authority, pair: Pair | None = None) -> Any:
        credentials = grpc.ssl_channel_credentials(
            authority.certificate.read_bytes(),
            pair.key.read_bytes() if pair else None,
            pair.certificate.read_bytes() if pair else None,
        )
        return self._stub(grpc.aio.secure_channel(live.address, credentials, options=OPTIONS))

    def plain(self, live: Running) -> Any:
        return self._stub(grpc.aio.insecure_channel(live.address, options=OPTIONS))

    def _stub(self, channel: grpc.aio.Channel) -> Any:
        self.channels.append(channel)
        return a2a_pb2_grpc.A2AServiceStub(channel)


@pytest.fixture
async def callers() -> AsyncIterator[Callers]:
    found = Callers()
    yield found
    for channel in found.channels:
        await channel.close()


async def answers(stub: Any) -> None:
    assert (await stub.SendMessage(ask("hello"))).task.artifacts[0].parts[0].text == "hello"


async def test_tls(serve: Any, authority: Authority, pair: Pair, callers: Callers, tmp_path: Path) -> None:
    live = await serve(credentials=tls(pair.certificate, pair.key))
    await answers(callers.secure(live, authority))
    # A caller who knows another authority, one who speaks no TLS, and one who speaks nonsense.
    assert (
        await refusal(callers.secure(live, Authority(tmp_path, "other")).SendMessage(ask("x")))
    ).code == "UNAVAILABLE"
    assert (await refusal(callers.plain(live).SendMessage(ask("x")))).code == "UNAVAILABLE"
    with socket.create_connection(("127.0.0.1", live.server.port)) as line:
        line.sendall(b"GET / HTTP/1.1\r\n\r\n")
    await answers(callers.secure(live, authority))


async def test_tls_against_a_server_without(live: Running, authority: Authority, callers: Callers) -> None:
    assert (await refusal(callers.secure(live, authority).SendMessage(ask("x")))).code == "UNAVAILABLE"
    with socket.create_connection(("127.0.0.1", live.server.port)) as line:
        line.sendall(b"GET / HTTP/1.1\r\n\r\n")
    await answers(callers.plain(live))


class ByCertificate(BaseAuthentication):
    """A site's own authenticator: whoever has a certificate is the user of its common name."""

    def authenticate(self, request: Any) -> Any:
        from django.contrib.auth import get_user_model

        assert request.META["SSL_CLIENT_CERT"].startswith("-----BEGIN CERTIFICATE-----")
        assert request.META["SSL_CLIENT_VERIFY"] == "SUCCESS"
        assert request.is_secure()
        return get_user_model().objects.get_or_create(username=request.META["SSL_CLIENT_S_DN_CN"])[0], None


async def test_mutual_tls(
    serve: Any, authority: Authority, pair: Pair, callers: Callers, tmp_path: Path, settings: Any
) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [f"{__name__}.ByCertificate"]}
    live = await serve(credentials=tls(pair.certificate, pair.key, authority.certificate))
    stub = callers.secure(live, authority, authority.issue("partner"))
    task = (await stub.SendMessage(ask("hello"))).task
    row = await Task.objects.aget(pk=task.id)
    from django.contrib.auth import get_user_model

    assert (await get_user_model().objects.aget(pk=row.owner)).username == "partner"
    # Without a certificate, with one of somebody else, without TLS.
    foreign = Authority(tmp_path, "foreign").issue("stranger")
    for other in (
        callers.secure(live, authority),
        callers.secure(live, authority, foreign),
        callers.plain(live),
    ):
        assert (await refusal(other.ListTasks(a2a_pb2.ListTasksRequest()))).code == "UNAVAILABLE"
    assert (await stub.GetTask(a2a_pb2.GetTaskRequest(id=task.id))).id == task.id


class TestFiles:
    def test_a_key_of_another_certificate(self, authority: Authority, pair: Pair) -> None:
        with pytest.raises(ValueError, match="belong together"):
            tls(pair.certificate, authority.issue("other").key)

    def test_no_certificate(self, pair: Pair, tmp_path: Path) -> None:
        nonsense = tmp_path / "nonsense.pem"
        nonsense.write_text("nonsense")
        with pytest.raises(ValueError, match="belong together"):
            tls(nonsense, pair.key)
        with pytest.raises(ValueError, match="is no certificate"):
            tls(pair.certificate, pair.key, nonsense)

    def test_no_file(self, pair: Pair, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            tls(tmp_path / "missing.pem", pair.key)

    def test_a_key_with_a_password(self, pair: Pair) -> None:
        from cryptography.hazmat.primitives import serialization

        key = serialization.load_pem_private_key(pair.key.read_bytes(), None)
        pair.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.BestAvailableEncryption(b"secret"),
            )
        )
        with pytest.raises(ValueError, match="encrypted"):
            tls(pair.certificate, pair.key)
