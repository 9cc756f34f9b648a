"""What happened to a task, in the order in which it happened: the user's messages, changes of state, artifacts.

A page has the last ``PAGE`` events before a number, and the messages between them; it costs the same whatever the task
has besides. Chunks of an artifact that follow one another are shown as one. What the agent said in a change of state is
shown there; the rows of messages that it left in the history are shown only where the events have been pruned.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast, Length

from a2a_django.admin.parts import Part, Room, continued, shown, visible
from a2a_django.engine.database import alias
from a2a_django.models import EventKind, Message, Task, TaskEvent, TaskState
from a2a_django.protocol.wire import Wire

PAGE: Final = 200
#: Messages that are shown with them, at most: any number may come between two events.
MESSAGES: Final = 1_000
#: Characters of JSON that are read for a page; what does not fit is named, with a download.
READ: Final = 12 * 1024 * 1024


@dataclass(slots=True)
class Item:
    """One thing on a timeline. ``kind``: "message", "status" or "artifact".

    ``number`` is the position of a message or the number of an event, ``last`` that of the last event in it. ``size``
    is what it has in characters of JSON; ``too_large``: it was not read.
    """

    kind: str
    number: int
    moment: dt.datetime
    attempt: int | None = None
    last: int = 0
    size: int = 0
    too_large: bool = False
    state: str = ""
    parts: list[Part] = field(default_factory=list)
    role: str = ""
    by: str = ""
    artifact: str = ""
    title: str = ""
    description: str = ""
    appended: bool = False
    complete: bool = False
    metadata: str = ""
    more_parts: int = 0
    #: Made of the task's row, because there is no event any more.
    synthetic: bool = False

    @property
    def source(self) -> str:
        """What its JSON is that of."""
        return "message" if self.kind == "message" else "event"

    @property
    def slug(self) -> str:
        """The state as the style sheet has it."""
        return self.state.removeprefix("TASK_STATE_").lower().replace("_", "-")

    @property
    def label(self) -> str:
        """The state in words."""
        return str(TaskState(self.state).label) if self.state in TaskState.values else self.state


@dataclass(slots=True)
class Timeline:
    """A page: its items, the numbers of events that it goes ``after`` and ``upto``, the last message on it, and whether
    the events of the task have been pruned."""

    items: list[Item]
    after: int
    upto: int
    position: int
    pruned: bool = False


def page(task: Task, upto: int | None = None) -> Timeline:
    """Return the page that ends with event ``upto``, the newest one by default. Five queries at most."""
    last = task.last_seq if upto is None else min(upto, task.last_seq)
    after = max(0, last - PAGE)
    events = _heads(task, max(0, after - 1), last + 1)
    before = next((moment for seq, *_, moment, _ in events if seq == after), None)
    beyond = next((moment for seq, *_, moment, _ in events if seq == last), None)
    here = [event for event in events if after < event[0] <= last]
    is_newest = last >= task.last_seq
    pruned = task.is_terminal and is_newest and bool(task.last_seq) and not any(e[0] == task.last_seq for e in here)
    rows = Message.objects.using(alias()).filter(task_id=task.pk, shown=True, position__lte=task.message_count)
    if before is not None and after:
        rows = rows.filter(created_at__gt=before)
    if not is_newest and beyond is not None:
        rows = rows.filter(created_at__lte=beyond)
    if not pruned:
        rows = rows.filter(role="ROLE_USER")
    items = _assembled(task, here, _newest(rows, MESSAGES))
    if pruned:
        items.append(
            Item("status", task.last_seq, task.status_timestamp, last=task.last_seq, state=task.state, synthetic=True)
        )
    return Timeline(items, after, last, task.message_count, pruned)


def news(task: Task, after: int, position: int) -> Timeline:
    """Return what came after an event and a message, not more than a page of it. Four queries at most."""
    last = min(task.last_seq, after + PAGE)
    rows = Message.objects.using(alias()).filter(task_id=task.pk, shown=True, role="ROLE_USER", position__gt=position)
    messages = _newest(rows.filter(position__lte=task.message_count), MESSAGES)
    return Timeline(_assembled(task, _heads(task, after, last), messages), after, last, task.message_count)


# ---------------------------------------------------------------------------------------------------- reading

#: seq, kind, state, attempt, artifact key, moment, size
_Head = tuple[int, str, str, int, str, dt.datetime, int]
#: position, role, moment, attempt, size
_MessageHead = tuple[int, str, dt.datetime, int | None, int]


def _heads(task: Task, after: int, upto: int) -> list[_Head]:
    """Read what events are without reading them."""
    rows = TaskEvent.objects.using(alias()).filter(task_id=task.pk, seq__gt=after, seq__lte=upto)
    sized = rows.annotate(size=Length(Cast("wire", TextField()))).order_by("seq")
    return list(sized.values_list("seq", "kind", "state", "attempt", "artifact_key", "created_at", "size"))


def _newest(rows: QuerySet[Message], count: int) -> list[_MessageHead]:
    sized = rows.annotate(size=Length(Cast("wire", TextField()))).order_by("-position")
    return list(sized.values_list("position", "role", "created_at", "attempt", "size")[:count])[::-1]


def _assembled(task: Task, events: Sequence[_Head], messages: Sequence[_MessageHead]) -> list[Item]:
    """Read the contents of events and messages, as far as there is room, and put them in order."""
    left = READ
    wanted_messages, wanted_events = [], []
    for position, *_, size in reversed(messages):
        if size <= left:
            left -= size
            wanted_messages.append(position)
    for head in reversed(events):
        if head[6] <= left:
            left -= head[6]
            wanted_events.append(head[0])
    said: dict[int, tuple[str, str | None]] = {}
    if wanted_messages:
        found = Message.objects.using(alias()).filter(task_id=task.pk, position__in=wanted_messages)
        said = {
            position: (wire, request) for position, wire, request in found.values_list("position", "wire", "request")
        }
    happened: dict[int, str] = {}
    if wanted_events:
        lowest, highest = wanted_events[-1], wanted_events[0]
        rows = TaskEvent.objects.using(alias()).filter(task_id=task.pk, seq__gte=lowest, seq__lte=highest)
        if len(wanted_events) < highest - lowest + 1:
            rows = rows.filter(seq__in=wanted_events)
        happened = dict(rows.values_list("seq", "wire"))
    return _joined(list(_merged(task.pk, events, messages, said, happened)))


def _merged(
    task_id: str,
    events: Sequence[_Head],
    messages: Sequence[_MessageHead],
    said: dict[int, tuple[str, str | None]],
    happened: dict[int, str],
) -> Iterator[Item]:
    """Give the events in the order of their numbers, each message before the first event that is younger."""
    room = Room(task_id)
    waiting = list(messages)[::-1]
    for head in events:
        while waiting and waiting[-1][2] <= head[5]:
            yield _message(waiting.pop(), said, room)
        yield _event(head, happened, room)
    while waiting:
        yield _message(waiting.pop(), said, room)


def _message(head: _MessageHead, said: dict[int, tuple[str, str | None]], room: Room) -> Item:
    position, role, moment, attempt, size = head
    item = Item("message", position, moment, attempt, size=size, role=role)
    if position not in said:
        item.too_large = True
        return item
    wire, request = said[position]
    value: Wire = json.loads(wire)
    _fill(item, position, value.get("parts", []), room)
    item.metadata = _metadata(value)
    asked: Wire = json.loads(request) if request else {}
    if asked.get("operator") is True:
        item.by = str(asked.get("user", ""))
    return item


def _event(head: _Head, happened: dict[int, str], room: Room) -> Item:
    seq, kind, state, attempt, key, moment, size = head
    item = Item("status" if kind == EventKind.STATUS else "artifact", seq, moment, attempt, seq, size, state=state)
    item.artifact = key
    if seq not in happened:
        item.too_large = True
        return item
    value: Wire = json.loads(happened[seq])
    if kind == EventKind.STATUS:
        update = value.get("statusUpdate", {})
        message = update.get("status", {}).get("message", {})
        _fill(item, seq, message.get("parts", []), room)
        item.metadata = _metadata(update) or _metadata(message)
        return item
    update = value.get("artifactUpdate", {})
    artifact = update.get("artifact", {})
    _fill(item, seq, artifact.get("parts", []), room)
    item.title = visible(str(artifact.get("name") or artifact.get("artifactId", "")))[:200]
    item.description = visible(str(artifact.get("description", "")))[:1000]
    item.metadata = _metadata(artifact) or _metadata(update)
    item.appended, item.complete = bool(update.get("append")), bool(update.get("lastChunk"))
    return item


def _fill(item: Item, number: int, parts: Sequence[Wire], room: Room) -> None:
    item.parts = shown(parts, room, number)
    item.more_parts = len(parts) - len(item.parts)


def _metadata(value: Wire) -> str:
    found: Any = value.get("metadata")
    return visible(json.dumps(found, indent=2, ensure_ascii=False)[:2000]) if found else ""


def _joined(items: Sequence[Item]) -> list[Item]:
    """Put chunks together that continue the one before them."""
    found: list[Item] = []
    for item in items:
        before = found[-1] if found else None
        goes_on = (
            before is not None
            and item.kind == before.kind == "artifact"
            and item.artifact == before.artifact
            and item.attempt == before.attempt
            and item.appended
            and not item.too_large
            and not before.too_large
        )
        if before is None or not goes_on:
            found.append(item)
            continue
        before.parts = continued(before.parts, item.parts)
        before.last, before.complete = item.last, item.complete
        before.size += item.size
        before.title = before.title or item.title
        before.metadata = before.metadata or item.metadata
        before.more_parts += item.more_parts
    return found
