"""What a run is given: its agent, its message, its task, whose it is; and what it may read."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

from a2a_django.agents import Agent
from a2a_django.engine import database, history
from a2a_django.files import markers, parts, store
from a2a_django.models import Task
from a2a_django.protocol.states import TaskState
from a2a_django.protocol.wire import Wire

if TYPE_CHECKING:
    from a2a_django.engine.runner import Runner


@dataclass(eq=False, repr=False)
class Given(ABC):
    """See the module. It is made on the loop on which the run lives."""

    runner: Runner
    agent: Agent
    _: KW_ONLY
    task_id: str
    context_id: str
    message: Wire
    request: Wire
    user: Any
    tenant: str
    owner: str
    #: None as long as there is none: it is still to be made, or never will be.
    task: Task | None
    attempt: int
    past: Sequence[str] = ()
    #: How many messages of the task are older than this one, hidden ones included.
    earlier: int = 0
    references: Sequence[Task] = ()
    #: Which run of its message this is, and what an earlier one has kept for it (JSON).
    tries: int = 1
    checkpoint_text: str | None = None
    loop: asyncio.AbstractEventLoop = field(init=False, default_factory=asyncio.get_running_loop)
    #: Whether the task is no longer this run's.
    stopped: bool = field(init=False, default=False)
    state: str = field(init=False)

    def __post_init__(self) -> None:
        self.state = self.task.state if self.task is not None else TaskState.SUBMITTED.value

    @abstractmethod
    def stop(self) -> None:
        """The task is no longer this run's; from any thread."""

    @abstractmethod
    def _interrupt(self) -> None:
        """Interrupt the agent, if it is at work; on the loop."""

    async def fetch_files(self) -> None:
        """Have the message's bytes in it, also those that are stored."""
        if markers.in_message(self.message):
            self.message = await database.run_io(parts.message_restored, self.message, owner=self.owner)

    async def read_file(self, url: str) -> bytes:
        """Read a stored part. Raises ``StoredFileMissing``, also for an address that is none."""
        return await database.run_io(self.read_file_blocking, url)

    def read_file_blocking(self, url: str) -> bytes:
        """The same, in a thread."""
        marker = markers.of(url)
        if marker is None:
            raise store.StoredFileMissing("This is not the address of a stored part")
        return store.read(marker, owner=self.owner)

    async def conversation(self) -> list[str]:
        """Read the earlier messages of the context."""
        return await database.read(self.conversation_blocking)

    def conversation_blocking(self) -> list[str]:
        """Read the earlier messages of the context; in a thread."""
        return history.conversation(
            self.context_id, agent=self.agent.slug, owner=self.owner, task_id=self.task_id, but=self.earlier
        )
