"""Where agents run, by the setting ``RUNNER``: in the serving process, or on the workers of a queue that the site has.

Invariant: the rows decide. What goes through a queue is the id of a task and nothing else; a worker that gets it takes
the task's lease, or finds that there is nothing to take. So a message that comes twice runs nothing twice, and one that
was lost is sent again for as long as its task waits (``engine/dispatch.py``).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured
from django.core.signals import setting_changed
from django.utils.module_loading import import_string

from a2a_django.conf import a2a_settings
from a2a_django.engine.runners.base import Options, QueueError, RunnerBackend

__all__ = ["NAMES", "Options", "QueueError", "RunnerBackend", "announce", "get_runner", "options_of", "runner_class"]

#: What ``RUNNER`` may say instead of a dotted path.
NAMES: Final[Mapping[str, str]] = {
    "in_process": "a2a_django.engine.runners.in_process.InProcessRunner",
    "django_tasks": "a2a_django.engine.runners.django_tasks.DjangoTasksRunner",
    "celery": "a2a_django.engine.runners.celery.CeleryRunner",
}


@cache
def get_runner() -> RunnerBackend:
    """Return the site's runner. Raises ``ImproperlyConfigured`` when it cannot be had, and says why."""
    options = options_of(a2a_settings.RUNNER)
    return runner_class(options.backend)(options)


def announce() -> None:
    """Have the tasks of a queue system known to it; at start-up, in serving processes and workers alike.

    Only Celery has to know them before it is asked. What is wrong is left to the checks.
    """
    with suppress(ImproperlyConfigured):
        if options_of(a2a_settings.RUNNER).backend in ("celery", NAMES["celery"]):
            get_runner()


def options_of(value: Any) -> Options:
    """Return what ``RUNNER`` says. Raises ``ImproperlyConfigured`` for what nobody understands."""
    if isinstance(value, str):
        return Options(backend=value)
    if not isinstance(value, Mapping):
        raise ImproperlyConfigured("A2A['RUNNER'] has to be a name, a dotted path or a dict with a BACKEND")
    return Options.read(value)


def runner_class(name: str) -> type[RunnerBackend]:
    """Return the class of a name or dotted path. Raises ``ImproperlyConfigured``."""
    path = NAMES.get(name, name)
    try:
        found = import_string(path)
    except (ImportError, TypeError, ValueError) as error:
        raise ImproperlyConfigured(f"A2A['RUNNER']: cannot have {name!r}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, RunnerBackend)):
        raise ImproperlyConfigured(f"A2A['RUNNER']: {path} is no subclass of RunnerBackend")
    return found


def _on_setting_changed(*, setting: str, **kwargs: Any) -> None:
    if setting == "A2A":
        get_runner.cache_clear()


setting_changed.connect(_on_setting_changed, dispatch_uid="a2a_django.engine.runners")
