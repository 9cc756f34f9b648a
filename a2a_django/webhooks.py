"""For Django sites that receive notifications: is this one from whom it should be, new and unchanged? (R-139 to R-141)

.. code-block:: python

    @csrf_exempt
    @require_POST
    def hook(request):
        try:
            notification = verify(request, token=settings.HOOK_TOKEN)
        except InvalidNotification as error:
            return HttpResponse(status=error.status)
        ...

Nothing here needs a server of this package on the other side, but for the signatures that ``a2a_django.push.signing``
makes. Notifications are delivered at least once: the same may come again, and a view has to bear that (R-138).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeGuard
from urllib.parse import urlsplit

from asgiref.sync import sync_to_async
from django.core.cache import caches
from django.http import HttpRequest
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import Key, import_key

from a2a_django.access.jwks import KeySource, KeysUnavailable
from a2a_django.bindings.views.carrier import read_body
from a2a_django.protocol import codec
from a2a_django.protocol.errors import A2AError, RequestTooLargeError
from a2a_django.protocol.wire import Wire
from a2a_django.push.signing import HMAC_HEADER, JWT_HEADER, TIMESTAMP_HEADER, hash_of, hmac_of
from a2a_django.signing import ALGORITHM

__all__ = ["InvalidNotification", "Notification", "averify", "verify"]

#: The headers in which servers send the token of a config (D-12).
TOKEN_HEADERS: Final = ("X-A2A-Notification-Token", "A2A-Notification-Token")

#: Seconds by which the clocks of sender and receiver may differ.
LEEWAY: Final = 60

#: Seconds since 1970; no time of a signature is beyond these thirty thousand years.
_LATEST: Final = 10**12

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class Notification:
    """What a webhook was told.

    ``event`` is a StreamResponse in canonical ProtoJSON; ``kind`` its one member ("task", "message", "statusUpdate" or
    "artifactUpdate") and ``payload`` the value of that. ``claims`` are those of the signed token, None without one.
    """

    event: Wire
    claims: Mapping[str, Any] | None = None

    @property
    def kind(self) -> str:
        """Which kind of event it is."""
        return next(iter(self.event))

    @property
    def payload(self) -> Wire:
        """The event itself."""
        found: Wire = self.event[self.kind]
        return found

    @property
    def task_id(self) -> str:
        """The task it is about, "" for a message without one. Check that it is a task of yours (R-139)."""
        found: str = self.payload.get("id" if self.kind == "task" else "taskId", "")
        return found


class InvalidNotification(Exception):
    """A request that is no notification, or not proven to be one; ``status`` is what to answer.

    400: it is no StreamResponse; 403: a proof is missing or wrong; 413: too large; 503: the sender's keys cannot be
    fetched now, so let it try again. The message is for logs; it holds nothing secret.
    """

    def __init__(self, message: str, status: int = 403) -> None:
        super().__init__(message)
        self.status = status


def verify(
    request: HttpRequest,
    *,
    token: str | None = None,
    jwks: Mapping[str, Any] | None = None,
    jwks_url: str | None = None,
    issuer: str | None = None,
    audience: str | None = None,
    max_age: float = 300,
    replay_cache: str | None = None,
) -> Notification:
    """Return what a request notifies of, once its proofs are found good. Blocking: see ``averify``.

    ``token`` is the one that was registered with the config: the request has to have it in its header, or an HMAC under
    it; of what is there everything has to be right.

    ``jwks`` (a JSON Web Key Set) or ``jwks_url`` (where it is; https, or http on this machine): the request has to have
    a token signed by one of these keys for this body and for ``audience``: the URL that was registered, by default the
    one of the request. ``issuer``, if given, is who has to have signed: the ``BASE_URL`` of the sending site.

    What is signed may be ``max_age`` seconds old. ``replay_cache`` is the alias of a Django cache, shared by all
    processes, in which the ids of signed tokens are remembered so that none is taken twice.

    Raises ``InvalidNotification``, and ``ValueError`` when neither a token nor keys are given, or a replay cache
    without keys. The body may be as large as ``A2A["MAX_BODY_BYTES"]``; ``request.body`` is there afterwards.
    """
    if jwks is not None and jwks_url is not None:
        raise ValueError("Give jwks or jwks_url, not both")
    with_keys = jwks is not None or jwks_url is not None
    if not token and not with_keys:
        raise ValueError("There is nothing to check: give a token, or jwks or jwks_url")
    if replay_cache is not None and not with_keys:
        raise ValueError("Only signed tokens have an id to be remembered: a replay_cache needs jwks or jwks_url")
    body = _body_of(request)
    now = time.time()
    if token:
        _check_token(request, token, body, now, max_age)
    claims: Mapping[str, Any] | None = None
    if with_keys:
        claims = _signed_claims(request, _Keys(jwks, jwks_url))
        _check_claims(claims, body, now, max_age, audience or request.build_absolute_uri(), issuer)
    notification = Notification(_event_of(body), claims)
    if claims is not None:
        if notification.task_id not in ("", claims.get("task_id")):
            raise InvalidNotification("The signed token is for another task")
        if replay_cache is not None:
            _check_replay(replay_cache, claims, max_age)
    return notification


async def averify(request: HttpRequest, **options: Any) -> Notification:
    """``verify`` for asynchronous views; it runs in a thread, since it may have to fetch keys."""
    return await sync_to_async(verify)(request, **options)


def _body_of(request: HttpRequest) -> bytes:
    # Not request.body: Django's own limit is made for forms, and events with files are larger.
    try:
        body = read_body(request)
    except RequestTooLargeError as error:
        raise InvalidNotification(str(error), 413) from None
    except A2AError as error:
        raise InvalidNotification(str(error), 400) from None
    request._body = body
    return body


def _event_of(body: bytes) -> Wire:
    try:
        return codec.decode("StreamResponse", codec.parse_json(body))
    except A2AError as error:
        raise InvalidNotification(f"The body is no StreamResponse: {error}", 400) from None


# -- the token of the config


def _check_token(request: HttpRequest, token: str, body: bytes, now: float, max_age: float) -> None:
    given = [request.headers[name] for name in TOKEN_HEADERS if name in request.headers]
    signature = request.headers.get(HMAC_HEADER)
    if not given and signature is None:
        raise InvalidNotification("The request has neither the token nor a signature under it")
    if not all(_same(each, token) or _same(_as_sent(each), token) for each in given):
        raise InvalidNotification("The request has another token")
    if signature is not None:
        timestamp = request.headers.get(TIMESTAMP_HEADER, "")
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= len(str(_LATEST))):
            raise InvalidNotification("The signature has no timestamp")
        if not _same(signature, hmac_of(token, timestamp, body)):
            raise InvalidNotification("The signature is not that of this request")
        _check_age(int(timestamp), now, max_age)


def _as_sent(header: str) -> str:
    """Return the text of a header that was sent in UTF-8, which Django takes for ISO 8859-1, as PEP 3333 has it."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header


