"""What the database says of the site's agents (``AgentSetting``): switched off or not, and under which name.

It is known without asking: the rows, a handful, are read once in ``A2A["AGENT_CACHE_SECONDS"]``, by the call that comes
when they are too old, while the others go on with what is known. A change made in this process counts from its commit
on: who calls after it waits for the new rows.
"""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from django.db import DatabaseError, InterfaceError, transaction
from django.db.models.signals import post_delete, post_save

from a2a_django.conf import a2a_settings

if TYPE_CHECKING:
    from a2a_django.agents.base import Agent

logger = logging.getLogger("a2a_django")

#: When a database that does not answer is asked again.
RETRY_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Entry:
    """What is said of one agent; an empty text says nothing."""

    enabled: bool
    name: str
    description: str


class Directory:
    """The rows as this process knows them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: Mapping[str, Entry] = {}
        #: Whether the entries may be used while somebody reads new ones.
        self._known = False
        self._until = 0.0
        #: Counts the changes of which this process has heard.
        self._changes = 0
        #: When this process first saw the entries as they are, in seconds of the epoch.
        self.changed_at = 0

    async def refresh(self) -> None:
        """Read the rows if what is known is too old.

        A database that does not answer does not change what is known: its agents cannot work anyway.
        """
        while time.monotonic() >= self._until:
            with self._lock:
                if time.monotonic() < self._until:
                    return
                changes = self._changes
                if self._known:
                    self._until = time.monotonic() + a2a_settings.AGENT_CACHE_SECONDS
            entries: Mapping[str, Entry] | None = None
            again = 0.0  # at once, if this caller leaves meanwhile
            try:
                entries = await _read()
            except (DatabaseError, InterfaceError):
                logger.warning("The settings of the agents could not be read", exc_info=True)
                again = time.monotonic() + RETRY_SECONDS
            finally:
                with self._lock:
                    is_current = changes == self._changes
                    if is_current and entries is not None:
                        self._take(entries)
                    elif is_current:
                        self._until = again
            if is_current:
                return

    def _take(self, entries: Mapping[str, Entry]) -> None:
        if entries != self._entries:
            self.changed_at = int(time.time())
        self._entries, self._known = entries, True
        self._until = time.monotonic() + a2a_settings.AGENT_CACHE_SECONDS

    def forget(self) -> None:
        """The rows have changed: whoever comes now has to read them."""
        with self._lock:
            self._changes += 1
            self._known, self._until = False, 0.0

    def has(self, agent: Agent) -> bool:
        """Return whether callers may know of an agent."""
        entry = self._entries.get(agent.slug)
        return entry is None or entry.enabled

    def presented(self, agent: Agent) -> Agent:
        """Return an agent as its card shows it; for the card only, runs have the agent itself."""
        entry = self._entries.get(agent.slug)
        return agent if entry is None else shown_as(agent, entry.name, entry.description)


def shown_as(agent: Agent, name: str, description: str) -> Agent:
    """Return an agent under another name and description; an empty text leaves what its code has."""
    if not (name or description):
        return agent
    shown = copy.copy(agent)
    shown.name, shown.description = name or agent.name, description or agent.description
    return shown


directory: Final = Directory()


async def _read() -> dict[str, Entry]:
    from a2a_django.engine import database  # not while the agents are imported: the engine imports them

    return await database.read(_rows)


def _rows() -> dict[str, Entry]:
    from a2a_django.models import AgentSetting

    rows = AgentSetting.objects.values_list("slug", "enabled", "name", "description")
    return {slug: Entry(enabled, name, description) for slug, enabled, name, description in rows}


def on_change(using: str, **kwargs: Any) -> None:
    """Receiver: a row was saved or deleted."""
    transaction.on_commit(directory.forget, using=using)


def connect() -> None:
    """Listen to changes of the rows."""
    for signal in (post_save, post_delete):
        signal.connect(on_change, sender="a2a_django.AgentSetting", dispatch_uid="a2a_django.agents.directory")
