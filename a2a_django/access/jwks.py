"""The public keys of an OpenID Connect issuer: fetched, kept, and fetched again when they change.

Invariants: an issuer is asked at most once in ``REFETCH_SECONDS`` and by one thread at a time, whatever tokens are sent
here; what it answers is bounded in size and time; keys that are known go on being used while it does not answer, for a
day at most.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from joserfc.errors import JoseError
from joserfc.jwk import Key, import_key

logger = logging.getLogger("a2a_django.access")

#: After so long keys are fetched anew, so that one that was withdrawn is used no longer.
FRESH_SECONDS: Final = 3600
#: So long keys are used when the issuer does not answer.
STALE_SECONDS: Final = 86_400
#: An issuer is not asked more often than this.
REFETCH_SECONDS: Final = 30
#: So long a thread waits for another one that is asking.
WAIT_SECONDS: Final = 1.0
#: Seconds that one answer may take as a whole, and its largest size.
FETCH_SECONDS: Final = 5.0
FETCH_BYTES: Final = 256 * 1024
MAX_KEYS: Final = 100

DISCOVERY: Final = "/.well-known/openid-configuration"

#: The type of key that goes with the beginning of an algorithm's name.
KEY_TYPES: Final = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}


class KeysUnavailable(Exception):
    """The issuer does not answer, so nobody can say whether a token is good."""


class KeySource:
    """The keys of one issuer. ``url`` is where they are, None: where its discovery document says.

    ``allow_http`` is for tests and trials: without TLS anybody on the way can put in a key of their own.
    """

    def __init__(self, issuer: str, url: str | None = None, *, allow_http: bool = False) -> None:
        self.issuer = issuer
        self._url = url
        self._allow_http = allow_http
        self._lock = threading.Lock()
        self._keys: tuple[Key, ...] = ()
        #: When they were fetched, and when that was tried last; whether that failed.
        self._fetched = self._tried = float("-inf")
        self._failed = False

    def find(self, kid: str | None, algorithm: str) -> Key | None:
        """Return the key for a token, None when the issuer has none of that id and kind.

        A token without ``kid`` is for the only key of its kind. Raises ``KeysUnavailable``.
        """
        found = self._among(kid, algorithm)
        age = time.monotonic() - self._fetched
        if found is not None and age < FRESH_SECONDS:
            return found
        if found is not None and age < STALE_SECONDS:
            # One thread looks for news; the others do not wait for it.
            if self._lock.acquire(blocking=False):
                try:
                    self._refresh()
                finally:
                    self._lock.release()
            return self._among(kid, algorithm)
        # Whoever makes up key ids must not hold all threads while an issuer is slow.
        if not self._lock.acquire(timeout=WAIT_SECONDS):
            raise KeysUnavailable(self.issuer)
        try:
            self._refresh()  # does nothing when another thread has just done it
            found, age = self._among(kid, algorithm), time.monotonic() - self._fetched
            if age >= STALE_SECONDS or (self._failed and found is None):
                raise KeysUnavailable(self.issuer)
            return found
        finally:
            self._lock.release()

    def _among(self, kid: str | None, algorithm: str) -> Key | None:
        kind = KEY_TYPES[algorithm[:2]]
        fitting = [key for key in self._keys if key.key_type == kind and key.get("alg") in (None, algorithm)]
        if kid is not None:
            fitting = [key for key in fitting if key.get("kid") == kid]
        return fitting[0] if len(fitting) == 1 or (fitting and kid is not None) else None

    def _refresh(self) -> None:
        """Fetch the keys, unless that was tried a moment ago. The lock is held."""
        now = time.monotonic()
        if now - self._tried < REFETCH_SECONDS:
            return
        self._tried = now
        try:
            keys = tuple(self._fetch())
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            self._failed = True
            logger.warning("The keys of %s could not be fetched: %r", self.issuer, error)
            return
        self._failed = False
        self._keys, self._fetched = keys, time.monotonic()

    def _fetch(self) -> Iterator[Key]:
        url = self._url
        if url is None:
            document = self._get(self.issuer.rstrip("/") + DISCOVERY)
            if document.get("issuer") != self.issuer:
                raise ValueError(f"its discovery document is that of {str(document.get('issuer'))[:200]!r}")
            url = document.get("jwks_uri")
            if not isinstance(url, str):
                raise ValueError("its discovery document has no jwks_uri")
        keys = self._get(url).get("keys")
        if not isinstance(keys, list) or len(keys) > MAX_KEYS:
            raise ValueError("what it gives are no keys")
        for each in keys:
            # Keys of other kinds may stand there too (RFC 7517, 5): those for encryption, and such that nobody knows.
            if isinstance(each, dict) and each.get("kty") in KEY_TYPES.values() and each.get("use", "sig") == "sig":
                with contextlib.suppress(JoseError, ValueError, TypeError, KeyError):
                    yield import_key(each)

    def _get(self, url: str) -> dict[str, Any]:
        """Return the JSON object at an address. Raises ``OSError``, ``HTTPException`` or ``ValueError``."""
        schemes: Sequence[str] = ("https", "http") if self._allow_http else ("https",)
        if urlsplit(url).scheme not in schemes:
            raise ValueError(f"{url[:200]!r} is not https")
        end = time.monotonic() + FETCH_SECONDS
        request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - the scheme is checked above
        body = b""
        with build_opener(_NoRedirects).open(request, timeout=FETCH_SECONDS) as response:
            while piece := response.read1(65_536):
                body += piece
                if len(body) > FETCH_BYTES:
                    raise ValueError(f"more than {FETCH_BYTES} bytes at {url[:200]!r}")
                if time.monotonic() > end:
                    raise TimeoutError(f"{url[:200]!r} takes too long")
        found = json.loads(body)
        if not isinstance(found, dict):
            raise ValueError(f"no JSON object at {url[:200]!r}")
        return found


class _NoRedirects(HTTPRedirectHandler):
    """Keys are where they are said to be, and nowhere else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Return None: the answer is an error then."""
        return
