"""Texts of the protocol's objects, put together from stored pieces.

Rows keep ProtoJSON text, so an answer is a matter of joining strings: nothing stored is decoded and encoded again.
A *text* here is a ``str`` with compact, ASCII-only JSON; a *wire* is the decoded object, a dict in canonical ProtoJSON.
ASCII-only matters: some stream readers split lines at U+0085, U+2028 or U+2029 (D-06).
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from typing import Any

from a2a_django.protocol.json_text import dumps

Wire = dict[str, Any]

text_of = dumps


def ordered_text_of(wire: Wire) -> str:
    """Return a text that is the same whatever the order of members: that is the sender's, and another one over another
    binding.
    """
    return json.dumps(wire, sort_keys=True, separators=(",", ":"))


def now() -> dt.datetime:
    """Return the time as statuses carry it: UTC, whole milliseconds (R-007)."""
    moment = dt.datetime.now(dt.UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def timestamp(moment: dt.datetime) -> str:
    """Return an aware ``moment`` in the protocol's form, in UTC with milliseconds (R-006, R-007)."""
    return moment.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def message(
    *,
    message_id: str,
    context_id: str,
    task_id: str,
    parts: list[Wire],
    metadata: Mapping[str, Any] | None = None,
    extensions: Iterable[str] = (),
) -> Wire:
    """Return a message of the agent (R-022: always with its context, with a task id only when there is a task)."""
    wire: Wire = {"messageId": message_id, "contextId": context_id}
    if task_id:
        wire["taskId"] = task_id
    wire["role"] = "ROLE_AGENT"
    wire["parts"] = parts
    if metadata:
        wire["metadata"] = dict(metadata)
    if extensions:
        wire["extensions"] = list(extensions)
    return wire


def status(state: str, moment: dt.datetime, message: str | None) -> str:
    """Return the text of a TaskStatus; ``message`` is the text of its message."""
    middle = f',"message":{message}' if message else ""
    return f'{{"state":"{state}"{middle},"timestamp":"{timestamp(moment)}"}}'


def status_update(task_id: str, context_id: str, status: str, metadata: str | None = None) -> str:
    """Return the text of a StreamResponse with a status update; ``status`` and ``metadata`` are texts."""
    tail = f',"metadata":{metadata}' if metadata else ""
    ids = f'"taskId":"{task_id}","contextId":{text_of(context_id)}'
    return f'{{"statusUpdate":{{{ids},"status":{status}{tail}}}}}'


def artifact_update(
    task_id: str,
    context_id: str,
    artifact: Wire,
    *,
    append: bool = False,
    last_chunk: bool = False,
    metadata: Mapping[str, Any] | None = None,
) -> str:
    """Return the text of a StreamResponse with an artifact update."""
    update: Wire = {"taskId": task_id, "contextId": context_id, "artifact": artifact}
    if append:
        update["append"] = True
    if last_chunk:
        update["lastChunk"] = True
    if metadata:
        update["metadata"] = dict(metadata)
    return f'{{"artifactUpdate":{text_of(update)}}}'


def artifact(head: str, parts: Iterable[str]) -> str:
    """Return the text of an artifact: ``head`` is its text without parts, ``parts`` are the texts of single parts or
    comma-joined runs of them."""
    return f'{head[:-1]},"parts":[{",".join(parts)}]}}'


def task(
    *,
    task_id: str,
    context_id: str,
    status: str,
    artifacts: Iterable[str] | None = None,
    history: Iterable[str] | None = None,
    metadata: str | None = None,
) -> str:
    """Return the text of a Task; all pieces but the ids are texts. Empty lists are left out (A6)."""
    pieces = [f'{{"id":"{task_id}","contextId":{text_of(context_id)},"status":{status}']
    if artifacts:
        pieces.append(f',"artifacts":[{",".join(artifacts)}]')
    if history:
        pieces.append(f',"history":[{",".join(history)}]')
    if metadata:
        pieces.append(f',"metadata":{metadata}')
    pieces.append("}")
    return "".join(pieces)
