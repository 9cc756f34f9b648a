"""Webhooks of tasks and what is sent to them (Spec 4.3).

The outbox is the log of events itself: the transaction of an event moves ``PushConfig.queued_seq`` up to it
(``engine.outbox``), and ``a2a_django.push`` sends what lies between ``PushCursor.sent_seq`` and there. So an event
costs an agent the same however many webhooks hang. A config is what senders share out among themselves: whoever has its
lease sends its events, one after the other.
"""

from __future__ import annotations

import json

from django.db import models
from django.utils.translation import gettext_lazy as _

from a2a_django.models.tasks import Task
from a2a_django.protocol.versions import V0_3
from a2a_django.sealing import seal, unseal


class PushConfig(models.Model):
    """A webhook that is told what happens to a task (Spec 4.3.1)."""

    id = models.BigAutoField(primary_key=True)
    task = models.ForeignKey(Task, models.CASCADE, related_name="push_configs", verbose_name=_("task"), db_index=False)
    config_id = models.TextField(_("config id"))
    config_key = models.CharField(max_length=32, editable=False)
    url = models.TextField(_("URL"))
    # Whom a slow or dead one delays: "host:port" in lower case.
    host = models.CharField(_("host"), max_length=255, editable=False)
    scheme = models.CharField(_("authentication scheme"), max_length=255, blank=True, default="")
    sealed = models.TextField(
        _("secrets"), blank=True, default="", editable=False, help_text=_("Token and credentials, encrypted.")
    )
    protocol_version = models.CharField(_("protocol version"), max_length=8, default="1.0")
    created_at = models.DateTimeField(_("created"))

    # The last event that is to be sent.
    queued_seq = models.PositiveIntegerField(_("queued up to"), default=0)
    # When the next attempt may be made; null: there is nothing to send.
    due_at = models.DateTimeField(_("next attempt"), null=True, blank=True)
    failures = models.PositiveIntegerField(_("failures in a row"), default=0)
    disabled_at = models.DateTimeField(_("disabled"), null=True, blank=True)
    disabled_reason = models.TextField(_("reason"), blank=True, default="")

    # The lease: which process sends, and until when without a sign of life.
    lease_holder = models.CharField(_("sent by"), max_length=64, blank=True, default="")
    lease_expires_at = models.DateTimeField(_("lease expires"), null=True, blank=True)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["task", "id"]
        constraints = [models.UniqueConstraint(fields=["task", "config_key"], name="a2a_push_config_key")]
        indexes = [models.Index(fields=["due_at"], name="a2a_push_config_due")]

    def __str__(self) -> str:
        return self.config_id

    @property
    def tells_task(self) -> bool:
        """Whether it is told the whole task at every change of its status, and not event by event (0.3, D-12)."""
        return self.protocol_version == V0_3

    @property
    def secrets(self) -> dict[str, str]:
        """``token`` and ``credentials``, those that there are. Raises ``UndecryptableError``."""
        value: dict[str, str] = json.loads(unseal(self.sealed)) if self.sealed else {}
        return value

    @secrets.setter
    def secrets(self, value: dict[str, str]) -> None:
        self.sealed = seal(json.dumps(value)) if value else ""


class PushCursor(models.Model):
    """How far a webhook has been told. A row of its own, because the sender writes it for every event: it must not hold
    up the journal, which writes the config.
    """

    config = models.OneToOneField(
        PushConfig, models.CASCADE, primary_key=True, related_name="cursor", verbose_name=_("configuration")
    )
    sent_seq = models.PositiveIntegerField(_("sent up to"), default=0)

    class Meta:
        verbose_name = _("push cursor")
        verbose_name_plural = _("push cursors")

    def __str__(self) -> str:
        return f"{self.config_id} #{self.sent_seq}"


class PushDelivery(models.Model):
    """An event that did not arrive at the first attempt: the event of the config's task with the number ``seq``.

    It waits until ``delivered_at`` or ``dead_at`` is set; a dead one was given up, and is sent again when somebody
    takes the time away and makes its config due (``PushConfig.due_at``).
    """

    id = models.BigAutoField(primary_key=True)
    config = models.ForeignKey(
        PushConfig, models.CASCADE, related_name="deliveries", verbose_name=_("configuration"), db_index=False
    )
    seq = models.PositiveIntegerField(_("event"))
    attempts = models.PositiveIntegerField(_("attempts"), default=0)
    delivered_at = models.DateTimeField(_("delivered"), null=True, blank=True)
    dead_at = models.DateTimeField(_("given up"), null=True, blank=True)
    last_error = models.TextField(_("last error"), blank=True, default="")
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        ordering = ["config", "seq"]
        constraints = [models.UniqueConstraint(fields=["config", "seq"], name="a2a_push_delivery_seq")]

    def __str__(self) -> str:
        return f"{self.config_id} #{self.seq}"
