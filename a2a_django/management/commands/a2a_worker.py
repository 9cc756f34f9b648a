"""``manage.py a2a_worker``: what has to be done although no caller waits for it."""

from __future__ import annotations

import signal
import threading
from argparse import ArgumentTypeError
from types import FrameType
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from a2a_django import engine
from a2a_django.retention import regular

#: How often the worker looks for webhooks that have to be told, and sees that somebody looks for lost tasks.
LOOK_SECONDS = 0.25
WATCH_SECONDS = 2.0


def _count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"has to be a whole number, 0 or more, not {text!r}")
    return int(text)


class Command(BaseCommand):
    """Runs tasks that wait and those of processes that died, sends to webhooks, and prunes old tasks, until it is told
    to stop.

    Serving processes do all but the last as well; a site that wants sending apart sets
    ``A2A["PUSH_IN_PROCESS"] = False``. Any number of workers share the work.
    """

    help = (
        "Runs tasks that wait and those of processes that died, sends to webhooks, and prunes old tasks. "
        "Stops with Ctrl-C or SIGTERM."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take ``--runs``."""
        parser.add_argument(
            "--runs",
            type=_count,
            metavar="N",
            help="How many agents it runs at a time, 0 for none; A2A['MAX_RUNS'] by default.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Work until SIGINT or SIGTERM."""
        stop = threading.Event()

        def ask(number: int, frame: FrameType | None) -> None:
            stop.set()

        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, ask)
        here = engine.get()
        here.runner.most = options["runs"]
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
