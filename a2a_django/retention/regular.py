"""Pruning again and again, beside whatever else a process does."""

from __future__ import annotations

import logging
import threading

from a2a_django.conf import a2a_settings
from a2a_django.engine.database import close_connections
from a2a_django.retention.prune import Pruning, ages

logger = logging.getLogger("a2a_django.retention")


def begin(stop: threading.Event) -> threading.Thread | None:
    """Prune now and every ``PRUNE_SECONDS``, until ``stop`` is set, in a thread of its own; None when the settings keep
    everything for ever, and no files."""
    if not ages() and not a2a_settings.FILE_STORAGE:
        return None
    thread = threading.Thread(target=_run, args=(stop,), name="a2a-prune", daemon=True)
    thread.start()
    return thread


def _run(stop: threading.Event) -> None:
    while not stop.is_set():
        try:
            done = Pruning(ages(), pause=stop.wait).run()
        except Exception:  # the next round may do better; a worker has other things to do as well
            logger.exception("Pruning failed, and is tried again in %s seconds", a2a_settings.PRUNE_SECONDS)
        else:
            if done.tasks or done.events or done.replies or done.protected or done.files:
                logger.info(
                    "Pruned %d tasks, %d events, %d replies and %d files; %d tasks are kept by the site's own rows",
                    sum(done.tasks.values()),
                    done.events,
                    done.replies,
                    done.files,
                    done.protected,
                )
        finally:
            close_connections()
        stop.wait(a2a_settings.PRUNE_SECONDS)
