"""The dashboard: right figures, bounded work."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from a2a_django.admin import figures
from a2a_django.admin.dashboard import shown
from a2a_django.models import PushConfig, PushCursor, Task, TaskState
from a2a_django.models.fields import first_id, key_of, uuid7
from tests.admin.kit import operator

pytestmark = pytest.mark.django_db

PAGE = "/admin/a2a_django/agentsetting/dashboard/"


def task(state: str = TaskState.COMPLETED, *, ago: float = 0, took: float = 1, **more: Any) -> Task:
    """A task made ``ago`` hours before now that took so many seconds."""
    made = timezone.now() - dt.timedelta(hours=ago)
    pk = first_id(made)[:19] + uuid7()[19:]
    ended = made + dt.timedelta(seconds=took)
    more = {"owner": "alice", "agent": "tested", **more}
    return Task.objects.create(
        pk=pk, context_id="c", context_key=key_of("c"), state=state, created_at=made, status_timestamp=ended, **more
    )


def test_the_figures_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    now = dt.datetime(2030, 5, 1, 12, 30, tzinfo=dt.UTC)  # neither an hour nor a day ends meanwhile
    monkeypatch.setattr(timezone, "now", lambda: now)
    lease = {"lease_holder": "x", "lease_expires_at": now}
    task(TaskState.WORKING, **lease)
    task(TaskState.SUBMITTED, **lease)
    task(TaskState.SUBMITTED, queued_at=now, queued_owner="alice")
    task(TaskState.INPUT_REQUIRED)
    task(TaskState.AUTH_REQUIRED)
    failed = task(TaskState.FAILED)
    Task.objects.filter(pk=failed.pk).update(status_timestamp=now)
    old = task(TaskState.FAILED)
    Task.objects.filter(pk=old.pk).update(status_timestamp=now - dt.timedelta(days=1, minutes=1))
    for took in (1, 2, 30):
        task(took=took, ago=2)
    task(ago=30, took=5)
    config = PushConfig.objects.create(
        task=failed, config_id="1", config_key="1", url="https://x", host="x", created_at=now, due_at=now, queued_seq=7
    )
    PushCursor.objects.create(config=config, sent_seq=2)
    found = figures.look()
    assert (found.running.value, found.queued.value, found.waiting.value) == (2, 1, 2)
    assert (found.failed_today.value, found.backlog.value, found.overdue_events) == (1, 1, 5)
    assert (found.median, found.sample) == (3.5, 4)
    counts = [count.value for _, count in found.hours]
    assert (len(counts), sum(counts)) == (24, 10)
    assert counts[-3:] == [3, 0, 7]


def test_an_empty_site_has_a_dashboard() -> None:
    page = operator(superuser=True).get(PAGE).content.decode()
    assert "no completed tasks" in page
    assert page.count('class="a2a-bar"') == 24


def test_counting_stops_at_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figures, "LIMIT", 3)
    for _ in range(5):
        task(TaskState.SUBMITTED, queued_at=timezone.now(), queued_owner="alice")
    found = figures.look()
    assert (found.queued.value, found.queued.more) == (3, True)
    assert str(found.queued) == "3+"
    assert shown(found, push=False)["tiles"]["queued"]["value"] == "3+"


def test_the_page_and_its_figures_say_the_same_in_few_queries(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    task()
    client = operator("view_task")
    with django_assert_max_num_queries(8):
        page = client.get(PAGE)
    with django_assert_max_num_queries(8):
        renewed = client.get(f"{PAGE}figures/")
    assert "no-store" in renewed.headers["Cache-Control"]
    assert "backlog" not in renewed.json()["tiles"]
    for tile in renewed.json()["tiles"].values():
        assert tile["label"] in page.content.decode()
    both = operator("view_task", "view_pushconfig", name="both").get(f"{PAGE}figures/")
    assert both.json()["tiles"]["backlog"]["value"] == "0"
