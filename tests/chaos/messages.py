"""The messages that clients send."""

from __future__ import annotations

import uuid

from tests.chaos.doors import Json


def params(slug: str, text: str, *, task_id: str = "", context_id: str = "", configuration: Json | None = None) -> Json:
    """Return the parameters of a SendMessage, the text made unique by a mark behind it."""
    message_id = uuid.uuid4().hex
    message: Json = {"messageId": message_id, "role": "ROLE_USER", "parts": [{"text": f"{text} #{message_id}"}]}
    if task_id:
        message["taskId"] = task_id
    if context_id:
        message["contextId"] = context_id
    found: Json = {"tenant": slug, "message": message}
    return {**found, "configuration": configuration} if configuration else found
