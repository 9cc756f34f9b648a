"""The one line that a site adds."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [path("", include("a2a_django.urls"))]
