"""Keys with which other companies' agents identify themselves."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class APIKey(models.Model):
    """A key of a user. Only a digest of the secret is kept; the key itself is shown once, when it is made."""

    id = models.BigAutoField(primary_key=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="a2a_api_keys", verbose_name=_("user")
    )
    name = models.CharField(_("name"), max_length=100, blank=True, default="")
    prefix = models.CharField(_("prefix"), max_length=16, unique=True)
    digest = models.CharField(_("digest"), max_length=64, editable=False)
    scopes = models.JSONField(
        _("scopes"),
        default=list,
        blank=True,
        help_text=_("What the key may be used for, where an agent or the site asks for scopes."),
    )
    agents = models.JSONField(
        _("agents"), default=list, blank=True, help_text=_("Slugs of the agents it is for; none: for all of them.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name or self.prefix

    def is_usable(self, now: dt.datetime | None = None) -> bool:
        """Whether the key is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > (now or timezone.now()))
