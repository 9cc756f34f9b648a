"""Webhooks and what did not arrive at them. Rows are not edited: operators disable, enable, and send again.

An address may have a secret in its path or query, as those of chat services do, so only its host is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import NoReverseMatch, URLPattern, path
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST
from yarl import URL

from a2a_django.admin import looks
from a2a_django.admin.base import ReadOnlyMixin
from a2a_django.admin.console import ConsoleAdmin
from a2a_django.admin.inbox import Capped
from a2a_django.models import PushConfig, PushDelivery, Task
from a2a_django.models.fields import key_of
from a2a_django.push import repair

#: Deliveries that a webhook's page shows.
SHOWN: Final = 50

_UNDONE: Final = Q(delivered_at__isnull=True)


class Webhooks(ReadOnlyMixin, ConsoleAdmin):
    """What both rooms have in common: rows of the sender, and actions for whoever may change them."""

    paginator = Capped
    show_full_result_count = False
    list_per_page = 50
    list_max_show_all = 0
    sortable_by = ()

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Return whether somebody may disable and enable webhooks, and send again."""
        opts = self.opts
        return bool(request.user.has_perm(f"{opts.app_label}.change_{opts.model_name}"))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Webhooks belong to the clients that made them, and go with their tasks."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Whoever may act on rows may see them."""
        return super().has_view_permission(request, obj) or self.has_operate_permission(request)

    def task_link(self, task_id: str, words: str = "") -> str:
        """Return ``words`` for a task (default: its id), as a link where the site shows tasks."""
        try:
            return format_html('<a href="{}">{}</a>', self.address("change", task_id, model=Task), words or task_id)
        except NoReverseMatch:
            return words or task_id

    def send_again(self, request: HttpRequest, pks: Iterable[int]) -> None:
        """Send deliveries again, and say what became of it."""
        wanted = list(pks)
        sent = repair.send_again(wanted)
        for row in sent:
            self.note(request, row, "Sent again.")
        told = ngettext("%(count)d delivery is sent again.", "%(count)d deliveries are sent again.", len(sent))
        self.message_user(request, told % {"count": len(sent)}, messages.SUCCESS if sent else messages.WARNING)
        if left := len(wanted) - len(sent):
            told = ngettext(
                "%(count)d was left: it has arrived, its webhook is disabled, or its event is gone.",
                "%(count)d were left: they have arrived, their webhook is disabled, or their event is gone.",
                left,
            )
            self.message_user(request, told % {"count": left}, messages.WARNING)


def state_of(config: PushConfig) -> tuple[str, str]:
    """Return how a webhook is: a kind for its colour, and words."""
    if config.disabled_at is not None:
        return "bad", _("disabled")
    if config.failures:
        return "warn", _("failing")
    return ("", _("sending")) if config.due_at is not None else ("good", _("up to date"))


def _found(rows: QuerySet[Any], search_term: str, config: str = "") -> QuerySet[Any]:
    """Narrow rows to those of the task, id or host that was typed; ``config`` is the way from a row to its webhook."""
    term = search_term.strip().replace("\0", "")
    if not term:
        return rows
    named = {"task_id": term, "config_key": key_of(term), "host": term.lower()}
    return rows.filter(Q(*((config + name, value) for name, value in named.items()), _connector=Q.OR))


def place_of(config: PushConfig) -> str:
    """Return what may be shown of a webhook's address: scheme and host."""
    return f"{URL(config.url).scheme}://{config.host}"


class ConfigStateFilter(admin.SimpleListFilter):
    """Webhooks by how they are."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return the choices."""
        return [
            ("due", _("something to send")),
            ("failing", _("failing")),
            ("disabled", _("disabled")),
            ("rest", _("up to date")),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[PushConfig]) -> QuerySet[PushConfig]:
        """Return the webhooks of the chosen state."""
        kinds = {
            "due": Q(due_at__isnull=False),
            "failing": Q(due_at__isnull=False, failures__gt=0),
            "disabled": Q(disabled_at__isnull=False),
            "rest": Q(due_at__isnull=True, disabled_at__isnull=True),
        }
        chosen = kinds.get(self.value() or "")
        return queryset if chosen is None else queryset.filter(chosen)