def _same(one: str, other: str) -> bool:
    # Digests, so that the time tells nothing of the length either.
    return hmac.compare_digest(
        *(hashlib.sha256(each.encode("utf-8", "surrogatepass")).digest() for each in (one, other))
    )


def _check_age(signed_at: float, now: float, max_age: float) -> None:
    if not -LEEWAY <= now - signed_at <= max_age:
        raise InvalidNotification("The signature is too old, or comes from the future")


# -- the signed token


class _Keys:
    """Finds the key that a signed token names."""

    def __init__(self, jwks: Mapping[str, Any] | None, url: str | None) -> None:
        self._jwks = jwks
        self._url = url

    def __call__(self, token: Any) -> Key:
        """Return the key. Raises ``InvalidNotification``."""
        kid = token.headers().get("kid")
        found = _find(self._jwks, kid) if self._url is None else _fetched(self._url, kid)
        if found is None:
            raise InvalidNotification("The signed token names a key that its sender does not have")
        return found


def _find(jwks: Mapping[str, Any] | None, kid: str | None) -> Key | None:
    for each in (jwks or {}).get("keys", ()):
        if each.get("kid") == kid and each.get("crv") == "P-256":
            return import_key(each)
    return None


def _fetched(url: str, kid: str | None) -> Key | None:
    try:
        return _source(url).find(kid, ALGORITHM)
    except KeysUnavailable:
        raise InvalidNotification("The keys of the sender cannot be fetched", 503) from None


@lru_cache(maxsize=256)
def _source(url: str) -> KeySource:
    return KeySource(url, url, allow_http=urlsplit(url).hostname in _LOOPBACK)


def _signed_claims(request: HttpRequest, keys: _Keys) -> Mapping[str, Any]:
    token = request.headers.get(JWT_HEADER)
    if token is None:
        raise InvalidNotification("The request has no signed token")
    try:
        payload = jws.deserialize_compact(token, keys, algorithms=[ALGORITHM]).payload
        claims = json.loads(payload)
    except (JoseError, ValueError, TypeError, RecursionError):
        raise InvalidNotification("The signed token is not good") from None
    if not isinstance(claims, dict):
        raise InvalidNotification("The signed token says nothing")
    return claims


def _check_claims(
    claims: Mapping[str, Any], body: bytes, now: float, max_age: float, audience: str, issuer: str | None
) -> None:
    """Check what a token says (RFC 7519, 4.1). Raises ``InvalidNotification``."""
    issued, expires = claims.get("iat"), claims.get("exp")
    if not _is_time(issued) or not _is_time(expires):
        raise InvalidNotification("The signed token does not say when it is good")
    _check_age(issued, now, max_age)
    if now >= expires + LEEWAY:
        raise InvalidNotification("The signed token has expired")
    given = claims.get("aud")
    if audience not in (given if isinstance(given, list) else [given]):
        raise InvalidNotification("The signed token is for another webhook")
    if issuer is not None and str(claims.get("iss")).rstrip("/") != issuer.rstrip("/"):
        raise InvalidNotification("The signed token is from somebody else")
    if not _same(str(claims.get("request_body_sha256")), hash_of(body)):
        raise InvalidNotification("The signed token is for another body")


def _is_time(value: Any) -> TypeGuard[float]:
    # Neither NaN nor a number with thousands of digits is between these.
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LATEST


def _check_replay(alias: str, claims: Mapping[str, Any], max_age: float) -> None:
    jti = claims.get("jti")
    if not isinstance(jti, str) or not jti:
        raise InvalidNotification("The signed token has no id")
    name = hash_of(f"{claims.get('iss')}\n{jti}".encode())
    # For as long as the token could be taken again.
    if not caches[alias].add(f"a2a_django.webhooks.{name}", True, timeout=max_age + 2 * LEEWAY):
        raise InvalidNotification("This notification has been here before")
