"""What webhooks of version 0.3 are told. The one place of push that knows of ``protocol/v0_3``.

Version 0.3 does not say it. The official SDKs send the whole task, and so does this package (facts 6.5, D-12): as it is
when it is sent, at every change of its status. Pieces of artifacts make no call of their own (``engine.outbox``): a
task would be sent as often as it has pieces, and grow all the while.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final

from a2a_django.models import PushConfig
from a2a_django.protocol.versions import V0_3
from a2a_django.protocol.wire import Wire, text_of

_FOLDER: Final = "a2a_django.protocol.v0_3"


def is_old(config: PushConfig) -> bool:
    """Whether a webhook is to be told in the form of 0.3; without the folder all are told in that of 1.0."""
    return config.protocol_version == V0_3 and _write_task() is not None


def task_text(text: str) -> str:
    """Return the text of a task in the form of 0.3, for one of 1.0."""
    write = _write_task()
    return text_of(write(json.loads(text))) if write is not None else text


@lru_cache
def _write_task() -> Callable[[Wire], Wire] | None:
    found = find_spec(_FOLDER)
    if found is None or found.origin is None:
        return None
    write: Callable[[Wire], Wire] = import_module(f"{_FOLDER}.json_form").WRITER.task
    return write
