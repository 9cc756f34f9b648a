"""The addresses of the protocol: ``path("", include("a2a_django.urls"))``, at the root or under any prefix.

An agent card is looked for at the root of a site, so there is the best place. Every address below ``a2a/`` belongs to
the protocol: what is unknown there is answered in the protocol's own form, and Django never redirects (D-30).
"""

from __future__ import annotations

from django.urls import path

from a2a_django.bindings.optional import from_optional
from a2a_django.bindings.views import cards, catalogue, files, health, jsonrpc, jwks
from a2a_django.bindings.views.rest import (
    CancelView,
    MessageView,
    PushConfigsView,
    PushConfigView,
    ReadView,
    RestView,
    SubscribeView,
    patterns,
    unknown,
)
from a2a_django.files.links import PATH
from a2a_django.signing import JWKS_PATH

app_name = "a2a_django"

#: The addresses of HTTP+JSON (table A2). Verbs come before the plain ``tasks/<id>``, which would swallow them.
REST: tuple[tuple[str, type[RestView], str], ...] = (
    ("message:send", MessageView, "message-send"),
    ("message:stream", MessageView, "message-stream"),
    ("extendedAgentCard", ReadView, "extended-agent-card"),
    ("tasks", ReadView, "task-list"),
    ("tasks/<str:task_id>:cancel", CancelView, "task-cancel"),
    ("tasks/<str:task_id>:subscribe", SubscribeView, "task-subscribe"),
    ("tasks/<str:task_id>", ReadView, "task-detail"),
    ("tasks/<str:task_id>/pushNotificationConfigs", PushConfigsView, "push-config-list"),
    ("tasks/<str:task_id>/pushNotificationConfigs/<str:config_id>", PushConfigView, "push-config-detail"),
)

urlpatterns = [
    path("a2a/", jsonrpc.view, name="jsonrpc"),
    path("a2a", jsonrpc.view, name="jsonrpc-without-slash"),
    path(".well-known/agent-card.json", cards.view, name="agent-card"),
    path("a2a/<str:tenant>/.well-known/agent-card.json", cards.view, name="tenant-agent-card"),
    path(".well-known/agent-cards", catalogue.view, name="agent-cards"),
    path(f"a2a{JWKS_PATH}", jwks.view, name="jwks"),
    path("a2a/health", health.view, name="health"),
    path(f"a2a{PATH}<uuid:file_id>", files.view, name="file"),  # no path of a tenant has a UUID there
    *from_optional("dialect.urls", "urlpatterns", ()),
    *from_optional("v0_3.urls", "urlpatterns", ()),  # before those of 1.0, because v1 looks like a tenant
    *patterns(REST),
    unknown(r"(?P<rest>(?s:.)+)"),
]
