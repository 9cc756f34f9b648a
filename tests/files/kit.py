"""Large parts, and those who fetch them."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.db import connections

from a2a_django.models import Task
from a2a_django.protocol.changes import ArtifactChunk
from tests.bindings.asgi import AsgiCall
from tests.push.kit import until

#: Bytes that are more than ``LARGE``, all of them different ones.
DATA = bytes(range(256)) * 40


def raw(data: bytes = DATA, **members: Any) -> dict[str, Any]:
    """A part with bytes."""
    return {"raw": base64.b64encode(data).decode(), **members}


def part_chunk(task: Task, part: dict[str, Any]) -> ArtifactChunk:
    """A piece of an artifact with this part, as an agent hands it in."""
    artifact = {"artifactId": "a", "parts": [part]}
    return ArtifactChunk.of(task.pk, task.context_id, artifact, append=False, last_chunk=True)


def urls_in(value: Any) -> list[str]:
    """The addresses of stored parts in an answer."""
    return re.findall(r"\"(https?://[^\"]*/files/[^\"]*)\"", value if isinstance(value, str) else json.dumps(value))


def markers_in(value: Any) -> bool:
    """Whether there is anything in an answer that nobody may see."""
    return "a2a-file" in json.dumps(value)


async def wait_for(condition: Callable[[], Any]) -> Any:
    """Wait for a condition without holding up the loop; its thread leaves no connection behind."""

    def wait() -> Any:
        try:
            return until(condition)
        finally:
            connections.close_all()

    return await asyncio.to_thread(wait)


class Fetched:
    """What came of a request for a file."""

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body


async def fetch(application: Any, url: str, method: str = "GET", **headers: str) -> Fetched:
    """Ask a site for a file."""
    parts = urlsplit(url)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    async with AsgiCall(application, method, parts.path, query=parts.query, headers=sent) as call:
        status, found = await call.head()
        return Fetched(status, found, await call.body())
