"""The life of a task: which states there are, what each means, and which moves are legal (Spec 4.1.3).

A task that has ended never moves again (R-286). Every other move is the agent's business, except that a task never
goes back to SUBMITTED once it has left it.
"""

from __future__ import annotations

from enum import StrEnum


class TaskState(StrEnum):
    """The states of a task under their protocol names."""

    SUBMITTED = "TASK_STATE_SUBMITTED"
    WORKING = "TASK_STATE_WORKING"
    COMPLETED = "TASK_STATE_COMPLETED"
    FAILED = "TASK_STATE_FAILED"
    CANCELED = "TASK_STATE_CANCELED"
    INPUT_REQUIRED = "TASK_STATE_INPUT_REQUIRED"
    REJECTED = "TASK_STATE_REJECTED"
    AUTH_REQUIRED = "TASK_STATE_AUTH_REQUIRED"


TERMINAL = frozenset({TaskState.COMPLETED, TaskState.FAILED, TaskState.CANCELED, TaskState.REJECTED})
INTERRUPTED = frozenset({TaskState.INPUT_REQUIRED, TaskState.AUTH_REQUIRED})
#: A blocking SendMessage answers in one of these (R-035).
SETTLED = TERMINAL | INTERRUPTED


def may_move(old: str, new: str) -> bool:
    """Return whether a task in state ``old`` may be moved to ``new`` (both protocol names)."""
    if old in TERMINAL:
        return False
    return new != TaskState.SUBMITTED or old == TaskState.SUBMITTED
