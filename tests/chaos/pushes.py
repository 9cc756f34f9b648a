"""Whether a webhook was told of everything that happened to a task, in order, at least once."""

from __future__ import annotations

from collections.abc import Iterator

from tests.chaos.oracle import Json
from tests.push.receiver import Hook


def told(hook: Hook, task_id: str) -> list[Json]:
    """Return the events of a task that the webhook took, in the order in which they came."""
    found = [post.json for post in hook.accepted()]
    return [event for event in found if _task_of(event) == task_id]


def check_pushes(events: list[Json], came: list[Json]) -> Iterator[str]:
    """Yield what is wrong: repeats are allowed (a sender may be killed between the answer and its note of it, or be
    paused over it), holes and another order are not."""
    seen = 0
    for event in came:
        if seen < len(events) and event == events[seen]:
            seen += 1
        elif event not in events[:seen]:
            places = [number for number, one in enumerate(events, 1) if one == event]
            yield f"a webhook was told of event {places or event} after event {seen}"
            return
    if seen < len(events):
        yield f"a webhook was told of {seen} events of {len(events)}"


def _task_of(event: Json) -> str:
    (content,) = event.values()
    return str(content.get("taskId") or content.get("id") or "")
