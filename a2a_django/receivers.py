"""What keeps derived rows right when tasks are deleted behind the journal's back (admin, ``QuerySet.delete``)."""

from __future__ import annotations

from typing import Any

from django.db.models.signals import post_delete
from django.dispatch import receiver

from a2a_django.engine.journal import WRITER_SHARDS
from a2a_django.engine.statements import add_to_tally
from a2a_django.models import Task


@receiver(post_delete, sender=Task, dispatch_uid="a2a_django.tally")
def count_out(sender: type[Task], instance: Task, using: str, **kwargs: Any) -> None:
    """Take a deleted task out of its owner's totals."""
    if instance.is_terminal:
        add_to_tally(using, instance.agent, instance.owner, instance.state, WRITER_SHARDS, -1)
