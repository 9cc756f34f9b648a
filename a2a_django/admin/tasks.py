"""Tasks in the admin: the list, the page of one, and what may be done there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from a2a_django.admin import actions, details, errands, files, live, looks, searching, timeline
from a2a_django.admin.base import DeskAdmin, ReadOnlyMixin, Rooms
from a2a_django.admin.errands import CannotDo
from a2a_django.admin.filters import AgentFilter, CreatedFilter, StateFilter, TenantFilter
from a2a_django.admin.forms import AnswerForm
from a2a_django.admin.pages import KeysetList
from a2a_django.engine.database import alias
from a2a_django.models import PushConfig, Task
from a2a_django.push import repair


class TaskAdmin(ReadOnlyMixin, DeskAdmin):
    """All tasks of the site, newest first; read-only, and alive while they run."""

    list_display = [
        "short_id",
        "state_badge",
        "agent",
        "tenant_line",
        "owner_line",
        "age",
        "since",
        "runs",
        "last_seq",
    ]
    list_display_links = ["short_id"]
    list_filter = [StateFilter, CreatedFilter, AgentFilter, TenantFilter]
    list_per_page = 50
    search_fields = ["pk"]
    search_help_text = searching.HELP
    show_full_result_count = False
    # They count, filter by filter.
    show_facets = admin.ShowFacets.NEVER
    sortable_by = ()
    actions = actions.ACTIONS

    # ------------------------------------------------------------------------------------------------ who may what

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Nobody deletes a task as other rows are deleted: see ``actions.prune_selected``."""
        return False

    def has_prune_permission(self, request: HttpRequest) -> bool:
        """Whether ended tasks may be deleted."""
        return request.user.has_perm("a2a_django.delete_task")

    def has_cancel_permission(self, request: HttpRequest) -> bool:
        """Whether tasks may be cancelled."""
        return request.user.has_perm("a2a_django.cancel_task")

    def has_rerun_permission(self, request: HttpRequest) -> bool:
        """Whether tasks may be run again."""
        return request.user.has_perm("a2a_django.rerun_task")

    def has_answer_permission(self, request: HttpRequest) -> bool:
        """Whether tasks that wait may be answered."""
        return request.user.has_perm("a2a_django.answer_task")

    def has_resend_permission(self, request: HttpRequest) -> bool:
        """Whether webhooks may be disabled, enabled, and told again."""
        return request.user.has_perm("a2a_django.change_pushconfig")

    # ------------------------------------------------------------------------------------------------ the list

    def get_queryset(self, request: HttpRequest) -> QuerySet[Task]:
        """The tasks that may be seen, without their long texts."""
        return super().get_queryset(request).using(alias()).defer("status_message")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetList]:
        """Pages along the primary key."""
        return KeysetList

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Find by what ``searching`` knows; never by reading all rows."""
        if not search_term.strip():
            return queryset, False
        return searching.searched(queryset, search_term), False

    @admin.display(description=gettext_lazy("id"))
    def short_id(self, task: Task) -> str:
        """The id."""
        return looks.short(task.pk)

    @admin.display(description=gettext_lazy("state"))
    def state_badge(self, task: Task) -> str:
        """The state, coloured."""
        return looks.badge(task.state)

    @admin.display(description=gettext_lazy("tenant"), empty_value="-")
    def tenant_line(self, task: Task) -> str | None:
        """The tenant."""
        return looks.line(task.tenant, 40) or None

    @admin.display(description=gettext_lazy("owner"), empty_value="-")
    def owner_line(self, task: Task) -> str | None:
        """The owner."""
        return looks.line(task.owner, 40) or None

    @admin.display(description=gettext_lazy("age"))
    def age(self, task: Task) -> str:
        """How long ago it was made."""
        return looks.age(task.created_at)

    @admin.display(description=gettext_lazy("state for"))
    def since(self, task: Task) -> str:
        """How long its state has lasted."""
        return looks.age(task.status_timestamp)

    @admin.display(description=gettext_lazy("runs"))
    def runs(self, task: Task) -> int:
        """How many runs it has had."""
        return task.attempt

    # ------------------------------------------------------------------------------------------------ addresses

    def get_urls(self) -> list[URLPattern]:
        """The list, the page of a task, and what belongs to it."""

        def at(route: str, name: str, view: Callable[..., HttpResponseBase]) -> URLPattern:
            return path(f"<str:pk>/{route}", self.admin_site.admin_view(view), name=f"a2a_django_task_{name}")

        number = "<str:kind>/<int:number>"
        urls = [
            at("live/", "live", self.live_view),
            at("news/", "news", self.news_view),
            at("do/", "do", self.do_view),
            at("wire/", "whole", self.whole_view),
            at(f"wire/{number}/", "wire", self.wire_view),
            at(f"part/{number}/<int:index>/", "part", self.part_view),
            at(f"picture/{number}/<int:index>/", "picture", self.picture_view),
            at("artifact/<int:position>/", "artifact", self.artifact_view),
            *super().get_urls(),
        ]
        for url in urls:
            # What is asked of the engine is committed by the engine; the request's own transaction would wait for it.
            if url.callback is not None:
                url.callback = transaction.non_atomic_requests(url.callback)
        return urls

    def _task(self, request: HttpRequest, pk: str) -> Task:
        """Return the task of a page. Raises ``PermissionDenied``, ``Http404``."""
        task: Task | None = self.get_object(request, pk)
        if not self.has_view_permission(request, task):
            raise PermissionDenied
        if task is None:
            raise Http404(_("There is no such task. It may have been pruned."))
        return task

    # ------------------------------------------------------------------------------------------------ the page

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> Any:
        """The page of a task."""
        return self.detail(request, self._task(request, unquote(object_id)))

    def detail(self, request: HttpRequest, task: Task, form: AnswerForm | None = None) -> HttpResponseBase:
        """Return the page of a task; ``form`` is an answer that could not be sent."""
        upto = request.GET.get("upto", "")
        shown = timeline.page(task, int(upto) if upto.isdecimal() and len(upto) < 10 else None)
        asked = details.question(task)
        context = {
            "original": task,
            **self._head(request, task),
            "timeline": shown,
            "is_newest": shown.upto >= task.last_seq,
            "page_size": timeline.PAGE,
            "artifacts": details.artifacts(task) if task.artifact_count else [],
            "related": details.related(task),
            "webhooks": details.webhooks(task),
            "question": asked,
            "form": form or AnswerForm(),
            "streams": live.streams(request),
        }
        return self.page(request, "task/detail.html", _("Task %(id)s") % {"id": task.pk}, context)

    def _head(self, request: HttpRequest, task: Task) -> dict[str, Any]:
        head = details.Head(task)
        return {
            "head": head,
            "task": task,
            "may_cancel": not head.ended and self.has_cancel_permission(request),
            "may_rerun": head.ended and head.known and self.has_rerun_permission(request),
            "may_answer": head.waits and head.known and self.has_answer_permission(request),
            "may_resend": self.has_resend_permission(request),
        }

    # ------------------------------------------------------------------------------------------------ alive

    def live_view(self, request: HttpRequest, pk: str) -> HttpResponseBase:
        """The bells of a task, as an event stream."""
        return live.bells(request, self._task(request, pk), _number(request, "after"))

    def news_view(self, request: HttpRequest, pk: str) -> HttpResponseBase:
        """What has happened after an event and a message, as pieces of the page."""
        task = self._task(request, pk)
        request.current_app = self.admin_site.name
        found = timeline.news(task, _number(request, "after"), _number(request, "position"))
        context = self._head(request, task)
        with_items = {**context, "items": found.items}
        asking = {**context, "question": details.question(task), "form": AnswerForm()}
        return JsonResponse(
            {
                "items": render_to_string("admin/a2a_django/task/items.html", with_items, request),
                "head": render_to_string("admin/a2a_django/task/head.html", context, request),
                "question": render_to_string("admin/a2a_django/task/question.html", asking, request).strip(),
                "seq": found.upto,
                "position": found.position,
                "more": found.upto < task.last_seq,
                "over": task.is_terminal and found.upto >= task.last_seq,
                "state": task.state,
            },
            headers={"Cache-Control": "no-store"},
        )

    # ------------------------------------------------------------------------------------------------ files

    def whole_view(self, request: HttpRequest, pk: str) -> HttpResponseBase:
        """The task as clients get it."""
        return files.whole(self._task(request, pk))

    def wire_view(self, request: HttpRequest, pk: str, kind: str, number: int) -> HttpResponseBase:
        """A message or an event as it travels."""
        return files.json_text(files.shown_wire(self._task(request, pk), kind, number))

    def part_view(self, request: HttpRequest, pk: str, kind: str, number: int, index: int) -> HttpResponseBase:
        """A part as a file."""
        return files.part(self._task(request, pk), kind, number, index)

    def picture_view(self, request: HttpRequest, pk: str, kind: str, number: int, index: int) -> HttpResponseBase:
        """A part as a picture."""
        return files.picture(self._task(request, pk), kind, number, index)

    def artifact_view(self, request: HttpRequest, pk: str, position: int) -> HttpResponseBase:
        """An artifact as a file."""
        return files.artifact(self._task(request, pk), position)

    # ------------------------------------------------------------------------------------------------ doing

    def do_view(self, request: HttpRequest, pk: str) -> HttpResponseBase:
        """Do what a button of the page says."""
        task = self._task(request, pk)
        back = self.address("change", task.pk)
        if request.method != "POST":
            return HttpResponseRedirect(back)
        what = request.POST.get("do", "")
        doing = {
            "cancel": (self.has_cancel_permission, self._cancel),
            "again": (self.has_rerun_permission, self._run_again),
            "answer": (self.has_answer_permission, self._answer),
            "disable": (self.has_resend_permission, self._webhook),
            "enable": (self.has_resend_permission, self._webhook),
            "resend": (self.has_resend_permission, self._webhook),
        }.get(what)
        if doing is None:
            raise Http404
        if not doing[0](request):
            raise PermissionDenied
        try:
            return doing[1](request, task) or HttpResponseRedirect(back)
        except CannotDo as reason:
            self.message_user(request, str(reason), messages.ERROR)
            return HttpResponseRedirect(back)

    def _cancel(self, request: HttpRequest, task: Task) -> None:
        if errands.cancel(request, task):
            self.note(request, task, "Canceled.")
        self.message_user(request, _("The task is canceled."), messages.SUCCESS)

    def _run_again(self, request: HttpRequest, task: Task) -> HttpResponseBase:
        if not task.is_terminal:
            raise CannotDo(_("It has not ended."))
        made = errands.run_again(request, task)
        self.note(request, task, f"Run again as {made}." if made else "Run again.")
        if not made:
            self.message_user(request, _("The agent answered without making a task."), messages.INFO)
            return HttpResponseRedirect(self.address("change", task.pk))
        self.message_user(request, _("This is a new task with the same message."), messages.SUCCESS)
        return HttpResponseRedirect(self.address("change", made))

    def _answer(self, request: HttpRequest, task: Task) -> HttpResponseBase | None:
        form = AnswerForm(request.POST)
        if not form.is_valid():
            return self.detail(request, task, form)
        asked = details.question(task)
        if asked is not None and request.POST.get("asked", asked.asked) != asked.asked:
            # What was meant for another question, an approval maybe, must not answer this one.
            told = _("Somebody has answered already, or the task asks something else by now. Nothing was sent.")
            self.message_user(request, told, messages.ERROR)
            return self.detail(request, task, form)
        errands.answer(request, task, form.cleaned_data["text"], form.cleaned_data["json"])
        self.note(request, task, f"Answered: {looks.line(form.cleaned_data['text'], 200)}")
        self.message_user(request, _("Your answer is sent."), messages.SUCCESS)
        return None

    def _webhook(self, request: HttpRequest, task: Task) -> None:
        try:
            config = PushConfig.objects.using(alias()).get(task_id=task.pk, pk=request.POST.get("config", ""))
        except (PushConfig.DoesNotExist, ValueError):
            raise CannotDo(_("There is no such webhook any more.")) from None
        what = request.POST["do"]
        if what == "disable":
            changed, note = repair.disable(config.pk), "disabled"
            said = _("Nothing more is sent to the webhook.")
        elif what == "enable":
            changed, note = repair.enable(config.pk), "enabled"
            said = _("The webhook is told what it has missed.")
        else:
            count = len(repair.send_again(repair.given_up([config.pk])))
            changed, note = bool(count), f"told again, {count} deliveries,"
            said = _("What was given up is sent again.") if count else _("There is nothing to send again.")
        if changed:
            self.note(request, task, f"Webhook {looks.line(config.config_id)} {note} by hand.")
        self.message_user(request, said, messages.SUCCESS if changed else messages.WARNING)


def _number(request: HttpRequest, name: str) -> int:
    """Return a number of the query, 0 for what is none."""
    text = request.GET.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


ROOMS: Rooms = [(Task, TaskAdmin)]
