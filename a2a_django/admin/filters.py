"""What the list of tasks can be narrowed to. No filter reads more rows than it has choices."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any, Final

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Max, Min, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import formats, timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from a2a_django.admin.distinct import values_of
from a2a_django.agents import registry
from a2a_django.models import Task, TaskState
from a2a_django.models.fields import first_id
from a2a_django.protocol.states import INTERRUPTED, TERMINAL

#: More choices than this are no help; the search finds the others.
MOST: Final = 50


class StateFilter(admin.SimpleListFilter):
    """One state, or all of those that are not at their end, or all that wait for somebody."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        """Return the choices."""
        return [("open", _("not ended")), ("waiting", _("waits for somebody")), *TaskState.choices]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow the list."""
        value = self.value()
        if value == "open":
            return queryset.filter(state__in=sorted(set(TaskState.values) - TERMINAL))
        if value == "waiting":
            return queryset.filter(state__in=sorted(INTERRUPTED))
        return queryset.filter(state=value) if value else queryset


class AgentFilter(admin.SimpleListFilter):
    """One agent: those of the site, and those that have left tasks behind."""

    title = gettext_lazy("agent")
    parameter_name = "agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        """Return the choices."""
        names = {agent.slug: agent.name for agent in registry.all()}
        slugs = dict.fromkeys([*names, *values_of("agent", MOST)])
        return [(slug, names.get(slug, slug)) for slug in slugs]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow the list."""
        return queryset.filter(agent=self.value()) if self.value() else queryset


class TenantFilter(admin.SimpleListFilter):
    """One tenant, where callers name any."""

    title = gettext_lazy("tenant")
    parameter_name = "tenant"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        """Return the choices."""
        return [(tenant, tenant) for tenant in values_of("tenant", MOST) if tenant]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow the list."""
        return queryset.filter(tenant=self.value()) if self.value() else queryset


_SPANS: Final = {"1h": dt.timedelta(hours=1), "24h": dt.timedelta(hours=24), "7d": dt.timedelta(days=7)}
_PLACE: Final = re.compile(r"(?P<year>\d{4})(-(?P<month>\d\d))?(-(?P<day>\d\d))?")


class CreatedFilter(admin.SimpleListFilter):
    """When tasks were made: of late, or a year, a month of it, a day of that.

    In the place of ``date_hierarchy``, which looks at the moments of all rows. Here the ids are asked, which begin with
    the moment: one look-up for each choice.
    """

    title = gettext_lazy("time of creation")
    parameter_name = "created"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, Any]]:
        """Return the choices that are always there."""
        return [("1h", _("last hour")), ("24h", _("last 24 hours")), ("7d", _("last 7 days"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Narrow the list. What is no time is no reason to show nothing."""
        value = self.value() or ""
        if value in _SPANS:
            return queryset.filter(pk__gte=first_id(timezone.now() - _SPANS[value]))
        bounds = _bounds(value)
        if bounds is None:
            return queryset
        return queryset.filter(pk__gte=first_id(bounds[0]), pk__lt=first_id(bounds[1]))

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
        """Return what is shown: the spans, and the way through years, months and days."""
        value = self.value() or ""
        yield self._choice(changelist, None, _("All"), selected=not value)
        for span, words in self.lookup_choices:
            yield self._choice(changelist, span, words, selected=value == span)
        place = _PLACE.fullmatch(value) if _bounds(value) else None
        above = [value[:4], value[:7], value][: len(value.split("-"))] if place else []
        for step in above:
            yield self._choice(changelist, step, _words(step), selected=step == value)
        for step in _below(value if place else ""):
            yield self._choice(changelist, step, _words(step), selected=False)

    def _choice(self, changelist: ChangeList, value: str | None, words: Any, *, selected: bool) -> dict[str, Any]:
        query = changelist.get_query_string({self.parameter_name: value})
        return {"selected": selected, "query_string": query, "display": words}


def _bounds(value: str) -> tuple[dt.datetime, dt.datetime] | None:
    """Return where a year, month or day begins and ends in the current time zone; None for what is none of them."""
    found = _PLACE.fullmatch(value)
    if found is None:
        return None
    year, month, day = (int(found[name]) if found[name] else 0 for name in ("year", "month", "day"))
    try:
        first = dt.datetime(year, month or 1, day or 1)
        if day:
            last = first + dt.timedelta(days=1)
        elif month:
            last = (first + dt.timedelta(days=32)).replace(day=1)
        else:
            last = first.replace(year=year + 1)
        return timezone.make_aware(first), timezone.make_aware(last)
    except (ValueError, OverflowError):
        return None


def _below(value: str) -> list[str]:
    """Return the years, the months of a year, or the days of a month, in which tasks were made."""
    if not value:
        ends = Task.objects.aggregate(first=Min("pk"), last=Max("pk"))
        if not ends["first"]:
            return []
        years = range(_year(ends["first"]), _year(ends["last"]) + 1)
        return [f"{year:04d}" for year in reversed(years)][:MOST]
    if len(value) > 7:
        return []
    steps = [f"{value}-{number:02d}" for number in range(1, 13 if len(value) == 4 else 32)]
    limits: dict[str, str] = {}
    firsts: dict[str, Subquery] = {}
    for number, step in enumerate(steps):
        if (bounds := _bounds(step)) is not None:
            # The first one since then, and not whether there is one between: for that PostgreSQL, which does not know
            # that the rows lie in the order of their ids, may read the whole table.
            since = Task.objects.filter(pk__gte=first_id(bounds[0])).order_by("pk").values("pk")[:1]
            limits[f"step{number}"], firsts[f"step{number}"] = first_id(bounds[1]), Subquery(since)
    row = Task.objects.order_by("-pk").annotate(**firsts).values(*firsts).first() or {}
    return [steps[int(name.removeprefix("step"))] for name, pk in row.items() if pk and pk < limits[name]]


def _year(pk: str) -> int:
    """Return the year in which a task with this id was made."""
    moment = dt.datetime.fromtimestamp(int(pk.replace("-", "")[:12], 16) / 1000, dt.UTC)
    return timezone.localtime(moment).year


def _words(step: str) -> str:
    bounds = _bounds(step)
    if bounds is None or len(step) == 4:
        return step
    return formats.date_format(bounds[0], "YEAR_MONTH_FORMAT" if len(step) == 7 else "MONTH_DAY_FORMAT")
