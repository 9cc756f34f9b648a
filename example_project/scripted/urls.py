from __future__ import annotations

from django.urls import include, path

urlpatterns = [path("", include("a2a_django.urls"))]

handler400 = "example_project.errors.bad_request"
