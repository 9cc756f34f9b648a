"""Tasks with webhooks, made without the bindings."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.db import connection, transaction

from a2a_django import engine
from a2a_django.engine.jobs import CreateTask, Incoming
from a2a_django.engine.push_jobs import DeletePushConfig, PutPushConfig
from a2a_django.models import PushConfig, PushDelivery, Task
from a2a_django.models.fields import key_of, uuid7
from tests.engine.kit import WAIT, message
from tests.engine.writing import chunk, says, status, write_all


def config(url: str, config_id: str = "", **secrets: str) -> PushConfig:
    """A webhook for a task, as operations make it."""
    config_id = config_id or uuid7()
    scheme = secrets.pop("scheme", "")
    made = PushConfig(
        config_id=config_id, config_key=key_of(config_id), url=url, host=urlsplit(url).netloc, scheme=scheme
    )
    made.secrets = secrets
    return made


class Told:
    """A running task with webhooks at ``urls``."""

    def __init__(self, *urls: str, **secrets: str) -> None:
        self.journal = engine.get().journal
        context_id = uuid7()
        task = Task(id=uuid7(), context_id=context_id, context_key=key_of(context_id), agent="tested", owner="alice")
        self.task = self.journal.write(CreateTask(task, Incoming(message(), {}), self.journal.holder)).task
        self.configs = [self.put(config(url, **secrets)) for url in urls]

    def put(self, template: PushConfig) -> PushConfig:
        return self.journal.write(PutPushConfig(self.task.pk, template, agent="tested", owner="alice"))

    def delete(self, which: PushConfig) -> None:
        self.journal.write(DeletePushConfig(self.task.pk, which.config_key, agent="tested", owner="alice"))

    def say(self, text: str) -> None:
        """A piece of the artifact."""
        self.journal.write(says(self.task, chunk(self.task, text)))

    def say_all(self, texts: Sequence[str]) -> None:
        """Many pieces, handed in at once."""
        write_all(self.journal, [says(self.task, chunk(self.task, text)) for text in texts])

    def move(self, state: str) -> None:
        self.journal.write(says(self.task, status(self.task, state)))


def until(condition: Callable[[], Any], seconds: float = WAIT) -> Any:
    """Wait for a condition; returns what it returned."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return found


def deliveries(of: PushConfig) -> list[PushDelivery]:
    """The rows of a webhook, in order."""
    return list(PushDelivery.objects.filter(config=of).order_by("seq"))


def at_rest(of: PushConfig) -> bool:
    """Whether nothing waits for a webhook and nobody holds it."""
    row = PushConfig.objects.get(pk=of.pk)
    return row.due_at is None and not row.lease_holder


@contextmanager
def holding(*work: Callable[[], Any]) -> Iterator[None]:
    """A transaction in another thread, which does ``work`` and is rolled back only at the end of the block."""
    reached, opened = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                for each in work:
                    each()
                reached.set()
                opened.wait(WAIT * 4)
                transaction.set_rollback(True)
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert reached.wait(WAIT)
    try:
        yield
    finally:
        opened.set()
        thread.join(WAIT)
