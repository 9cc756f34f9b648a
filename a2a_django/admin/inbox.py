"""The inbox: tasks that wait for somebody, those that have waited longest first."""

from __future__ import annotations

import json
from typing import Any, Final

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.core.paginator import Paginator
from django.db.models import Case, QuerySet, TextField, Value, When
from django.db.models.functions import Cast, Length
from django.http import HttpRequest, HttpResponseRedirect
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy

from a2a_django.admin import looks
from a2a_django.admin.base import DeskAdmin, ReadOnlyMixin, Rooms
from a2a_django.admin.filters import AgentFilter, TenantFilter
from a2a_django.engine.database import alias
from a2a_django.models import Task, WaitingTask
from a2a_django.protocol.states import INTERRUPTED

#: Characters of JSON of a question that is shown in the list.
LONGEST: Final = 20_000
#: Tasks that can be looked through; older ones come first, and leave when they are answered.
CAP: Final = 1_000


class Capped(Paginator):
    """Counts no further than anybody looks."""

    @cached_property
    def count(self) -> int:
        """How many rows there are, ``CAP`` at most."""
        rows: Any = self.object_list
        return len(rows.order_by().values_list("pk")[:CAP])


class WaitingTaskAdmin(ReadOnlyMixin, DeskAdmin):
    """Tasks in input required or authorization required. Whoever may view tasks may view them here."""

    list_display = ["question", "state_badge", "agent", "owner_line", "waiting", "short_id"]
    list_display_links = ["question"]
    list_filter = [AgentFilter, TenantFilter]
    list_per_page = 50
    list_max_show_all = 0
    paginator = Capped
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    actions = None
    ordering = ["status_timestamp", "pk"]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """As for tasks."""
        return request.user.has_perm("a2a_django.view_task")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes a task that waits."""
        return False

    def has_module_permission(self, request: HttpRequest) -> bool:
        """As for tasks."""
        return self.has_view_permission(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[WaitingTask]:
        """The tasks that wait, with what they ask as far as it is short."""
        whole = Cast("status_message", TextField())
        said = Case(
            When(status_message__isnull=False, length__lte=LONGEST, then=whole),
            default=Value(""),
            output_field=TextField(),
        )
        rows: QuerySet[Any] = super().get_queryset(request).using(alias()).filter(state__in=sorted(INTERRUPTED))
        found: QuerySet[WaitingTask] = (
            rows.alias(length=Length(whole)).annotate(said=said).defer("status_message", "metadata")
        )
        return found

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        """The page of the task, where it asks."""
        pk = unquote(object_id)
        return HttpResponseRedirect(self.address("change", pk, model=Task) + "#question")

    @admin.display(description=gettext_lazy("question"))
    def question(self, task: Any) -> str:
        """The beginning of what the task asks."""
        message = json.loads(task.said) if task.said else {}
        texts = [str(part["text"]) for part in message.get("parts", ()) if "text" in part]
        return looks.line(" ".join(texts), 160) or "…"

    @admin.display(description=gettext_lazy("state"))
    def state_badge(self, task: Task) -> str:
        """The state, coloured."""
        return looks.badge(task.state)

    @admin.display(description=gettext_lazy("owner"), empty_value="-")
    def owner_line(self, task: Task) -> str | None:
        """The owner."""
        return looks.line(task.owner, 40) or None

    @admin.display(description=gettext_lazy("waits for"))
    def waiting(self, task: Task) -> str:
        """How long it has waited."""
        return looks.age(task.status_timestamp)

    @admin.display(description=gettext_lazy("id"))
    def short_id(self, task: Task) -> str:
        """The id."""
        return looks.short(task.pk)


ROOMS: Rooms = [(WaitingTask, WaitingTaskAdmin)]
