"""What proves to a webhook that a notification is this site's and is new (spec 13.2; R-140, R-141).

``A2A["WEBHOOK_SIGNATURES"]`` says which proofs go along:

* ``"jwt"``: a token signed with the site's key, for this webhook, this task and this body. The receiver needs the
  site's public keys and no secret.
* ``"hmac"``: an HMAC-SHA256 of time and body under the config's own token, for receivers without a library.

Both are made for each attempt, so a receiver may refuse what it has seen already without refusing a retry.
``a2a_django.webhooks`` is the other side.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from collections.abc import Mapping
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured

from a2a_django.conf import a2a_settings
from a2a_django.protocol.wire import text_of
from a2a_django.signing import sign_compact

JWT: Final = "jwt"
HMAC: Final = "hmac"
KINDS: Final = frozenset({JWT, HMAC})

JWT_HEADER: Final = "A2A-Notification-JWT"
TIMESTAMP_HEADER: Final = "A2A-Notification-Timestamp"
HMAC_HEADER: Final = "A2A-Notification-Signature"

#: What stands before the hexadecimal digits of an HMAC, so that another kind may come one day.
HMAC_VERSION: Final = "v1="
#: Seconds after which a token is no longer good.
JWT_SECONDS: Final = 300


def headers_for(url: str, body: bytes, task_id: str, *, token: str, now: float) -> dict[str, str]:
    """Return the headers to add to one attempt to deliver ``body`` to ``url``.

    ``token`` is the config's, "" for none (there is no HMAC then); ``now`` the time in seconds since 1970. Raises
    ``ImproperlyConfigured`` when the site has not what a signature needs (check E009 says so).
    """
    kinds = a2a_settings.WEBHOOK_SIGNATURES
    headers: dict[str, str] = {}
    if JWT in kinds:
        claims = claims_for(url, body, task_id, int(now))
        headers[JWT_HEADER] = sign_compact(text_of(claims).encode("ascii"), typ="JWT")
    if HMAC in kinds and token:
        timestamp = str(int(now))
        headers[TIMESTAMP_HEADER] = timestamp
        headers[HMAC_HEADER] = hmac_of(token, timestamp, body)
    return headers


def claims_for(url: str, body: bytes, task_id: str, now: int) -> Mapping[str, Any]:
    """Return what a token says (RFC 7519, 4.1). Raises ``ImproperlyConfigured`` without ``A2A["BASE_URL"]``."""
    if not a2a_settings.BASE_URL:
        raise ImproperlyConfigured('A2A["BASE_URL"] is needed to sign notifications: it is their issuer')
    return {
        "iss": a2a_settings.BASE_URL.rstrip("/"),
        "aud": url,
        "iat": now,
        "exp": now + JWT_SECONDS,
        "jti": str(uuid.uuid4()),
        "task_id": task_id,
        "request_body_sha256": hash_of(body),
    }


def hash_of(body: bytes) -> str:
    """Return the SHA-256 of a body in hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()


def hmac_of(token: str, timestamp: str, body: bytes) -> str:
    """Return the HMAC-SHA256 of ``timestamp``, a dot and ``body`` under ``token``, with its version in front."""
    digest = hmac.digest(token.encode(), timestamp.encode("ascii") + b"." + body, hashlib.sha256)
    return HMAC_VERSION + digest.hex()
