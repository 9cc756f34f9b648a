"""Tasks and what belongs to them: messages, artifacts, events.

All rows here are written by ``a2a_django.engine.journal`` and by nothing else. They are ordinary Django models: read
them, join them, show them. The tables are not swappable; a site's own facts about a task go into its own model with a
foreign key to ``Task``.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from a2a_django.models.fields import ExactCharField, ProtoJSONField, uuid7
from a2a_django.models.indexes import PartialIndex
from a2a_django.protocol import states


class TaskState(models.TextChoices):
    """The states of a task: the protocol's names with words for people."""

    SUBMITTED = states.TaskState.SUBMITTED.value, _("submitted")
    WORKING = states.TaskState.WORKING.value, _("working")
    COMPLETED = states.TaskState.COMPLETED.value, _("completed")
    FAILED = states.TaskState.FAILED.value, _("failed")
    CANCELED = states.TaskState.CANCELED.value, _("canceled")
    INPUT_REQUIRED = states.TaskState.INPUT_REQUIRED.value, _("input required")
    REJECTED = states.TaskState.REJECTED.value, _("rejected")
    AUTH_REQUIRED = states.TaskState.AUTH_REQUIRED.value, _("authorization required")


class TaskQuerySet(models.QuerySet["Task"]):
    """Every operation that reads tasks for a caller starts from ``visible_to``."""

    def visible_to(self, *, agent: str, owner: str) -> TaskQuerySet:
        """Return the tasks of ``owner`` at the agent with slug ``agent`` (R-051, R-253, R-256)."""
        return self.filter(agent=agent, owner=owner)


