"""Which messages have been taken in before, for agents that do not work on the same one twice (R-086, D-32)."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from a2a_django.models.fields import ExactCharField, ProtoJSONField
from a2a_django.models.tasks import Task


class MessageReceipt(models.Model):
    """What has become of one message of an agent with ``deduplicate``: the ``position`` it has in its ``task``, or the
    one message that answered it (``reply``).

    ``key`` stands for owner, agent, task id as sent, and message id; ``digest`` for what the message says. While it is
    not known yet whether there will be a task, ``holder`` is whoever finds that out, until ``lease_expires_at`` without
    a sign of life.
    """

    key = models.CharField(max_length=64, primary_key=True, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    agent = models.CharField(_("agent"), max_length=100)
    owner = ExactCharField(_("owner"), max_length=190, blank=True, default="")
    message_id = models.TextField(_("message id"))
    task = models.ForeignKey(
        Task, models.CASCADE, related_name="receipts", verbose_name=_("task"), null=True, blank=True, db_index=False
    )
    position = models.PositiveIntegerField(_("position"), null=True, blank=True)
    reply = ProtoJSONField(_("answer"), null=True, blank=True)
    holder = models.CharField(max_length=64, blank=True, default="", editable=False)
    lease_expires_at = models.DateTimeField(_("lease expires"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("message receipt")
        verbose_name_plural = _("message receipts")
        # Those of a task, which go along with it; and those without one, by age.
        indexes = [models.Index(fields=["task", "created_at"], name="a2a_receipt_task")]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    Q(holder="", lease_expires_at__isnull=True),
                    Q(task__isnull=False, position__isnull=False, reply__isnull=True)
                    | Q(task__isnull=True, position__isnull=True, reply__isnull=False),
                )
                | Q(
                    ~Q(holder=""),
                    lease_expires_at__isnull=False,
                    task__isnull=True,
                    position__isnull=True,
                    reply__isnull=True,
                ),
                name="a2a_receipt_whole",
            ),
        ]

    def __str__(self) -> str:
        return self.message_id
