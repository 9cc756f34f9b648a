"""Webhooks as clients give them and get them back: from a TaskPushNotificationConfig to a row and back (Spec 4.3.1)."""

from __future__ import annotations

import struct
from typing import Final

from a2a_django.conf import a2a_settings
from a2a_django.engine import tokens
from a2a_django.engine.database import alias
from a2a_django.models import PushConfig, Task
from a2a_django.models.fields import key_of, uuid7
from a2a_django.protocol import wire
from a2a_django.protocol.errors import TaskNotFoundError
from a2a_django.protocol.faults import Items, below, invalid_params
from a2a_django.protocol.wire import Wire
from a2a_django.push import guard

#: Characters of each text that a client may give; an id has as many as every id, a URL as many as the guard reads.
MAX_TOKEN: Final = 4 * 1024
MAX_SCHEME: Final = 255
MAX_CREDENTIALS: Final = 16 * 1024

#: "host:port" has to fit into its column.
MAX_HOST: Final = 255

DEFAULT_PAGE: Final = 100
MAX_PAGE: Final = 1000

#: What stands in an answer for a secret that is not shown.
MASK: Final = "********"


async def row_of(config: Wire, *, prefix: str, version: str) -> PushConfig:
    """Return a config as a row without a task, after all checks; without an id it gets one (D-17).

    ``prefix`` is where the config stands in its request, ``version`` is what its webhook is to be sent. Raises
    ``InvalidParamsError``, also for a URL that the site will not call (R-142).
    """
    authentication = config.get("authentication", {})
    given = (
        ("token", config.get("token", ""), MAX_TOKEN),
        ("authentication.scheme", authentication.get("scheme", ""), MAX_SCHEME),
        ("authentication.credentials", authentication.get("credentials", ""), MAX_CREDENTIALS),
    )
    wrong: Items = [(field, why) for field, text, limit in given if (why := _wrong_in_header(text, limit))]
    url, host = config["url"], ""
    try:
        host = host_of(url)
        if not wrong:
            await guard.check(url)
    except guard.Refused as refusal:
        wrong.append(("url", refusal.reason))
    if wrong:
        raise invalid_params(below(prefix, wrong))
    config_id = config.get("id") or uuid7()
    row = PushConfig(
        config_id=config_id,
        config_key=key_of(config_id),
        url=url,
        host=host,
        scheme=authentication.get("scheme", ""),
        protocol_version=version,
    )
    secrets = {"token": config.get("token", ""), "credentials": authentication.get("credentials", "")}
    row.secrets = {name: text for name, text in secrets.items() if text}
    return row


def _wrong_in_header(text: str, limit: int) -> str:
    """Return what is wrong with a text that is to travel in an HTTP header, "" for nothing."""
    if len(text) > limit:
        return f"must not be longer than {limit} characters"
    if text.strip() != text:
        return "must not begin or end with blanks"
    if any(not (" " <= character <= "~" or "\xa0" <= character <= "\xff") for character in text):
        return "must have only characters of ISO 8859-1 that can be printed, for it is sent in an HTTP header"
    return ""


def host_of(url: str) -> str:
    """Return "host:port" of a URL in lower case. Raises ``Refused`` when no webhook may be there."""
    target = guard.target(url)
    host = f"[{target.host}]:{target.port}" if ":" in target.host else f"{target.host}:{target.port}"
    if len(host) > MAX_HOST:
        raise guard.Refused("its host name is too long")
    return host


def wire_of(row: PushConfig, tenant: str) -> Wire:
    """Return a config as its client sees it, secrets masked where the site wants that; ``tenant`` is the one of the
    request. Raises ``UndecryptableError``."""
    secrets = row.secrets
    if a2a_settings.PUSH_MASK_SECRETS:
        secrets = dict.fromkeys(secrets, MASK)
    found: Wire = {"tenant": tenant} if tenant else {}
    found |= {"id": row.config_id, "taskId": row.task_id, "url": row.url}
    if "token" in secrets:
        found["token"] = secrets["token"]
    if row.scheme:
        found["authentication"] = {"scheme": row.scheme}
        if "credentials" in secrets:
            found["authentication"]["credentials"] = secrets["credentials"]
    return found


def read(task_id: str, config_id: str, *, agent: str, owner: str, tenant: str) -> str:
    """Return the text of one config of a caller.

    Raises ``TaskNotFoundError`` when there is none the caller may see, ``UndecryptableError``.
    """
    tasks = Task.objects.using(alias()).visible_to(agent=agent, owner=owner).filter(pk=task_id)
    row = PushConfig.objects.using(alias()).filter(task__in=tasks, config_key=key_of(config_id)).first()
    if row is None:
        raise TaskNotFoundError()
    return wire.text_of(wire_of(row, tenant))


def page(task_id: str, *, agent: str, owner: str, tenant: str, size: int, token: str) -> str:
    """Return the text of a ListTaskPushNotificationConfigsResponse, oldest configs first; ``size`` 0: the default.

    Raises ``TaskNotFoundError``, ``UndecryptableError``, and ``InvalidParamsError`` for a page token that is not ours.
    """
    tasks = Task.objects.using(alias()).visible_to(agent=agent, owner=owner)
    if not tasks.filter(pk=task_id).exists():
        raise TaskNotFoundError()
    scope = ("push configs", agent, owner, task_id)
    rows = PushConfig.objects.using(alias()).filter(task_id=task_id).order_by("pk")
    if token:
        rows = rows.filter(pk__gt=struct.unpack(">q", tokens.read(scope, token))[0])
    size = min(size or DEFAULT_PAGE, MAX_PAGE)
    found = list(rows[: size + 1])
    answer: Wire = {"configs": [wire_of(row, tenant) for row in found[:size]]}
    if len(found) > size:
        answer["nextPageToken"] = tokens.write(scope, struct.pack(">q", found[size - 1].pk))
    return wire.text_of(answer)
