"""The addresses of HTTP+JSON of version 0.3: behind Django's views, and by them known to the consumers."""

from __future__ import annotations

from django.urls import URLPattern

from a2a_django.bindings.v0_3 import rest
from a2a_django.bindings.views.rest import (
    CancelView,
    MessageView,
    PushConfigsView,
    PushConfigView,
    ReadView,
    SubscribeView,
    patterns,
    unknown,
)

_ROUTES = (
    ("message:send", MessageView, "message-send"),
    ("message:stream", MessageView, "message-stream"),
    ("card", ReadView, "card"),
    ("tasks/<str:task_id>:cancel", CancelView, "task-cancel"),
    ("tasks/<str:task_id>:subscribe", SubscribeView, "task-subscribe"),
    ("tasks/<str:task_id>", ReadView, "task-detail"),
    ("tasks/<str:task_id>/pushNotificationConfigs", PushConfigsView, "push-config-list"),
    ("tasks/<str:task_id>/pushNotificationConfigs/<str:config_id>", PushConfigView, "push-config-detail"),
)

urlpatterns: list[URLPattern] = [
    *patterns(_ROUTES, binding=rest, prefix=f"{rest.PREFIX}/", name="v0-3-"),
    unknown(rf"(?P<rest>{rest.PREFIX}(?:/(?s:.)*)?)", binding=rest, name="v0-3-unknown"),
    unknown(rf"(?P<rest>(?!tasks/)[^/]+/{rest.PREFIX}(?:/(?s:.)*)?)", binding=rest, name="v0-3-tenant-unknown"),
]
