"""Runs on the site's Celery workers, with any pool whose tasks run in processes or threads (prefork, threads, solo).

Messages are acknowledged when a worker gets them: if it dies, the lease of the task runs out and the task is sent again
(``engine/recovery.py``), on every broker after the same time. Neither retries nor results of Celery are used.

This module has to be imported wherever the task may be sent or run; ``apps.py`` sees to that.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import celery
from celery import signals
from django.core.checks import CheckMessage, Error, Warning
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string

from a2a_django import engine
from a2a_django.engine import work
from a2a_django.engine.runners.base import Options, RunnerBackend

logger = logging.getLogger("a2a_django.engine")

TASK_NAME = "a2a_django.run_task"
#: Pools that take the threads away on which agents run.
GREEN = ("gevent", "eventlet")
#: Connections that are kept for the next message, at most.
KEPT = 4


@celery.shared_task(name=TASK_NAME, ignore_result=True, acks_late=False, max_retries=0, track_started=False)  # type: ignore[untyped-decorator]
def run_task(task_id: str) -> str:
    """Run a task until it rests; returns what has become of it."""
    return work.run_task(task_id).value


class CeleryRunner(RunnerBackend):
    """Sends ``a2a_django.run_task`` through the site's Celery app."""

    name = "celery"

    def __init__(self, options: Options) -> None:
        """Take ``OPTIONS = {"APP": "shop.celery.app"}``, else the current app. Raises ``ImproperlyConfigured``."""
        super().__init__(options)
        if unknown := set(options.extra) - {"APP"}:
            raise ImproperlyConfigured(f"A2A['RUNNER']['OPTIONS'] has unknown keys: {', '.join(sorted(unknown))}")
        self._path = options.extra.get("APP")
        self._lock = threading.Lock()
        self._idle: list[Any] = []

    def _app(self) -> Any:
        if self._path is None:
            return celery.current_app._get_current_object()
        try:
            return import_string(self._path)
        except (ImportError, TypeError, ValueError) as error:
            raise ImproperlyConfigured(f"A2A['RUNNER']: cannot import the Celery app: {error}") from error

    def enqueue(self, task_id: str, *, queue: str | None) -> None:
        """Publish a message; one further try on a new connection, because an old one may have been lost meanwhile."""
        app = self._app()
        task = app.tasks[TASK_NAME]
        kept = self._kept()
        with work.enqueuing():
            if app.conf.task_always_eager:
                task.apply_async((task_id,))
                return
            if kept is not None:
                with suppress(Exception), self._using(kept) as connection:
                    self._publish(task, task_id, queue, connection)
                    return
            with self._using(self._connect(app)) as connection:
                self._publish(task, task_id, queue, connection)

    def _publish(self, task: Any, task_id: str, queue: str | None, connection: Any) -> None:
        chosen = queue or self.options.queue
        more = {"queue": chosen} if chosen else {}
        task.apply_async(
            (task_id,), connection=connection, retry=False, confirm_timeout=self.options.enqueue_seconds, **more
        )

    def _connect(self, app: Any) -> Any:
        """Return a connection that gives up in time; Celery's own may try for long, and some wait for ever."""
        seconds = self.options.enqueue_seconds / 2
        limits: dict[str, Any] = {"max_retries": 0, "interval_start": 0, "interval_step": 0, "interval_max": 0}
        connection = app.connection_for_write(connect_timeout=seconds, transport_options=limits)
        driver = connection.transport.driver_type
        if driver == "redis":
            limits |= {"socket_connect_timeout": seconds, "socket_timeout": seconds}
        elif driver == "amqp":
            limits |= {"confirm_publish": True}  # otherwise what was sent into a dead connection counts as sent
        connection = app.connection_for_write(connect_timeout=seconds, transport_options=limits)
        connection.ensure_connection(max_retries=1, interval_start=0, interval_step=0, timeout=seconds)
        return connection

    def _kept(self) -> Any:
        with self._lock:
            return self._idle.pop() if self._idle else None

    @contextmanager
    def _using(self, connection: Any) -> Iterator[Any]:
        try:
            yield connection
        except BaseException:
            connection.collect()  # closing would talk to a broker that may not be there
            raise
        with self._lock:
            if len(self._idle) < KEPT:
                self._idle.append(connection)
                return
        connection.release()

    def check(self) -> list[CheckMessage]:
        """Check that there is an app of the site's: E086; that somebody else runs its tasks: W087."""
        app = self._app()
        if not app.set_as_current and self._path is None:
            hint = (
                "Make one (docs.celeryq.dev: First steps with Django) and import it in the __init__.py of the project, "
                'or name it: "OPTIONS": {"APP": "shop.celery.app"}.'
            )
            return [Error("A2A['RUNNER'] says celery, but there is no Celery app.", hint=hint, id="a2a_django.E086")]
        if app.conf.task_always_eager:
            hint = "Take task_always_eager out, and start a worker."
            text = "A2A['RUNNER'] says celery, but task_always_eager runs everything in the serving process."
            return [Warning(text, hint=hint, id="a2a_django.W087")]
        return []


# ---------------------------------------------------------------------------------------------------- in the worker

#: What the processes of a prefork pool read from, and the end that only their parent has: when the worker is told to
#: stop, or is gone, they see the end of it.
_read_end = _write_end = -1


def _worker_begins(sender: Any = None, **kwargs: Any) -> None:
    global _read_end, _write_end
    pool = getattr(sender, "pool_cls", None)
    if any(name in f"{pool}" for name in GREEN):
        logger.error("Agents do not run in a pool of green threads; use --pool threads, which is as good for them")
    _read_end, _write_end = os.pipe()


def _child_begins(**kwargs: Any) -> None:
    global _write_end
    if _write_end >= 0:
        os.close(_write_end)
        _write_end = -1
        threading.Thread(target=_wait_for_parent, args=(_read_end,), name="a2a-parent", daemon=True).start()


def _wait_for_parent(read_end: int) -> None:
    with suppress(OSError):
        os.read(read_end, 1)
    work.stop()


def _worker_stops(**kwargs: Any) -> None:
    """The worker takes no more tasks and waits for those it has: they get as long as elsewhere. In a signal handler."""
    global _write_end
    if _write_end >= 0:
        os.close(_write_end)
        _write_end = -1
    threading.Thread(target=work.stop, name="a2a-stop", daemon=True).start()


def _process_ends(**kwargs: Any) -> None:
    engine.shutdown()


signals.worker_init.connect(_worker_begins, dispatch_uid="a2a_django")
signals.worker_process_init.connect(_child_begins, dispatch_uid="a2a_django")
signals.worker_shutting_down.connect(_worker_stops, dispatch_uid="a2a_django")
signals.worker_process_shutdown.connect(_process_ends, dispatch_uid="a2a_django")
signals.worker_shutdown.connect(_process_ends, dispatch_uid="a2a_django")
