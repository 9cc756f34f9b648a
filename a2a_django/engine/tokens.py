"""Page tokens: the place where a page ended, signed together with the caller and the list it belongs to.

So a token cannot be made up, changed, or used on another list.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Final

from django.conf import settings

from a2a_django.protocol.errors import InvalidParamsError

#: Characters of a token; ours are much shorter.
MAX_LENGTH: Final = 200
_SIGNATURE: Final = 16

#: Which list it is: its kind, the agent, the owner, the filters. No part may contain NUL.
Scope = tuple[str, ...]


def write(scope: Scope, place: bytes) -> str:
    """Return the token for a place in a list."""
    return base64.urlsafe_b64encode(_signature(scope, place) + place).decode().rstrip("=")


def read(scope: Scope, token: str) -> bytes:
    """Return the place that a token stands for. Raises ``InvalidParamsError`` for what is no token of this list."""
    wrong = InvalidParamsError.of("page_token", "is not a token of this list")
    if len(token) > MAX_LENGTH or not token.isascii():
        raise wrong
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise wrong from None
    given, place = raw[:_SIGNATURE], raw[_SIGNATURE:]
    if base64.urlsafe_b64encode(raw).decode().rstrip("=") != token or not place:
        raise wrong
    if not hmac.compare_digest(given, _signature(scope, place)):
        raise wrong
    return place


def _signature(scope: Scope, place: bytes) -> bytes:
    key = hashlib.sha256(b"a2a_django.page_token" + settings.SECRET_KEY.encode()).digest()
    signed = "\0".join((*scope, "")).encode() + place
    return hmac.new(key, signed, hashlib.sha256).digest()[:_SIGNATURE]
