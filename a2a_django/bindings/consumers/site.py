"""What the site's settings say about a request: is it for the protocol, may it come in, under which address.

Django's own code decides, with a request of Django's. The answers are remembered: they depend on the path, or on the
host, the scheme and the few headers that ``_Rules.deciding`` names. What a middleware of Django would refuse or
redirect is not for the consumers; the site answers it as it always has.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.core.signals import setting_changed
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.clickjacking import XFrameOptionsMiddleware
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django.urls import Resolver404, ResolverMatch, get_resolver
from django.utils.module_loading import import_string

from a2a_django.bindings import addresses
from a2a_django.bindings.consumers.asgi import Scope
from a2a_django.bindings.consumers.requests import full_request

#: Paths and headers that are longer are looked at each time: strangers send them, and they would fill the memory.
LONGEST_REMEMBERED: Final = 500
#: How many paths, and how many kinds of requests, are remembered.
MOST_REMEMBERED: Final = 1000

RawHeaders = tuple[tuple[bytes, bytes], ...]


# -- addresses


@dataclass(frozen=True, slots=True)
class Address:
    """One of the protocol's addresses: of which ``kind`` (one of ``CONSUMERS``), and where the endpoints are.

    Views of folders that may be deleted say themselves of which kind they are, by the attribute ``a2a_kind``.

    ``below``: how many segments of the path belong to HTTP+JSON; ``tenant``: the one of a card.
    """

    kind: str
    path_info: str
    endpoint: str
    match: ResolverMatch
    below: int = 0
    tenant: str = ""


def script_prefix(scope: Scope) -> str:
    """Return the part of the path that stands before the site's, as Django has it."""
    return _rules().script_name or scope.get("root_path") or ""


def find_address(path: str, prefix: str) -> Address | None:
    """Return which address of the protocol a path is, as ``ROOT_URLCONF`` has it; None for all others."""
    path_info = path.removeprefix(prefix) if prefix else path
    if len(path_info) > LONGEST_REMEMBERED:
        return _find_address.__wrapped__(path_info)
    return _find_address(path_info)


@lru_cache(maxsize=MOST_REMEMBERED)
def _find_address(path_info: str) -> Address | None:
    try:
        match = get_resolver(settings.ROOT_URLCONF).resolve(path_info)
    except Resolver404:
        return None
    if match.app_names[-1:] != ["a2a_django"]:
        return None
    view = getattr(match.func, "cls", None)
    if view is not None:
        below = match.func.initkwargs["below"] or match.kwargs["rest"].count("/") + 1  # type: ignore[attr-defined]
        return Address("rest", path_info, addresses.endpoint_above(path_info, below), match, below)
    # A prefix with parameters is nothing that the other addresses are made for.
    tenant = match.kwargs.get("tenant", "")
    if (match.url_name or "").endswith("agent-card") and match.kwargs.keys() <= {"tenant"}:
        endpoint = addresses.endpoint_beside_card(path_info, tenant)
        return Address("card", path_info, endpoint, match, tenant=tenant)
    if match.url_name in ("jsonrpc", "jsonrpc-without-slash", "root-jsonrpc") and not match.kwargs:
        return Address("jsonrpc", path_info, addresses.endpoint_near(path_info), match)
    if match.url_name == "agent-cards" and not match.kwargs:
        return Address("catalogue", path_info, addresses.endpoint_beside_card(path_info, ""), match)
    if match.url_name == "jwks" and not match.kwargs:
        return Address("jwks", path_info, addresses.endpoint_above(path_info, 1), match)
    if match.url_name == "health" and not match.kwargs:
        return Address("health", path_info, addresses.endpoint_above(path_info, 1), match)
    kind: str | None = getattr(match.func, "a2a_kind", None)
    if kind is not None and not match.kwargs:
        return Address(kind, path_info, addresses.endpoint_near(path_info), match)
    return None


# -- visits


@dataclass(frozen=True, slots=True)
class Visit:
    """How the site is reached by a request that it lets in: the address of its root, and the headers that its security
    middleware puts on every answer."""

    url: str
    headers: RawHeaders


def visit_of(scope: Scope, headers: Mapping[str, str]) -> Visit | None:
    """Return how a request reaches the site; None when the site has to answer it itself."""
    rules = _rules()
    host = headers.get("host")
    key: tuple[Hashable, ...] = (
        host if host is not None else tuple(scope.get("server") or ()),
        scope.get("scheme"),
        scope.get("root_path"),
        *map(headers.get, rules.deciding),
    )
    if rules.by_path:
        key = (*key, scope["path"])
    try:
        return rules.visits[key]
    except KeyError:
        pass
    found = rules.visit(scope)
    if sum(len(part) for part in key if isinstance(part, str)) <= LONGEST_REMEMBERED:
        if len(rules.visits) >= MOST_REMEMBERED:
            rules.visits.clear()
        rules.visits[key] = found
    return found


