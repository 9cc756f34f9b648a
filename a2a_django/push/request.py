"""What is sent to a webhook: the body and the headers of one POST (Spec 4.3.3, R-131, R-132, D-12)."""

from __future__ import annotations

import time
from collections.abc import Mapping

from a2a_django.conf import a2a_settings
from a2a_django.models import PushConfig
from a2a_django.push.signing import headers_for
from a2a_django.push.statements import Delivery


def body_of(config: PushConfig, delivery: Delivery) -> bytes:
    """Return the body: the event as a StreamResponse, ASCII-only as it is stored."""
    return delivery.text.encode()


def headers_of(config: PushConfig, secrets: Mapping[str, str], delivery: Delivery, body: bytes) -> dict[str, str]:
    """Return the headers; a scheme without credentials sends no Authorization."""
    token = secrets.get("token", "")
    headers = {
        "Content-Type": a2a_settings.PUSH_MEDIA_TYPE,
        "A2A-Version": config.protocol_version,
        "User-Agent": "a2a-django",
    }
    if config.scheme and secrets.get("credentials"):
        headers["Authorization"] = f"{config.scheme} {secrets['credentials']}"
    if token:
        headers["X-A2A-Notification-Token"] = headers["A2A-Notification-Token"] = token
    if config.task.traceparent:
        headers["traceparent"] = config.task.traceparent
    return headers | headers_for(config.url, body, config.task_id, token=token, now=time.time())
