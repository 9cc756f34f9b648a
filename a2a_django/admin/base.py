"""What the rooms of the desk have in common. Nothing here knows which site or which address it is shown at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse

#: Models and the classes that show them.
Rooms = Sequence[tuple[type[models.Model], type[admin.ModelAdmin]]]


class DeskAdmin(admin.ModelAdmin):
    """A room of the desk: addresses and pages on the very site that shows it, with the desk's own style and script.

    Pages have no script and no style of their own, so that a strict Content-Security-Policy lets them be.
    """

    class Media:
        css = {"all": ["a2a_django/admin/desk.css"]}
        js = ["a2a_django/admin/desk.js"]

    def address(self, name: str, *args: Any, model: type[models.Model] | None = None) -> str:
        """Return the address of a page of a model (default: of this one), "changelist" or "change" for instance."""
        opts = (model or self.model)._meta
        return reverse(f"admin:{opts.app_label}_{opts.model_name}_{name}", args=args, current_app=self.admin_site.name)

    def page(
        self, request: HttpRequest, template: str, title: str, context: Mapping[str, Any] | None = None
    ) -> TemplateResponse:
        """Return a page of this room; ``template`` lies below ``admin/a2a_django/`` and extends ``desk.html`` there.

        Its context is that of every page of the site, and ``title``, ``opts``, ``media`` and ``model_admin`` besides.
        """
        request.current_app = self.admin_site.name  # read by the tag {% url %}
        found = {
            **self.admin_site.each_context(request),
            "title": title,
            "subtitle": None,
            "opts": self.opts,
            "media": self.media,
            "model_admin": self,
            **(context or {}),
        }
        return TemplateResponse(request, f"admin/a2a_django/{template}", found)

    def note(self, request: HttpRequest, obj: models.Model, message: str) -> None:
        """Write down in the admin's log that the operator did something with an object."""
        self.log_change(request, obj, message)


class ReadOnlyMixin:
    """Rows that only the engine writes: to be looked at, by whoever may view them."""

    def has_add_permission(self, request: HttpRequest, *args: Any) -> bool:
        """Nobody makes such rows by hand."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody changes such rows by hand."""
        return False
