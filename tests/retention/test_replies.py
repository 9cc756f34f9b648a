"""Receipts of messages: those of tasks go with them, replies without a task after a while or with their owner."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from a2a_django.agents import Agent, registry
from a2a_django.engine import clock, receipts
from a2a_django.engine.jobs import CreateTask, Incoming
from a2a_django.engine.journal import Journal
from a2a_django.engine.receipt_jobs import HoldMessage, KeepReply
from a2a_django.models import MessageReceipt, Task
from a2a_django.models.fields import key_of, uuid7
from a2a_django.retention import prune
from tests.engine.kit import made_of, message
from tests.engine.writing import says, status

DAY = dt.timedelta(days=1)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[Agent], None]:
    registry.all()
    monkeypatch.setattr(registry, "_agents", {})
    return registry.add


def run(command: str, *args: str, **options: Any) -> str:
    out = StringIO()
    call_command(command, *args, stdout=out, **options)
    return out.getvalue()


def held(writer: Journal, owner: str = "alice") -> receipts.Claim:
    """A message that somebody is at work on."""
    claim = receipts.claim_of(message(), agent="tested", owner=owner)
    writer.write(HoldMessage(claim))
    return replace(claim, held=True)


def replied(writer: Journal, days: float = 0, owner: str = "alice") -> str:
    """The key of a message that was answered by one, some days ago."""
    claim = held(writer, owner)
    writer.write(KeepReply(claim, json.dumps({"messageId": f"answer to {claim.message_id}"})))
    aged(claim.key, days)
    return claim.key


def aged(key: str, days: float) -> None:
    MessageReceipt.objects.filter(pk=key).update(created_at=timezone.now() - days * DAY)


def with_receipt(writer: Journal, days: float) -> Task:
    """A task that has ended, whose message may be sent again."""
    said = message()
    task = Task(id=uuid7(), context_id="c", context_key=key_of("c"), agent="tested", owner="alice")
    claim = receipts.claim_of(said, agent="tested", owner="alice")
    made = writer.write(CreateTask(task, Incoming(said, {}, claim=claim), writer.holder)).task
    writer.write(says(made, status(made, "COMPLETED")))
    aged(claim.key, days)
    return made


def left() -> set[str]:
    return set(MessageReceipt.objects.values_list("pk", flat=True))


async def nothing(ctx: Any) -> None:
    """An agent's run."""


def test_old_replies_go_and_nothing_else(writer: Journal, register: Callable[[Agent], None]) -> None:
    register(made_of(nothing, deduplicate=True, mode="message"))
    old = {replied(writer, days) for days in (1.1, 2, 30)}
    stay = {replied(writer, days) for days in (0, 0.9)}
    at_work, lost = held(writer).key, held(writer).key
    for key in (at_work, lost):
        aged(key, 30)
    MessageReceipt.objects.filter(pk=lost).update(lease_expires_at=clock.read("default") - DAY)
    with_receipt(writer, 30)
    stay |= {at_work, MessageReceipt.objects.get(task__isnull=False).pk}
    assert run("a2a_prune", dry_run=True).endswith("4 replies without a task.\n")
    assert len(left()) == len(old) + len(stay) + 1
    assert run("a2a_prune", batch=2).endswith("4 replies without a task.\n")
    assert left() == stay


def test_they_stay_as_long_as_the_site_says(
    writer: Journal, register: Callable[[Agent], None], settings: Settings
) -> None:
    register(made_of(nothing, deduplicate=True, mode="auto"))
    key = replied(writer, 30)
    settings.A2A = {**settings.A2A, "REPLY_RETENTION_DAYS": None}
    assert not prune.ages()
    with pytest.raises(CommandError):
        run("a2a_prune")
    settings.A2A = {**settings.A2A, "REPLY_RETENTION_DAYS": 31}
    run("a2a_prune")
    assert left() == {key}
    assert "replies" not in run("a2a_prune", days=1, state=["failed"])
    assert run("a2a_prune", days=1).endswith("1 replies without a task.\n")
    assert not left()


@pytest.mark.parametrize("attributes", [{}, {"mode": "message"}, {"deduplicate": True}])
def test_a_site_whose_agents_keep_none_need_not_prune(
    attributes: dict[str, Any], register: Callable[[Agent], None]
) -> None:
    register(made_of(nothing, **attributes))
    assert not prune.ages()


def test_the_receipt_of_a_task_goes_with_it(writer: Journal) -> None:
    with_receipt(writer, 0)
    assert len(left()) == 1
    run("a2a_prune", days=0, force=True)
    assert not left()


def test_everything_of_one_owner(writer: Journal) -> None:
    with_receipt(writer, 0)
    mine = {replied(writer, days) for days in (0, 30)}
    others = {replied(writer, owner=owner) for owner in ("bob", "Alice")}
    at_work = held(writer).key
    lines = [json.loads(line) for line in run("a2a_export", "alice").splitlines()]
    found = [line for line in lines if line["type"] == "reply"]
    assert [line["reply"] for line in found] == [{"messageId": f"answer to {line['messageId']}"} for line in found]
    assert {(line["agent"], line["owner"]) for line in found} == {("tested", "alice")}
    assert len(found) == len(mine)
    assert [line["type"] for line in lines].count("task") == 1
    assert "2 replies without a task deleted." in run("a2a_delete_owner", "alice", yes=True)
    assert left() == others | {at_work}