#: The middleware that the consumers know.
KNOWN = (SecurityMiddleware, CommonMiddleware, XFrameOptionsMiddleware, SessionMiddleware, AuthenticationMiddleware)
#: By what a middleware takes part in a request.
HOOKS = (
    "process_request",
    "process_view",
    "process_exception",
    "process_template_response",
    "process_response",
    "__call__",
    "__acall__",
)


class _Rules:
    """The settings that decide."""

    def __init__(self) -> None:
        made = list(_middleware())
        self.script_name: str = settings.FORCE_SCRIPT_NAME or ""
        #: What may refuse or redirect a request, and what adds headers to an answer. A site's own version of these is
        #: left out: it may decide by anything, so that nothing could be remembered.
        self.asking = _unchanged(made, "process_request", SecurityMiddleware, CommonMiddleware)
        self.adding = _unchanged(made[::-1], "process_response", SecurityMiddleware, XFrameOptionsMiddleware)
        #: What gives a request its session and its user, for authenticators that go by them.
        self.knowing = [each for each in made if isinstance(each, SessionMiddleware | AuthenticationMiddleware)]
        #: Whether the site's access classes read the body; learnt when one does.
        self.reads_body = False
        self.deciding = tuple(_deciding())
        self.by_path = bool(settings.SECURE_SSL_REDIRECT and settings.SECURE_REDIRECT_EXEMPT)
        self.visits: dict[tuple[Hashable, ...], Visit | None] = {}

    def visit(self, scope: Scope) -> Visit | None:
        """Ask Django."""
        try:
            request = full_request(scope, BytesIO())
            url = f"{request.scheme}://{request.get_host()}{request.META['SCRIPT_NAME'].rstrip('/')}"
            if any(each.process_request(request) is not None for each in self.asking):
                return None
        except (SuspiciousOperation, PermissionDenied):
            return None
        response: HttpResponseBase = HttpResponse()
        del response.headers["Content-Type"]
        for each in self.adding:
            response = each.process_response(request, response)
        return Visit(url, tuple((name.encode("ascii"), value.encode("latin1")) for name, value in response.items()))


def _middleware() -> Iterator[Any]:
    """The middleware of the site that is Django's own, or made of it."""
    for path in settings.MIDDLEWARE:
        found = import_string(path)
        if isinstance(found, type) and issubclass(found, KNOWN):
            yield found(_no_response)


def _unchanged(made: list[Any], method: str, *known: type) -> list[Any]:
    """The middleware that does in ``method`` what Django's does."""
    return [each for each in made for one in known if isinstance(each, one) and _same(type(each), one, method)]


def _same(kind: type, known: type, method: str) -> bool:
    return getattr(kind, method) is getattr(known, method)


def _no_response(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


def unseen_middleware() -> list[str]:
    """Return the paths of the site's middleware that is not Django's and does something that the consumers leave out.

    Raises ``ImportError`` for a path that names nothing.
    """
    paths = [path for path in settings.MIDDLEWARE if not path.startswith("django.")]
    return [path for path in paths if not _is_seen(import_string(path))]


def _is_seen(found: Any) -> bool:
    """Return whether the consumers do all that a middleware does.

    It is one of Django's that they know and changes nothing of it, but for how a session or a user is found.
    """
    if not isinstance(found, type):
        return False
    for known in KNOWN:
        if issubclass(found, known):
            left = HOOKS[1:] if issubclass(known, SessionMiddleware | AuthenticationMiddleware) else HOOKS
            return all(getattr(found, hook, None) is getattr(known, hook, None) for hook in left)
    return False


def _deciding() -> Iterator[str]:
    """The headers, beside Host, on which the answers of Django's middleware depend."""
    if settings.SECURE_PROXY_SSL_HEADER:
        yield settings.SECURE_PROXY_SSL_HEADER[0].removeprefix("HTTP_").lower().replace("_", "-")
    if settings.USE_X_FORWARDED_HOST:
        yield "x-forwarded-host"
    if settings.USE_X_FORWARDED_PORT:
        yield "x-forwarded-port"
    if settings.DISALLOWED_USER_AGENTS:
        yield "user-agent"


# -- access


def knows_users(request: HttpRequest) -> None:
    """Give a request its session and its user, as far as the site has the middleware for it; looks nothing up yet."""
    for each in _rules().knowing:
        if isinstance(each, SessionMiddleware) or hasattr(request, "session"):  # a site may have sessions of its own
            each.process_request(request)


def reads_body() -> bool:
    """Return whether the site's access classes are known to read the body."""
    return _rules().reads_body


def note_that_it_reads_the_body() -> None:
    """Remember that they do."""
    _rules().reads_body = True


# -- memory

_current: _Rules | None = None


def _rules() -> _Rules:
    global _current
    if _current is None:
        _current = _Rules()
    return _current


def _on_setting_changed(**kwargs: Any) -> None:
    global _current
    _current = None
    _find_address.cache_clear()


setting_changed.connect(_on_setting_changed, dispatch_uid="a2a_django.bindings.consumers.site")
