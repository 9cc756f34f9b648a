"""The test site with an authorization server of its own."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("o/", include("oauth2_provider.urls", namespace="oauth2_provider")),
    path("", include("a2a_django.urls")),
]
