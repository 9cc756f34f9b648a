"""What operators do about webhooks: disable one, enable it again, send once more what was given up.

Each config is a transaction of its own, in the order of locks that the journal has: the task's row, then the config's.
A sender that is at work on a config loses its lease, as it does when the webhook's owner replaces the config; so what
was on its way may come twice, and nothing that an operator asked for is forgotten when the sender gives it back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from a2a_django import engine
from a2a_django.engine.database import alias
from a2a_django.models import PushConfig, PushDelivery, Task, TaskEvent

#: What stands in ``PushConfig.disabled_reason``.
BY_OPERATOR: Final = "Disabled by an operator."

_FREE: Final[dict[str, Any]] = {"lease_holder": "", "lease_expires_at": None}


def disable(pk: int, reason: str = BY_OPERATOR) -> bool:
    """Send nothing more to a webhook; returns whether that is new."""
    rows = PushConfig.objects.using(alias()).filter(pk=pk, disabled_at__isnull=True)
    return bool(rows.update(disabled_at=timezone.now(), disabled_reason=reason, due_at=None, **_FREE))


def enable(pk: int) -> bool:
    """Send to a webhook again, beginning with what it has missed; returns whether it was disabled.

    A delivery that was given up is not sent for this alone: see ``send_again``.
    """
    using = alias()
    with transaction.atomic(using=using):
        task_id = PushConfig.objects.using(using).filter(pk=pk).values_list("task_id", flat=True).first()
        # Whatever happens to the task waits until it is known that this webhook has to be told of it.
        tasks = Task.objects.using(using).filter(pk=task_id).select_for_update()
        last = tasks.values_list("last_seq", flat=True).first()
        rows = PushConfig.objects.using(using).filter(pk=pk, disabled_at__isnull=False)
        changed = last is not None and rows.update(
            disabled_at=None, disabled_reason="", failures=0, queued_seq=last, due_at=timezone.now(), **_FREE
        )
        if changed:
            _wake(using)
    return bool(changed)


def send_again(deliveries: Iterable[int]) -> list[PushDelivery]:
    """Send deliveries that have not arrived as soon as possible, also those that were given up; returns which.

    Left out are those of disabled webhooks, and those whose event is not kept any more. One that has had all its
    attempts gets a single further one.
    """
    using = alias()
    wanted = PushDelivery.objects.using(using).filter(pk__in=list(deliveries), delivered_at__isnull=True)
    event = TaskEvent.objects.using(using).filter(task_id=OuterRef("config__task_id"), seq=OuterRef("seq"))
    found: list[PushDelivery] = []
    for config_id in sorted(set(wanted.values_list("config_id", flat=True))):
        with transaction.atomic(using=using):
            configs = PushConfig.objects.using(using).filter(pk=config_id, disabled_at__isnull=True)
            if not configs.select_for_update().values_list("pk", flat=True):
                continue
            rows = list(wanted.filter(Exists(event), config_id=config_id).select_related("config").order_by("seq"))
            if not rows:
                continue
            PushDelivery.objects.using(using).filter(pk__in=[row.pk for row in rows]).update(dead_at=None)
            configs.update(due_at=timezone.now(), **_FREE)
            _wake(using)
        found += rows
    return found


def given_up(configs: Iterable[int]) -> list[int]:
    """Return the deliveries of webhooks that were given up."""
    rows = PushDelivery.objects.using(alias()).filter(config_id__in=list(configs), dead_at__isnull=False)
    return list(rows.order_by("config_id", "seq").values_list("pk", flat=True))


def _wake(using: str) -> None:
    transaction.on_commit(lambda: engine.get().sender.wake(), using=using)
