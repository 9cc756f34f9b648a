"""What operators have done: cancel, answer, run again. All of it goes the way that calls of clients go.

Admin views are plain functions. Under ASGI the coroutines of the engine are carried out on the loop of the server,
where runs live on; under WSGI on the engine's own.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, ParamSpec, TypeVar

from asgiref.sync import async_to_sync
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest
from django.utils.translation import gettext as _

from a2a_django import engine
from a2a_django.agents import Agent, registry
from a2a_django.agents.cards import CardBase
from a2a_django.agents.directory import directory
from a2a_django.engine import bridge, database, history
from a2a_django.engine.jobs import Cancelled, CancelTask
from a2a_django.files import markers, store
from a2a_django.models import Message, Task
from a2a_django.models.fields import uuid7
from a2a_django.operations import CallContext
from a2a_django.operations.messages import send_message
from a2a_django.protocol.errors import A2AError
from a2a_django.protocol.wire import Wire

P = ParamSpec("P")
T = TypeVar("T")

#: In the metadata of messages: that an operator wrote it, and which task is run again. Clients see it.
BY_OPERATOR: Final = "a2a_django.operator"
AGAIN: Final = "a2a_django.again"


class CannotDo(Exception):
    """Something that cannot be done; its text is for the operator."""


def carry_out(request: HttpRequest, function: Callable[P, Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a coroutine function returns, carried out on a loop that lasts. For views of the admin."""
    if isinstance(request, ASGIRequest):
        made: T = async_to_sync(function)(*args, **kwargs)
        return made
    return async_to_sync(bridge.call)(function, *args, **kwargs)


def cancel(request: HttpRequest, task: Task) -> bool:
    """Cancel a task, wherever it runs; returns whether it was not cancelled before. Raises ``CannotDo``."""
    job = CancelTask(task.pk, agent=task.agent, owner=task.owner)
    try:
        done = carry_out(request, _cancelled, job, registry.get(task.agent))
    except A2AError as error:
        raise CannotDo(str(error)) from error
    return done.changed


async def _cancelled(job: CancelTask, agent: Agent | None) -> Cancelled:
    here = engine.get()
    if agent is None:  # its code is gone, so there is neither a run nor a hook
        return await here.journal.submit(job)
    return await asyncio.shield(asyncio.ensure_future(here.runner.cancel(job, agent)))


def answer(request: HttpRequest, task: Task, text: str, data: Any = None) -> None:
    """Send a message to a task that waits, as the operator who is signed in. Raises ``CannotDo``, also when another
    message has come since ``task`` was read: it may have been the answer.

    The agent finds the operator in ``ctx.operator``; those who may read the task see that an operator wrote it.
    """
    parts: list[Wire] = [{"text": text}] if text else []
    if data is not None:
        parts.append({"data": data})
    message: Wire = {
        "messageId": uuid7(),
        "role": "ROLE_USER",
        "taskId": task.pk,
        "contextId": task.context_id,
        "parts": parts,
        "metadata": {BY_OPERATOR: True},
    }
    _send(request, task, message, str(request.user.pk), operator=True)


def run_again(request: HttpRequest, task: Task) -> str:
    """Make a new task of a task's first message, in its context and for its owner; returns the id. Raises ``CannotDo``.

    A task that has ended stays as it is (R-117), so this is another one, which refers to it.
    """
    rows = Message.objects.using(database.alias()).filter(task_id=task.pk, role="ROLE_USER")
    first = rows.order_by("position").first()
    if first is None:
        raise CannotDo(_("The task has no message to begin with."))
    old = first.data
    parts = [_whole(part, task.owner) for part in old["parts"]]
    asked: Mapping[str, Any] = json.loads(first.request or "{}")
    metadata = {key: value for key, value in old.get("metadata", {}).items() if key != BY_OPERATOR}
    message: Wire = {
        **{key: value for key, value in old.items() if key != "taskId"},
        "messageId": uuid7(),
        "contextId": task.context_id,
        "referenceTaskIds": [*dict.fromkeys([*old.get("referenceTaskIds", []), task.pk])],
        "parts": parts,
        "metadata": {**metadata, AGAIN: task.pk},
    }
    return _send(
        request, task, message, task.user, metadata=asked.get("metadata"), modes=asked.get("acceptedOutputModes")
    )


def _whole(part: Wire, owner: str) -> Wire:
    """Return a part with its bytes, if they are in a storage: the new task gets a file of its own."""
    marker = markers.of(part.get("url"))
    if marker is None:
        return part
    try:
        raw = base64.b64encode(store.read(marker, owner=owner)).decode()
    except FileNotFoundError:
        raise CannotDo(_("A file of the message is not there any more.")) from None
    return {**{name: value for name, value in part.items() if name != "url"}, "raw": raw}


def _send(
    request: HttpRequest,
    task: Task,
    message: Wire,
    user: str,
    *,
    operator: bool = False,
    metadata: Any = None,
    modes: Any = None,
) -> str:
    """Send a message in the name of the task's owner and return the task's id at once."""
    wire: Wire = {"message": message, "configuration": {"returnImmediately": True}}
    if metadata:
        wire["metadata"] = metadata
    if modes:
        wire["configuration"]["acceptedOutputModes"] = modes
    agent = registry.get(task.agent)
    if agent is None or agent.mode == "message":
        raise CannotDo(_("The site has no agent “%(agent)s” that takes it up.") % {"agent": task.agent})
    try:
        text = carry_out(request, _sent, agent, task, wire, user, operator)
    except A2AError as error:
        raise CannotDo(str(error)) from error
    found: Wire = json.loads(text)
    task_id: str = found.get("task", {}).get("id", "")
    return task_id


async def _sent(agent: Agent, task: Task, wire: Wire, user: str, operator: bool) -> str:
    await directory.refresh()
    call = CallContext(
        agent=agent,
        tenant=task.tenant,
        owner=task.owner,
        user=await database.read(history.user_of, user),
        version="1.0",
        extensions=(),
        binding="ADMIN",
        streaming=True,
        base=CardBase("", ""),
        operator=operator,
        answers=task.message_count if operator else None,
    )
    return await send_message(call, wire)
