"""What is kept of messages that made no task: the one message that answered them, for whoever sends them again."""

from __future__ import annotations

import datetime as dt

from django.db import transaction
from django.db.models import Q, QuerySet

from a2a_django.agents import registry
from a2a_django.conf import a2a_settings
from a2a_django.engine import clock
from a2a_django.models import MessageReceipt


def age() -> dt.timedelta | None:
    """Return how old replies may become; None where no agent keeps any, or for ever."""
    days = a2a_settings.REPLY_RETENTION_DAYS
    keeps = any(agent.deduplicate and agent.mode != "task" for agent in registry.all())
    return dt.timedelta(days=days) if keeps and days is not None else None


def without_task(using: str) -> QuerySet[MessageReceipt]:
    """Return the receipts without a task, but for those of messages that somebody is at work on."""
    lost = ~Q(holder="") & Q(lease_expires_at__lt=clock.read(using))
    return MessageReceipt.objects.using(using).filter(Q(holder="") | lost, task__isnull=True)


def delete_some(rows: QuerySet[MessageReceipt], count: int) -> int:
    """Delete up to ``count`` of the oldest rows, in one transaction; returns how many."""
    with transaction.atomic(using=rows.db):
        keys = list(rows.order_by("created_at").values_list("pk", flat=True)[:count])
        return rows.filter(pk__in=keys)._raw_delete(rows.db) if keys else 0
