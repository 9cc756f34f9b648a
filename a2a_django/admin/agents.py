"""The site's agents: all that its code has, on or off, under which name, with which card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.contrib.admin.utils import quote, unquote
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import NoReverseMatch, URLPattern, path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from a2a_django.admin.console import ConsoleAdmin
from a2a_django.admin.dashboard import DashboardViews
from a2a_django.admin.inspection import Inspection, Problem, inspect, problems_of
from a2a_django.admin.playground import PlaygroundViews
from a2a_django.agents import Agent, registry
from a2a_django.agents.cards import CardBase, endpoint_path
from a2a_django.agents.directory import shown_as
from a2a_django.bindings.views.carrier import base_of
from a2a_django.models import AgentSetting
from a2a_django.protocol.errors import A2AError


@dataclass(frozen=True, slots=True)
class Line:
    """An agent in the list; ``agent`` is None for a row whose agent the code does not have any more."""

    slug: str
    agent: Agent | None
    shown: Agent | None
    enabled: bool
    is_default: bool
    problems: list[Problem]

    @property
    def key(self) -> str:
        """The slug as it stands in addresses of the admin."""
        return str(quote(self.slug))


def lines() -> list[Line]:
    """Return all agents of the site in the order of the registry, and behind them rows that stand for none."""
    rows = {row.slug: row for row in AgentSetting.objects.order_by("slug")}
    default = registry.default()
    found = []
    for agent in registry.all():
        row = rows.pop(agent.slug, None)
        shown = shown_as(agent, row.name, row.description) if row else agent
        on = row is None or row.enabled
        found.append(Line(agent.slug, agent, shown, on, agent is default, problems_of(agent)))
    return found + [Line(slug, None, None, row.enabled, False, []) for slug, row in rows.items()]


class AgentAdmin(PlaygroundViews, DashboardViews, ConsoleAdmin):
    """The registry. What the code says stays as it is; the rows switch an agent off or show it under another name."""

    fields = ("enabled", "name", "description")
    change_form_template = "admin/a2a_django/agent.html"

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses: the desk's own pages before those of rows."""
        view = self.admin_site.admin_view
        return [
            *self.dashboard_urls(),
            *self.playground_urls(),
            path("<slug>/switch/", view(require_POST(self.switch)), name="a2a_django_agent_switch"),
            *super().get_urls(),
        ]

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Agents are made by code."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: AgentSetting | None = None) -> bool:
        """Whoever may talk to agents has to see which there are."""
        return super().has_view_permission(request, obj) or self.has_playground_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: AgentSetting | None = None) -> bool:
        """A row goes only when its agent has gone."""
        return obj is not None and registry.get(obj.slug) is None and super().has_delete_permission(request, obj)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> AgentSetting | None:
        """Return the row of an agent by its slug, a new one where there is none yet; or a row by its number, as the
        admin's log has it."""
        if from_field is not None:
            found: AgentSetting | None = super().get_object(request, object_id, from_field)
            return found
        row = AgentSetting.objects.filter(slug=object_id).first()
        if row is None and registry.get(object_id) is not None:
            return AgentSetting(slug=object_id)
        return row or super().get_object(request, object_id)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Show all agents."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        context = {
            "lines": lines(),
            "may_change": self.has_change_permission(request),
            "may_play": self.has_playground_permission(request),
            **(extra_context or {}),
        }
        return self.page(request, "agents.html", _("Agents"), context)

    def switch(self, request: HttpRequest, slug: str) -> HttpResponse:
        """Switch an agent on or off."""
        slug = unquote(slug)
        if not self.has_change_permission(request):
            raise PermissionDenied
        agent = registry.get(slug)
        if agent is None:
            raise Http404
        row = AgentSetting.objects.filter(slug=slug).first() or AgentSetting(slug=slug)
        enabled = request.POST.get("on") == "1"
        if row.enabled != enabled:
            row.enabled = enabled
            row.save()
            self.note(request, row, "Switched on." if enabled else "Switched off.")
        told = _("%(agent)s is on.") if enabled else _("%(agent)s is off: callers do not know it any more.")
        self.message_user(request, told % {"agent": slug}, messages.SUCCESS)
        return HttpResponseRedirect(self.address("changelist"))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Put the card and what is to be said of it below the form."""
        row: AgentSetting = context["original"]
        agent = registry.get(row.slug)
        shown = shown_as(agent, row.name, row.description) if agent else None
        context |= {
            "agent": agent,
            "shown": shown,
            "slug_key": quote(row.slug),
            "is_default": agent is not None and agent is registry.default(),
            "inspection": _inspection(request, agent, shown) if agent and shown else None,
            "may_play": self.has_playground_permission(request),
            "title": row.slug,
            "subtitle": None,
            "show_save_and_add_another": False,
        }
        found: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return found

    def response_post_save_change(self, request: HttpRequest, obj: AgentSetting) -> HttpResponseRedirect:
        """Go back to the list."""
        return HttpResponseRedirect(self.address("changelist"))


def _inspection(request: HttpRequest, agent: Agent, shown: Agent) -> Inspection:
    problems: list[Problem] = []
    base = CardBase("", "")
    try:
        base = base_of(request, endpoint_path())
    except NoReverseMatch:
        problems.append(Problem(_("The addresses of the protocol are not part of this site.")))
    except A2AError as error:
        problems.append(Problem(error.message, serious=True))
    found = inspect(agent, shown, base)
    found.problems[:0] = problems
    return found


ROOMS = [(AgentSetting, AgentAdmin)]
