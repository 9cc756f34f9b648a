"""What keeps derived rows right when tasks are deleted behind the journal's back (admin, ``QuerySet.delete``)."""

from __future__ import annotations

from typing import Any

from django.db.models.signals import pre_delete
from django.dispatch import receiver

from a2a_django.engine.journal import WRITER_SHARDS
from a2a_django.engine.statements import add_to_tally
from a2a_django.models import Task, WaitingTask
from a2a_django.protocol.states import TERMINAL
from a2a_django.retention.deletion import counted


@receiver(pre_delete, sender=WaitingTask, dispatch_uid="a2a_django.tally.waiting")
@receiver(pre_delete, sender=Task, dispatch_uid="a2a_django.tally")
def count_out(sender: type[Task], instance: Task, using: str, **kwargs: Any) -> None:
    """Take a task that is about to be deleted out of its owner's totals.

    Runs inside the transaction of the deletion. The row is locked and looked at again: the task may have ended, or
    have been deleted by somebody else, since ``instance`` was read. ``retention`` counts what it deletes by itself.
    """
    if counted.get():
        return
    rows = Task.objects.using(using).select_for_update().filter(pk=instance.pk)
    state = rows.values_list("state", flat=True).first()
    if state in TERMINAL:
        add_to_tally(using, instance.agent, instance.owner, state, WRITER_SHARDS, -1)
