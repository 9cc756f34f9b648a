"""API keys: made here, shown once, revoked here; the secret is nowhere but on the page that answers its making."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.widgets import AdminSplitDateTime
from django.contrib.auth import get_permission_codename, get_user_model
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from a2a_django.access import create_api_key, revoke_api_key
from a2a_django.admin.console import ConsoleAdmin
from a2a_django.agents import registry
from a2a_django.models import APIKey

#: Nobody keeps the page with the secret: no proxy, and no browser for its history.
UNKEPT = "no-store, private"


class KeyForm(forms.ModelForm):
    """A key as people write it: scopes as words, agents to be ticked."""

    scopes = forms.CharField(
        label=gettext_lazy("Scopes"),
        required=False,
        help_text=gettext_lazy("Words, with blanks between them. What an agent or the site asks for, if it asks."),
        widget=forms.TextInput(attrs={"class": "vTextField"}),
    )
    agents = forms.MultipleChoiceField(
        label=gettext_lazy("Agents"),
        required=False,
        help_text=gettext_lazy("The agents it is for; none: for all of them."),
        widget=forms.CheckboxSelectMultiple,
    )
    expires_at = forms.SplitDateTimeField(
        label=gettext_lazy("Expires"),
        required=False,
        help_text=gettext_lazy("Empty: it may be used until it is revoked."),
        widget=AdminSplitDateTime,
    )

    class Meta:
        model = APIKey
        fields = ("user", "name", "scopes", "agents", "expires_at")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row: APIKey = self.instance
        slugs = [agent.slug for agent in registry.all()]
        if "agents" in self.fields:
            # One that the code has no more stays ticked: without it the key would be for all of them.
            field: Any = self.fields["agents"]
            field.choices = [(slug, slug) for slug in dict.fromkeys([*slugs, *row.agents])]
        if "scopes" in self.fields:
            self.initial["scopes"] = " ".join(map(str, row.scopes))

    def clean_scopes(self) -> list[str]:
        """Return the words."""
        return list(dict.fromkeys(self.cleaned_data["scopes"].split()))

    def clean_expires_at(self) -> Any:
        """Refuse a new end that is over already."""
        moment = self.cleaned_data["expires_at"]
        if moment is not None and moment != self.instance.expires_at and moment <= timezone.now():
            raise ValidationError(_("This moment is over."), code="past")
        return moment


class StateFilter(admin.SimpleListFilter):
    """Keys by whether they may be used."""

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        """Return the choices."""
        return [("valid", _("valid")), ("expired", _("expired")), ("revoked", _("revoked"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[APIKey]) -> QuerySet[APIKey]:
        """Return the keys of the chosen state."""
        over = Q(expires_at__isnull=False, expires_at__lte=timezone.now())
        kinds = {
            "valid": Q(revoked_at__isnull=True) & ~over,
            "expired": Q(revoked_at__isnull=True) & over,
            "revoked": Q(revoked_at__isnull=False),
        }
        chosen = kinds.get(self.value() or "")
        return queryset if chosen is None else queryset.filter(chosen)


class KeyAdmin(ConsoleAdmin):
    """Keys of users.

    Who holds a key calls agents as its user. So a key for somebody else, or changes of one, are for those who may
    change users, and where that is a superuser, for superusers. Anybody who may change keys may revoke any.
    """

    form = KeyForm
    list_display = ("label", "prefix", "user", "state", "for_agents", "for_scopes", "expires_at", "last_used_at")
    list_display_links = ("label",)
    list_filter = (StateFilter, "created_at")
    list_select_related = ("user",)
    ordering = ("-created_at", "-pk")
    show_full_result_count = False
    actions = ("revoke_selected",)
    change_form_template = "admin/a2a_django/key.html"

    # ------------------------------------------------------------------------------------------------- who may do what

    def may_act_for(self, request: HttpRequest, user: Any) -> bool:
        """Return whether somebody may give out keys with which others call as ``user``."""
        if user == request.user or request.user.is_superuser:
            return True
        if getattr(user, "is_superuser", False):
            return False
        opts = get_user_model()._meta
        return bool(request.user.has_perm(f"{opts.app_label}.{get_permission_codename('change', opts)}"))

    def has_change_permission(self, request: HttpRequest, obj: APIKey | None = None) -> bool:
        """Return whether somebody may change a key, any key where none is named."""
        return super().has_change_permission(request, obj) and (obj is None or self.may_act_for(request, obj.user))

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        """Return whether somebody may revoke keys."""
        return super().has_change_permission(request)

    # --------------------------------------------------------------------------------------------------- what is shown

    @admin.display(description=gettext_lazy("name"), ordering="name")
    def label(self, key: APIKey) -> str:
        """The name, or what there is in its place."""
        return str(key)

    @admin.display(description=gettext_lazy("state"))
    def state(self, key: APIKey) -> str:
        """Whether it may be used."""
        if key.revoked_at is not None:
            return _("revoked")
        return _("valid") if key.is_usable() else _("expired")

    @admin.display(description=gettext_lazy("agents"))
    def for_agents(self, key: APIKey) -> str:
        """The agents it is for."""
        return ", ".join(map(str, key.agents)) or _("all")

    @admin.display(description=gettext_lazy("scopes"))
    def for_scopes(self, key: APIKey) -> str:
        """What it may be used for."""
        return " ".join(map(str, key.scopes)) or "-"

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        """Search by name, prefix and user."""
        return ["name", "prefix", f"user__{get_user_model().USERNAME_FIELD}"]

    def get_autocomplete_fields(self, request: HttpRequest) -> list[str]:
        """Let users be searched for where the site can."""
        room = self.admin_site._registry.get(get_user_model())
        return ["user"] if room is not None and room.get_search_fields(request) else []

    def get_fieldsets(self, request: HttpRequest, obj: APIKey | None = None) -> Any:
        """Return the fields; those that are known only of a key that is there, then."""
        fields = ["name", "scopes", "agents", "expires_at"]
        if obj is None:
            return [(None, {"fields": ["user", *fields]})]
        known = ["user", "prefix", "state", "created_at", "last_used_at", "revoked_at"]
        return [(None, {"fields": fields}), (_("What is known"), {"fields": known})]

    def get_readonly_fields(self, request: HttpRequest, obj: APIKey | None = None) -> list[str]:
        """Return what nobody changes: whose key it is, and all that the site notes."""
        return [] if obj is None else ["user", "prefix", "state", "created_at", "last_used_at", "revoked_at"]

    def get_form(self, request: HttpRequest, obj: APIKey | None = None, change: bool = False, **kwargs: Any) -> Any:
        """Return the form; it asks whether the operator may make keys of the user."""
        base = super().get_form(request, obj, change, **kwargs)
        room = self

        class Form(base):  # type: ignore[misc, valid-type]  # made for this request
            def clean_user(self) -> Any:
                user = self.cleaned_data["user"]
                if not room.may_act_for(request, user):
                    raise ValidationError(_("You may not make a key of this user."), code="forbidden")
                return user

        return Form

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Propose the operator as the user."""
        if db_field.name == "user":
            kwargs.setdefault("initial", request.user.pk)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    # ------------------------------------------------------------------------------------------------ what can be done

    def get_urls(self) -> list[URLPattern]:
        """Return the addresses, that of revoking among them."""
        revoke = self.admin_site.admin_view(require_POST(self.revoke))
        return [path("<path:object_id>/revoke/", revoke, name="a2a_django_apikey_revoke"), *super().get_urls()]

    @sensitive_variables("text")
    def save_model(self, request: HttpRequest, obj: APIKey, form: Any, change: bool) -> None:
        """Make the key, or keep what was changed about it."""
        if change:
            obj.save(update_fields=["name", "scopes", "agents", "expires_at"])
            return
        made, text = create_api_key(obj.user, obj.name, scopes=obj.scopes, agents=obj.agents, expires_at=obj.expires_at)
        obj.__dict__.update({name: value for name, value in made.__dict__.items() if name != "_state"})
        obj._state.adding, obj._state.db = False, made._state.db
        # Only as long as this request: neither the log nor the message of the admin may have it.
        request._a2a_secret = text  # type: ignore[attr-defined]

    @sensitive_variables("text")
    def response_add(self, request: HttpRequest, obj: APIKey, post_url_continue: Any = None) -> HttpResponse:
        """Show the key, now and never again. It is the answer itself: a page to be led to would have to keep it."""
        text = request.__dict__.pop("_a2a_secret")
        context = {"key": obj, "secret": text, "back": self.address("changelist")}
        response = self.page(request, "key_made.html", _("The key was made"), context)
        response.headers["Cache-Control"] = UNKEPT
        return response.render()

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Say whether the key may be revoked by whoever looks at it."""
        key: APIKey | None = context.get("original")
        context |= {
            "may_revoke": key is not None and key.revoked_at is None and self.has_revoke_permission(request),
            "show_save_and_add_another": False,
            "show_save_and_continue": key is not None and self.has_change_permission(request, key),
        }
        found: HttpResponse = super().render_change_form(request, context, *args, **kwargs)
        return found

    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Revoke a key."""
        if not self.has_revoke_permission(request):
            raise PermissionDenied
        key = self.get_object(request, object_id)
        if key is None:
            raise Http404
        self._revoke(request, [key])
        return HttpResponseRedirect(self.address("changelist"))

    @admin.action(description=gettext_lazy("Revoke selected keys"), permissions=["revoke"])
    def revoke_selected(self, request: HttpRequest, queryset: QuerySet[APIKey]) -> None:
        """Revoke keys."""
        self._revoke(request, list(queryset))

    def _revoke(self, request: HttpRequest, keys: list[APIKey]) -> None:
        fresh = [key for key in keys if key.revoked_at is None]
        for key in fresh:
            revoke_api_key(key.prefix)
            self.note(request, key, "Revoked.")
        told = ngettext("%(count)d key was revoked.", "%(count)d keys were revoked.", len(fresh))
        self.message_user(request, told % {"count": len(fresh)}, messages.SUCCESS if fresh else messages.WARNING)


ROOMS = [(APIKey, KeyAdmin)]
