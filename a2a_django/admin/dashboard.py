"""The dashboard: a page that says how the agents are, and renews itself. It shows tasks to whoever may view tasks, and
webhooks to whoever may view those."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.admin import AdminSite, ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import URLPattern, path
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from a2a_django.admin.console import ConsoleAdmin
from a2a_django.admin.figures import Count, Figures, look
from a2a_django.models import PushConfig, Task

#: Seconds between two looks of an open page.
REFRESH: Final = 5

#: The chart, in its own units: so many to an hour, the height of the highest bar.
WIDTH, GAP, HEIGHT = 30, 6, 120


class DashboardViews(ConsoleAdmin):
    """The addresses of the dashboard, in the admin of agents."""

    def dashboard_urls(self) -> list[URLPattern]:
        """Return the page's address, and that of its figures alone."""
        view = self.admin_site.admin_view
        return [
            path("dashboard/", view(self.dashboard), name="a2a_django_dashboard"),
            path("dashboard/figures/", view(self.dashboard_figures), name="a2a_django_dashboard_figures"),
        ]

    def dashboard(self, request: HttpRequest) -> HttpResponse:
        """Show the figures."""
        context = {**self._shown(request), "refresh": REFRESH}
        return self.page(request, "dashboard.html", _("Dashboard"), context)

    def dashboard_figures(self, request: HttpRequest) -> HttpResponse:
        """Return the figures as JSON, in the words of the page."""
        return JsonResponse(self._shown(request))

    def _shown(self, request: HttpRequest) -> dict[str, Any]:
        if not _may_view(self.admin_site, request, Task):
            raise PermissionDenied
        return shown(look(), push=_may_view(self.admin_site, request, PushConfig))


def _may_view(site: AdminSite, request: HttpRequest, model: Any) -> bool:
    """Return whether somebody may see a model: as its admin says, where the site has one."""
    room = site._registry.get(model)
    if isinstance(room, ModelAdmin):
        return bool(room.has_view_or_change_permission(request))
    permission = f"{model._meta.app_label}.view_{model._meta.model_name}"
    return bool(request.user.is_staff and request.user.has_perm(permission))


def shown(figures: Figures, *, push: bool) -> dict[str, Any]:
    """Return the figures in words: ``tiles`` (name -> text, note) and ``bars`` of the chart."""
    sample = ngettext("the last completed task", "the last %(count)d completed tasks", figures.sample)
    tiles = {
        "running": _tile(_("Running"), figures.running, _("tasks that an agent is working on")),
        "waiting": _tile(_("Waiting for a human"), figures.waiting, _("tasks that need input or authorization")),
        "queued": _tile(_("Queued"), figures.queued, _("tasks whose message waits for its turn")),
        "failed": _tile(_("Failed today"), figures.failed_today, _("since midnight")),
        "median": {
            "label": _("Median time"),
            "value": _seconds(figures.median) if figures.median is not None else "\u2013",
            "note": sample % {"count": figures.sample} if figures.sample else _("no completed tasks"),
        },
    }
    if push:
        note = ngettext("%(count)d event to be sent", "%(count)d events to be sent", figures.overdue_events)
        tiles["backlog"] = _tile(_("Webhooks behind"), figures.backlog, note % {"count": figures.overdue_events})
    return {"tiles": tiles, "bars": _bars(figures), "at": formats.time_format(timezone.localtime(), "H:i:s")}


def _tile(label: str, count: Count, note: str) -> Mapping[str, str]:
    return {"label": label, "value": str(count), "note": note}


def _seconds(value: float) -> str:
    if value < 1:
        return _("%(number)d ms") % {"number": round(value * 1000)}
    if value < 120:
        return _("%(number)s s") % {"number": formats.number_format(round(value, 1))}
    if value < 7200:
        return _("%(number)s min") % {"number": formats.number_format(round(value / 60, 1))}
    return _("%(number)s h") % {"number": formats.number_format(round(value / 3600, 1))}


def _bars(figures: Figures) -> list[dict[str, Any]]:
    highest = max(1, *(count.value for _start, count in figures.hours))
    found = []
    for place, (start, count) in enumerate(figures.hours):
        # What is there is seen, however little it is beside the rest.
        height = max(2, round(HEIGHT * count.value / highest)) if count.value else 0
        found.append(
            {
                "x": place * (WIDTH + GAP),
                "edge": place * (WIDTH + GAP) + (WIDTH if place == len(figures.hours) - 1 else 0),
                "y": HEIGHT - height,
                "height": height,
                "hour": f"{timezone.localtime(start):%H:%M}",
                "count": str(count),
                "text": _("%(hour)s: %(count)s") % {"hour": f"{timezone.localtime(start):%H:%M}", "count": count},
                "label": place % 6 == 0 or place == len(figures.hours) - 1,
            }
        )
    return found
