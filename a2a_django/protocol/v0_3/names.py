"""Resource names: ``tasks/{id}`` and ``tasks/{id}/pushNotificationConfigs/{id}`` (facts 3).

Ids of tasks have no slash, since they are the server's; what stands behind ``pushNotificationConfigs/`` is the id of
the webhook as it is, slashes and all.
"""

from __future__ import annotations

from typing import Final

from a2a_django.protocol.codec import MAX_ID_LENGTH
from a2a_django.protocol.errors import InvalidParamsError

_CONFIGS: Final = "pushNotificationConfigs"


def task(name: str, *, field: str = "name") -> str:
    """Return the id in the name of a task. Raises ``InvalidParamsError`` on ``field`` for what is no such name."""
    collection, _, task_id = name.partition("/")
    if collection != "tasks" or not task_id or "/" in task_id:
        raise InvalidParamsError.of(field, "must be tasks/{id}")
    return _checked(task_id, field)


def config(name: str, *, field: str = "name") -> tuple[str, str]:
    """Return the ids of task and webhook in the name of a webhook.

    Raises ``InvalidParamsError`` on ``field`` for what is no such name.
    """
    task_id, config_id = partial_config(name, field=field)
    if not config_id:
        raise InvalidParamsError.of(field, f"must be tasks/{{id}}/{_CONFIGS}/{{id}}")
    return task_id, config_id


def partial_config(name: str, *, field: str = "name") -> tuple[str, str]:
    """Return what ``config`` returns, of the name of a webhook that need not have an id yet: that is "" then.

    Clients write the names of new webhooks without it, with or without the last slash, or name the task alone.
    """
    collection, _, rest = name.partition("/")
    task_id, _, rest = rest.partition("/")
    configs, _, config_id = rest.partition("/")
    if collection != "tasks" or not task_id or configs not in ("", _CONFIGS) or (config_id and not configs):
        raise InvalidParamsError.of(field, f"must be tasks/{{id}}/{_CONFIGS}/{{id}}")
    return _checked(task_id, field), _checked(config_id, field)


def of_task(task_id: str) -> str:
    """Return the name of a task."""
    return f"tasks/{task_id}"


def of_config(task_id: str, config_id: str) -> str:
    """Return the name of a webhook."""
    return f"tasks/{task_id}/{_CONFIGS}/{config_id}"


def _checked(part: str, field: str) -> str:
    if len(part) > MAX_ID_LENGTH:
        raise InvalidParamsError.of(field, f"must not have ids longer than {MAX_ID_LENGTH} characters")
    return part
