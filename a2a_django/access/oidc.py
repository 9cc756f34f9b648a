"""Bearer tokens of an OpenID Connect issuer: JSON web tokens, checked here with the issuer's public keys.

What a token says of itself decides nothing before its signature is checked, except which issuer's it claims to be: one
of another is left to other authenticators. The algorithm is one of the configured ones, all of them asymmetric.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from django.contrib.auth import get_user_model
from django.core.exceptions import ImproperlyConfigured
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jws import JWSRegistry
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.request import Request

from a2a_django.access.jwks import DISCOVERY, KeySource, KeysUnavailable
from a2a_django.access.scopes import scopes_of
from a2a_django.conf import a2a_settings
from a2a_django.protocol.wire import Wire

#: A JSON web token. A key of ours has one dot, other tokens none.
SHAPE: Final = re.compile(r"[A-Za-z0-9_-]{2,2048}\.[A-Za-z0-9_-]{2,32768}\.[A-Za-z0-9_-]{1,4096}", re.ASCII)

#: With these the key that checks a signature cannot make one.
ALGORITHMS: Final = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"}
)


class IssuerUnavailable(APIException):
    """Nobody can say now whether a token is good. Not 401: the caller should keep the token and try again."""

    status_code = 503
    default_detail = "Tokens cannot be checked at the moment"


@dataclass(frozen=True, slots=True)
class OIDCToken:
    """``request.auth``: a token that was checked. ``expires_at`` is in seconds since 1970."""

    issuer: str
    subject: str
    scopes: frozenset[str]
    expires_at: float
    claims: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class OIDCOptions:
    """The keys of ``A2A["OIDC"]``, in capitals there."""

    issuer: str
    audience: str | Iterable[str]
    algorithms: Iterable[str] = ("RS256", "ES256")
    jwks_url: str | None = None
    leeway: int = 30
    username_claim: str = "sub"
    create_users: bool = False
    allow_http: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> OIDCOptions:
        """Return the options that a setting gives. Raises ``ImproperlyConfigured``, which says what is wrong."""
        unknown = {key for key in given if key != key.upper() or key.lower() not in cls.__slots__}
        if unknown:
            raise ImproperlyConfigured(f"unknown keys: {', '.join(sorted(map(str, unknown)))}")
        missing = {"ISSUER", "AUDIENCE"} - {key for key, value in given.items() if value}
        if missing:
            raise ImproperlyConfigured(f"missing: {', '.join(sorted(missing))}")
        made = cls(**{key.lower(): value for key, value in given.items()})
        if isinstance(made.algorithms, str) or not made.algorithms or not ALGORITHMS.issuperset(made.algorithms):
            raise ImproperlyConfigured(f"ALGORITHMS has to be a list of some of {', '.join(sorted(ALGORITHMS))}")
        if not made.allow_http and any(not url.startswith("https://") for url in (made.issuer, made.jwks_url) if url):
            raise ImproperlyConfigured("ISSUER and JWKS_URL have to be https (ALLOW_HTTP is for trials)")
        return made

    @property
    def audiences(self) -> list[str]:
        """Whom tokens have to be meant for; one of these is enough."""
        return [self.audience] if isinstance(self.audience, str) else list(self.audience)


class OIDCAuthentication(BaseAuthentication):
    """Reads ``Authorization: Bearer <JSON web token>``; ``request.auth`` is then an ``OIDCToken``.

    For a second issuer derive a class with ``options`` of its own; to find users in another way, override ``user_for``.
    """

    #: In the form of ``A2A["OIDC"]``, which is what counts where this is None.
    options: ClassVar[Mapping[str, Any] | None] = None

    @classmethod
    def configured(cls) -> OIDCOptions:
        """Return the options of this class. Raises ``ImproperlyConfigured``."""
        try:
            return OIDCOptions.of(a2a_settings.OIDC if cls.options is None else cls.options)
        except ImproperlyConfigured as error:
            where = 'A2A["OIDC"]' if cls.options is None else f"{cls.__qualname__}.options"
            raise ImproperlyConfigured(f"{where}: {error}") from None

    @classmethod
    def security_scheme(cls) -> tuple[str, Wire]:
        """Return how the card declares it (R-249)."""
        url = cls.configured().issuer.rstrip("/") + DISCOVERY
        return "oidc", {"openIdConnectSecurityScheme": {"openIdConnectUrl": url}}

    def authenticate(self, request: Request) -> tuple[Any, OIDCToken] | None:
        """Return user and token; None when the request has no token of this issuer.

        Raises ``AuthenticationFailed`` for a token that is not good, which does not say why, and ``IssuerUnavailable``
        when that cannot be found out.
        """
        text = _bearer(request)
        if text is None:
            return None
        options = self.configured()
        header, claimed = _unchecked(text)
        if claimed.get("iss") != options.issuer:
            return None
        claims = _checked(text, header, options)
        try:
            expires_at = float(claims["exp"])
        except OverflowError as error:  # more digits than any time has
            raise AuthenticationFailed("Invalid token") from error
        token = OIDCToken(
            issuer=options.issuer,
            subject=str(claims["sub"]),
            scopes=scopes_of(claims),
            expires_at=expires_at,
            claims=claims,
        )
        user = self.user_for(token)
        if user is None or not user.is_active:
            raise AuthenticationFailed("Invalid token")
        return user, token

    def authenticate_header(self, request: Request) -> str:
        """Return the challenge of a 401 answer."""
        return "Bearer"

    def user_for(self, token: OIDCToken) -> Any:
        """Return the user of a token, None when there is none.

        It is the one whose username is the ``USERNAME_CLAIM``; with ``CREATE_USERS`` one is made, without a password.
        Whoever can choose the claim at the issuer can choose whom to be here: that is why it is ``sub`` by default.
        """
        options = self.configured()
        name = token.claims.get(options.username_claim)
        if not isinstance(name, str) or not name:
            return None
        model: Any = get_user_model()
        field = model._meta.get_field(model.USERNAME_FIELD)
        if field.max_length is not None and len(name) > field.max_length:
            return None
        found = model._default_manager.filter(**{model.USERNAME_FIELD: name}).first()
        if found is None and options.create_users:
            found, made = model._default_manager.get_or_create(**{model.USERNAME_FIELD: name})
            if made:
                found.set_unusable_password()
                found.save(update_fields=["password"])
        # Some databases find names that differ in case or accents, and those are somebody else's.
        return found if found is not None and found.get_username() == name else None


def _bearer(request: Request) -> str | None:
    scheme, __, text = str(request.META.get("HTTP_AUTHORIZATION", "")).strip().partition(" ")
    text = text.strip()
    return text if scheme.lower() == "bearer" and SHAPE.fullmatch(text) else None


def _unchecked(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return header and claims as they stand there; empty for what is no JSON web token."""
    found = []
    for part in text.split(".")[:2]:
        try:
            value = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
        except (ValueError, RecursionError):
            value = None
        found.append(value if isinstance(value, dict) else {})
    return found[0], found[1]


