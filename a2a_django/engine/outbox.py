"""What webhooks have to be told is known with what happened: the journal's half of the outbox.

Invariants:

* ``queued_seq`` of the configs of a task grows in the transaction of the event, so none is lost and none is sent for
  nothing. The event's own row is what is sent.
* Whoever has sent everything takes the config off the list of those that are due only as long as ``queued_seq`` is
  still what he has seen, so no event is forgotten.
* The task's row is locked first, the configs after it; a sender never waits for a task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter

from django.db.models import Case, F, PositiveIntegerField, Value, When

from a2a_django.conf import a2a_settings
from a2a_django.models import EventKind, PushConfig, PushCursor, PushDelivery, Task, TaskEvent
from a2a_django.protocol import wire
from a2a_django.protocol.errors import InvalidParamsError
from a2a_django.protocol.versions import V0_3

#: What the caller says of a config.
GIVEN = ("config_id", "config_key", "url", "host", "scheme", "sealed", "protocol_version")
#: What another config with the same id replaces; a sender at work on the old one loses it.
REPLACED = (
    *GIVEN,
    "queued_seq",
    "due_at",
    "failures",
    "disabled_at",
    "disabled_reason",
    "lease_holder",
    "lease_expires_at",
)


class Outbox:
    """The webhooks of one journal transaction on the database ``using``."""

    def __init__(self, using: str) -> None:
        self._using = using
        #: Configs of tasks that have no row yet.
        self._new: list[PushConfig] = []
        self._put: list[PushConfig] = []
        self._deleted: list[tuple[str, str]] = []
        #: The tasks with webhooks that had nothing to be told before, and maybe some more; known after ``save``.
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
        config.queued_seq = task.last_seq
        if task._state.adding:
            self._new = [one for one in self._new if (one.task_id, one.config_key) != (task.pk, config.config_key)]
            self._new.append(config)
            return config
        rows = PushConfig.objects.using(self._using).filter(task_id=task.pk, config_key=config.config_key)
        old = rows.select_for_update().first()
        if old is None:
            self._insert(config)
        else:
            config.pk, config.created_at = old.pk, old.created_at
            if old.disabled_at is None:  # what waits goes to the new address
                config.queued_seq = old.queued_seq
                config.due_at = wire.now() if old.due_at is not None else None
                self.told.add(task.pk)
            else:  # what happened meanwhile does not
                PushCursor.objects.using(self._using).filter(pk=old.pk).update(sent_seq=task.last_seq)
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
            PushCursor.objects.using(self._using).filter(pk=pk)._raw_delete(self._using)
            rows.filter(pk=pk)._raw_delete(self._using)

    def _insert(self, config: PushConfig) -> None:
        config.save(using=self._using, force_insert=True)
        PushCursor(config=config, sent_seq=config.queued_seq).save(using=self._using, force_insert=True)

    def save(self, tasks: Mapping[str, Task], events: Sequence[TaskEvent]) -> None:
        """Write new configs and move all up to the newest events; after the tasks and events themselves."""
        for config in self._new:
            self._insert(config)
        last = {event.task_id: event.seq for event in events if tasks[event.task_id].has_push}
        if not last:
            return
        with_status = {event.task_id for event in events if event.kind == EventKind.STATUS}
        places = [When(task_id=pk, then=Value(seq)) for pk, seq in last.items()]
        configs = PushConfig.objects.using(self._using).filter(task_id__in=last, disabled_at__isnull=True)
        if pieces := last.keys() - with_status:  # they are sent the whole task, but not for each of its pieces
            configs = configs.exclude(task_id__in=pieces, protocol_version=V0_3)
        queued_seq = Case(*places, default=F("queued_seq"), output_field=PositiveIntegerField())
        if configs.update(queued_seq=queued_seq) and configs.filter(due_at__isnull=True).update(due_at=wire.now()):
            self.told.update(last)

    def is_stored(self) -> bool | None:
        """Return whether all that was changed here is in the rows; None when nothing was."""
        rows = PushConfig.objects.using(self._using)
        put = {(config.task_id, config.config_key): config for config in (*self._new, *self._put)}
        gone = set(self._deleted) - put.keys()
        if not put and not gone:
            return None
        if any(rows.filter(task_id=task_id, config_key=key).exists() for task_id, key in gone):
            return False
        said = (*GIVEN, "disabled_at")
        return all(
            attrgetter(*said)(config) in rows.filter(task_id=task_id, config_key=key).values_list(*said)
            for (task_id, key), config in put.items()
        )
