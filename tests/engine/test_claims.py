"""Who takes which of the tasks that wait: every task once, in order, fair between owners, at a cost of its own."""

from __future__ import annotations

import random
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from a2a_django.engine.jobs import Cancelled, CancelTask
from a2a_django.engine.journal import Journal
from a2a_django.engine.queue import Claim, Claimed, ClaimOne, PutBack
from a2a_django.models import Message, Task
from a2a_django.models.fields import key_of
from tests.engine.kit import WAIT
from tests.engine.writing import journal

pytestmark = pytest.mark.usefixtures("sound_rows")


def wait(owners: str, *, agent: str = "tested", **members: Any) -> list[Task]:
    """Have a task wait for each letter, which is its owner, in this order."""
    now = timezone.now()
    rows = Task.objects.bulk_create(
        Task(
            context_id="c",
            context_key=key_of("c"),
            agent=agent,
            owner=owner,
            status_timestamp=now,
            created_at=now,
            message_count=1,
            **{"queued_at": now + place * timezone.timedelta(microseconds=1), "queued_owner": owner, **members},
        )
        for place, owner in enumerate(owners)
    )
    Message.objects.bulk_create(
        Message(task=task, position=1, message_id="m", role="ROLE_USER", wire="{}", created_at=now) for task in rows
    )
    return rows


def claim(writer: Journal, room: int, *, last: str | None = None, limit: int = 1000) -> Claimed:
    """Take tasks; each owner may have ``limit`` runs."""
    return writer.write(Claim(writer.holder, room, agents=["tested"], share=lambda owner: limit, last=last))


def owners_of(claimed: Claimed) -> str:
    return "".join(accepted.task.owner for accepted in claimed.accepted)


@pytest.mark.parametrize("seed", range(12))
def test_owners_take_turns_and_each_keeps_his_order(seed: int) -> None:
    luck = random.Random(seed)
    owners = "".join(luck.choices("abcdef", [luck.choice((1, 20)) for _ in range(6)], k=luck.randint(1, 40)))
    tasks = wait(owners)
    left = {owner: [task.pk for task in tasks if task.owner == owner] for owner in set(owners)}
    last: str | None = None
    with journal() as (writer, _):
        while any(left.values()):
            room = luck.randint(1, 9)
            before = last
            claimed = claim(writer, room, last=before)
            last = claimed.last
            taken: dict[str, list[str]] = defaultdict(list)
            for accepted in claimed.accepted:
                taken[accepted.task.owner].append(accepted.task.pk)
            assert len(claimed.accepted) == min(room, sum(map(len, left.values())))
            turns = sorted(left, key=lambda owner: (before is not None and owner <= before, owner))
            waiting = [owner for owner in turns if left[owner]]
            assert [owner for owner in waiting if owner in taken] == waiting[:room]
            for owner, found in taken.items():
                assert found == left[owner][: len(found)]
                del left[owner][: len(found)]
            for owner in waiting:
                if left[owner]:
                    assert max(map(len, taken.values())) - len(taken[owner]) <= 1
        assert claim(writer, 5).accepted == []


def test_a_single_task_waits_for_no_more_others_than_there_are_owners() -> None:
    wait("a" * 30 + "b" * 30)
    with journal() as (writer, _):
        last = None
        for _ in range(7):
            last = claim(writer, 1, last=last).last
        wait("c")
        found = ""
        while "c" not in found:
            claimed = claim(writer, 1, last=last)
            last, found = claimed.last, found + owners_of(claimed)
        assert len(found) <= 3


def test_an_owner_gets_no_more_than_his_share() -> None:
    wait("aaaaabbbc")
    with journal() as (writer, _):
        claimed = claim(writer, 8, limit=2)
        assert sorted(owners_of(claimed)) == list("aabbc")
        assert claimed.skipped == {"a", "b"}
        assert claim(writer, 8, limit=0) == Claimed([], None, frozenset("ab"))
        assert owners_of(claim(writer, 8)) in ("abaa", "abaab"[:4])


@pytest.mark.parametrize("agent", ["elsewhere", "Tested", "TESTED"])
def test_tasks_of_agents_that_are_not_here_are_left_alone(agent: str) -> None:
    wait("a", agent=agent)
    wait("a")
    with journal() as (writer, _):
        assert len(claim(writer, 8).accepted) == 1
    assert Task.objects.get(queued_at__isnull=False).agent == agent


