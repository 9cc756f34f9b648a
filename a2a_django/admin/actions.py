"""What may be done with the tasks that are ticked in the list. Each needs a permission and is written down."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from django.contrib import admin, messages
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from a2a_django.admin import errands
from a2a_django.admin.errands import CannotDo
from a2a_django.engine.database import alias
from a2a_django.models import PushConfig, Task
from a2a_django.protocol.states import TERMINAL
from a2a_django.push import repair
from a2a_django.retention.deletion import delete_tasks

if TYPE_CHECKING:
    from a2a_django.admin.base import DeskAdmin

#: Tasks that one action takes.
MOST: Final = 200


@admin.action(permissions=["cancel"], description=gettext_lazy("Cancel selected tasks"))
def cancel_selected(desk: DeskAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    """Cancel what has not ended; the runs are told, wherever they are."""

    def cancel(task: Task) -> None:
        if errands.cancel(request, task):
            desk.note(request, task, "Canceled.")

    _each(desk, request, queryset, cancel)


@admin.action(permissions=["rerun"], description=gettext_lazy("Run selected tasks again"))
def run_again_selected(desk: DeskAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    """Make a new task of the first message of each."""

    def again(task: Task) -> None:
        if task.state not in TERMINAL:
            raise CannotDo(_("It has not ended."))
        made = errands.run_again(request, task)
        desk.note(request, task, f"Run again as {made}." if made else "Run again.")

    _each(desk, request, queryset, again)


@admin.action(permissions=["resend"], description=gettext_lazy("Send failed deliveries of selected tasks again"))
def resend_selected(desk: DeskAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> None:
    """Send to the webhooks of the tasks once more what was given up."""
    tasks = {task.pk: task for task in queryset.filter(has_push=True)[:MOST]}
    configs = PushConfig.objects.using(alias()).filter(task_id__in=tasks).values_list("pk", flat=True)
    sent = repair.send_again(repair.given_up(configs))
    for pk in dict.fromkeys(delivery.config.task_id for delivery in sent):
        desk.note(request, tasks[pk], "Failed deliveries sent again.")
    count = len(sent)
    said = ngettext("%(count)d delivery is sent again.", "%(count)d deliveries are sent again.", count)
    desk.message_user(request, said % {"count": count}, messages.SUCCESS if count else messages.WARNING)


@admin.action(permissions=["prune"], description=gettext_lazy("Prune selected tasks"))
def prune_selected(desk: DeskAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponseBase | None:
    """Delete tasks that have ended, with everything that belongs to them, once the operator has said so twice."""
    tasks = list(queryset[:MOST])
    may_go = [task for task in tasks if task.state in TERMINAL]
    if request.POST.get("sure") != "yes":
        return desk.page(
            request,
            "prune.html",
            _("Are you sure?"),
            {"tasks": may_go, "left": len(tasks) - len(may_go), "checkbox": ACTION_CHECKBOX_NAME},
        )
    delete_tasks(alias(), [task.pk for task in may_go])
    left = set(Task.objects.using(alias()).filter(pk__in=[task.pk for task in may_go]).values_list("pk", flat=True))
    gone = [task for task in may_go if task.pk not in left]
    if gone:
        desk.log_deletions(request, gone)  # type: ignore[arg-type]  # it only walks along them
        said = ngettext("%(count)d task was pruned.", "%(count)d tasks were pruned.", len(gone))
        desk.message_user(request, said % {"count": len(gone)}, messages.SUCCESS)
    if kept := len(tasks) - len(gone):
        said = ngettext(
            "%(count)d task stays: it has not ended, or something else needs it.",
            "%(count)d tasks stay: they have not ended, or something else needs them.",
            kept,
        )
        desk.message_user(request, said % {"count": kept}, messages.WARNING)
    return None


ACTIONS: Final = [cancel_selected, run_again_selected, resend_selected, prune_selected]


def _each(desk: DeskAdmin, request: HttpRequest, queryset: QuerySet[Any], work: Callable[[Task], None]) -> None:
    """Do something with each task and say for how many it could be done, and why not for the others."""
    done, reasons = 0, []
    for task in queryset[:MOST]:
        try:
            work(task)
            done += 1
        except CannotDo as reason:
            reasons.append(f"{task.pk}: {reason}")
    if done:
        said = ngettext("Done for %(count)d task.", "Done for %(count)d tasks.", done)
        desk.message_user(request, said % {"count": done}, messages.SUCCESS)
    for why in reasons[:10]:
        desk.message_user(request, why, messages.WARNING)
