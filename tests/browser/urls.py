"""The example site, its admin at an unusual address, its static files from the same process."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.staticfiles.urls import staticfiles_urlpatterns
from django.urls import include, path

urlpatterns = [
    *staticfiles_urlpatterns(),
    path("back/office/", admin.site.urls),
    path("", include("example_project.urls")),
]
