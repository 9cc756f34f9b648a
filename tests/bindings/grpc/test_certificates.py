"""Callers known by their client certificates."""

from __future__ import annotations

from typing import Any

import pytest
from a2a.types import a2a_pb2
from asgiref.sync import sync_to_async
from cryptography import x509
from django.contrib.auth.models import User
from django.test import RequestFactory
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from a2a_django import Agent
from a2a_django.access import ClientCertificateAuthentication, create_api_key
from a2a_django.access.certificates import ClientCertificate
from a2a_django.agents.cards import CardBase, build_card
from a2a_django.bindings.grpc.server import tls
from a2a_django.models import Task
from tests.bindings.grpc.conftest import ask, refusal
from tests.bindings.grpc.test_tls import Callers, authority, callers, pair
from tests.certificates import Authority, Pair

__all__ = ["authority", "callers", "pair"]

CERTIFICATES = "a2a_django.access.ClientCertificateAuthentication"
KEYS = "a2a_django.access.APIKeyAuthentication"
UUID_URI = "spiffe://shop.example/robot"


class ByUri(ClientCertificateAuthentication):
    """Goes by the URIs in certificates."""

    names = "uris"


def request_with(pair: Pair, **meta: str) -> Request:
    made = RequestFactory().post("/")
    made.META |= {"SSL_CLIENT_VERIFY": "SUCCESS", "SSL_CLIENT_CERT": pair.certificate.read_text(), **meta}
    return Request(made)


@pytest.mark.django_db
class TestUsers:
    def test_the_user_of_a_name(self, authority: Authority) -> None:
        names = [x509.UniformResourceIdentifier(UUID_URI), x509.RFC822Name("robot@shop.example")]
        made = authority.issue("robot", names=names)
        robot, uri = (User.objects.create_user(name) for name in ("robot", UUID_URI))
        for kind, user in ((ClientCertificateAuthentication, robot), (ByUri, uri)):
            found = kind().authenticate(request_with(made))
            assert found is not None
            assert found[0] == user
            certificate = found[1]
            assert isinstance(certificate, ClientCertificate)
            assert certificate.common_names == ("robot",)
            assert certificate.dns_names == ("localhost",)
            assert certificate.uris == (UUID_URI,)
            assert certificate.emails == ("robot@shop.example",)

    def test_who_is_nobody_is_left_to_others(self, authority: Authority) -> None:
        made = authority.issue("robot")
        look = ClientCertificateAuthentication().authenticate
        assert look(request_with(made)) is None  # no such user
        user = User.objects.create_user("robot")
        assert look(Request(RequestFactory().post("/"))) is None
        for meta in (
            {"SSL_CLIENT_VERIFY": "NONE"},
            {"SSL_CLIENT_VERIFY": "FAILED:expired"},
            {"SSL_CLIENT_CERT": ""},
            {"SSL_CLIENT_CERT": "nonsense"},
        ):
            assert look(request_with(made, **meta)) is None
        assert ByUri().authenticate(request_with(made)) is None  # has no such name
        user.is_active = False
        user.save()
        with pytest.raises(AuthenticationFailed):
            look(request_with(made))

    def test_headers_are_no_certificate(self, authority: Authority) -> None:
        User.objects.create_user("robot")
        text = authority.issue("robot").certificate.read_text().replace("\n", " ")
        sent = RequestFactory().post("/", headers={"SSL-Client-Verify": "SUCCESS", "SSL-Client-Cert": text})
        assert ClientCertificateAuthentication().authenticate(Request(sent)) is None


@pytest.mark.usefixtures("echo")
async def test_over_grpc(serve: Any, authority: Authority, pair: Pair, callers: Callers, settings: Any) -> None:
    """The certificate is the caller, and metadata cannot put another one in its place."""
    settings.A2A = {"AUTHENTICATION_CLASSES": [CERTIFICATES, KEYS]}
    live = await serve(credentials=tls(pair.certificate, pair.key, authority.certificate))
    users = {name: await User.objects.acreate(username=name) for name in ("robot", "alice")}
    robot = callers.secure(live, authority, authority.issue("robot"))
    unknown = callers.secure(live, authority, authority.issue("unknown"))
    task = (await robot.SendMessage(ask("ask"))).task
    assert (await Task.objects.aget(pk=task.id)).owner == str(users["robot"].pk)
    assert (await robot.GetTask(a2a_pb2.GetTaskRequest(id=task.id))).id == task.id
    assert (await anext(aiter(robot.SubscribeToTask(a2a_pb2.SubscribeToTaskRequest(id=task.id))))).task.id == task.id
    pem = authority.issue("robot").certificate.read_text().replace("\n", "")
    for metadata in (
        (),
        (("ssl-client-verify", "SUCCESS"), ("ssl-client-cert", pem), ("ssl-client-s-dn-cn", "robot")),
        (("x509-common-name", "robot"),),
    ):
        refused = await refusal(unknown.GetTask(a2a_pb2.GetTaskRequest(id=task.id), metadata=metadata))
        assert (refused.code, refused.trailing["www-authenticate"]) == ("UNAUTHENTICATED", "Bearer")
    # Who has a certificate of no user may show other credentials.
    __, key = await sync_to_async(create_api_key)(users["alice"])
    own = (await unknown.SendMessage(ask("x"), metadata=(("x-api-key", key),))).task
    assert (await Task.objects.aget(pk=own.id)).owner == str(users["alice"].pk)


@pytest.mark.usefixtures("echo")
async def test_a_server_without_client_certificates(
    serve: Any, authority: Authority, pair: Pair, callers: Callers, settings: Any
) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [CERTIFICATES]}
    await User.objects.acreate(username="robot")
    encrypted, plain = await serve(credentials=tls(pair.certificate, pair.key)), await serve()
    for stub in (callers.secure(encrypted, authority, authority.issue("robot")), callers.plain(plain)):
        assert (await refusal(stub.ListTasks(a2a_pb2.ListTasksRequest()))).code == "UNAUTHENTICATED"


def test_the_card_says_so(settings: Any, echo: Agent) -> None:
    settings.A2A = {"AUTHENTICATION_CLASSES": [CERTIFICATES]}
    card = build_card(echo, CardBase("https://shop.example", "/a2a"))
    assert list(card["securitySchemes"]["mtls"]) == ["mtlsSecurityScheme"]
    assert card["securityRequirements"] == [{"schemes": {"mtls": {}}}]
