"""Runs on workers of ``django.tasks``: Django's own from 6.0 on, the package django-tasks before.

The backend is that of the site's setting ``TASKS``, by the alias that ``OPTIONS["ALIAS"]`` names. This module is what a
worker imports to find ``run_task``, so the task is made as it is imported; that fails where the alias is not there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured

from a2a_django import engine
from a2a_django.conf import a2a_settings
from a2a_django.engine import work
from a2a_django.engine.runners import options_of
from a2a_django.engine.runners.base import Options, RunnerBackend

if find_spec("django.tasks") is not None:
    _tasks: Any = import_module("django.tasks")
else:
    _tasks = import_module("django_tasks")

DEFAULT_ALIAS = "default"
#: The backends that carry out a task as it is enqueued, and those that never do, by the ends of their paths.
IMMEDIATE, DUMMY = "immediate.ImmediateBackend", "dummy.DummyBackend"


def _alias(options: Options) -> str:
    return str(options.extra.get("ALIAS", DEFAULT_ALIAS))


def _make(function: Callable[[str], str], options: Options) -> Any:
    """Return the task of ``django.tasks`` for a function of this module."""
    alias = _alias(options)
    try:
        backend = _tasks.task_backends[alias]
    except Exception as error:  # its name differs between Django and the backport
        raise ImproperlyConfigured(f"A2A['RUNNER']: TASKS has no backend {alias!r} to be had: {error}") from error
    queue = options.queue
    if queue is None:
        usual = _tasks.DEFAULT_TASK_QUEUE_NAME
        queue = usual if usual in backend.queues or not backend.queues else min(backend.queues)
    try:
        return _tasks.task(backend=alias, queue_name=queue)(function)
    except Exception as error:  # likewise
        raise ImproperlyConfigured(f"A2A['RUNNER']: the backend {alias!r} of TASKS does not do: {error}") from error


def _task(function: Callable[[str], str]) -> Any:
    return _make(function, options_of(a2a_settings.RUNNER))


@_task
def run_task(task_id: str) -> str:
    """Run a task until it rests; returns what has become of it."""
    try:
        return work.run_task(task_id).value
    finally:
        # rq runs each job in a process that it ends without ado: what waits has to be written and told before.
        if (rq := sys.modules.get("rq")) is not None and rq.get_current_job() is not None:
            engine.shutdown(threads=False)


class DjangoTasksRunner(RunnerBackend):
    """Enqueues ``run_task`` at a backend of the setting ``TASKS``."""

    name = "django_tasks"

    def __init__(self, options: Options) -> None:
        """Take ``OPTIONS = {"ALIAS": ...}``. Raises ``ImproperlyConfigured``."""
        super().__init__(options)
        if unknown := set(options.extra) - {"ALIAS"}:
            raise ImproperlyConfigured(f"A2A['RUNNER']['OPTIONS'] has unknown keys: {', '.join(sorted(unknown))}")
        self._task = _make(run_task.func, options)

    def enqueue(self, task_id: str, *, queue: str | None) -> None:
        """Enqueue ``run_task``."""
        task = self._task if queue is None else self._task.using(queue_name=queue)
        with work.enqueuing():
            task.enqueue(task_id)

    def check(self) -> list[CheckMessage]:
        """Check the backend and the queues: E083, W084, W085."""
        found: list[CheckMessage] = []
        backend = self._task.get_backend()
        if backend.queues and (missing := sorted(set(self.options.queues.values()) - set(backend.queues))):
            hint = (
                f"Its queues are {', '.join(sorted(backend.queues))}; add others to QUEUES in TASKS[{backend.alias!r}]."
            )
            text = f"A2A['RUNNER']: the backend {backend.alias!r} of TASKS has no queue {', '.join(missing)}."
            found.append(Error(text, hint=hint, id="a2a_django.E083"))
        path = f"{type(backend).__module__}.{type(backend).__qualname__}"
        if path.endswith(IMMEDIATE):
            hint = "Choose a backend with workers in TASKS, django-tasks-db for example."
            text = "A2A['RUNNER'] says django_tasks, but the backend of TASKS runs everything in the serving process."
            found.append(Warning(text, hint=hint, id="a2a_django.W084"))
        elif path.endswith(DUMMY):
            hint = "Choose a backend with workers in TASKS, django-tasks-db for example."
            text = "A2A['RUNNER'] says django_tasks, but the backend of TASKS runs nothing: tasks wait for ever."
            found.append(Warning(text, hint=hint, id="a2a_django.W085"))
        return found
