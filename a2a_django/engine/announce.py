"""Signals to the site, sent by the journal after each commit."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from django.dispatch import Signal

from a2a_django import signals
from a2a_django.engine.batch import Committed
from a2a_django.models import Task

logger = logging.getLogger("a2a_django.engine")


def announce(done: Iterable[Committed]) -> None:
    """Tell the site's receivers what was committed; one that fails is logged."""
    if signals.task_created.has_listeners(Task):
        for one in done:
            if one.created:
                _send(signals.task_created, one.task_id, one.state)
    if signals.task_state_changed.has_listeners(Task):
        for one in done:
            for _, _, state, _ in one.events:
                if state:
                    _send(signals.task_state_changed, one.task_id, state)


def _send(signal: Signal, task_id: str, state: str) -> None:
    for receiver, answer in signal.send_robust(sender=Task, task_id=task_id, state=state):
        if isinstance(answer, Exception):
            logger.error("The receiver %r failed", receiver, exc_info=answer)
