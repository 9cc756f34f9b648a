"""The list of tasks: how it is walked, narrowed and searched, and what it costs."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.utils import timezone

from a2a_django.admin.distinct import values_of
from a2a_django.engine.journal import Journal
from a2a_django.models import Task, WaitingTask
from a2a_django.models.fields import first_id
from tests.admin.kit import at, made, operator
from tests.engine.writing import says, status

pytestmark = pytest.mark.django_db

_ID = re.compile(r'title="([0-9a-f-]{36})"')


def ids(content: bytes) -> list[str]:
    """The tasks of a page, in their order."""
    return _ID.findall(content.decode())


def following(content: bytes, rel: str) -> str | None:
    """Where the next or previous page is."""
    found = re.search(rf'<a href="([^"]*)" rel="{rel}"', content.decode())
    return found[1].replace("&amp;", "&") if found else None


def test_it_is_walked_in_both_directions_without_a_hole_or_a_double(writer: Journal) -> None:
    tasks = [made(writer).pk for _ in range(120)]
    client = operator("view_task")
    pages = []
    address: str | None = ""
    while address is not None:
        content = client.get(at("changelist") + address).content
        pages.append(ids(content))
        address = following(content, "next")
    assert [len(page) for page in pages] == [50, 50, 20]
    assert [pk for page in pages for pk in page] == sorted(tasks, reverse=True)
    back = []
    address = following(content, "prev")
    while address is not None:
        content = client.get(at("changelist") + address).content
        back.append(ids(content))
        address = following(content, "prev")
    assert back == [pages[1], pages[0]]


@pytest.mark.parametrize("place", ["7", "-", "x" * 40, "-00000000-0000-0000-0000-00000000000g", "\0"])
def test_a_page_that_is_none_is_the_first(writer: Journal, place: str) -> None:
    task = made(writer)
    assert ids(operator("view_task").get(at("changelist"), {"p": place}).content) == [task.pk]


def test_it_costs_the_same_number_of_queries_for_any_number_of_rows(
    writer: Journal, django_assert_max_num_queries: Any
) -> None:
    client = operator("view_task")
    for _ in range(60):
        made(writer)
    with django_assert_max_num_queries(9) as found:
        assert client.get(at("changelist")).status_code == 200
    assert not any("COUNT(" in query["sql"] for query in found.captured_queries)
    with django_assert_max_num_queries(8):
        assert client.get(at("changelist", model="waitingtask")).status_code == 200


def test_it_is_filtered(writer: Journal) -> None:
    waiting, ended = made(writer, tenant="one"), made(writer, tenant="two", agent="gone")
    writer.write(says(waiting, status(waiting, "INPUT_REQUIRED", "what?")))
    writer.write(says(ended, status(ended, "FAILED")))
    client = operator("view_task")
    today, before = f"{timezone.localdate():%Y-%m-%d}", f"{timezone.localdate() - dt.timedelta(days=400):%Y}"
    for query, expected in (
        ({"state": "waiting"}, [waiting]),
        ({"state": "open"}, [waiting]),
        ({"state": "TASK_STATE_FAILED"}, [ended]),
        ({"agent": "gone"}, [ended]),
        ({"tenant": "one"}, [waiting]),
        ({"tenant": "one", "state": "TASK_STATE_FAILED"}, []),
        ({"created": "1h"}, [ended, waiting]),
        ({"created": today}, [ended, waiting]),
        ({"created": today[:7]}, [ended, waiting]),
        ({"created": today[:4]}, [ended, waiting]),
        ({"created": before}, []),
        ({"created": "2026-02-31"}, [ended, waiting]),
        ({"created": "9999"}, [ended, waiting]),
        ({"created": "nonsense"}, [ended, waiting]),
    ):
        answer = client.get(at("changelist"), query)
        assert answer.status_code == 200, query
        assert ids(answer.content) == [task.pk for task in expected], query


def test_the_way_through_time_shows_only_what_there_is(writer: Journal) -> None:
    task = made(writer)
    client = operator("view_task")
    old = first_id(timezone.make_aware(dt.datetime(2024, 5, 17, 12)))
    Task.objects.filter(pk=task.pk).delete()
    Task.objects.create(
        id=old,
        context_id="c",
        context_key="k",
        agent="tested",
        status_timestamp=timezone.now(),
        created_at=timezone.now(),
    )
    content = client.get(at("changelist")).content.decode()
    assert "?created=2024" in content
    content = client.get(at("changelist"), {"created": "2024"}).content.decode()
    assert "?created=2024-05" in content
    assert "?created=2024-06" not in content
    content = client.get(at("changelist"), {"created": "2024-05"}).content.decode()
    assert "?created=2024-05-17" in content
    assert "?created=2024-05-18" not in content
    assert ids(client.get(at("changelist"), {"created": "2024-05-17"}).content) == [old]


def test_it_is_searched(writer: Journal) -> None:
    first = made(writer, {"text": "a purple elephant, Größe “XL”"}, context="my/context 7", owner="Alice")
    second = made(writer, {"text": "100% of it_all"}, tenant="acme")
    client = operator("view_task")
    for typed, expected in (
        (first.pk, [first]),
        (first.pk.upper(), [first]),
        (first.pk.replace("-", ""), [first]),
        (second.pk[:35], [second]),
        ("my/context 7", [first]),
        ("owner:Alice", [first]),
        ("owner:alic", []),
        ("tenant:acme", [second]),
        ("text:Purple ELEPHANT", [first]),
        ("purple elephant", [first]),
        ("Größe “XL”", [first]),
        ("100% of it_all", [second]),
        ("100_ of", []),
        ("text:", []),
        ("'; DROP TABLE", []),
        ("\0", [second, first]),
        ("   ", [second, first]),
    ):
        answer = client.get(at("changelist"), {"q": typed})
        assert answer.status_code == 200, typed
        found = ids(answer.content)
        assert [pk for pk in found if pk in (first.pk, second.pk)] == [task.pk for task in expected], typed


def test_words_are_looked_for_in_the_newest_messages_only(writer: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("a2a_django.admin.searching.MESSAGES", 3)
    tasks = [made(writer, {"text": "the needle"}) for _ in range(5)]
    found = ids(operator("view_task").get(at("changelist"), {"q": "text:needle"}).content)
    assert found == [task.pk for task in reversed(tasks[2:])]


def test_different_values_are_found_without_the_rows_between(writer: Journal) -> None:
    for tenant in ("b", "a", "", "c", "a"):
        made(writer, tenant=tenant)
    assert values_of("tenant", 10) == ["", "a", "b", "c"]
    assert values_of("tenant", 2) == ["", "a"]
    assert values_of("agent", 5) == ["tested"]


def test_the_inbox_has_those_that_wait_oldest_first(writer: Journal) -> None:
    tasks = [made(writer) for _ in range(3)]
    for task, state in zip(tasks, ("AUTH_REQUIRED", "WORKING", "INPUT_REQUIRED"), strict=True):
        writer.write(says(task, status(task, state, f"Who is <b>{state}</b>?")))
    client = operator("view_task")
    answer = client.get(at("changelist", model="waitingtask"))
    assert ids(answer.content) == [tasks[0].pk, tasks[2].pk]
    assert "Who is &lt;b&gt;AUTH_REQUIRED&lt;/b&gt;?" in answer.content.decode()
    answer = client.get(at("change", tasks[0].pk, model="waitingtask"))
    assert answer["Location"] == at("change", tasks[0].pk) + "#question"


def test_a_deleted_proxy_is_counted_out_like_its_task(writer: Journal) -> None:
    from a2a_django.models import TaskTally

    task = made(writer)
    writer.write(says(task, status(task, "FAILED")))
    assert sum(TaskTally.objects.values_list("count", flat=True)) == 1
    WaitingTask.objects.filter(pk=task.pk).delete()
    assert sum(TaskTally.objects.values_list("count", flat=True)) == 0


def test_users_without_the_permission_are_not_let_in(writer: Journal) -> None:
    task = made(writer)
    get_user_model().objects.create_user("customer", password="x")
    stranger = operator(name="stranger")
    for address in (at("changelist"), at("change", task.pk), at("changelist", model="waitingtask")):
        assert stranger.get(address).status_code == 403, address


@pytest.mark.parametrize("place", ["0001", "9999", "9999-12-31", "0000", "1969-12", "2026-13", "٢٠٢٦"])
def test_a_time_beyond_all_times_is_no_error(writer: Journal, place: str) -> None:
    made(writer)
    assert operator("view_task").get(at("changelist"), {"created": place}).status_code == 200
