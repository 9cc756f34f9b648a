"""What happens to a task whose process died: its lease has run out (DESIGN 3).

Any process may find it; the row's lock decides who acts. A task whose run had asked for input is released, or its next
message is run. One that was at work is run again when the agent allows another attempt (``max_attempts``), otherwise it
fails with a plain sentence; so is one whose run waited for a sign-in, after which it would have gone on by itself. What
the lost attempt has published stays; it cannot publish any more (fencing).
"""

from __future__ import annotations

import logging

from django.utils import timezone

from a2a_django.agents import registry
from a2a_django.engine import database
from a2a_django.engine.batch import Batch
from a2a_django.engine.jobs import Accepted, Job, lease_end
from a2a_django.engine.runner import Runner
from a2a_django.models import Task
from a2a_django.models.fields import uuid7
from a2a_django.protocol import wire
from a2a_django.protocol.states import TERMINAL, TaskState

logger = logging.getLogger("a2a_django.engine")

#: Tasks taken up in one go.
AT_ONCE = 50

LOST_TEXT = "The process that worked on the task was lost."


class RecoverTask(Job[Accepted | None]):
    """Decide about a task whose lease has run out. The answer is the message to run again, if there is one."""

    def __init__(self, task_id: str, holder: str, max_attempts: int) -> None:
        super().__init__()
        self.task_id = task_id
        self.holder = holder
        self.max_attempts = max_attempts

    def apply(self, batch: Batch) -> Accepted | None:
        task = batch.task(self.task_id)
        if task is None or task.state in TERMINAL or not task.lease_holder:
            return None
        if task.lease_expires_at is None or task.lease_expires_at > timezone.now():
            return None  # somebody was faster, or the run is alive after all
        if task.state == TaskState.INPUT_REQUIRED:
            message = batch.waiting_message(task)
        else:
            message = batch.message_of(task, task.attempt)
            if message is None or message.tries >= self.max_attempts:
                said = wire.message(
                    message_id=uuid7(), context_id=task.context_id, task_id=task.pk, parts=[{"text": LOST_TEXT}]
                )
                batch.move(task, TaskState.FAILED.value, wire.now(), wire.text_of(said))
                return None
        if message is None:
            batch.release(task)
            return None
        batch.take(task, message, self.holder, lease_end())
        return Accepted(task, message, task.attempt, message, task.last_seq)


async def recover(runner: Runner) -> bool:
    """Take up tasks whose leases have run out; runs begin on the running loop. Returns whether any task has a lease,
    so that somebody has to look again."""
    expired, leased = await database.read(_expired)
    for task_id, slug in expired:
        agent = registry.get(slug)
        job = RecoverTask(task_id, runner.journal.holder, agent.max_attempts if agent else 0)
        accepted = await runner.journal.submit(job)
        logger.warning("Task %s had lost its process: %s", task_id, "run again" if accepted else "ended or released")
        if accepted is not None and accepted.start is not None and agent is not None:
            await runner.follow(agent, accepted.start)
    return leased


def _expired() -> tuple[list[tuple[str, str]], bool]:
    leased = Task.objects.using(database.alias()).filter(lease_expires_at__isnull=False)
    expired = leased.filter(lease_expires_at__lt=timezone.now()).order_by("lease_expires_at")
    return list(expired.values_list("pk", "agent")[:AT_ONCE]), leased.exists()
