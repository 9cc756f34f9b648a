"""The addresses of HTTP+JSON, as REST framework views.

What a path means is decided by ``bindings.rest`` from the undecoded path. The classes exist so that addresses can be
reversed and described, and so that permission and throttle classes get the view they expect. The framework's parsers
and renderers have no part in it: its content negotiation answers 406 to ``Accept: text/event-stream``.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from a2a_django.access import Identity, PolicyView, authenticate
from a2a_django.bindings import addresses, rest
from a2a_django.bindings.views.carrier import MetaHeaders, answered, exchange_of, raw_path, response_of


class RestView(PolicyView):
    """Any path of HTTP+JSON; also those that do not exist, so that their 404 is JSON too."""

    view_is_async = True
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
            return response_of(rest.refuse(error, MetaHeaders(request.META)))
        return await answered(request, rest.handle, exchange)


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
