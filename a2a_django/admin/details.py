"""What stands on the page of a task besides its timeline: artifacts, webhooks, the other tasks of the context."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Count, Q
from django.utils.functional import cached_property

from a2a_django.admin.looks import badge, line
from a2a_django.admin.parts import Part, Room, shown, visible
from a2a_django.admin.push import place_of
from a2a_django.agents import registry
from a2a_django.engine.database import alias
from a2a_django.models import Artifact, EventKind, PushConfig, PushDelivery, Task, TaskEvent
from a2a_django.protocol.states import INTERRUPTED, TERMINAL
from a2a_django.protocol.wire import Wire

#: Rows of each kind that are shown; the lists have the rest.
MOST: Final = 20
#: Characters of a question that are read; a longer one is downloaded.
QUESTION: Final = 256 * 1024
#: Choices of a question that become buttons.
CHOICES: Final = 8


class Head:
    """The task itself, for templates."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.badge = badge(task.state)
        self.ended = task.state in TERMINAL
        self.waits = task.state in INTERRUPTED
        self.running = bool(task.lease_holder)
        agent = registry.get(task.agent)
        self.agent = agent.name if agent is not None else task.agent
        self.known = agent is not None

    @cached_property
    def metadata(self) -> str:
        """The task's metadata as JSON, "" without."""
        text = self.task.metadata
        return visible(json.dumps(json.loads(text), indent=2, ensure_ascii=False)[:4000]) if text else ""

    @property
    def context(self) -> str:
        """The id of the context, as much as is shown of it."""
        return line(self.task.context_id, 100)

    @property
    def owner(self) -> str:
        """Whose task it is."""
        return line(self.task.owner, 100)

    @property
    def tenant(self) -> str:
        """The tenant of the call that made it."""
        return line(self.task.tenant, 100)


@dataclass(frozen=True, slots=True)
class Question:
    """What a waiting task asks: the parts of its message, and the answers that the agent proposes. ``asked`` comes back
    with an answer: the number of the event, and how many messages the task had."""

    asked: str
    seq: int
    parts: list[Part]
    choices: list[str]


def question(task: Task) -> Question | None:
    """Return what a task waits for, None when it waits for nobody.

    An agent proposes answers by the metadata of its status: ``{"choices": ["approve", "decline"]}``.
    """
    if task.state not in INTERRUPTED:
        return None
    rows = TaskEvent.objects.using(alias()).filter(task_id=task.pk, kind=EventKind.STATUS.value, state=task.state)
    found = rows.order_by("-seq").values_list("seq", "wire").first()
    if found is None or len(found[1]) > QUESTION:
        return Question(_asked(task, found[0] if found else 0), found[0] if found else 0, [], [])
    update: Wire = json.loads(found[1]).get("statusUpdate", {})
    proposed: Any = update.get("metadata", {}).get("choices", ())
    choices = (
        [visible(each)[:60] for each in proposed if isinstance(each, str) and each.strip()]
        if (isinstance(proposed, list))
        else []
    )
    parts = update.get("status", {}).get("message", {}).get("parts", [])
    return Question(_asked(task, found[0]), found[0], shown(parts, Room(task.pk), found[0]), choices[:CHOICES])


def _asked(task: Task, seq: int) -> str:
    return f"{seq}.{task.message_count}"


def artifacts(task: Task) -> list[dict[str, Any]]:
    """Return the task's artifacts, those of them that are shown."""
    rows = Artifact.objects.using(alias()).filter(task_id=task.pk).order_by("position")
    wanted = rows.values_list("position", "artifact_id", "head", "chunks", "size", "complete")
    found = []
    for position, artifact_id, head, chunks, size, complete in wanted[:MOST]:
        about: Wire = json.loads(head) if len(head) <= QUESTION else {}
        found.append(
            {
                "position": position,
                "name": line(str(about.get("name") or artifact_id)),
                "description": visible(str(about.get("description", "")))[:500],
                "chunks": chunks,
                "size": size,
                "complete": complete or task.state in TERMINAL,
            }
        )
    return found


def related(task: Task) -> list[Task]:
    """Return the other tasks of the same context and owner, newest first."""
    rows = Task.objects.using(alias()).visible_to(agent=task.agent, owner=task.owner)
    found = rows.filter(context_key=task.context_key).exclude(pk=task.pk)
    return list(found.only("pk", "state", "created_at", "status_timestamp").order_by("-status_timestamp", "-pk")[:MOST])


def webhooks(task: Task) -> list[dict[str, Any]]:
    """Return the task's webhooks with how far they have been told, and the deliveries that have not arrived. Of their
    addresses no more than ``push`` shows."""
    if not task.has_push:
        return []
    rows = PushConfig.objects.using(alias()).filter(task_id=task.pk).select_related("cursor").order_by("pk")
    waiting = Count("deliveries", filter=Q(deliveries__delivered_at__isnull=True))
    dead = Count("deliveries", filter=Q(deliveries__dead_at__isnull=False))
    configs = list(rows.annotate(waiting=waiting, dead=dead)[:MOST])
    failed: dict[int, list[PushDelivery]] = {}
    late = PushDelivery.objects.using(alias()).filter(config__in=configs, delivered_at__isnull=True)
    for delivery in late.order_by("-pk")[: 5 * MOST]:
        failed.setdefault(delivery.config_id, []).append(delivery)
    return [
        {
            "config": config,
            "place": place_of(config),
            "name": line(config.config_id, 80),
            "sent": config.cursor.sent_seq if hasattr(config, "cursor") else 0,
            "waiting": config.waiting,
            "dead": config.dead,
            "deliveries": failed.get(config.pk, [])[:5],
        }
        for config in configs
    ]
