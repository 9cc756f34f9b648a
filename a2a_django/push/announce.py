"""The signal that a webhook could not be told."""

from __future__ import annotations

import logging

from a2a_django import signals
from a2a_django.models import PushConfig

logger = logging.getLogger("a2a_django.push")


def announce_failure(config: PushConfig, number: int, error: str, disabled: str) -> None:
    """Tell the site's receivers that a delivery was given up; one that fails is logged."""
    sent = signals.push_failed.send_robust(
        sender=PushConfig,
        task_id=config.task_id,
        config_id=config.config_id,
        number=number,
        error=error,
        disabled=bool(disabled),
    )
    for receiver, answer in sent:
        if isinstance(answer, Exception):
            logger.error("The receiver %r failed", receiver, exc_info=answer)
