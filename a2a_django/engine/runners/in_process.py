"""The default: agents run in the process that takes the call (or in any other that serves the site)."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured

from a2a_django.engine.runners.base import Options, RunnerBackend


class InProcessRunner(RunnerBackend):
    """Needs nothing; ``engine/runner.py`` does the work."""

    name = "in_process"
    runs_here = True

    def __init__(self, options: Options) -> None:
        """Take no options: there is no queue. Raises ``ImproperlyConfigured``."""
        super().__init__(options)
        if options != Options(backend=options.backend):
            raise ImproperlyConfigured("A2A['RUNNER']: runs in this process have no options")

    def enqueue(self, task_id: str, *, queue: str | None) -> None:
        """There is no queue."""
        raise NotImplementedError
