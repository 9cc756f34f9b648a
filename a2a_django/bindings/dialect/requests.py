"""What a client of the tutorials means, said in 0.3: a method and its params, rewritten.

A request that is right in 0.3 comes out as it went in: every form that is read here is an error there. What is wrong
in both comes out wrong, and is refused by the binding of 0.3 in its own words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import uuid4

from a2a_django.protocol.errors import InvalidParamsError

Params = dict[str, Any]

SEND: Final = frozenset({"message/send", "message/stream"})
PUSH: Final = "tasks/pushNotificationConfig"
HISTORY: Final = "messages/list"

#: Names that 0.3 does not have, and the ones that stand for them there.
NAMES: Final[Mapping[str, str]] = {
    PUSH: f"{PUSH}/set",
    HISTORY: "tasks/get",
    "tasks/subscribe": "tasks/resubscribe",
    "agent/authenticatedExtendedCard": "agent/getAuthenticatedExtendedCard",
}

#: The methods of 0.3 whose params call the task ``id``.
BY_ID: Final = frozenset(
    {
        "tasks/get",
        "tasks/cancel",
        "tasks/resubscribe",
        f"{PUSH}/get",
        f"{PUSH}/list",
        f"{PUSH}/delete",
    }
)

_ROLES: Final[Mapping[Any, str]] = {"ROLE_USER": "user", "ROLE_AGENT": "agent"}

#: The members of a file in 1.0, and what 0.3 calls them.
_FILE: Final[Mapping[str, str]] = {"url": "uri", "raw": "bytes", "mediaType": "mimeType", "filename": "name"}


def rewritten(method: str, params: Params, *, waits: bool) -> tuple[str, Params]:
    """Return method and params as 0.3 has them (facts 10.2); ``waits``: a short ``message/send`` waits for the end.

    Raises ``InvalidParamsError`` where a request names two tasks.
    """
    if method in SEND:
        return method, _send(method, params, waits)
    if method == PUSH:
        return NAMES[method], _push(params)
    method = NAMES.get(method, method)
    if method in BY_ID and "taskId" in params:
        return method, _one_task(params, "taskId", "id")
    return method, params


def is_short(params: Params) -> bool:
    """Whether a message comes as the tutorials write it: neither ``messageId`` nor ``kind`` nor configuration.

    Clients of 0.3 send all three; the tutorials expect the task at once, and ask for it again.
    """
    message = params.get("message")
    if type(message) is not dict:
        return False
    return message.get("messageId") is message.get("kind") is params.get("configuration") is None


def _send(method: str, params: Params, waits: bool) -> Params:
    message = params.get("message")
    if type(message) is not dict:
        return params
    result, said = dict(params), dict(message)
    if is_short(params) and method == "message/send" and not waits:
        result["configuration"] = {"blocking": False}
    named = result.pop("taskId", None)
    if named not in (None, ""):
        _same(said.get("taskId"), named)
        said["taskId"] = named
    if said.get("messageId") is None:
        said["messageId"] = str(uuid4())
    if said.get("kind") is None:
        said["kind"] = "message"
    role = said.get("role")
    if type(role) is str:
        said["role"] = _ROLES.get(role, role)
    if type(said.get("parts")) is list:
        said["parts"] = [_part(part) for part in said["parts"]]
    result["message"] = said
    return result


def _part(part: Any) -> Any:
    """Return a part with its kind; one that has a kind is read as strictly as in 0.3."""
    if type(part) is not dict or part.get("kind") is not None:
        return part
    found = [name for name in ("text", "file", "data", "url", "raw") if name in part]
    if len(found) != 1:
        return part
    (name,) = found
    if name in ("text", "file", "data"):
        return {**part, "kind": name}
    file = {_FILE[key]: value for key, value in part.items() if key in _FILE}
    return {"kind": "file", "file": file, **{key: value for key, value in part.items() if key not in _FILE}}


def _push(params: Params) -> Params:
    result = _one_task(params, "id", "taskId") if "id" in params else dict(params)
    if "url" in result and "pushNotificationConfig" not in result:
        config = {name: result.pop(name) for name in ("url", "token", "authentication") if name in result}
        result["pushNotificationConfig"] = config
    return result


def _one_task(params: Params, other: str, name: str) -> Params:
    """Return the params with the task under ``name`` only, which ``other`` may have named as well."""
    result = dict(params)
    value = result.pop(other)
    if value not in (None, ""):
        _same(result.get(name), value)
        result[name] = value
    return result


def _same(first: Any, second: Any) -> None:
    if first not in (None, "", second):
        raise InvalidParamsError.of("task_id", "given more than once with different values")


def messages_of(task: Mapping[str, Any]) -> list[Any]:
    """Return the messages of a Task of 0.3 in their order: its history and, where it is not in there, its status's."""
    found = list(task.get("history", ()))
    last = task["status"].get("message")
    if last is not None and all(each["messageId"] != last["messageId"] for each in found):
        found.append(last)
    return found
