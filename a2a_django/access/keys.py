"""API keys: how other companies' agents identify themselves.

The text of a key is ``<prefix>.<secret>``. The prefix finds the row and may be shown; of the whole only a SHA-256
digest is kept, which is enough for a secret that is random and not a word (256 bits).

A key that was found good is remembered for ``A2A["API_KEY_CACHE_SECONDS"]`` in this process, so that a busy caller
costs no query a call. So a key that is revoked, or a user who is made inactive, may go on calling for so long; in the
process that saves the change it ends at once.
"""

from __future__ import annotations

import copy
import datetime as dt
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from django.conf import settings
from django.db import DatabaseError
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from a2a_django.conf import a2a_settings
from a2a_django.models import APIKey
from a2a_django.protocol.errors import PermissionDeniedError
from a2a_django.protocol.wire import Wire

logger = logging.getLogger("a2a_django")

#: What can be a key of ours. JSON web tokens have two dots, so they are left to other authenticators.
SHAPE: Final = re.compile(r"(?P<prefix>[A-Za-z0-9_-]{1,16})\.[A-Za-z0-9_~+/=-]{1,200}", re.ASCII)

#: ``last_used_at`` is for people; written more often it would only cost.
USED_EVERY: Final = dt.timedelta(minutes=1)


def create_api_key(
    user: Any,
    name: str = "",
    key: str | None = None,
    *,
    scopes: Iterable[str] = (),
    agents: Iterable[str] = (),
    expires_at: dt.datetime | None = None,
) -> tuple[APIKey, str]:
    """Make a key for ``user``; return its row and its text, which cannot be had again.

    ``scopes`` is what the permission ``HasScope`` looks at; with ``agents`` the key is for the agents with these slugs
    only. ``key`` is a text of your own, for tests and trials: ``ValueError`` when it has not the shape of a key,
    ``IntegrityError`` when there is one with its prefix.
    """
    text = key if key is not None else f"{secrets.token_hex(6)}.{secrets.token_urlsafe(32)}"
    shape = SHAPE.fullmatch(text)
    if shape is None:
        raise ValueError("A key has the form <prefix>.<secret>, the prefix with at most 16 letters, digits, - and _")
    row = APIKey.objects.create(
        user=user,
        name=name,
        prefix=shape["prefix"],
        digest=_digest(text),
        scopes=list(scopes),
        agents=list(agents),
        expires_at=expires_at,
    )
    return row, text


def revoke_api_key(prefix: str) -> APIKey:
    """Revoke the key with a prefix, for good, and return its row. Raises ``APIKey.DoesNotExist``.

    Other processes take it for ``A2A["API_KEY_CACHE_SECONDS"]`` longer.
    """
    key = APIKey.objects.select_related("user").get(prefix=prefix)
    if key.revoked_at is None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
    return key


def check_agent(auth: Any, slug: str) -> None:
    """Raise ``PermissionDeniedError`` when the credentials are a key that is for other agents."""
    if isinstance(auth, APIKey) and auth.agents and slug not in auth.agents:
        raise PermissionDeniedError("The API key is not for this agent")


class APIKeyAuthentication(BaseAuthentication):
    """Reads ``Authorization: Bearer <key>`` and ``X-API-Key: <key>``; ``request.auth`` is then the ``APIKey`` row."""

    #: How the card declares it (R-249).
    security_scheme: ClassVar[tuple[str, Wire]] = (
        "bearer",
        {"httpAuthSecurityScheme": {"description": "An API key of this site", "scheme": "Bearer"}},
    )

    def authenticate(self, request: Request) -> tuple[Any, APIKey] | None:
        """Return user and key; None when the request has no key of ours, so that other authenticators may look.

        Raises ``AuthenticationFailed`` for a key that is unknown, revoked or expired, and for inactive users; the
        answer does not say which.
        """
        text = _key_in(request.META)
        if text is None:
            return None
        found = _known.get(text) or _look_up(text)
        if found is None:
            raise AuthenticationFailed("Invalid API key")
        return found

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return "Bearer"

    @staticmethod
    def remembered(request: HttpRequest) -> tuple[Any, APIKey] | None:
        """Return user and key when they are known without asking the database; this never blocks."""
        text = _key_in(request.META)
        return None if text is None else _known.get(text)


def _key_in(meta: Mapping[str, Any]) -> str | None:
    scheme, __, text = str(meta.get("HTTP_AUTHORIZATION", "")).strip().partition(" ")
    text = text.strip()
    if scheme.lower() == "bearer" and SHAPE.fullmatch(text):
        return text
    return meta.get("HTTP_X_API_KEY") or None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _look_up(text: str) -> tuple[Any, APIKey] | None:
    shape = SHAPE.fullmatch(text)
    if shape is None:
        return None
    key = APIKey.objects.select_related("user").filter(prefix=shape["prefix"]).first()
    if key is None or not hmac.compare_digest(key.digest, _digest(text)):
        return None
    now = timezone.now()
    if not key.is_usable(now) or not key.user.is_active:
        return None
    if key.last_used_at is None or now - key.last_used_at >= USED_EVERY:
        _note_use(key, now)
    left = a2a_settings.API_KEY_CACHE_SECONDS
    if key.expires_at is not None:
        left = min(left, (key.expires_at - now).total_seconds())
    _known.put(text, key, left)
    return key.user, key


def _note_use(key: APIKey, now: dt.datetime) -> None:
    try:
        APIKey.objects.filter(pk=key.pk).update(last_used_at=now)
    except DatabaseError:
        # A caller is not turned away because a note for people could not be made.
        logger.warning("Could not note the use of API key %s", key.prefix, exc_info=True)
    else:
        key.last_used_at = now


class _Known:
    """Keys found good a moment ago, by digest. Good for some seconds and bounded."""

    LIMIT: Final = 1000

    def __init__(self) -> None:
        self._entries: dict[str, tuple[float, APIKey]] = {}

    def get(self, text: str) -> tuple[Any, APIKey] | None:
        """Return user and key if remembered. The user is a copy: requests run side by side and must not share one."""
        entry = self._entries.get(_digest(text))
        if entry is None or entry[0] <= time.monotonic():
            return None
        return copy.copy(entry[1].user), entry[1]

    def put(self, text: str, key: APIKey, seconds: float) -> None:
        """Remember a key for some seconds."""
        if seconds <= 0:
            return
        if len(self._entries) >= self.LIMIT:
            self._entries.clear()
        self._entries[_digest(text)] = (time.monotonic() + seconds, key)

    def forget(self, **kwargs: Any) -> None:
        """Forget all keys; a receiver of the signals that tell that a key or a user has changed."""
        self._entries.clear()


_known = _Known()

for _signal in (post_save, post_delete):
    for _sender in (APIKey, settings.AUTH_USER_MODEL):
        _signal.connect(_known.forget, sender=_sender, dispatch_uid=f"a2a_django.keys.{_sender}")
