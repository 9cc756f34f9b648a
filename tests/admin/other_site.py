"""A second AdminSite beside the first."""

from __future__ import annotations

from django.contrib.admin import AdminSite, site
from django.urls import include, path

from a2a_django.admin import register

second = AdminSite(name="second")
register(second)
register(second)  # what is there stays

urlpatterns = [
    path("admin/", site.urls),
    path("second/", second.urls),
    path("", include("a2a_django.urls")),
]