class Task(models.Model):
    """A unit of work of an agent (Spec 4.1.1); ``pk`` is the task id of the protocol, a UUIDv7."""

    id = models.CharField(_("id"), max_length=36, primary_key=True, default=uuid7, editable=False)
    context_id = models.TextField(_("context id"))
    context_key = models.CharField(max_length=32, editable=False)
    agent = models.CharField(_("agent"), max_length=100)
    owner = ExactCharField(_("owner"), max_length=190, blank=True, default="")
    user = models.CharField(_("user"), max_length=190, blank=True, default="", help_text=_("Primary key of the user."))
    tenant = models.CharField(_("tenant"), max_length=190, blank=True, default="")

    state = models.CharField(_("state"), max_length=32, choices=TaskState.choices, default=TaskState.SUBMITTED)
    status_timestamp = models.DateTimeField(_("status since"))
    status_message = ProtoJSONField(_("status message"), null=True, blank=True)
    # The history already has a message with the id of the status message, so it will not be put there again (D-22).
    status_message_known = models.BooleanField(default=False, editable=False)
    metadata = ProtoJSONField(_("metadata"), null=True, blank=True)

    last_seq = models.PositiveIntegerField(_("events"), default=0)
    message_count = models.PositiveIntegerField(_("messages"), default=0)
    artifact_count = models.PositiveIntegerField(_("artifacts"), default=0)
    # Whether there are webhooks to look for when something happens.
    has_push = models.BooleanField(default=False, editable=False)
    # The W3C trace context of the message that was taken last.
    traceparent = models.CharField(max_length=55, blank=True, default="", editable=False)

    # The lease: who runs the task now, until when without a sign of life, and which attempt it is. A journal write
    # that names another attempt is refused.
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    lease_holder = models.CharField(_("run by"), max_length=64, blank=True, default="")
    lease_expires_at = models.DateTimeField(_("lease expires"), null=True, blank=True)

    # While a message waits and nobody is at work: since when, by the database's clock, and in whose line. The owner
    # stands here once more so that an index without conditions finds what waits, too, however many tasks have ended.
    queued_at = models.DateTimeField(_("queued since"), null=True, blank=True)
    queued_owner = ExactCharField(max_length=190, null=True, blank=True, editable=False)
    # When the site's queue was given the task, as far as it waits for one (engine/dispatch.py).
    handed_in_at = models.DateTimeField(null=True, blank=True, editable=False)

    created_at = models.DateTimeField(_("created"))

    objects = TaskQuerySet.as_manager()

    class Meta:
        verbose_name = _("task")
        verbose_name_plural = _("tasks")
        ordering = ["-status_timestamp", "-id"]
        indexes = [
            models.Index(fields=["agent", "owner", "-status_timestamp", "-id"], name="a2a_task_owner"),
            # The context first: operators look for one without knowing whose it is.
            models.Index(fields=["context_key", "agent", "owner", "-status_timestamp", "-id"], name="a2a_task_context"),
            models.Index(fields=["agent", "owner", "state", "-status_timestamp", "-id"], name="a2a_task_state"),
            # By age, for all owners: what waits too long.
            models.Index(fields=["state", "status_timestamp"], name="a2a_task_age"),
            # Operators look at one tenant's tasks, newest first, and want to know which tenants there are.
            models.Index(fields=["tenant", "-id"], name="a2a_task_tenant"),
            # Not only of tasks with a lease: MySQL has no such indexes, and this one is asked all the time.
            models.Index(fields=["lease_expires_at"], name="a2a_task_lease"),
            PartialIndex(
                fields=["queued_owner", "queued_at", "id"],
                where=models.Q(queued_owner__isnull=False),
                name="a2a_task_queue",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=TaskState.values), name="a2a_task_state_known"),
            models.CheckConstraint(
                condition=models.Q(lease_holder="", lease_expires_at__isnull=True)
                | models.Q(~models.Q(lease_holder=""), lease_expires_at__isnull=False),
                name="a2a_task_lease_whole",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=sorted(states.TERMINAL)) | models.Q(lease_holder=""),
                name="a2a_task_ended_is_free",
            ),
            models.CheckConstraint(
                condition=models.Q(queued_at__isnull=True, queued_owner__isnull=True)
                | (
                    models.Q(queued_at__isnull=False, queued_owner__isnull=False, lease_holder="")
                    & ~models.Q(state__in=sorted(states.TERMINAL))
                ),
                name="a2a_task_queued_is_free",
            ),
        ]
        permissions = [
            ("cancel_task", "Can cancel task"),
            ("answer_task", "Can answer task as operator"),
            ("rerun_task", "Can run task again"),
        ]

    def __str__(self) -> str:
        return self.pk

    @property
    def is_terminal(self) -> bool:
        """Whether the task has ended."""
        return self.state in states.TERMINAL


class WaitingTask(Task):
    """A task that waits for somebody, as the admin's inbox shows it; who may see tasks may see these."""

    class Meta:
        proxy = True
        verbose_name = _("waiting task")
        verbose_name_plural = _("inbox")
        default_permissions = ()


