"""The addresses of HTTP+JSON, as REST framework views.

What a path means is decided by ``bindings.rest`` from the undecoded path. The classes exist so that addresses can be
reversed and described, and so that permission and throttle classes get the view they expect. The framework's parsers
and renderers have no part in it: its content negotiation answers 406 to ``Accept: text/event-stream``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path, re_path

from a2a_django.access import Identity, PolicyView, authenticate
from a2a_django.bindings import addresses, rest
from a2a_django.bindings.http import Answer, Exchange, StreamAnswer
from a2a_django.bindings.views.carrier import MetaHeaders, answered, exchange_of, raw_path, response_of


class Binding(Protocol):
    """A module that answers for the paths of one version."""

    async def handle(self, exchange: Exchange, /) -> Answer | StreamAnswer: ...

    def refuse(self, error: Exception, request_headers: Mapping[str, str], /) -> Answer: ...


class RestView(PolicyView):
    """Any path of HTTP+JSON; also those that do not exist, so that their 404 is JSON too."""

    view_is_async = True
    binding: Binding = rest
    #: How many segments of the path belong to the protocol; 0: those of the argument ``rest``.
    below = 0

    async def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:  # type: ignore[override]  # REST framework knows no async views
        """Answer a request; which verbs an address has is decided by the binding."""
        return await self.answer(request, **kwargs)

    async def answer(self, request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        """Answer a request: the caller first, everything else after (D-14). Bears the names of the address's verbs."""
        count = self.below or kwargs["rest"].count("/") + 1
        try:
            if request.method == "OPTIONS":  # browsers ask without credentials
                identity = Identity(AnonymousUser(), "")
            else:
                identity = await authenticate(request, self)
            path = addresses.segments_below(request.path_info, raw_path(request), count)
            exchange = exchange_of(request, identity, path, addresses.endpoint_above(request.path_info, count))
        except Exception as error:
            return response_of(self.binding.refuse(error, MetaHeaders(request.META)))
        return await answered(request, self.binding.handle, exchange)


class MessageView(RestView):
    """``message:send`` and ``message:stream``."""

    post = RestView.answer


class ReadView(RestView):
    """``tasks``, ``tasks/{id}`` and ``extendedAgentCard``."""

    get = RestView.answer


class CancelView(RestView):
    """``tasks/{id}:cancel``."""

    post = RestView.answer


class SubscribeView(RestView):
    """``tasks/{id}:subscribe``; POST as the specification has it, GET as its proto has it (D-01)."""

    get = RestView.answer
    post = RestView.answer


class PushConfigsView(RestView):
    """``tasks/{id}/pushNotificationConfigs``."""

    get = RestView.answer
    post = RestView.answer


class PushConfigView(RestView):
    """``tasks/{id}/pushNotificationConfigs/{id}``."""

    get = RestView.answer
    delete = RestView.answer


def patterns(
    routes: Iterable[tuple[str, type[RestView], str]], *, binding: Binding = rest, prefix: str = "", name: str = ""
) -> list[URLPattern]:
    """Return the addresses of a version: ``routes`` holds path, view and name of each, all of them below ``prefix``.

    Each is there once more with a tenant in front. ``name`` stands before the names.
    """
    found = []
    for tenant, tenant_name in (("", ""), ("<str:tenant>/", "tenant-")):
        for route, view, view_name in routes:
            below = f"{tenant}{prefix}{route}"
            made = _made(view, below.count("/") + 1, binding)
            found.append(path(f"a2a/{below}", made, name=name + tenant_name + view_name))
    return found


def unknown(regex: str, *, binding: Binding = rest, name: str = "unknown") -> URLPattern:
    """Return the address of what is below ``a2a/`` and is no path of a version; ``regex`` has the group ``rest``."""
    pattern: URLPattern = re_path(rf"^a2a/{regex}\Z", _made(RestView, 0, binding), name=name)
    return pattern


def _made(view: type[RestView], below: int, binding: Binding) -> Any:
    return transaction.non_atomic_requests(view.as_view(below=below, binding=binding))
