"""Column types and ids."""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from typing import Any

import pytest
from django.core import serializers
from django.db import connection
from django.db.models import F

from a2a_django.models import Task, TaskEvent, TaskTally
from a2a_django.models.fields import key_of, uuid7
from a2a_django.protocol import wire

TEXTS = [
    '{"b":1,"a":2}',
    '{"n":1,"f":1.0,"e":1e5,"big":123456789012345678901234567890}',
    '{"text":"\\u00fc \\ud83d\\ude00 \\u2028 \\u0000 \\"quoted\\" \\\\"}',
    '{"deep":{"list":[null,true,false,{"x":[]}]}}',
    "[]",
    '"text"',
    "0",
    "null",
]


def new_task(**values: Any) -> Task:
    return Task.objects.create(
        context_id="c", context_key=key_of("c"), agent="a", status_timestamp=wire.now(), created_at=wire.now(), **values
    )


def new_event(content: Any, seq: int = 1, **values: Any) -> TaskEvent:
    task = values.pop("task", None) or new_task()
    return TaskEvent.objects.create(
        **{"task": task, "seq": seq, "kind": "status", "wire": content, "created_at": wire.now(), **values}
    )


@pytest.mark.django_db
@pytest.mark.parametrize("text", TEXTS)
def test_a_text_comes_back_as_it_was_stored(text: str) -> None:
    event = new_event(text)
    assert TaskEvent.objects.get(pk=event.pk).wire == text
    assert TaskEvent.objects.values_list("wire", flat=True).get(pk=event.pk) == text
    TaskEvent.objects.filter(pk=event.pk).update(wire=text + " ")
    assert TaskEvent.objects.get(pk=event.pk).wire == text + " "


@pytest.mark.django_db
def test_an_object_is_stored_as_compact_text() -> None:
    event = new_event({"a": [1, "\u00fc"], "b": None})
    assert TaskEvent.objects.get(pk=event.pk).wire == '{"a":[1,"\\u00fc"],"b":null}'
    assert TaskEvent.objects.get(pk=event.pk).data == {"a": [1, "\u00fc"], "b": None}


@pytest.mark.django_db
def test_nothing_is_stored_as_nothing() -> None:
    task = new_task(metadata=None)
    assert Task.objects.get(metadata__isnull=True) == task
    assert Task.objects.get(metadata=None) == task
    assert not Task.objects.exclude(metadata=None).exists()
    Task.objects.filter(pk=task.pk).update(metadata='{"a":1}')
    assert not Task.objects.filter(metadata__isnull=True).exists()


@pytest.mark.django_db
def test_whole_values_are_compared_as_texts() -> None:
    task, other = new_task(metadata='{"a":1}'), new_task(metadata='{"a":2}')
    for same in ('{"a":1}', {"a": 1}, F("metadata")):
        assert Task.objects.filter(pk=task.pk, metadata=same).exists()
    assert set(Task.objects.filter(metadata__in=['{"a":1}', {"a": 2}])) == {task, other}
    assert list(Task.objects.exclude(metadata='{"a":1}')) == [other]
    assert Task.objects.get(metadata__startswith='{"a":1') == task


