"""Version, extensions and other metadata; and the request that the access policy gets to see."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from a2a.types import a2a_pb2

from a2a_django import Agent, Extension
from a2a_django.agents import TaskContext
from a2a_django.bindings.grpc.metadata import GrpcRequest, Origin, address_of, headers_of
from tests.bindings.conftest import Echo
from tests.bindings.grpc.conftest import Running, ask, refusal

REQUIRED, OFFERED = "https://e.example/ext/a", "https://e.example/ext/b"

Pairs = tuple[tuple[str, str | bytes], ...]


@pytest.mark.usefixtures("echo")
class TestVersion:
    @pytest.mark.parametrize(
        "metadata",
        [
            (),
            (("a2a-version", ""),),
            (("a2a-version", "   "),),
            (("a2a-version", "1"),),
            (("a2a-version", "1.0"),),
            (("a2a-version", "1.0.17"),),
            (("a2a-version", "1.0"), ("a2a-version", "1.0")),
            (("a2a-version", "1.0"), ("a2a-version", "9.9")),
            (("a2a-version", " 1.0 , 0.3"),),
            (("a2a-version-bin", b"9.9"),),
            (("A2A-Version".lower(), "1.0"), ("a2a_version", "9.9")),
        ],
    )
    async def test_served(self, live: Running, metadata: Pairs) -> None:
        assert (await live.stub().SendMessage(ask("x"), metadata=metadata)).task.artifacts

    @pytest.mark.parametrize(
        "metadata",
        [
            (("a2a-version", "0.3"),),
            (("a2a-version", "1.1"),),
            (("a2a-version", "2.0"),),
            (("a2a-version", "v1.0"),),
            (("a2a-version", "9.9"), ("a2a-version", "1.0")),
            (("a2a-version", "0.3, 1.0"),),
        ],
    )
    async def test_not_served_by_any_method(self, live: Running, metadata: Pairs) -> None:
        stub = live.stub()
        for call in (
            stub.SendMessage(ask("x"), metadata=metadata),
            stub.SendStreamingMessage(ask("x"), metadata=metadata),
            stub.GetTask(a2a_pb2.GetTaskRequest(id="no such"), metadata=metadata),
            stub.GetTask(a2a_pb2.GetTaskRequest(), metadata=metadata),
        ):
            refused = await refusal(call)
            assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "VERSION_NOT_SUPPORTED")
            assert "1.0" in refused.message

    async def test_a_strict_site_takes_a_missing_one_for_0_3(self, serve: Any, settings: Any) -> None:
        settings.A2A = {**settings.A2A, "STRICT_VERSION": True}
        stub = (await serve()).stub()
        assert (await refusal(stub.SendMessage(ask("x")))).reason == "VERSION_NOT_SUPPORTED"
        assert (await stub.SendMessage(ask("x"), metadata=(("a2a-version", "1.0"),))).task.artifacts


class Extended(Echo):
    extensions = [Extension(REQUIRED, "needed", required=True), Extension(OFFERED, "possible")]

    async def run(self, ctx: TaskContext) -> AsyncIterator[str]:
        yield " ".join(ctx.extensions)


class TestExtensions:
    @pytest.fixture(autouse=True)
    def agent(self, register: Callable[[Agent], Agent]) -> Agent:
        return register(Extended())

    @pytest.mark.parametrize("method", ["SendMessage", "SendStreamingMessage"])
    @pytest.mark.parametrize("asked", [(), (("a2a-extensions", OFFERED),), (("a2a-extensions", ""),)])
    async def test_a_required_one_that_is_missing(self, live: Running, method: str, asked: Pairs) -> None:
        refused = await refusal(getattr(live.stub(), method)(ask("x"), metadata=asked))
        assert (refused.code, refused.reason) == ("FAILED_PRECONDITION", "EXTENSION_SUPPORT_REQUIRED")
        assert REQUIRED in refused.message

    async def test_operations_that_send_nothing_do_not_need_it(self, live: Running) -> None:
        await live.stub().ListTasks(a2a_pb2.ListTasksRequest())

    @pytest.mark.parametrize(
        ("asked", "active"),
        [
            ((("a2a-extensions", REQUIRED),), REQUIRED),
            ((("a2a-extensions", f"{OFFERED},https://e.example/unknown, {REQUIRED}"),), f"{OFFERED}, {REQUIRED}"),
            ((("a2a-extensions", REQUIRED), ("a2a-extensions", OFFERED)), f"{REQUIRED}, {OFFERED}"),
            ((("x-a2a-extensions", REQUIRED),), REQUIRED),
        ],
    )
    async def test_the_active_ones_are_echoed_in_the_initial_metadata(
        self, live: Running, asked: Pairs, active: str
    ) -> None:
        stub = live.stub()
        unary = stub.SendMessage(ask("x"), metadata=asked)
        text = (await unary).task.artifacts[0].parts[0].text
        assert dict(await unary.initial_metadata())["a2a-extensions"] == active
        assert text == active.replace(", ", " ")
        stream = stub.SendStreamingMessage(ask("x"), metadata=asked)
        assert dict(await stream.initial_metadata())["a2a-extensions"] == active
        assert [event async for event in stream]

    async def test_none_active_none_echoed(self, live: Running) -> None:
        call = live.stub().ListTasks(a2a_pb2.ListTasksRequest(), metadata=(("a2a-extensions", "https://e.example/x"),))
        await call
        assert "a2a-extensions" not in dict(await call.initial_metadata())


def test_headers() -> None:
    assert headers_of(
        [
            ("a2a-version", "1.0"),
            ("x-note-bin", b"\xff"),
            ("x-forwarded-for", "10.0.0.1"),
            ("x-forwarded-for", "10.0.0.1"),
            ("authorization", "Bearer k"),
            ("authorization", "Bearer k"),
            ("x_api_key", "smuggled"),
        ]
    ) == {"a2a-version": "1.0", "x-forwarded-for": "10.0.0.1,10.0.0.1", "authorization": "Bearer k"}


def test_two_different_credentials_are_neither() -> None:
    assert headers_of([("authorization", "Bearer a"), ("authorization", "Bearer b")]) == {
        "authorization": "Bearer a,Bearer b"
    }


@pytest.mark.parametrize(
    ("peer", "address"),
    [
        ("ipv4:127.0.0.1:1234", ("127.0.0.1", "1234")),
        ("ipv6:[::1]:1234", ("::1", "1234")),
        ("ipv6:%5B::1%5D:1234", ("::1", "1234")),
        ("ipv6:%5Bfe80::1%25eth0%5D:1234", ("fe80::1", "1234")),
        ("unix:/run/a2a.sock", ("", "")),
        ("unix:", ("", "")),
    ],
)
def test_peers(peer: str, address: tuple[str, str]) -> None:
    assert address_of(peer) == address


class TestRequest:
    def make(self, origin: Origin | None = None, **headers: str) -> GrpcRequest:
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        found = origin or Origin.configured(encrypted=False)
        return GrpcRequest("/lf.a2a.v1.A2AService/GetTask", names, "ipv4:10.1.2.3:5", found)

    def test_what_code_of_the_site_looks_at(self, settings: Any) -> None:
        request = self.make(authorization="Bearer k", x_api_key="k", x_forwarded_for="10.0.0.1", content_length="99")
        assert (request.method, request.path) == ("POST", "/lf.a2a.v1.A2AService/GetTask")
        assert request.META["REMOTE_ADDR"] == "10.1.2.3"
        assert request.META["HTTP_AUTHORIZATION"] == request.headers["Authorization"] == "Bearer k"
        assert request.META["HTTP_X_API_KEY"] == "k"
        assert (request.body, request.read(), request.POST) == (b"", b"", {})
        assert "CONTENT_LENGTH" not in request.META
        assert request.COOKIES == {}

    def test_nothing_a_caller_sends_looks_like_a_checked_certificate(self) -> None:
        request = self.make(ssl_client_cert="forged", ssl_client_verify="SUCCESS")
        assert not {"SSL_CLIENT_CERT", "SSL_CLIENT_VERIFY"} & set(request.META)

    def test_it_is_on_the_site(self, settings: Any) -> None:
        settings.A2A = {"BASE_URL": "https://shop.example:8443/prefix"}
        settings.ALLOWED_HOSTS = ["shop.example"]
        request = self.make()
        assert request.build_absolute_uri("/x") == "https://shop.example:8443/x"
        assert request.is_secure()

    def test_it_is_local_when_nothing_is_said(self, settings: Any) -> None:
        settings.A2A = {}
        assert not self.make().is_secure()
        assert self.make(Origin.configured(encrypted=True)).build_absolute_uri("/") == "https://localhost/"
