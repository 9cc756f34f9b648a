"""The package under a prefix."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [path("agents/x/", include("a2a_django.urls"))]
