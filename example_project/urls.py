"""Addresses of the example site: a front page, the admin, and everything of A2A below the root."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from example_project.shop.views import front_page, notifications

urlpatterns = [
    path("", front_page, name="front-page"),
    path("notifications/", notifications, name="notifications"),
    path("admin/", admin.site.urls),
    path("", include("a2a_django.urls")),
]

handler400 = "example_project.errors.bad_request"
