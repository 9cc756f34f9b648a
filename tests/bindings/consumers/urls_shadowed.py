"""A site that answers some addresses of the protocol itself, and one with a parameter in the include's prefix."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def own(request: HttpRequest, **kwargs: str) -> HttpResponse:
    return HttpResponse("the site's own")


urlpatterns = [
    path("a2a/tasks/special", own),
    path(".well-known/agent-card.json", own),
    path("a2a/", include(([path("docs/", own)], "docs"))),
    path("", include("a2a_django.urls")),
    path("<slug:shop>/", include("a2a_django.urls", namespace="shops")),
    path("a2a-docs/", own),
]