@pytest.mark.django_db
def test_key_look_ups() -> None:
    working = new_event('{"statusUpdate":{"status":{"state":"WORKING"},"list":[1,{"x":"y"}],"n":5,"ok":true}}')
    ended = new_event('{"statusUpdate":{"status":{"state":"ENDED"},"list":[],"n":7}}')
    chunk = new_event('{"artifactUpdate":{"artifact":{"name":null}}}')

    def found(**conditions: Any) -> set[int]:
        return set(TaskEvent.objects.filter(**conditions).values_list("pk", flat=True))

    assert found(wire__statusUpdate__status__state="WORKING") == {working.pk}
    assert found(wire__statusUpdate__status__state__in=["WORKING", "ENDED"]) == {working.pk, ended.pk}
    assert found(wire__statusUpdate__status__state__startswith="END") == {ended.pk}
    assert found(wire__statusUpdate__status__state__icontains="work") == {working.pk}
    assert found(wire__statusUpdate__n=5) == {working.pk}
    assert found(wire__statusUpdate__n__gt=5) == {ended.pk}
    assert found(wire__statusUpdate__ok=True) == {working.pk}
    assert found(wire__statusUpdate__list__1__x="y") == {working.pk}
    assert found(wire__statusUpdate__status={"state": "WORKING"}) == {working.pk}
    assert found(wire__statusUpdate__isnull=False) == {working.pk, ended.pk}
    assert found(wire__statusUpdate__isnull=True) == {chunk.pk}
    assert found(wire__has_key="artifactUpdate") == {chunk.pk}
    assert found(wire__artifactUpdate__artifact__has_key="name") == {chunk.pk}
    assert found(wire__artifactUpdate__artifact__name=None) == {chunk.pk}
    excluded = TaskEvent.objects.exclude(wire__statusUpdate__status__state="WORKING")
    assert ended in excluded
    by_number = TaskEvent.objects.filter(wire__has_key="statusUpdate").order_by("-wire__statusUpdate__n")
    assert [event.pk for event in by_number] == [ended.pk, working.pk]
    assert set(TaskEvent.objects.values_list("wire__statusUpdate__n", flat=True)) == {5, 7, None}
    through = Task.objects.filter(events__wire__statusUpdate__n=5)
    assert list(through) == [working.task]
    if connection.features.supports_json_field_contains:
        assert found(wire__contains={"statusUpdate": {"n": 5}}) == {working.pk}
    assert found(wire__has_any_keys=["artifactUpdate", "x"]) == {chunk.pk}
    assert found(wire__has_keys=["artifactUpdate", "x"]) == set()


@pytest.mark.django_db
def test_rows_can_be_dumped_and_loaded() -> None:
    event = new_event(TEXTS[1], task=new_task(metadata='{"z":1,"a":[2]}'))
    rows = [event.task, event]
    for format_ in ("json", "xml", "jsonl"):
        dumped = serializers.serialize(format_, rows)
        Task.objects.all().delete()
        for one in serializers.deserialize(format_, dumped):
            one.save()
        loaded = TaskEvent.objects.select_related("task").get()
        assert (loaded.wire, loaded.task.metadata) == (event.wire, event.task.metadata)


# -- ids


def test_a_uuid7_is_one() -> None:
    before = time.time_ns() // 1_000_000
    text = uuid7()
    found = uuid.UUID(text)
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", text)
    assert (str(found), found.variant, found.version) == (text, uuid.RFC_4122, 7)
    # Counters may run ahead of the clock by as many milliseconds as thousands of ids were made at once.
    assert before <= found.int >> 80 <= before + 60_000


def test_uuid7s_sort_in_the_order_in_which_they_were_made() -> None:
    made = [uuid7() for _ in range(20_000)]
    assert made == sorted(set(made))


def test_uuid7s_keep_their_order_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = uuid7()
    monkeypatch.setattr(time, "time_ns", lambda: 1_000_000_000)
    assert uuid7() > first


def test_uuid7s_of_several_threads_differ() -> None:
    made: list[list[str]] = [[] for _ in range(4)]

    def work(mine: list[str]) -> None:
        mine.extend(uuid7() for _ in range(3000))

    threads = [threading.Thread(target=work, args=(mine,)) for mine in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(mine == sorted(mine) for mine in made)
    assert len({text for mine in made for text in mine}) == 12_000


def test_keys_tell_apart_what_databases_may_not() -> None:
    texts = ["a", "A", "a ", " a", "", "\u00e4", "a\u0308", "x" * 10_000, "x" * 10_001]
    keys = {key_of(text) for text in texts}
    assert len(keys) == len(texts)
    assert all(re.fullmatch("[0-9a-f]{32}", key) for key in keys)


def test_texts_are_json() -> None:
    for text in TEXTS:
        json.loads(text)


@pytest.mark.django_db
def test_an_owner_is_equal_to_nobody_else() -> None:
    """MySQL and MariaDB compare text without regard to case, accents and trailing blanks unless they are told."""
    owners = ["alice", "Alice", "alic\u00e9", "alice ", " alice", "alice\u200b", "\U0001f600", "\U0001f601", ""]
    for owner in owners:
        new_task(owner=owner)
        TaskTally.objects.create(agent="a", owner=owner, state="TASK_STATE_COMPLETED", shard=0)
    for owner in owners:
        assert [task.owner for task in Task.objects.visible_to(agent="a", owner=owner)] == [owner]
        assert [tally.owner for tally in TaskTally.objects.filter(agent="a", owner=owner)] == [owner]
