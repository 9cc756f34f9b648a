"""A site with an ``AdminSite`` of its own at an address of its own, and no other."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.urls import include, path

from a2a_django.admin import register

site = AdminSite(name="desk")
register(site)

urlpatterns = [
    path("elsewhere/desk/", site.urls),
    path("", include("a2a_django.urls")),
]
