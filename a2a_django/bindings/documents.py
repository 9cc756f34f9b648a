"""What the public documents of a site share: their verbs, and that nobody fetches twice what has not changed (D-26).

They come from code and settings, which are as old as the process, and what the database says of the agents.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.http import http_date, parse_etags, parse_http_date_safe

from a2a_django.agents.directory import directory
from a2a_django.bindings import rest
from a2a_django.bindings.http import JSON, Answer
from a2a_django.conf import a2a_settings
from a2a_django.protocol.errors import MethodNotAllowedError

STARTED: Final = int(time.time())

_ALLOW: Final = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Document:
    """A document; ``version`` is what tells it from others where bodies that say the same may differ, else b""."""

    body: bytes
    version: bytes = b""


async def answer(method: str, headers: Mapping[str, str], make: Callable[[], Awaitable[Document]]) -> Answer:
    """Answer a request for the document that ``make`` returns, as JSON.

    Never raises but for cancellation. What Accept says does not matter: there is only one form.
    """
    try:
        if method == "OPTIONS":
            return Answer(200, {"Allow": ", ".join(_ALLOW), "Content-Type": "text/plain"}, b"")
        if method not in _ALLOW:
            raise MethodNotAllowedError(_ALLOW)
        found = _cacheable(await make(), headers)
    except Exception as error:
        found = rest.refuse(error, headers)
    if method == "HEAD":
        return Answer(found.status, found.headers | {"Content-Length": str(len(found.body))}, b"")
    return found


def _changed() -> int:
    return max(STARTED, directory.changed_at)


def _cacheable(document: Document, headers: Mapping[str, str]) -> Answer:
    tag = f'"{hashlib.sha256(document.version or document.body).hexdigest()[:32]}"'
    found = {
        "Content-Type": JSON,
        "Cache-Control": f"public, max-age={a2a_settings.CARD_MAX_AGE}",
        "ETag": f"W/{tag}" if document.version else tag,
        "Last-Modified": http_date(_changed()),
    }
    if _is_fresh(headers, tag):
        del found["Content-Type"]
        return Answer(304, found, b"")
    return Answer(200, found, document.body)


def _is_fresh(headers: Mapping[str, str], etag: str) -> bool:
    """Whether what the caller has is still right; an ETag that it names decides alone (RFC 9110, 13.2.2)."""
    tags = headers.get("if-none-match")
    if tags:
        known = {tag.removeprefix("W/") for tag in parse_etags(tags)}
        return "*" in known or etag in known
    since = headers.get("if-modified-since")
    moment = parse_http_date_safe(since) if since else None
    return moment is not None and moment >= _changed()
