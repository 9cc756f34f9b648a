"""Contents of tasks as files: parts, pictures, artifacts, the JSON as it travels. For staff who may see the task.

Whatever it is, a browser must not run it: it is sent as an attachment or as a picture of a kind that has no scripts,
never as what its writer says it is, and with a policy that allows nothing.
"""

from __future__ import annotations

import json
from typing import Any, Final

from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header

from a2a_django.admin.looks import line
from a2a_django.admin.parts import decoded, raster
from a2a_django.engine import snapshots
from a2a_django.engine.database import alias
from a2a_django.files import markers, store
from a2a_django.models import Artifact, EventKind, Message, Task, TaskEvent
from a2a_django.protocol.wire import Wire

POLICY: Final = "default-src 'none'; sandbox"


def attachment(content: bytes, name: str, media_type: str = "application/octet-stream") -> HttpResponse:
    """Return a file to be kept, not shown."""
    # One line of what can be seen; the end of it, which says what kind of file it is.
    return _answer(content, media_type, content_disposition_header(True, line(name[-150:], 200)) or "attachment")


def json_text(text: str) -> HttpResponse:
    """Return JSON for the script of the page, or for people who open it alone."""
    return _answer(text.encode(), "application/json", "inline")


def _answer(content: bytes, media_type: str, disposition: str) -> HttpResponse:
    headers = {
        "Content-Disposition": disposition,
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": POLICY,
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    return HttpResponse(content, content_type=media_type, headers=headers)


def wire_of(task: Task, kind: str, number: int) -> str:
    """Return the JSON of a message or an event as it travels. Raises ``Http404``."""
    rows: QuerySet[Any]
    if kind == "message":
        rows = Message.objects.using(alias()).filter(task_id=task.pk, position=number)
    else:
        rows = TaskEvent.objects.using(alias()).filter(task_id=task.pk, seq=number)
    text = rows.values_list("wire", flat=True).first()
    if text is None:
        raise Http404
    found: str = text
    return found


def shown_wire(task: Task, kind: str, number: int) -> str:
    """The same for people: of stored parts it says which file it is. Raises ``Http404``."""
    return markers.without_secrets(wire_of(task, kind, number))


def whole(task: Task) -> HttpResponse:
    """Return the task as clients get it."""
    found = snapshots.read(task.pk, agent=task.agent, owner=task.owner)
    if found is None:
        raise Http404
    return attachment(markers.without_secrets(found.text).encode(), f"{task.pk}.json", "application/json")


def part(task: Task, kind: str, number: int, index: int) -> HttpResponse:
    """Return one part of a message or an event as an attachment. Raises ``Http404``."""
    found = _part(task, kind, number, index)
    name = str(found.get("filename") or f"{task.pk}-{kind}-{number}-{index}")
    if "raw" in found:
        return attachment(decoded(found["raw"]), name)
    if (marker := markers.of(found.get("url"))) is not None:
        try:
            return attachment(store.read(marker, owner=task.owner), name)
        except FileNotFoundError:
            raise Http404 from None
    if "data" in found:
        text = json.dumps(found["data"], indent=2, ensure_ascii=False)
        return attachment(text.encode("utf-8", "replace"), f"{name}.json", "application/json")
    text = str(found.get("text", found.get("url", "")))
    return attachment(text.encode("utf-8", "replace"), f"{name}.txt", "text/plain; charset=utf-8")


def picture(task: Task, kind: str, number: int, index: int) -> HttpResponse:
    """Return a part that is a picture, as what its bytes say that it is. Raises ``Http404`` for anything else."""
    content = decoded(_part(task, kind, number, index).get("raw", ""))
    media_type = raster(content)
    if not media_type:
        raise Http404
    response = _answer(content, media_type, "inline")
    response.headers["Cache-Control"] = "private, max-age=3600"
    return response


def artifact(task: Task, position: int) -> HttpResponse:
    """Return a whole artifact: its text where it is nothing but text, else its JSON. Raises ``Http404``."""
    row = Artifact.objects.using(alias()).filter(task_id=task.pk, position=position).first()
    if row is None:
        raise Http404
    events = TaskEvent.objects.using(alias()).filter(task_id=task.pk, seq__gte=row.base_seq, seq__lte=task.last_seq)
    events = events.filter(kind=EventKind.ARTIFACT.value, artifact_key=row.artifact_key).order_by("seq")
    parts: list[Wire] = []
    for text in events.values_list("wire", flat=True).iterator(chunk_size=500):
        parts += json.loads(markers.without_secrets(text))["artifactUpdate"]["artifact"]["parts"]
    if parts and all("text" in each for each in parts):
        content = "".join(str(each["text"]) for each in parts).encode("utf-8", "replace")
        return attachment(content, f"{task.pk}-{position}.txt", "text/plain; charset=utf-8")
    value = {**json.loads(row.head), "parts": parts}
    return attachment(json.dumps(value, indent=2).encode(), f"{task.pk}-{position}.json", "application/json")


def _part(task: Task, kind: str, number: int, index: int) -> Wire:
    value: Wire = json.loads(wire_of(task, kind, number))
    if "statusUpdate" in value:
        value = value["statusUpdate"].get("status", {}).get("message", {})
    elif "artifactUpdate" in value:
        value = value["artifactUpdate"].get("artifact", {})
    parts: list[Wire] = value.get("parts", [])
    if index >= len(parts):
        raise Http404
    return parts[index]
