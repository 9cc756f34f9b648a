"""How callers authenticate, as the card says it: it follows from the site's authenticators and permissions (R-076,
R-250).

An authentication class says it itself with ``security_scheme``: a name and a SecurityScheme in ProtoJSON, or a method
of the class that returns these two. For the well-known classes, which cannot, there is a table here; any other class
that has a challenge is taken for what the challenge says. What is left has no place in a card (W060 says so).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.urls import NoReverseMatch, get_script_prefix, reverse
from django.utils.module_loading import import_string
from rest_framework.permissions import AND, AllowAny
from rest_framework.request import Request

from a2a_django.conf import a2a_settings
from a2a_django.protocol.wire import Wire

if TYPE_CHECKING:
    from a2a_django.agents import Agent
    from a2a_django.agents.cards import CardBase

#: The kinds of schemes for which a requirement may name scopes.
_WITH_SCOPES: Final = frozenset({"oauth2SecurityScheme", "openIdConnectSecurityScheme"})

Scheme = tuple[str, Wire]
Declare = Callable[[type[Any], str], Iterable[Scheme]]


def security_schemes(base: CardBase) -> dict[str, Wire]:
    """Return the schemes of the configured authenticators by name.

    A class may have several, which are alternatives: the protocol has one flow of OAuth in each. Schemes with addresses
    on this site are left out where ``base`` does not know how it is reached.
    """
    found: dict[str, Wire] = {}
    for authenticator in a2a_settings.AUTHENTICATION_CLASSES:
        for name, scheme in schemes_of(authenticator, base.url):
            if scheme not in found.values():
                found[_free(name, found)] = scheme
    return found


def security_requirements(agent: Agent, schemes: dict[str, Wire]) -> list[Wire]:
    """Return what a caller of ``agent`` has to meet, one alternative for each scheme; none when anybody may call.

    The scopes are those that ``HasScope`` asks for, among the site's permissions or the agent's (R-252).
    """
    permissions = [*a2a_settings.PERMISSION_CLASSES, *map(_imported, agent.permissions)]
    if all(each is AllowAny for each in permissions):
        return []
    scopes = list(dict.fromkeys(_scopes(permissions)))
    return [
        {"schemes": {name: {"list": scopes} if scopes and not _WITH_SCOPES.isdisjoint(scheme) else {}}}
        for name, scheme in schemes.items()
    ]


def schemes_of(authenticator: type[Any], url: str) -> list[Scheme]:
    """Return the schemes of one authentication class on the site at ``url``, "" where that is unknown."""
    declared = getattr(authenticator, "security_scheme", None)
    if callable(declared):
        declared = declared()
    if declared:
        name, scheme = declared
        return [(name, scheme)]
    for ancestor in authenticator.__mro__:
        declare = _KNOWN.get(f"{ancestor.__module__}.{ancestor.__qualname__}")
        if declare is not None:
            return list(declare(authenticator, url))
    return list(_by_challenge(authenticator))


def _free(name: str, taken: dict[str, Wire]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _imported(permission: Any) -> Any:
    return import_string(permission) if isinstance(permission, str) else permission


def _scopes(permissions: Iterable[Any]) -> Iterator[str]:
    for permission in permissions:
        if getattr(permission, "operator_class", None) is AND:  # joined by &
            yield from _scopes((permission.op1_class, permission.op2_class))
        else:
            yield from getattr(permission, "required_scopes", ())


# -- the table


def _basic(authenticator: type[Any], url: str) -> Iterator[Scheme]:
    yield "basic", {"httpAuthSecurityScheme": {"scheme": "Basic"}}


def _token(authenticator: type[Any], url: str) -> Iterator[Scheme]:
    yield "token", {"httpAuthSecurityScheme": {"scheme": authenticator.keyword}}


def _session(authenticator: type[Any], url: str) -> Iterator[Scheme]:
    text = "The session of a user who is signed in to this site; calls also need Django's CSRF token"
    scheme = {"description": text, "location": "cookie", "name": settings.SESSION_COOKIE_NAME}
    yield "session", {"apiKeySecurityScheme": scheme}


def _simple_jwt(authenticator: type[Any], url: str) -> Iterator[Scheme]:
    keyword = import_string("rest_framework_simplejwt.authentication.AUTH_HEADER_TYPES")[0]
    yield "jwt", {"httpAuthSecurityScheme": {"scheme": keyword, "bearerFormat": "JWT"}}


def _oauth_toolkit(authenticator: type[Any], url: str) -> Iterator[Scheme]:
    """The flows of a site that is its own authorization server: for agents, for people, for people elsewhere."""
    token = _address("oauth2_provider:token", url)
    if token is None:
        return
    scopes = {str(name): str(text) for name, text in _oauth_scopes().items()}
    ends: Wire = {"tokenUrl": token, "refreshUrl": token, "scopes": scopes}
    more: Wire = {}
    if metadata := _address("oauth2_provider:oauth-server-metadata", url):
        more["oauth2MetadataUrl"] = metadata
    without_refresh = {name: value for name, value in ends.items() if name != "refreshUrl"}
    yield "oauth2", {"oauth2SecurityScheme": {"flows": {"clientCredentials": without_refresh}, **more}}
    if authorize := _address("oauth2_provider:authorize", url):
        flow: Wire = {"authorizationUrl": authorize, **ends}
        # Where it depends on the application, it is better to say that it is required.
        if import_string("oauth2_provider.settings.oauth2_settings").PKCE_REQUIRED:
            flow["pkceRequired"] = True
        yield "oauth2-code", {"oauth2SecurityScheme": {"flows": {"authorizationCode": flow}, **more}}
    if device := _address("oauth2_provider:device-authorization", url):
        flow = {"deviceAuthorizationUrl": device, **ends}
        yield "oauth2-device", {"oauth2SecurityScheme": {"flows": {"deviceCode": flow}, **more}}


def _oauth_scopes() -> dict[str, Any]:
    scopes: dict[str, Any] = import_string("oauth2_provider.scopes.get_scopes_backend")().get_all_scopes()
    return scopes


def _address(name: str, url: str) -> str | None:
    """Return the address of a named path on the site at ``url``; None where either is unknown."""
    if not url:
        return None
    try:
        return url + "/" + reverse(name).removeprefix(get_script_prefix())
    except NoReverseMatch:
        return None


_DRF: Final = "rest_framework.authentication."
_KNOWN: Final[dict[str, Declare]] = {
    _DRF + "BasicAuthentication": _basic,
    _DRF + "TokenAuthentication": _token,
    _DRF + "SessionAuthentication": _session,
    "rest_framework_simplejwt.authentication.JWTAuthentication": _simple_jwt,
    "oauth2_provider.contrib.rest_framework.authentication.OAuth2Authentication": _oauth_toolkit,
}


def _by_challenge(authenticator: type[Any]) -> Iterator[Scheme]:
    """What asks for credentials with ``WWW-Authenticate`` is a scheme of HTTP of the name that stands there first."""
    try:
        challenge = authenticator().authenticate_header(Request(HttpRequest()))
    except Exception:  # it may be anybody's code, and wants more than an empty request; W060 tells the site
        return
    if challenge:
        word = challenge.split()[0].rstrip(",")
        yield word.lower(), {"httpAuthSecurityScheme": {"scheme": word}}
