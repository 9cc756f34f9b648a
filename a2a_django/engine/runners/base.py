"""What a runner is: a class that can hand the id of a task to somebody who runs it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from django.core.checks import CheckMessage
from django.core.exceptions import ImproperlyConfigured

#: What becomes of a message that is sent while the queue is down.
WAIT: Final = "wait"
REFUSE: Final = "refuse"


class QueueError(Exception):
    """The queue did not take a task: it is down, or does not answer in time."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the site says of its runner (``A2A["RUNNER"]``)."""

    backend: str
    #: The queue for all agents, None for the queue system's own default; and for single ones, by slug.
    queue: str | None = None
    queues: Mapping[str, str] = field(default_factory=dict)
    #: When the queue is down: keep the task until it is back, or answer the call with 503.
    when_down: str = WAIT
    #: How long the queue may take to take a task.
    enqueue_seconds: float = 5.0
    #: After how many seconds a task that still waits is given to the queue once more.
    again_seconds: float = 30.0
    #: What only this backend knows of.
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Options:
        """Return the options that stand in a dict. Raises ``ImproperlyConfigured``."""
        if unknown := sorted(map(str, set(given) - set(KEYS))):
            raise ImproperlyConfigured(f"A2A['RUNNER'] has unknown keys: {', '.join(unknown)}")
        if "BACKEND" not in given:
            raise ImproperlyConfigured("A2A['RUNNER'] has no BACKEND")
        for key, (_, fits, words) in KEYS.items():
            if key in given and not fits(given[key]):
                raise ImproperlyConfigured(f"A2A['RUNNER'][{key!r}] has to be {words}, not {given[key]!r}")
        return cls(**{KEYS[key][0]: value for key, value in given.items()})

    def queue_of(self, agent: str) -> str | None:
        """Return the queue for an agent."""
        return self.queues.get(agent, self.queue)


def _is_seconds(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def _is_names(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_is_name(text) for pair in value.items() for text in pair)


#: The keys of the dict: the option, what a value has to be, and the words for it.
KEYS: Final[Mapping[str, tuple[str, Any, str]]] = {
    "BACKEND": ("backend", _is_name, "a name or a dotted path"),
    "QUEUE": ("queue", lambda value: value is None or _is_name(value), "the name of a queue or None"),
    "QUEUES": ("queues", _is_names, "a dict from the slugs of agents to the names of queues"),
    "WHEN_DOWN": ("when_down", lambda value: value in (WAIT, REFUSE), f'"{WAIT}" or "{REFUSE}"'),
    "ENQUEUE_SECONDS": ("enqueue_seconds", _is_seconds, "a number of seconds above 0"),
    "AGAIN_SECONDS": ("again_seconds", _is_seconds, "a number of seconds above 0"),
    "OPTIONS": ("extra", lambda value: isinstance(value, Mapping), "a dict"),
}


class RunnerBackend(ABC):
    """Where runs take place. A site may bring a class of its own (``RUNNER = "dotted.path"``).

    A worker that is given a task's id calls ``a2a_django.engine.work.run_task(task_id)``, which returns when the task
    has come to a rest.
    """

    #: What ``RUNNER`` calls it.
    name: ClassVar[str]
    #: Whether runs take place in the process that takes the call; nothing is enqueued then.
    runs_here: ClassVar[bool] = False

    def __init__(self, options: Options) -> None:
        """Keep the options; must not connect to anything. Raises ``ImproperlyConfigured``."""
        self.options = options

    @abstractmethod
    def enqueue(self, task_id: str, *, queue: str | None) -> None:
        """Have a task run by some worker.

        Called in a thread of its own, outside of any transaction; has to return or raise within about
        ``options.enqueue_seconds``. Whatever it raises means that the queue is down. It may be called more than once
        for a task, and for one that needs no run any more.
        """

    def check(self) -> list[CheckMessage]:
        """Return what is wrong with the site's settings for this runner; connects to nothing."""
        return []