def _checked(text: str, header: Mapping[str, Any], options: OIDCOptions) -> dict[str, Any]:
    """Return the claims of a token that is good. Raises ``AuthenticationFailed`` and ``IssuerUnavailable``."""
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in options.algorithms or not isinstance(kid, str | None):
        raise AuthenticationFailed("Invalid token")
    try:
        key = _source(options).find(kid, algorithm)
    except KeysUnavailable as error:
        raise IssuerUnavailable from error
    if key is None:
        raise AuthenticationFailed("Invalid token")
    # Issuers put headers of their own there; critical ones that are not understood are refused all the same.
    registry = JWSRegistry(algorithms=[algorithm], strict_check_header=False)
    registry.max_header_length, registry.max_payload_length, registry.max_signature_length = 2048, 32_768, 4096
    wanted = jwt.JWTClaimsRegistry(
        leeway=options.leeway,
        iss={"essential": True, "value": options.issuer},
        aud={"essential": True, "values": options.audiences},
        exp={"essential": True},
        sub={"essential": True},
    )
    try:
        claims: dict[str, Any] = jwt.decode(text, key, algorithms=[algorithm], registry=registry).claims
        wanted.validate(claims)
    except (JoseError, ValueError, RecursionError, TypeError) as error:
        raise AuthenticationFailed("Invalid token") from error
    return claims


_sources: dict[tuple[str, str | None, bool], KeySource] = {}
_lock = threading.Lock()


def _source(options: OIDCOptions) -> KeySource:
    key = (options.issuer, options.jwks_url, options.allow_http)
    with _lock:
        if key not in _sources:
            _sources[key] = KeySource(options.issuer, options.jwks_url, allow_http=options.allow_http)
        return _sources[key]


def forget_keys() -> None:
    """Forget the keys of all issuers."""
    with _lock:
        _sources.clear()
