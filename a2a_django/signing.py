"""The site's own keys, with which it signs agent cards and what it sends to webhooks (spec 8.4, 13.2; R-213, D-27).

``A2A["SIGNING_KEYS"]`` lists private keys on the curve P-256. The first signs; the public halves of all stand in the
site's JSON Web Key Set, so a new key is put in front and the old one is left there until nothing that it signed is in
use. The algorithm is ES256 and no other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

from a2a_django.conf import a2a_settings

ALGORITHM: Final = "ES256"
CURVE: Final = "P-256"

#: Where the key set is, below the endpoints (beside the address of JSON-RPC).
JWKS_PATH: Final = "/jwks.json"

#: What a key of the setting that is a text begins with when it names a file.
_FILE: Final = "file:"


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key and its name: the ``kid`` of a JSON web key, else its thumbprint (RFC 7638)."""

    kid: str
    key: ECKey

    def public(self) -> dict[str, Any]:
        """Return the public half as a JSON web key (RFC 7517)."""
        return {**self.key.as_dict(private=False), "kid": self.kid, "use": "sig", "alg": ALGORITHM}


class WrongKeyError(ImproperlyConfigured):
    """A member of ``A2A["SIGNING_KEYS"]`` is no key that can be used; the message says which and why, and not more."""

    def __init__(self, number: int, reason: str) -> None:
        self.number, self.reason = number, reason
        super().__init__(f'A2A["SIGNING_KEYS"]: no. {number} {reason}')


@lru_cache(maxsize=1)
def signing_keys() -> tuple[SigningKey, ...]:
    """Return the keys of the setting, read once per process. Raises ``WrongKeyError``."""
    keys = tuple(read_key(number, given) for number, given in enumerate(a2a_settings.SIGNING_KEYS, start=1))
    kids: set[str] = set()
    for number, key in enumerate(keys, start=1):
        if key.kid in kids:
            raise WrongKeyError(number, f"has the kid of one before it: {key.kid}")
        kids.add(key.kid)
    return keys


def read_key(number: int, given: Any) -> SigningKey:
    """Return the key that a member of the setting is or names; ``number`` is its place. Raises ``WrongKeyError``."""
    if isinstance(given, PathLike):
        return read_key(number, _text_in(number, Path(given)))
    if isinstance(given, str) and given.startswith(_FILE):
        return read_key(number, _text_in(number, Path(given.removeprefix(_FILE).removeprefix("//"))))
    try:
        if isinstance(given, str) and given.lstrip().startswith("{"):
            given = json.loads(given)
        if isinstance(given, Mapping):
            return _from_jwk(given)
        if isinstance(given, str) and "-----BEGIN " in given:
            # In many environment files a line ends with a backslash and an n.
            return _from_pem(given.replace("\\n", "\n"))
    except (ValueError, TypeError, KeyError, JoseError):
        raise WrongKeyError(number, f"is no private key on the curve {CURVE} without a password") from None
    raise WrongKeyError(number, 'has to be a key as PEM or JWK, a path, or "file:" and a path')


def public_jwks() -> dict[str, Any]:
    """Return the public halves of all keys as a JSON Web Key Set. Raises ``WrongKeyError``."""
    return {"keys": [key.public() for key in signing_keys()]}


def sign_compact(payload: bytes, *, typ: str) -> str:
    """Return ``payload`` signed with the first key, as a compact JWS (RFC 7515, 7.1).

    Raises ``WrongKeyError``, and ``ImproperlyConfigured`` when the site has no keys.
    """
    first = _first()
    header = {"alg": ALGORITHM, "kid": first.kid, "typ": typ}
    return jws.serialize_compact(header, payload, first.key, algorithms=[ALGORITHM])


def sign_detached(payload: bytes, **header: str) -> dict[str, str]:
    """Return the signature of ``payload``, which it does not contain: ``{"protected": ..., "signature": ...}``.

    ``header`` are members of the protected header beside alg and kid. Raises as ``sign_compact``.
    """
    first = _first()
    protected = {"alg": ALGORITHM, "kid": first.kid, **header}
    signed: Mapping[str, Any] = jws.serialize_json({"protected": protected}, payload, first.key, algorithms=[ALGORITHM])
    return {"protected": signed["protected"], "signature": signed["signature"]}


def _first() -> SigningKey:
    keys = signing_keys()
    if not keys:
        raise ImproperlyConfigured('A2A["SIGNING_KEYS"] is needed to sign')
    return keys[0]


def _text_in(number: int, path: Path) -> str:
    try:
        text = path.read_text()
    except (OSError, UnicodeError) as error:
        raise WrongKeyError(number, f"cannot be read: {path}: {error}") from None
    if "-----BEGIN " not in text and not text.lstrip().startswith("{"):
        raise WrongKeyError(number, f"is a file without a key as PEM or JWK: {path}")
    return text


def _from_jwk(jwk: Mapping[str, Any]) -> SigningKey:
    if jwk["kty"] != "EC" or jwk.get("use", "sig") != "sig" or jwk.get("alg", ALGORITHM) != ALGORITHM:
        raise ValueError
    # Nothing but the key itself: what else may stand there (key_ops, x5c, ...) is not for this use.
    key = _checked(ECKey.import_key({name: jwk[name] for name in ("kty", "crv", "x", "y", "d")}))
    kid = jwk.get("kid", "")
    if not isinstance(kid, str):
        raise TypeError
    return SigningKey(kid or key.thumbprint(), key)


def _from_pem(text: str) -> SigningKey:
    key = _checked(ECKey.import_key(text))
    return SigningKey(key.thumbprint(), key)


def _checked(key: ECKey) -> ECKey:
    if not key.is_private or key.curve_name != CURVE:
        raise ValueError
    return key


def _on_setting_changed(*, setting: str, **kwargs: Any) -> None:
    if setting == "A2A":
        signing_keys.cache_clear()


setting_changed.connect(_on_setting_changed, dispatch_uid="a2a_django.signing")