@pytest.mark.parametrize("seed", range(4))
def test_processes_that_take_at_the_same_moment_take_each_task_once(seed: int) -> None:
    tasks = wait("abbbcccccc" * 6)
    luck = random.Random(seed)
    rooms = [[luck.randint(1, 6) for _ in range(60)] for _ in range(4)]
    named = luck.sample([task.pk for task in tasks], 20)
    taken: list[tuple[str, str]] = []
    cancelled: list[str] = []
    barrier = threading.Barrier(6)

    def takes(writer: Journal, sizes: list[int]) -> None:
        barrier.wait(WAIT)
        last = None
        for room in sizes:
            claimed = claim(writer, room, last=last)
            last = claimed.last
            taken.extend((accepted.task.pk, writer.holder) for accepted in claimed.accepted)

    def takes_one(writer: Journal, ids: list[str]) -> None:
        barrier.wait(WAIT)
        taken.extend((pk, writer.holder) for pk in ids if writer.write(ClaimOne(pk, writer.holder)) is not None)

    def cancels(writer: Journal, ids: list[str]) -> None:
        barrier.wait(WAIT)
        for pk in ids:
            done: Cancelled = writer.write(CancelTask(pk, agent="tested", owner=Task.objects.get(pk=pk).owner))
            if not done.holder:
                cancelled.append(pk)
        connection.close()

    with journal() as (a, _), journal() as (b, _), journal() as (c, _), journal() as (d, _), journal() as (e, _):
        work = [
            *((takes, one, sizes) for one, sizes in zip((a, b, c, d), rooms, strict=True)),
            (takes_one, e, named[:10]),
            (cancels, a, named[10:]),
        ]
        threads = [threading.Thread(target=function, args=rest) for function, *rest in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * WAIT)
            assert not thread.is_alive()
        while left := claim(a, 20).accepted:  # what others had under lock just then was passed over
            taken.extend((accepted.task.pk, a.holder) for accepted in left)
    assert max(Counter(pk for pk, _ in taken).values()) == 1
    assert {pk for pk, _ in taken} | set(cancelled) == {task.pk for task in tasks}
    assert not {pk for pk, _ in taken} & set(cancelled)
    for pk, holder in taken:
        row = Task.objects.get(pk=pk)
        assert row.lease_holder == holder or row.is_terminal
        assert row.attempt == 1 + row.is_terminal


def test_what_could_not_begin_waits_again_in_its_place_and_has_had_no_try() -> None:
    first, second = wait("aa")
    with journal() as (writer, recorder):
        (accepted,) = claim(writer, 1).accepted
        assert accepted.task.pk == first.pk
        assert writer.write(PutBack(first.pk, 1)) is True
        assert recorder.told[-1][0].queued == "a"
        assert writer.write(PutBack(first.pk, 1)) is False  # it is nobody's any more
        message = Message.objects.get(task=first)
        assert (message.attempt, message.tries) == (None, 0)
        again = claim(writer, 2).accepted
        assert {one.task.pk for one in again} == {first.pk, second.pk}
        assert Message.objects.get(task=first).tries == 1


def statements(writer: Journal, room: int) -> list[dict[str, str]]:
    """What a claim asks of the database."""
    with CaptureQueriesContext(connection) as context, transaction.atomic():
        found = writer.write_here(Claim(writer.holder, room, agents=["tested"], share=lambda owner: 1000))
        assert len(found.accepted) == room
    return list(context.captured_queries)


def test_a_claim_costs_what_it_takes_however_much_waits() -> None:
    with journal() as (writer, _):
        wait("a" * 20 + "b" * 20)
        few = len(statements(writer, 2))
        wait("".join(chr(0x100 + number) for number in range(300)) + "a" * 300)
        many = len(statements(writer, 2))
        assert many == few
        assert many <= 14


@pytest.fixture
def ended_tasks(sound_rows: None) -> Iterator[None]:
    """Many tasks that have ended, only as far as their rows go."""
    now = timezone.now()
    ended = {"state": "TASK_STATE_COMPLETED", "status_timestamp": now, "created_at": now, "context_key": key_of("c")}
    Task.objects.bulk_create(Task(context_id="c", agent="tested", owner="a", **ended) for _ in range(3000))
    yield
    Task.objects.filter(state="TASK_STATE_COMPLETED")._raw_delete("default")  # they are in no tally


@pytest.mark.usefixtures("ended_tasks")
def test_what_waits_is_found_by_its_index_however_many_tasks_have_ended() -> None:
    wait("aabb")
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE a2a_django_task")
    with journal() as (writer, _):
        looks = [
            query["sql"] for query in statements(writer, 2) if "queued_owner" in query["sql"].partition("WHERE")[2]
        ]
    assert len(looks) >= 2
    for look in looks:
        prefix = "EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN "
        with connection.cursor() as cursor:
            cursor.execute(prefix + look)
            plan = str(cursor.fetchall())
        assert "a2a_task_queue" in plan, f"{look}\n{plan}"
