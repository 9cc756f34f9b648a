"""Jobs handed to a journal directly, without agents."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from django.db import connections

from a2a_django.agents import content
from a2a_django.engine.batch import Batch, Committed
from a2a_django.engine.feed import Deliveries
from a2a_django.engine.jobs import Accepted, AcceptMessage, Append, CreateTask, Incoming, Job, Voice
from a2a_django.engine.journal import Journal
from a2a_django.models import Task
from a2a_django.models.fields import key_of, uuid7
from a2a_django.protocol.changes import Change
from tests.engine.kit import WAIT, message


class Recorder:
    """What a journal has told its readers."""

    def __init__(self) -> None:
        self.told: list[list[Committed]] = []

    def __call__(self, done: list[Committed]) -> Deliveries:
        self.told.append(done)
        return {}

    def events(self, task_id: str) -> list[int]:
        """The numbers of the events of a task, in the order in which they were told."""
        return [event[0] for done in self.told for one in done if one.task_id == task_id for event in one.events]


@contextmanager
def journal() -> Iterator[tuple[Journal, Recorder]]:
    """A journal of its own, like that of another process."""
    recorder = Recorder()
    made = Journal(recorder)
    try:
        yield made, recorder
    finally:
        made.close()


class Gate(Job[None]):
    """Holds the writing thread inside a transaction until it is opened."""

    creates = True  # it is about no task
    task_id = "gate"

    def __init__(self) -> None:
        super().__init__()
        self.reached = threading.Event()
        self.opened = threading.Event()

    def apply(self, batch: Batch) -> None:
        self.reached.set()
        assert self.opened.wait(WAIT)


@contextmanager
def held_up(writer: Journal) -> Iterator[None]:
    """Inside, jobs gather: the journal is busy with a gate, which is opened at the end."""
    gate = Gate()
    writer._put(gate)
    assert gate.reached.wait(WAIT)
    try:
        yield
    finally:
        gate.opened.set()


def lose_connection() -> None:
    """Have the server end the calling thread's connection, behind Django's back; SQLite's is closed."""
    connection = connections["default"]
    connection.ensure_connection()
    sql = {"postgresql": "SELECT pg_terminate_backend(pg_backend_pid())", "mysql": "KILL CONNECTION_ID()"}
    if connection.vendor not in sql:
        connection.connection.close()
        return
    with suppress(connection.Database.Error):
        connection.connection.cursor().execute(sql[connection.vendor])


class Threads:
    """Calls in threads of their own, each with its connection closed at the end; ``results`` in the order of calls."""

    def __init__(self) -> None:
        self._threads: list[threading.Thread] = []
        self._results: list[Any] = []

    def call(self, function: Any, *args: Any) -> None:
        """Start ``function`` in a thread."""
        place = len(self._results)
        self._results.append(None)

        def work() -> None:
            try:
                self._results[place] = function(*args)
            except Exception as error:
                self._results[place] = error
            finally:
                connections.close_all()

        thread = threading.Thread(target=work)
        self._threads.append(thread)
        thread.start()

    def results(self) -> list[Any]:
        """Wait for all; what they returned or raised."""
        for thread in self._threads:
            thread.join(WAIT)
            assert not thread.is_alive()
        return self._results


def write_all(writer: Journal, jobs: Sequence[Job[Any]]) -> None:
    """Hand in many jobs at once and wait for all; every one has to succeed."""
    for job in jobs:
        job.event = threading.Event()
        writer._put(job)
    for job in jobs:
        assert job.event is not None
        assert job.event.wait(WAIT)
        assert job.error is None


def create(writer: Journal, *, agent: str = "tested", owner: str = "alice", context_id: str = "") -> Accepted:
    """Make a task with its first message."""
    return writer.write(creation(writer, agent=agent, owner=owner, context_id=context_id))


def creation(writer: Journal, *, agent: str = "tested", owner: str = "alice", context_id: str = "") -> CreateTask:
    """The job that makes a task."""
    context_id = context_id or uuid7()
    task = Task(id=uuid7(), context_id=context_id, context_key=key_of(context_id), agent=agent, owner=owner)
    return CreateTask(task, Incoming(message(), {}), writer.holder)


def follow_up(writer: Journal, task: Task, text: str = "more", **members: Any) -> AcceptMessage:
    """The job that takes in a message for a task."""
    return AcceptMessage(
        task.pk,
        Incoming(message(text, **members), {}),
        agent=task.agent,
        owner=task.owner,
        context_id="",
        holder=writer.holder,
    )


def status(task: Task, state: str, text: str = "", metadata: dict[str, Any] | None = None) -> Change:
    """A new status."""
    return content.status_change(
        f"TASK_STATE_{state}", text or None, metadata, task_id=task.pk, context_id=task.context_id
    )


def chunk(task: Task, text: str, artifact_id: str = "out", *, append: bool = True, **options: Any) -> Change:
    """A piece of an artifact."""
    return content.artifact_chunk(
        [text], artifact_id=artifact_id, append=append, task_id=task.pk, context_id=task.context_id, **options
    )


def says(task: Task, change: Change, *, attempt: int = 1, voice: Voice | None = None) -> Append:
    """The job that records what a run says."""
    return Append(task.pk, attempt, change, voice or Voice())
