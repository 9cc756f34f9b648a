"""The public agent card over HTTP (spec 8.2, 8.6, 14.3; R-192 to R-196, R-220 to R-222, D-26)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from typing import Final

from django.utils.http import http_date, parse_etags, parse_http_date_safe

from a2a_django.access import resolve_agent
from a2a_django.agents import registry
from a2a_django.agents.cards import CardBase, build_card
from a2a_django.bindings import rest
from a2a_django.bindings.http import JSON, Answer
from a2a_django.conf import a2a_settings
from a2a_django.protocol import codec
from a2a_django.protocol.errors import MethodNotAllowedError, MethodNotFoundError

#: A card comes from code and settings, which are as old as the process.
STARTED: Final = int(time.time())

_ALLOW: Final = ("GET", "HEAD", "OPTIONS")


async def handle(method: str, tenant: str, headers: Mapping[str, str], base: CardBase) -> Answer:
    """Answer a request for the card of a tenant's agent, of the default agent for "" (404 without one).

    Never raises but for cancellation. What Accept says does not matter: there is only one form.
    """
    try:
        if method == "OPTIONS":
            return Answer(200, {"Allow": ", ".join(_ALLOW), "Content-Type": "text/plain"}, b"")
        if method not in _ALLOW:
            raise MethodNotAllowedError(_ALLOW)
        answer = await _card(tenant, headers, base)
    except Exception as error:
        answer = rest.refuse(error, headers)
    if method == "HEAD":
        return Answer(answer.status, answer.headers | {"Content-Length": str(len(answer.body))}, b"")
    return answer


async def _card(tenant: str, headers: Mapping[str, str], base: CardBase) -> Answer:
    agent = await resolve_agent(tenant, in_path=True) if tenant else registry.default()
    if agent is None:
        raise MethodNotFoundError("This site has no default agent")
    body = codec.dumps(build_card(agent, base, tenant=tenant or None)).encode("ascii")
    found = {
        "Content-Type": JSON,
        "Cache-Control": f"public, max-age={a2a_settings.CARD_MAX_AGE}",
        "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        "Last-Modified": http_date(STARTED),
    }
    if _is_fresh(headers, found["ETag"]):
        del found["Content-Type"]
        return Answer(304, found, b"")
    return Answer(200, found, body)


def _is_fresh(headers: Mapping[str, str], etag: str) -> bool:
    """Whether what the caller has is still right; an ETag that it names decides alone (RFC 9110, 13.2.2)."""
    tags = headers.get("if-none-match")
    if tags:
        known = {tag.removeprefix("W/") for tag in parse_etags(tags)}
        return "*" in known or etag in known
    since = headers.get("if-modified-since")
    moment = parse_http_date_safe(since) if since else None
    return moment is not None and moment >= STARTED
