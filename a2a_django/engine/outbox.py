"""What webhooks have to be told is written with what happened: the journal's half of the outbox.

Invariants:

* An event and its deliveries are committed together, so none is lost and none is sent for nothing.
* ``queued_seq`` of a config grows in that transaction. Whoever has sent everything takes the config off the list of
  those that are due only as long as ``queued_seq`` is still what he has seen, so no delivery is forgotten.
* The task's row is locked first, the configs after it and in the order of their ids; a sender never waits for a task.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db.models import Case, F, PositiveIntegerField, Value, When
from django.db.models.functions import Coalesce

from a2a_django.conf import a2a_settings
from a2a_django.engine.statements import insert
from a2a_django.models import PushConfig, PushDelivery, Task, TaskEvent
from a2a_django.protocol import wire
from a2a_django.protocol.errors import InvalidParamsError

#: What the caller says of a config.
GIVEN = ("config_id", "config_key", "url", "host", "scheme", "sealed", "protocol_version")
#: What another config with the same id replaces; a sender at work on the old one loses it.
REPLACED = (*GIVEN, "due_at", "failures", "disabled_at", "disabled_reason", "lease_holder", "lease_expires_at")


class Outbox:
    """The webhooks of one journal transaction on the database ``using``."""

    def __init__(self, using: str) -> None:
        self._using = using
        #: Configs of tasks that have no row yet.
        self._new: list[PushConfig] = []
        self._put: list[PushConfig] = []
        self._deleted: list[tuple[str, str]] = []
        #: The tasks that somebody is to be told of; known after ``save``.
        self.told: set[str] = set()

    def check(self, task: Task, config: PushConfig) -> None:
        """Raise ``InvalidParamsError`` when the config would be one too many for the task."""
        if not task.has_push:
            return
        rows = PushConfig.objects.using(self._using).filter(task_id=task.pk)
        keys = {row.config_key for row in self._new if row.task_id == task.pk}
        if not task._state.adding:
            keys.update(rows.values_list("config_key", flat=True))
        limit = a2a_settings.MAX_PUSH_CONFIGS
        if config.config_key not in keys and len(keys) >= limit:
            raise InvalidParamsError.of("task_push_notification_config", f"a task has at most {limit}")

    def put(self, task: Task, template: PushConfig) -> PushConfig:
        """Add a config like ``template`` to a task, or put it in the place of the one with the same id (D-17).

        What happens from now on is sent there. Returns its row.
        """
        config = PushConfig(**{name: getattr(template, name) for name in GIVEN})
        task.has_push = True
        config.task = task
        config.created_at = wire.now()
        config.queued_seq = config.sent_seq = task.last_seq
        if task._state.adding:
            self._new = [one for one in self._new if (one.task_id, one.config_key) != (task.pk, config.config_key)]
            self._new.append(config)
            return config
        rows = PushConfig.objects.using(self._using).filter(task_id=task.pk, config_key=config.config_key)
        old = rows.select_for_update().first()
        if old is None:
            config.save(using=self._using, force_insert=True)
        else:
            config.pk, config.created_at = old.pk, old.created_at
            config.queued_seq, config.sent_seq = old.queued_seq, old.sent_seq
            # What was given up when it was disabled stays so; what waits goes to the new address.
            waiting = old.disabled_at is None and old.due_at is not None
            config.due_at = wire.now() if waiting else None
            config.save(using=self._using, update_fields=REPLACED)
        self._put.append(config)
        return config

    def delete(self, task: Task, config_key: str) -> None:
        """Delete a config and what waits for it; no matter if there is none (R-074)."""
        self._new = [one for one in self._new if (one.task_id, one.config_key) != (task.pk, config_key)]
        self._put = [one for one in self._put if (one.task_id, one.config_key) != (task.pk, config_key)]
        self._deleted.append((task.pk, config_key))
        rows = PushConfig.objects.using(self._using).filter(task_id=task.pk, config_key=config_key)
        for pk in list(rows.select_for_update().values_list("pk", flat=True)):
            deliveries = PushDelivery.objects.using(self._using).filter(config_id=pk)
            deliveries._raw_delete(self._using)  # nothing hangs on them
            rows.filter(pk=pk)._raw_delete(self._using)

    def save(self, tasks: Mapping[str, Task], events: Sequence[TaskEvent]) -> None:
        """Write new configs and the deliveries of the events; after the tasks and events themselves."""
        for config in self._new:
            config.save(using=self._using, force_insert=True)
        new: dict[str, list[TaskEvent]] = defaultdict(list)
        for event in events:
            if tasks[event.task_id].has_push:
                new[event.task_id].append(event)
        if not new:
            return
        now = wire.now()
        configs = PushConfig.objects.using(self._using).filter(task_id__in=new, disabled_at__isnull=True)
        # Locked, so that one that is deleted or disabled at this moment gets nothing more.
        rows = list(configs.order_by("pk").select_for_update().values_list("pk", "task_id", "queued_seq"))
        deliveries = [
            PushDelivery(config_id=pk, seq=event.seq, traceparent=tasks[task_id].traceparent, created_at=now)
            for pk, task_id, queued in rows
            for event in new[task_id]
            if event.seq > queued  # events of this transaction that are older than the config are not for it
        ]
        if not deliveries:
            return
        insert(self._using, PushDelivery)(deliveries)
        last = [When(task_id=pk, then=Value(of_task[-1].seq)) for pk, of_task in new.items()]
        PushConfig.objects.using(self._using).filter(pk__in={row.config_id for row in deliveries}).update(
            queued_seq=Case(*last, default=F("queued_seq"), output_field=PositiveIntegerField()),
            due_at=Coalesce("due_at", Value(now)),
        )
        told = {row.config_id for row in deliveries}
        self.told = {task_id for pk, task_id, _ in rows if pk in told}

    def is_stored(self) -> bool | None:
        """Return whether what was changed here is in the rows; None when nothing was."""
        rows = PushConfig.objects.using(self._using)
        for config in (*self._new, *self._put):
            found = rows.filter(task_id=config.task_id, config_key=config.config_key)
            return (config.url, config.sealed) in found.values_list("url", "sealed")
        for task_id, key in self._deleted:
            return not rows.filter(task_id=task_id, config_key=key).exists()
        return None
