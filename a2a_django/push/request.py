"""What is sent to a webhook: the body and the headers of one POST (Spec 4.3.3, R-131, R-132, D-12)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

from a2a_django.agents.cards import configured_base
from a2a_django.conf import a2a_settings
from a2a_django.engine import database, snapshots
from a2a_django.files import markers
from a2a_django.files.links import Links
from a2a_django.models import PushConfig
from a2a_django.protocol import tracing
from a2a_django.protocol.versions import V0_3, V1_0
from a2a_django.push import older
from a2a_django.push.signing import headers_for
from a2a_django.push.statements import Delivery, Lost

#: What receivers of 0.3 know, whatever those of 1.0 are sent.
JSON: Final = "application/json"


async def body_of(config: PushConfig, delivery: Delivery) -> bytes:
    """Return the body: the event as a StreamResponse, ASCII-only as it is stored; for a webhook of 0.3 the whole task.

    Raises ``Lost`` when the task is no more, and the webhook with it.
    """
    task = config.task
    if not older.is_old(config):
        return _going_out(delivery.text, task.owner).encode()
    snapshot = await database.read(snapshots.read, task.pk, agent=task.agent, owner=task.owner)
    if snapshot is None:
        raise Lost(config.pk)
    return older.task_text(_going_out(snapshot.text, task.owner)).encode()


def _going_out(text: str, owner: str) -> str:
    """Return a text with addresses for stored parts. Raises ``ImproperlyConfigured`` where the site does not know its
    own."""
    if markers.SIGN not in text:
        return text
    return Links(configured_base().endpoint, owner).resolved(text)


def headers_of(
    config: PushConfig, secrets: Mapping[str, str], delivery: Delivery, body: bytes, traceparent: str
) -> dict[str, str]:
    """Return the headers; a scheme without credentials sends no Authorization."""
    token = secrets.get("token", "")
    old = older.is_old(config)
    headers = {
        "Content-Type": JSON if old else a2a_settings.PUSH_MEDIA_TYPE,
        "A2A-Version": V0_3 if old else V1_0,
    }
    if config.scheme and secrets.get("credentials"):
        headers["Authorization"] = f"{config.scheme} {secrets['credentials']}"
    if token:
        headers["X-A2A-Notification-Token"] = headers["A2A-Notification-Token"] = token
    if traceparent:
        headers[tracing.NAME] = traceparent
    return headers | headers_for(config.url, body, config.task_id, token=token, now=time.time())
