"""What the people who run a site say of its agents, without touching code."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class AgentSetting(models.Model):
    """An agent switched off, or shown under another name. Agents without a row are on, and as their code has them."""

    id = models.BigAutoField(primary_key=True)
    slug = models.CharField(_("agent"), max_length=100, unique=True, help_text=_("The slug of an agent of this site."))
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("An agent that is not enabled is unknown to callers.")
    )
    name = models.CharField(
        _("name"), max_length=200, blank=True, default="", help_text=_("Shown to callers; empty: as the code has it.")
    )
    description = models.TextField(
        _("description"), blank=True, default="", help_text=_("Shown to callers; empty: as the code has it.")
    )

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ["slug"]
        permissions = [("use_playground", _("Can talk to agents in the playground"))]

    def __str__(self) -> str:
        return self.slug
