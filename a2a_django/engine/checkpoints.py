"""How far a run has come, as its agent says: kept with the message it works on, for the run that comes after a loss."""

from __future__ import annotations

from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Broken, Job, Voice, current


class SetCheckpoint(Job[None]):
    """Keep the JSON ``text`` for the next attempt. Refused when the run is not the task's current one (fencing)."""

    def __init__(self, task_id: str, attempt: int, text: str, voice: Voice) -> None:
        super().__init__()
        self.task_id = task_id
        self.attempt = attempt
        self.text = text
        self.voice = voice

    def failed(self) -> None:
        self.voice.broken = True

    def apply(self, batch: Batch) -> None:
        if self.voice.broken:
            raise Broken(self.task_id)
        task = current(batch, self.task_id, self.attempt)
        batch.checkpoints[task.pk, self.attempt] = self.text
