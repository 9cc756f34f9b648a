"""The addresses of the dialect. While it is off they are not there, and the site's own may have them."""

from __future__ import annotations

from typing import Any

from django.urls import ResolverMatch, URLPattern, path

from a2a_django.bindings.dialect import views
from a2a_django.bindings.views import cards, jsonrpc
from a2a_django.conf import a2a_settings


class Pattern(URLPattern):
    """An address that is there while the dialect is on."""

    def resolve(self, path: str) -> ResolverMatch | None:
        """Return what the path leads to, None while the dialect is off."""
        return super().resolve(path) if a2a_settings.TUTORIAL_DIALECT else None


def _path(route: str, view: Any, name: str) -> URLPattern:
    plain = path(route, view, name=name)
    return Pattern(plain.pattern, plain.callback, plain.default_args, plain.name)


#: Where the tutorials look for them: the endpoint and the event stream at the root of the site, the card without the
#: end of its name or under the one that it had before 0.3 (D-34).
urlpatterns = [
    _path("", jsonrpc.view, "root-jsonrpc"),
    _path("sse", views.updates, "task-updates"),
    _path("a2a/sse", views.updates, "task-updates-below"),
    _path(".well-known/agent-card", cards.view, "short-agent-card"),
    _path(".well-known/agent.json", cards.view, "old-agent-card"),
]
