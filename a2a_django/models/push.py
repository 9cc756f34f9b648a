"""Webhooks of tasks and what was sent to them (Spec 4.3)."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from a2a_django.models.fields import ProtoJSONField
from a2a_django.models.tasks import Task


class PushConfig(models.Model):
    """A webhook that is told what happens to a task."""

    id = models.BigAutoField(primary_key=True)
    task = models.ForeignKey(Task, models.CASCADE, related_name="push_configs", verbose_name=_("task"), db_index=False)
    config_id = models.TextField(_("config id"))
    config_key = models.CharField(max_length=32, editable=False)
    wire = ProtoJSONField(_("content"))
    protocol_version = models.CharField(_("protocol version"), max_length=8, default="1.0")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("push configuration")
        verbose_name_plural = _("push configurations")
        ordering = ["task", "id"]
        constraints = [models.UniqueConstraint(fields=["task", "config_key"], name="a2a_push_config_key")]

    def __str__(self) -> str:
        return self.config_id


class PushDelivery(models.Model):
    """One event on its way to one webhook."""

    id = models.BigAutoField(primary_key=True)
    config = models.ForeignKey(
        PushConfig, models.CASCADE, related_name="deliveries", verbose_name=_("configuration"), db_index=False
    )
    seq = models.PositiveIntegerField(_("event"))
    wire = ProtoJSONField(_("content"))
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    next_attempt_at = models.DateTimeField(_("next attempt"), null=True, blank=True)
    delivered_at = models.DateTimeField(_("delivered"), null=True, blank=True)
    last_error = models.TextField(_("last error"), blank=True, default="")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("push delivery")
        verbose_name_plural = _("push deliveries")
        ordering = ["config", "seq"]
        constraints = [models.UniqueConstraint(fields=["config", "seq"], name="a2a_push_delivery_seq")]
        indexes = [
            models.Index(
                fields=["next_attempt_at"], name="a2a_push_delivery_due", condition=models.Q(delivered_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.config_id} #{self.seq}"
