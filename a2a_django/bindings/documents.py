"""What the public documents of a site share: their verbs, that nobody fetches twice what has not changed (D-26), and
which other sites' pages may read them.

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

#: What a browser asks before it sends a request with headers of its own, and how long it may keep the answer.
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": ", ".join(_ALLOW),
    "Access-Control-Allow-Headers": "A2A-Version, A2A-Extensions, If-None-Match",
    "Access-Control-Max-Age": "86400",
}
_EXPOSED: Final = {"Access-Control-Expose-Headers": "ETag"}


@dataclass(frozen=True, slots=True)
class Document:
    """A document; ``version`` is what tells it from others where bodies that say the same may differ, else b""."""

    body: bytes
    version: bytes = b""


async def answer(
    method: str, headers: Mapping[str, str], make: Callable[[], Awaitable[Document]], *, vary: str = ""
) -> Answer:
    """Answer a request for the document that ``make`` returns, as JSON; ``vary`` names a header it depends on.

    Never raises but for cancellation. What Accept says does not matter: there is only one form.
    """
    try:
        if method == "OPTIONS":
            allow = {"Allow": ", ".join(_ALLOW), "Content-Type": "text/plain"}
            return Answer(200, allow | _cross_origin(headers, _PREFLIGHT), b"")
        if method not in _ALLOW:
            raise MethodNotAllowedError(_ALLOW)
        found = _cacheable(await make(), headers)
    except Exception as error:
        found = rest.refuse(error, headers)
    around = _cross_origin(headers, _EXPOSED)
    if varying := ", ".join(filter(None, (vary, around.get("Vary")))):
        around["Vary"] = varying
    if method == "HEAD":
        return Answer(found.status, found.headers | around | {"Content-Length": str(len(found.body))}, b"")
    return Answer(found.status, found.headers | around, found.body)


def _cross_origin(headers: Mapping[str, str], more: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that let pages of other sites read the document, as far as the site wants that."""
    allowed = a2a_settings.CARD_CORS_ORIGINS
    if "*" in allowed:
        return {"Access-Control-Allow-Origin": "*", **more}
    if not allowed:
        return {}
    origin = headers.get("origin", "")
    if origin not in allowed:
        return {"Vary": "Origin"}
    return {"Access-Control-Allow-Origin": origin, "Vary": "Origin", **more}


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
