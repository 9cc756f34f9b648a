"""What an adapter keeps from one message of a conversation to the next: how far its framework has come.

It is kept as the checkpoint of the message that was worked on (``ctx.checkpoint``), so it is in the site's database, is
found by every process, goes with its task, and is shown to no caller.
"""

from __future__ import annotations

import json
import logging
from typing import Any

from a2a_django.agents import TaskContext
from a2a_django.engine import database
from a2a_django.models import Message
from a2a_django.models.fields import key_of

logger = logging.getLogger("a2a_django.contrib")

_KIND = "a2a_django.contrib"


async def remember(ctx: TaskContext, kind: str, *, pending: Any = None, messages: Any = None) -> bool:
    """Keep what is JSON for the next message: ``messages`` of the conversation, ``pending``: what the task waits with.

    Returns False where it is too large; then the next message finds what was kept before.
    """
    try:
        await ctx.checkpoint({_KIND: kind, "pending": pending, "messages": messages})
    except ValueError:
        logger.warning("The conversation of task %s is too long to be kept", ctx.task_id)
        return False
    return True


async def remembered(ctx: TaskContext, kind: str) -> tuple[Any, Any]:
    """Return what was kept last in this conversation of this caller with this agent: ``(pending, messages)``, None
    each where there is nothing. ``pending`` is of this task, or None."""
    if ctx.task is None:
        return None, None
    found = await database.read(_last, ctx.task.agent, ctx.task.owner, ctx.context_id, ctx.task_id)
    for task_id, text in found:
        kept = json.loads(text)
        if isinstance(kept, dict) and kept.get(_KIND) == kind:
            return kept["pending"] if task_id == ctx.task_id else None, kept["messages"]
    return None, None


def _last(agent: str, owner: str, context_id: str, task_id: str) -> list[tuple[str, str]]:
    """Return the newest checkpoints, those of the task itself first."""
    rows = Message.objects.using(database.alias()).filter(
        task__agent=agent, task__owner=owner, task__context_key=key_of(context_id), checkpoint__isnull=False
    )
    newest = rows.order_by("-pk").values_list("task_id", "checkpoint")
    own = newest.filter(task_id=task_id)[:1]
    return [(pk, text) for pk, text in [*own, *newest[:1]] if text is not None]


def says_yes(text: str, data: Any) -> bool:
    """Return whether an answer approves: a data part ``{"approved": true}``, or a text that begins with a yes."""
    if isinstance(data, dict) and "approved" in data:
        return data["approved"] is True
    words = text.strip().lower().replace(",", " ").replace(".", " ").replace("!", " ").split()
    return bool(words) and words[0] in _YES


_YES = frozenset({"yes", "y", "ok", "okay", "approve", "approved", "sure", "true"})
