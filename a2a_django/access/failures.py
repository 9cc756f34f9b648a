"""Callers who are turned away: one line in the log for each, and a limit to how often one address may try.

Invariants: a line holds no credentials and no line breaks of the caller's. Only requests with credentials count and are
slowed. Credentials that were good in this process a while ago are never slowed: behind a proxy or in one office many
callers share an address, and one of them must not lock out the others.

The address is ``REMOTE_ADDR``, or where REST framework's ``NUM_PROXIES`` says how many proxies there are, the one that
the outermost of them saw. ``X-Forwarded-For`` alone proves nothing: anybody can send it.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from typing import Any, Final

from django.core.cache import cache
from django.http import HttpRequest
from rest_framework.settings import api_settings

from a2a_django.conf import a2a_settings
from a2a_django.protocol.errors import A2AError, PermissionDeniedError, ThrottledError, UnauthenticatedError

logger = logging.getLogger("a2a_django.access")

WINDOW_SECONDS: Final = 60
#: How long credentials are known to be good, and how many of them.
GOOD_SECONDS: Final = 600
GOOD_LIMIT: Final = 10_000

_HEADERS: Final = ("HTTP_AUTHORIZATION", "HTTP_X_API_KEY")

_good: dict[bytes, float] = {}
_lock = threading.Lock()


def address_of(request: HttpRequest) -> str:
    """Return the address a request comes from, "" where the server does not know it."""
    proxies = api_settings.NUM_PROXIES
    if proxies:
        seen = [each.strip() for each in request.META.get("HTTP_X_FORWARDED_FOR", "").split(",") if each.strip()]
        if seen:
            return str(seen[-min(proxies, len(seen))])
    return str(request.META.get("REMOTE_ADDR") or "")


def admit(request: HttpRequest) -> None:
    """Raise ``ThrottledError`` when too many credentials from this address were wrong within a minute."""
    limit = a2a_settings.AUTH_FAILURES_PER_MINUTE
    digest = _digest(request)
    if not limit or digest is None or _good.get(digest, 0) > time.monotonic():
        return
    address = address_of(request)
    if not address:
        return
    key, left = _window(address)
    try:
        count = cache.get(key, 0)
    except Exception:  # whatever the site's cache raises
        logger.warning("Failed attempts cannot be counted: the cache does not answer", exc_info=True)
        return
    if count >= limit:
        logger.warning("Slowed %r from %s: too many failed attempts", request.path, address)
        raise ThrottledError("Too many failed attempts", retry_after=left)


def note_good(request: HttpRequest) -> None:
    """Remember that the credentials of a request are good."""
    digest = _digest(request)
    if digest is None or not a2a_settings.AUTH_FAILURES_PER_MINUTE:
        return
    with _lock:
        if len(_good) >= GOOD_LIMIT and digest not in _good:
            _good.clear()
        _good[digest] = time.monotonic() + GOOD_SECONDS


def note(request: HttpRequest | None, error: Exception, user: Any = None) -> None:
    """Log that a caller was turned away, and count it when the credentials were wrong."""
    if request is None or not isinstance(error, A2AError):
        return
    address = address_of(request)
    if isinstance(error, PermissionDeniedError):
        who = getattr(user, "pk", None)
        logger.warning("Forbidden: %r from %s, user %r: %r", request.path, address or "-", who, error.message)
    elif isinstance(error, UnauthenticatedError):
        has_credentials = _digest(request) is not None
        # To be asked for credentials is how many a caller begins; to have wrong ones is not.
        level = logging.WARNING if has_credentials else logging.INFO
        logger.log(level, "Unauthenticated: %r from %s: %r", request.path, address or "-", error.message)
        if has_credentials and address and a2a_settings.AUTH_FAILURES_PER_MINUTE:
            _count(address)


def _count(address: str) -> None:
    key, _ = _window(address)
    try:
        cache.add(key, 0, 2 * WINDOW_SECONDS)
        cache.incr(key)
    except Exception:  # whatever the site's cache raises
        logger.warning("Failed attempts cannot be counted: the cache does not answer", exc_info=True)


def _window(address: str) -> tuple[str, int]:
    """Return the name of the counter for this minute, and the seconds until the next one."""
    minute, second = divmod(int(time.time()), WINDOW_SECONDS)
    name = hashlib.sha256(address.encode("utf-8", "replace")).hexdigest()[:32]
    return f"a2a_django.auth_failures.{name}.{minute}", WINDOW_SECONDS - second


def _digest(request: HttpRequest) -> bytes | None:
    """Return a digest of the credentials in the headers of a request, None when there are none."""
    sent = [str(request.META.get(name) or "") for name in _HEADERS]
    if not any(sent):
        return None
    return hashlib.sha256("\0".join(sent).encode("utf-8", "replace")).digest()


def forget() -> None:
    """Forget the credentials that were good."""
    with _lock:
        _good.clear()
