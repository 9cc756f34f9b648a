"""``manage.py a2a_worker``: what has to be done although no caller waits for it."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand
from django.utils.translation import gettext as _

from a2a_django import engine
from a2a_django.retention import regular

#: How often the worker looks for webhooks that have to be told, and sees that somebody looks for lost tasks.
LOOK_SECONDS = 0.25
WATCH_SECONDS = 2.0


class Command(BaseCommand):
    """Sends to webhooks, takes up the tasks of processes that died, and prunes old tasks, until it is told to stop.

    Serving processes do the first two as well; a site that wants sending apart sets ``A2A["PUSH_IN_PROCESS"] = False``.
    Any number of workers share the work.
    """

    help = (
        "Sends to webhooks, takes up the tasks of processes that died, and prunes old tasks. "
        "Stops with Ctrl-C or SIGTERM."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Work until SIGINT or SIGTERM."""
        stop = threading.Event()

        def ask(number: int, frame: FrameType | None) -> None:
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, ask)
        here = engine.get()
        here.sender.active, here.sender.idle_seconds = True, LOOK_SECONDS
        here.sender.wake()
        self.stdout.write(_("The worker is at work."))
        self.stdout.flush()
        pruning = regular.begin(stop)
        while not stop.wait(WATCH_SECONDS):
            here.watch.wake()
            here.watch.look()
            here.sender.wake()
        engine.shutdown()
        if pruning is not None:
            pruning.join()  # it ends with its transaction
