"""A conversation as frameworks want it: who has said what, in order."""

from __future__ import annotations

import json
from collections import defaultdict

from a2a_django.agents import TaskContext
from a2a_django.engine import database, snapshots
from a2a_django.models import Task
from a2a_django.models.fields import key_of
from a2a_django.protocol.v1 import a2a_pb2


async def turns(ctx: TaskContext) -> list[tuple[bool, str]]:
    """Return the earlier texts of the conversation: ``(whether the user said it, the text)``.

    The messages are those of ``ctx.conversation()``; after those of each earlier task stands what it has answered.
    """
    messages = await ctx.conversation()
    answers = {} if ctx.task is None else await database.read(_answers, ctx.task)
    by_task: dict[str, list[a2a_pb2.Message]] = defaultdict(list)
    for message in messages:
        by_task[message.task_id].append(message)
    found: list[tuple[bool, str]] = []
    for task_id, some in by_task.items():
        found += [(message.role == a2a_pb2.ROLE_USER, text) for message in some if (text := _said(message))]
        if answer := answers.get(task_id):
            found.append((False, answer))
    return found


def _said(message: a2a_pb2.Message) -> str:
    return "\n".join(part.text for part in message.parts if part.WhichOneof("content") == "text")


def _answers(current: Task) -> dict[str, str]:
    """Return the texts of the artifacts of the conversation's earlier tasks."""
    tasks = Task.objects.using(database.alias()).filter(
        agent=current.agent, owner=current.owner, context_key=key_of(current.context_id)
    )
    heads = list(tasks.exclude(pk=current.pk).values_list(*snapshots.HEAD))
    if not heads:
        return {}
    found, _ = snapshots.read_many(heads, history_length=0, artifacts=True)
    return {each.task_id: _text(each.text) for each in found}


def _text(task: str) -> str:
    artifacts = json.loads(task).get("artifacts", ())
    return "".join(part.get("text", "") for artifact in artifacts for part in artifact["parts"])
