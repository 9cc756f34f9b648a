"""The agents' own tables: what they have to be compared with."""

from __future__ import annotations

from django.db import models


class Attempt(models.Model):
    """One run of an agent. ``plan`` is written before any of it is said; ``finished`` when the agent's code is through
    with it, just before it returns."""

    task_id = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    tries = models.PositiveIntegerField()
    #: Which call of the agent this is: two with the same number would be a run that was begun twice.
    call = models.CharField(max_length=32)
    process = models.PositiveIntegerField()
    plan = models.JSONField()
    #: The number of the first thing in ``plan``: what earlier attempts have kept by a checkpoint comes before it.
    start = models.PositiveIntegerField(default=0)
    finished = models.BooleanField(default=False)
    #: What the database did to the agent's own transaction.
    trouble = models.TextField(blank=True, default="")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task_id", "number"], name="chaos_attempt_key")]

    def __str__(self) -> str:
        return f"{self.task_id} {self.number}"


class Entry(models.Model):
    """A row of the site's own, written in one transaction with a chunk and a checkpoint. Twice the same is refused."""

    task_id = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    attempt = models.PositiveIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["task_id", "number"], name="chaos_entry_key")]

    def __str__(self) -> str:
        return f"{self.task_id} {self.number}"