class ConfigAdmin(Webhooks):
    """Webhooks of tasks."""

    list_display = ("webhook", "short_task", "state", "failures", "behind", "due_at", "last_error")
    list_display_links = ("webhook",)
    list_filter = (ConfigStateFilter, "protocol_version")
    list_select_related = ("cursor",)
    ordering = ("-pk",)
    search_fields = ("task_id",)
    search_help_text = gettext_lazy("The id of a task or of a webhook, or a host with its port.")
    fields = (
        ("webhook", "config_id"),
        "task_id_link",
        "state",
        "disabled_at",
        "disabled_reason",
        "failures",
        "behind",
        "due_at",
        "last_error",
        "secrets",
        "protocol_version",
        "created_at",
        ("lease_holder", "lease_expires_at"),
    )
    actions = ("enable_selected", "disable_selected", "send_again_selected")
    change_form_template = "admin/a2a_django/webhook.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[PushConfig]:
        """Return the webhooks, each with the last error of its deliveries."""
        last = PushDelivery.objects.filter(config=OuterRef("pk")).exclude(last_error="").order_by("-seq")
        rows: QuerySet[PushConfig] = super().get_queryset(request)
        return rows.annotate(error=Subquery(last.values("last_error")[:1]))

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> Any:
        """Find webhooks by what stands in an index or is whole: no text is searched through."""
        return _found(queryset, search_term), False

    @admin.display(description=gettext_lazy("webhook"))
    def webhook(self, config: PushConfig) -> str:
        """Scheme and host."""
        return place_of(config)

    @admin.display(description=gettext_lazy("task"))
    def task_id_link(self, config: PushConfig) -> str:
        """The task, as a link where the site shows tasks."""
        return self.task_link(config.task_id)

    @admin.display(description=gettext_lazy("task"))
    def short_task(self, config: PushConfig) -> str:
        """The task, short enough for a column."""
        return self.task_link(config.task_id, looks.short(config.task_id))

    @admin.display(description=gettext_lazy("state"))
    def state(self, config: PushConfig) -> str:
        """How it is, in a word with a colour."""
        kind, words = state_of(config)
        return format_html('<span class="a2a-tag {}">{}</span>', f"a2a-{kind}" if kind else "", words)

    @admin.display(description=gettext_lazy("events behind"))
    def behind(self, config: PushConfig) -> int:
        """How many events of the task it has not been told of yet, at most."""
        cursor = getattr(config, "cursor", None)
        return max(0, config.queued_seq - cursor.sent_seq) if cursor else 0

    @admin.display(description=gettext_lazy("last error"))
    def last_error(self, config: Any) -> str:
        """The last error of its deliveries."""
        return config.error or "-"

    @admin.display(description=gettext_lazy("secrets"))
    def secrets(self, config: PushConfig) -> str:
        """Whether there are some; which, nobody sees."""
        return _("set (not shown)") if config.sealed else _("none")

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses, those of what can be done among them."""
        view = self.admin_site.admin_view
        name = "a2a_django_pushconfig"
        return [
            path("<path:object_id>/enable/", view(require_POST(self.enable)), name=f"{name}_enable"),
            path("<path:object_id>/disable/", view(require_POST(self.disable)), name=f"{name}_disable"),
            path("<path:object_id>/again/", view(require_POST(self.again)), name=f"{name}_again"),
            *super().get_urls(),
        ]

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Add the deliveries that did not arrive at the first attempt, and what can be done."""
        config: PushConfig = context["original"]
        rows = list(config.deliveries.order_by("-seq")[: SHOWN + 1])
        context |= {
            "deliveries": rows[:SHOWN],
            "more": len(rows) > SHOWN,
            "may_operate": self.has_operate_permission(request),
            "given_up": config.disabled_at is None and any(row.dead_at for row in rows),
            "title": place_of(config),
            "subtitle": None,
        }
        found: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return found

    def enable(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Enable one webhook."""
        return self._for_one(request, object_id, self._enable)

    def disable(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Disable one webhook."""
        return self._for_one(request, object_id, self._disable)

    def again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Send again what one webhook did not get."""
        return self._for_one(request, object_id, self._again)

    def _for_one(self, request: HttpRequest, object_id: str, work: Any) -> HttpResponse:
        if not self.has_operate_permission(request):
            raise PermissionDenied
        config = self.get_object(request, object_id)
        if config is None:
            raise Http404
        work(request, [config])
        return HttpResponseRedirect(self.address("change", config.pk))

    @admin.action(description=gettext_lazy("Enable selected webhooks"), permissions=["operate"])
    def enable_selected(self, request: HttpRequest, queryset: QuerySet[PushConfig]) -> None:
        """Send to webhooks again, beginning with what they have missed."""
        self._enable(request, queryset)

    @admin.action(description=gettext_lazy("Disable selected webhooks"), permissions=["operate"])
    def disable_selected(self, request: HttpRequest, queryset: QuerySet[PushConfig]) -> None:
        """Send nothing more to webhooks."""
        self._disable(request, queryset)

    @admin.action(description=gettext_lazy("Send again what was given up"), permissions=["operate"])
    def send_again_selected(self, request: HttpRequest, queryset: QuerySet[PushConfig]) -> None:
        """Send again what webhooks did not get."""
        self._again(request, queryset)

    def _enable(self, request: HttpRequest, configs: Iterable[PushConfig]) -> None:
        count = 0
        for config in configs:
            if repair.enable(config.pk):
                count += 1
                self.note(request, config, "Enabled.")
        told = ngettext("%(count)d webhook was enabled.", "%(count)d webhooks were enabled.", count)
        self.message_user(request, told % {"count": count}, messages.SUCCESS if count else messages.WARNING)

    def _disable(self, request: HttpRequest, configs: Iterable[PushConfig]) -> None:
        count = 0
        for config in configs:
            if repair.disable(config.pk):
                count += 1
                self.note(request, config, "Disabled.")
        told = ngettext("%(count)d webhook was disabled.", "%(count)d webhooks were disabled.", count)
        self.message_user(request, told % {"count": count}, messages.SUCCESS if count else messages.WARNING)

    def _again(self, request: HttpRequest, configs: Iterable[PushConfig]) -> None:
        self.send_again(request, repair.given_up(config.pk for config in configs))


class DeliveryStateFilter(admin.SimpleListFilter):
    """Deliveries by what became of them."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return the choices."""
        return [("waiting", _("waiting")), ("dead", _("given up")), ("delivered", _("delivered"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[PushDelivery]) -> QuerySet[PushDelivery]:
        """Return the deliveries of the chosen state."""
        kinds = {
            "waiting": _UNDONE & Q(dead_at__isnull=True),
            "dead": _UNDONE & Q(dead_at__isnull=False),
            "delivered": ~_UNDONE,
        }
        chosen = kinds.get(self.value() or "")
        return queryset if chosen is None else queryset.filter(chosen)


class DeliveryAdmin(Webhooks):
    """Deliveries that did not arrive at the first attempt."""

    list_display = (
        "number",
        "webhook",
        "short_task",
        "state",
        "attempts",
        "next_attempt",
        "last_error",
    )
    list_filter = (DeliveryStateFilter,)
    list_select_related = ("config",)
    ordering = ("-pk",)
    search_fields = ("config__task_id",)
    search_help_text = gettext_lazy("The id of a task or of a webhook, or a host with its port.")
    fields = (
        "number",
        "webhook",
        "task_id_link",
        "state",
        "attempts",
        "next_attempt",
        "last_error",
        "created_at",
        "delivered_at",
        "dead_at",
    )
    actions = ("send_again_selected",)
    change_form_template = "admin/a2a_django/delivery.html"

    def get_search_results(self, request: HttpRequest, queryset: QuerySet[Any], search_term: str) -> Any:
        """Find deliveries by their webhook."""
        return _found(queryset, search_term, "config__"), False

    @admin.display(description=gettext_lazy("event"))
    def number(self, delivery: PushDelivery) -> str:
        """Which of the task's events it is."""
        return f"#{delivery.seq}"

    @admin.display(description=gettext_lazy("webhook"))
    def webhook(self, delivery: PushDelivery) -> str:
        """Scheme and host, as a link to the webhook."""
        address = self.address("change", delivery.config_id, model=PushConfig)
        return format_html('<a href="{}">{}</a>', address, place_of(delivery.config))

    @admin.display(description=gettext_lazy("task"))
    def task_id_link(self, delivery: PushDelivery) -> str:
        """The task, as a link where the site shows tasks."""
        return self.task_link(delivery.config.task_id)

    @admin.display(description=gettext_lazy("task"))
    def short_task(self, delivery: PushDelivery) -> str:
        """The task, short enough for a column."""
        return self.task_link(delivery.config.task_id, looks.short(delivery.config.task_id))

    @admin.display(description=gettext_lazy("state"))
    def state(self, delivery: PushDelivery) -> str:
        """What became of it, in a word with a colour."""
        if delivery.delivered_at is not None:
            kind, words = "a2a-good", _("delivered")
        elif delivery.dead_at is not None:
            kind, words = "a2a-bad", _("given up")
        else:
            kind, words = "a2a-warn", _("waiting")
        return format_html('<span class="a2a-tag {}">{}</span>', kind, words)

    @admin.display(description=gettext_lazy("next attempt"))
    def next_attempt(self, delivery: PushDelivery) -> Any:
        """When it is tried again."""
        waits = delivery.delivered_at is None and delivery.dead_at is None
        return (waits and delivery.config.due_at) or "-"

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses, that of sending again among them."""
        view = self.admin_site.admin_view(require_POST(self.again))
        return [path("<path:object_id>/again/", view, name="a2a_django_pushdelivery_again"), *super().get_urls()]

    def again(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Send one delivery again."""
        if not self.has_operate_permission(request):
            raise PermissionDenied
        delivery = self.get_object(request, object_id)
        if delivery is None:
            raise Http404
        self.send_again(request, [delivery.pk])
        return HttpResponseRedirect(self.address("change", delivery.pk))

    @admin.action(description=gettext_lazy("Send selected deliveries again"), permissions=["operate"])
    def send_again_selected(self, request: HttpRequest, queryset: QuerySet[PushDelivery]) -> None:
        """Send deliveries again."""
        self.send_again(request, queryset.values_list("pk", flat=True))

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Say whether it can be sent again."""
        delivery: PushDelivery = context["original"]
        undone = delivery.delivered_at is None and delivery.config.disabled_at is None
        context |= {"may_send": undone and self.has_operate_permission(request), "subtitle": None}
        found: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return found


ROOMS = [(PushConfig, ConfigAdmin), (PushDelivery, DeliveryAdmin)]