class Message(models.Model):
    """One message of a task (Spec 4.1.4).

    ``position`` counts a task's messages from 1 without holes. A message that the history already has is worked on but
    not shown again (D-22). ``attempt`` is the last run that took the message; null: it waits. ``tries`` counts the
    runs it has had: more than one when a process died. ``checkpoint`` is what they have kept for the next one.
    """

    id = models.BigAutoField(primary_key=True)
    task = models.ForeignKey(Task, models.CASCADE, related_name="messages", verbose_name=_("task"), db_index=False)
    position = models.PositiveIntegerField(_("position"))
    shown = models.BooleanField(_("shown"), default=True)
    message_id = models.TextField(_("message id"))
    role = models.CharField(_("role"), max_length=16)
    wire = ProtoJSONField(_("content"))
    request = ProtoJSONField(_("request"), null=True, blank=True, help_text=_("What the sender asked for besides."))
    attempt = models.PositiveIntegerField(_("attempt"), null=True, blank=True)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    checkpoint = ProtoJSONField(_("checkpoint"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["task", "position"]
        constraints = [
            models.UniqueConstraint(fields=["task", "position"], name="a2a_message_position"),
        ]

    def __str__(self) -> str:
        return self.message_id

    @property
    def data(self) -> dict[str, Any]:
        """The message as a decoded ProtoJSON object."""
        value: dict[str, Any] = json.loads(self.wire)
        return value


class Artifact(models.Model):
    """One artifact of a task (Spec 4.1.7): its head. The parts are those of its events from ``base_seq`` on, so that
    a chunk costs its own size however long the artifact already is.
    """

    id = models.BigAutoField(primary_key=True)
    task = models.ForeignKey(Task, models.CASCADE, related_name="artifacts", verbose_name=_("task"), db_index=False)
    position = models.PositiveIntegerField(_("position"))
    artifact_id = models.TextField(_("artifact id"))
    artifact_key = models.CharField(max_length=32, editable=False)
    head = ProtoJSONField(_("head"), help_text=_("The artifact without its parts."))
    base_seq = models.PositiveIntegerField(_("first event"))
    chunks = models.PositiveIntegerField(_("chunks"), default=1)
    size = models.PositiveBigIntegerField(_("size"), default=0, help_text=_("Characters of JSON."))
    complete = models.BooleanField(_("complete"), default=False)

    class Meta:
        verbose_name = _("artifact")
        verbose_name_plural = _("artifacts")
        ordering = ["task", "position"]
        constraints = [
            models.UniqueConstraint(fields=["task", "artifact_key"], name="a2a_artifact_key"),
            models.UniqueConstraint(fields=["task", "position"], name="a2a_artifact_position"),
        ]

    def __str__(self) -> str:
        return self.artifact_id


class EventKind(models.TextChoices):
    """What an event is about."""

    STATUS = "status", _("status")
    ARTIFACT = "artifact", _("artifact")


class TaskEvent(models.Model):
    """One thing that happened to a task, as it is sent to readers (a StreamResponse, Spec 4.2).

    ``seq`` counts a task's events from 1 without holes.
    """

    id = models.BigAutoField(primary_key=True)
    task = models.ForeignKey(Task, models.CASCADE, related_name="events", verbose_name=_("task"), db_index=False)
    seq = models.PositiveIntegerField(_("number"))
    kind = models.CharField(_("kind"), max_length=8, choices=EventKind.choices)
    artifact_key = models.CharField(max_length=32, blank=True, default="", editable=False)
    state = models.CharField(_("state"), max_length=32, blank=True, default="")
    attempt = models.PositiveIntegerField(_("attempt"), default=0)
    wire = ProtoJSONField(_("content"))
    created_at = models.DateTimeField(_("created"))

    class Meta:
        verbose_name = _("task event")
        verbose_name_plural = _("task events")
        ordering = ["task", "seq"]
        constraints = [
            models.UniqueConstraint(fields=["task", "seq"], name="a2a_event_seq"),
            models.CheckConstraint(condition=models.Q(kind__in=EventKind.values), name="a2a_event_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.task_id} #{self.seq}"

    @property
    def data(self) -> dict[str, Any]:
        """The event as a decoded ProtoJSON object."""
        value: dict[str, Any] = json.loads(self.wire)
        return value


class TaskTally(models.Model):
    """How many tasks of an owner have ended in a state, so that ``totalSize`` of a list costs the same at any size.
    Tasks that have not ended are counted when they are asked for: there are few of them.

    The number is the sum over the shards: every process adds to a shard of its own, so that writers do not wait for
    one another. A single shard may be negative.
    """

    id = models.BigAutoField(primary_key=True)
    agent = models.CharField(max_length=100)
    owner = ExactCharField(max_length=190, blank=True, default="")
    state = models.CharField(max_length=32, choices=TaskState.choices)
    shard = models.PositiveSmallIntegerField()
    count = models.BigIntegerField(default=0)

    class Meta:
        verbose_name = _("task tally")
        verbose_name_plural = _("task tallies")
        constraints = [
            models.UniqueConstraint(fields=["agent", "owner", "state", "shard"], name="a2a_tally_key"),
        ]

    def __str__(self) -> str:
        return f"{self.agent} {self.owner} {self.state}: {self.count}"
