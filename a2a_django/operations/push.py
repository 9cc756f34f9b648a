"""The four operations on push notification configs (Spec 3.1.7 to 3.1.10)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from a2a_django import engine
from a2a_django.engine import database
from a2a_django.engine.push_jobs import DeletePushConfig, PutPushConfig
from a2a_django.models import PushConfig
from a2a_django.models.fields import key_of
from a2a_django.operations.context import CallContext
from a2a_django.protocol import wire
from a2a_django.protocol.errors import InternalError, InvalidParamsError, PushNotificationNotSupportedError
from a2a_django.protocol.wire import Wire
from a2a_django.push import configs
from a2a_django.sealing import UndecryptableError

logger = logging.getLogger("a2a_django.push")


async def create_config(call: CallContext, request: Wire) -> str:
    """Register a webhook for a task, also for one that has ended, and return the text of the config (R-069, R-071).

    A config with the same id is replaced (D-17). Raises ``PushNotificationNotSupportedError``, ``TaskNotFoundError``,
    and ``InvalidParamsError``, also when the task has as many as it may.
    """
    require_push(call)
    task_id = request.get("taskId")
    if not task_id:
        raise InvalidParamsError.of("task_id", "is required and must not be empty")
    config = await configs.row_of(request, prefix="", version=call.version)
    job = PutPushConfig(task_id, config, agent=call.agent.slug, owner=call.owner)
    # The journal carries out what it was given, whether or not the caller is still there to see it.
    row = await asyncio.shield(engine.get().journal.submit(job))
    return wire.text_of(configs.wire_of(row, call.tenant))


async def get_config(call: CallContext, request: Wire) -> str:
    """Return the text of a config (R-072). Raises ``PushNotificationNotSupportedError``, ``TaskNotFoundError``."""
    require_push(call)
    return await _read(
        request["taskId"],
        partial(
            configs.read,
            request["taskId"],
            request["id"],
            agent=call.agent.slug,
            owner=call.owner,
            tenant=call.tenant,
        ),
    )


async def list_configs(call: CallContext, request: Wire) -> str:
    """Return the text of a ListTaskPushNotificationConfigsResponse (R-073).

    Raises ``PushNotificationNotSupportedError``, ``TaskNotFoundError``, ``InvalidParamsError`` for a bad page token.
    """
    require_push(call)
    return await _read(
        request["taskId"],
        partial(
            configs.page,
            request["taskId"],
            agent=call.agent.slug,
            owner=call.owner,
            tenant=call.tenant,
            size=request.get("pageSize", 0),
            token=request.get("pageToken", ""),
        ),
    )


async def delete_config(call: CallContext, request: Wire) -> str:
    """Delete a config, as often as one likes, and return the text of an Empty (R-074).

    Raises ``PushNotificationNotSupportedError``, ``TaskNotFoundError`` for an unknown task only.
    """
    require_push(call)
    job = DeletePushConfig(request["taskId"], key_of(request["id"]), agent=call.agent.slug, owner=call.owner)
    await asyncio.shield(engine.get().journal.submit(job))
    return "{}"


async def inline_config(call: CallContext, configuration: Wire) -> PushConfig | None:
    """Return the webhook that came with a message, a row without a task; None when there is none (R-040).

    The task is the one of the message, whatever the config says (R-041, D-17). Raises
    ``PushNotificationNotSupportedError``, ``InvalidParamsError``.
    """
    if "taskPushNotificationConfig" not in configuration:
        return None
    require_push(call)
    config: Wire = configuration["taskPushNotificationConfig"]
    return await configs.row_of(config, prefix="configuration.task_push_notification_config", version=call.version)


def require_push(call: CallContext) -> None:
    """Raise ``PushNotificationNotSupportedError`` where the card says that there are no push notifications (R-102)."""
    if not call.agent.push_notifications:
        raise PushNotificationNotSupportedError()


async def _read(task_id: str, reader: Callable[[], str]) -> str:
    try:
        return await database.read(reader)
    except UndecryptableError as error:
        logger.error("A webhook of task %s cannot be shown. %s", task_id, error)
        raise InternalError() from None
