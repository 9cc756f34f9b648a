"""What 0.3 asks for and 1.0 does not have as one operation, made of those that there are; for all its bindings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final, cast

from a2a_django.bindings.calls import text_of
from a2a_django.bindings.v0_3 import cards
from a2a_django.operations import OPERATIONS, CallContext, EventStream, Operation
from a2a_django.operations.messages import require_streaming
from a2a_django.protocol.errors import ExtendedAgentCardNotConfiguredError, TaskNotFoundError, UnsupportedOperationError
from a2a_django.protocol.wire import Wire

#: Configs that are read at a time.
_PAGE: Final = 1000


async def _resubscribe(call: CallContext, request: Wire) -> EventStream:
    """Return the stream of a task; for one that has ended, just the task (facts 6.7; 1.0 has an error for it).

    Raises ``TaskNotFoundError``, and ``UnsupportedOperationError`` where there is no streaming.
    """
    require_streaming(call)
    try:
        return cast(EventStream, await OPERATIONS["SubscribeToTask"].call(call, request))
    except UnsupportedOperationError:
        text = await OPERATIONS["GetTask"].call(call, {"id": request["id"]})
        return EventStream(f'{{"task":{text}}}', None)


async def _extended_card(call: CallContext, request: Wire) -> str:
    """Return the card for this user; one that is not declared is one that is not configured (facts 1.3).

    Raises what GetExtendedAgentCard raises.
    """
    if not call.agent.extended_agent_card:
        raise ExtendedAgentCardNotConfiguredError()
    return cast(str, await OPERATIONS["GetExtendedAgentCard"].call(call, request))


RESUBSCRIBE: Final = replace(OPERATIONS["SubscribeToTask"], call=_resubscribe)
EXTENDED_CARD: Final = replace(OPERATIONS["GetExtendedAgentCard"], call=_extended_card)

#: The operations that 0.3 has in the place of others, by the names of those.
CHANGED: Final[dict[str, Operation]] = {one.name: one for one in (RESUBSCRIBE, EXTENDED_CARD)}


async def all_configs(call: CallContext, request: Wire) -> list[Wire]:
    """Return all webhooks of a task, the oldest first; 0.3 has no pages. Raises what ListTaskPushNotificationConfigs
    raises."""
    found: list[Wire] = []
    asked = {**request, "pageSize": _PAGE}
    while True:
        page = await read(call, "ListTaskPushNotificationConfigs", asked)
        found += page.get("configs", ())
        if not page.get("nextPageToken"):
            return found
        asked["pageToken"] = page["nextPageToken"]


async def one_config(call: CallContext, request: Wire) -> Wire:
    """Return a webhook of a task. The request may name the task only: then it is the one that bears the id of the task,
    as some servers of 0.3 name the first one, else the oldest.

    Raises what GetTaskPushNotificationConfig raises.
    """
    if "id" in request:
        return await read(call, "GetTaskPushNotificationConfig", request)
    configs = await all_configs(call, request)
    if not configs:
        raise TaskNotFoundError("Push notification config not found")
    return next((config for config in configs if config["id"] == request["taskId"]), configs[0])


async def extended_card(call: CallContext, request: Wire) -> Wire:
    """Return the card for this user in the JSON schema of 0.3, without signatures: those of 1.0 are not good for it.

    Raises what the operation raises.
    """
    return cards.pure(json.loads(await text_of(EXTENDED_CARD, call, request)))


async def read(call: CallContext, operation: str, request: Wire) -> Wire:
    """Return what an operation answers, decoded."""
    value: Any = json.loads(await text_of(OPERATIONS[operation], call, request))
    return cast(Wire, value)
