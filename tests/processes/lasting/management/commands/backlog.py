"""``manage.py backlog``: leave tasks waiting that nobody here runs, or tell what has become of them, as JSON."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from typing import Any

from django.contrib.auth.models import AnonymousUser, Group
from django.core.management.base import BaseCommand, CommandParser

from a2a_django import engine
from a2a_django.agents import registry
from a2a_django.agents.cards import CardBase
from a2a_django.models import Task
from a2a_django.operations import OPERATIONS, CallContext
from a2a_django.protocol import codec
from a2a_django.protocol.states import TERMINAL

AT_ONCE = 50


class Command(BaseCommand):
    """Fills the queue of the agent "counted", or reports."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--owners", type=json.loads, help="How many tasks for whom; without it: report.")
        parser.add_argument("--ended", type=int, default=0, help="Report when so many tasks have ended.")
        parser.add_argument("--seconds", type=float, default=0, help="Wait no longer for it.")

    def handle(self, *args: Any, owners: dict[str, int] | None, ended: int, seconds: float, **options: Any) -> None:
        if owners is None:
            deadline = time.monotonic() + seconds
            while Task.objects.filter(state__in=TERMINAL).count() < ended and time.monotonic() < deadline:
                time.sleep(0.1)
            self.stdout.write(json.dumps(_report()))
            return
        engine.get().runner.runs_here = False
        asyncio.run(_fill([owner for owner, count in owners.items() for _ in range(count)]))
        engine.shutdown()


def _report() -> dict[str, Any]:
    # The names of the rows begin with task, attempt and process.
    runs = [name.split()[:3] for name in Group.objects.values_list("name", flat=True)]
    return {
        "states": Counter(state.removeprefix("TASK_STATE_") for state in Task.objects.values_list("state", flat=True)),
        "waiting": Task.objects.filter(queued_at__isnull=False).count(),
        "runs": len(runs),
        "tasks": len({task_id for task_id, _, _ in runs}),
        "attempts": len({(task_id, attempt) for task_id, attempt, _ in runs}),
        "processes": Counter(process for _, _, process in runs),
    }


async def _fill(owners: list[str]) -> None:
    room = asyncio.Semaphore(AT_ONCE)
    agent = registry.get("counted")
    assert agent is not None

    async def begin(owner: str) -> None:
        call = CallContext(
            agent,
            tenant="",
            owner=owner,
            user=AnonymousUser(),
            version="1.0",
            extensions=(),
            binding="JSONRPC",
            streaming=False,
            base=CardBase("http://testserver", "/a2a"),
        )
        message = {"messageId": os.urandom(8).hex(), "role": "ROLE_USER", "parts": [{"text": "count"}]}
        wire = {"message": message, "configuration": {"returnImmediately": True}}
        async with room:
            await OPERATIONS["SendMessage"].call(call, codec.decode("SendMessageRequest", wire))

    await asyncio.gather(*map(begin, owners))
