"""Jobs of the journal that change the webhooks of a task (Spec 3.1.7, 3.1.10)."""

from __future__ import annotations

from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Job, visible
from a2a_django.models import PushConfig


class PutPushConfig(Job[PushConfig]):
    """Add a config to a task, or replace the one with the same id (R-069, R-071, D-17); ended tasks may have some too.

    ``config`` is a row without a task. Raises ``TaskNotFoundError``, ``InvalidParamsError`` for one too many.
    """

    def __init__(self, task_id: str, config: PushConfig, *, agent: str, owner: str) -> None:
        super().__init__()
        self.task_id = task_id
        self.config = config
        self.agent, self.owner = agent, owner

    def apply(self, batch: Batch) -> PushConfig:
        task = visible(batch, self.task_id, self.agent, self.owner)
        batch.outbox.check(task, self.config)
        row = batch.outbox.put(task, self.config)
        batch.touch(task)
        return row


class DeletePushConfig(Job[None]):
    """Delete a config and what waits for it, as often as one likes (R-074). Raises ``TaskNotFoundError``."""

    def __init__(self, task_id: str, config_key: str, *, agent: str, owner: str) -> None:
        super().__init__()
        self.task_id = task_id
        self.config_key = config_key
        self.agent, self.owner = agent, owner

    def apply(self, batch: Batch) -> None:
        task = visible(batch, self.task_id, self.agent, self.owner)
        if task.has_push:
            batch.outbox.delete(task, self.config_key)
