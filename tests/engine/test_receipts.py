"""Receipts in the journal: whoever comes first has the message, in whichever process (R-086)."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from a2a_django.engine import clock, receipts
from a2a_django.engine.jobs import AcceptMessage, CreateTask, Fenced, Incoming, Job, MakeTask
from a2a_django.engine.journal import Journal
from a2a_django.engine.receipt_jobs import DropMessage, HoldMessage, KeepReply
from a2a_django.engine.receipts import Claim, Repeated, UnderWay
from a2a_django.models import Message, MessageReceipt, Task
from a2a_django.models.fields import key_of, uuid7
from a2a_django.protocol.errors import InvalidParamsError
from tests.engine.conftest import Losses
from tests.engine.kit import WAIT, message
from tests.engine.test_journal_transactions import row_held, rows_are_locked
from tests.engine.writing import Threads, create, journal, says, status

pytestmark = pytest.mark.usefixtures("sound_rows")


def claim_on(said: dict[str, Any]) -> Claim:
    return receipts.claim_of(said, agent="tested", owner="alice")


def new(writer: Journal, said: dict[str, Any]) -> CreateTask:
    """The job that makes a task of a message, once."""
    return CreateTask(a_task(), Incoming(said, {}, claim=claim_on(said)), writer.holder)


def a_task() -> Task:
    return Task(id=uuid7(), context_id="c", context_key=key_of("c"), agent="tested", owner="alice")


def held_by(writer: Journal, said: dict[str, Any], *, known: bool = False) -> MakeTask:
    """The job that makes a task of a message in the course of its run, for which the message is held."""
    claim = replace(claim_on(said), known=known)
    assert writer.write(HoldMessage(claim))
    return MakeTask(a_task(), Incoming(said, {}, claim=replace(claim, held=True)), writer.holder)


def answer_to(writer: Journal, task: Task, said: dict[str, Any], context_id: str = "") -> AcceptMessage:
    """The job that takes a message in for a task, once."""
    incoming = Incoming(said, {}, claim=claim_on(said))
    return AcceptMessage(task.pk, incoming, agent="tested", owner="alice", context_id=context_id, holder=writer.holder)


def carried_out(writer: Journal, jobs: list[Job[Any]]) -> list[Any]:
    """Have jobs carried out, in one transaction where they may be; what came of each."""
    with writer._wake:
        for job in jobs:
            job.event = threading.Event()
            writer._put(job)
    for job in jobs:
        assert job.event is not None
        assert job.event.wait(WAIT)
    return [job.error or job.result for job in jobs]


def lose() -> None:
    """Let all leases have run out."""
    past = clock.read("default") - dt.timedelta(seconds=1)
    MessageReceipt.objects.exclude(holder="").update(lease_expires_at=past)


# -- races


@pytest.mark.parametrize("follow_up", [False, True])
def test_processes_that_get_the_same_messages_in_any_order_share_them(follow_up: bool) -> None:
    said = [message(f"text {number}") for number in range(40)]
    with journal() as (one, _), journal() as (two, _), journal() as (three, _):
        writers = [one, two, three]
        tasks = [create(one).task for _ in said] if follow_up else []
        for task, text in zip(tasks, said, strict=False):
            text["taskId"] = task.pk
        barrier = threading.Barrier(len(writers))

        def work(writer: Journal, order: list[int]) -> dict[int, Any]:
            jobs: list[Job[Any]] = [
                answer_to(writer, tasks[number], said[number]) if follow_up else new(writer, said[number])
                for number in order
            ]
            barrier.wait(WAIT)
            return dict(zip(order, carried_out(writer, jobs), strict=True))

        threads = Threads()
        numbers = list(range(len(said)))
        for writer, order in zip(writers, (numbers, numbers[::-1], numbers[20:] + numbers[:20]), strict=True):
            threads.call(work, writer, order)
        found = threads.results()
    for number in numbers:
        answers = [each[number] for each in found]
        taken = [answer for answer in answers if not isinstance(answer, Repeated)]
        assert len(taken) == 1, answers
        again = {(answer.task_id, answer.position) for answer in answers if isinstance(answer, Repeated)}
        assert again == {(taken[0].task.pk, taken[0].message.position)}
    assert Task.objects.count() == len(said)
    assert Message.objects.count() == MessageReceipt.objects.count() * (1 + follow_up) == len(said) * (1 + follow_up)
    assert not MessageReceipt.objects.exclude(holder="").exists()


def test_of_many_who_take_over_what_is_lost_one_has_it() -> None:
    said = message()
    with journal() as (one, _), journal() as (two, _), journal() as (three, _):
        one.write(HoldMessage(claim_on(said)))
        lose()
        barrier = threading.Barrier(3)

        def work(writer: Journal) -> Any:
            job = HoldMessage(replace(claim_on(said), known=True))
            barrier.wait(WAIT)
            return carried_out(writer, [job])[0]

        threads = Threads()
        for writer in (one, two, three):
            threads.call(work, writer)
        found = threads.results()
    assert sorted(type(each).__name__ for each in found) == ["UnderWay", "UnderWay", "bool"]


# -- within one transaction


def test_what_was_refused_leaves_the_message_to_the_next() -> None:
    with journal() as (writer, _):
        task = create(writer).task
        said = message(taskId=task.pk)
        refused, taken, again, other = carried_out(
            writer,
            [
                answer_to(writer, task, said, context_id="another"),
                answer_to(writer, task, said),
                answer_to(writer, task, said),
                answer_to(writer, task, {**said, "parts": [{"text": "other"}]}),
            ],
        )
    assert isinstance(refused, InvalidParamsError)
    assert taken.message.position == 2
    assert (again.task_id, again.position) == (task.pk, 2)
    assert isinstance(other, InvalidParamsError)
    assert MessageReceipt.objects.count() == 1


def test_a_refusal_alone_leaves_nothing() -> None:
    with journal() as (writer, _):
        task = create(writer).task
        said = message(taskId=task.pk)
        for _ in range(2):
            assert isinstance(
                carried_out(writer, [answer_to(writer, task, said, context_id="another")])[0], InvalidParamsError
            )
            assert not MessageReceipt.objects.exists()


def test_a_message_that_is_held_is_answered_given_up_or_taken_over() -> None:
    said = message()
    with journal() as (writer, _):
        mine, other = (claim_on(said) for _ in range(2))
        assert writer.write(HoldMessage(mine))
        with pytest.raises(UnderWay):
            writer.write(HoldMessage(other))
        with pytest.raises(UnderWay):
            writer.write(new(writer, said))
        writer.write(DropMessage(other))  # it is not his to give up
        writer.write(DropMessage(mine))
        assert not MessageReceipt.objects.exists()
        assert writer.write(HoldMessage(other))
        lose()
        assert receipts.look(mine).known
        newer = replace(claim_on(said), known=True)
        writer.write(HoldMessage(newer))
        with pytest.raises(UnderWay):
            writer.write(HoldMessage(replace(mine, known=True)))
        assert writer.write(KeepReply(replace(other, held=True), '{"a":1}')) is False
        assert writer.write(KeepReply(replace(newer, held=True), '{"a":2}')) is True
        with pytest.raises(Repeated) as found:
            writer.write(HoldMessage(other))
        assert found.value.reply == '{"a":2}'
        with pytest.raises(Repeated):
            receipts.look(mine)


def test_a_run_that_has_lost_its_message_makes_no_task() -> None:
    said = message()
    with journal() as (writer, _):
        job = held_by(writer, said)
        lose()
        later = held_by(writer, said, known=True)
        with pytest.raises(Fenced):
            writer.write(job)
        assert not Task.objects.exists()
        made = writer.write(later).task
        with pytest.raises(Repeated) as found:
            writer.write(new(writer, said))
        assert found.value.task_id == made.pk


# -- other people's transactions


@rows_are_locked
def test_a_message_to_a_task_that_somebody_holds_is_claimed_when_its_time_has_come() -> None:
    with journal() as (writer, _):
        task = create(writer).task
        job = answer_to(writer, task, message(taskId=task.pk))
        with row_held(task):
            job.event = threading.Event()
            writer._put(job)
            create(writer)  # whatever comes after it
            assert not job.event.is_set()
            assert not MessageReceipt.objects.exists()
        assert job.event.wait(WAIT)
        assert job.error is None
    assert MessageReceipt.objects.get().position == 2


@rows_are_locked
def test_a_message_that_is_in_a_sites_own_transaction_holds_up_nobody() -> None:
    """A plain agent has made the task, and takes its time; the lease runs out meanwhile."""
    said = message()
    with journal() as (writer, _), journal() as (other, _):
        job = held_by(writer, said)
        lose()
        made, go = threading.Event(), threading.Event()

        def work() -> None:
            with transaction.atomic():
                writer.write(job)
                made.set()
                assert go.wait(WAIT)

        threads = Threads()
        threads.call(work)
        assert made.wait(WAIT)
        try:
            claim = receipts.look(claim_on(said))
            assert claim.known
            with pytest.raises(UnderWay):
                other.write(HoldMessage(claim))
            create(other)
        finally:
            go.set()
        assert threads.results() == [None]
        with pytest.raises(Repeated):
            other.write(HoldMessage(claim))


def test_a_transaction_that_is_rolled_back_leaves_the_message_where_it_was() -> None:
    said = message()
    with journal() as (writer, _):
        job = held_by(writer, said)
        with transaction.atomic():
            writer.write(job)
            transaction.set_rollback(True)
        assert MessageReceipt.objects.get().holder
        writer.write(job.again())
    assert MessageReceipt.objects.get().task_id == job.task_id


# -- a connection that is lost over a COMMIT


def holding(writer: Journal) -> tuple[Job[Any], Callable[[MessageReceipt], bool]]:
    claim = claim_on(message())
    return HoldMessage(claim), lambda row: row.holder == claim.token


def taking_over(writer: Journal) -> tuple[Job[Any], Callable[[MessageReceipt], bool]]:
    said = message()
    writer.write(HoldMessage(claim_on(said)))
    lose()
    claim = replace(claim_on(said), known=True)
    return HoldMessage(claim), lambda row: row.holder == claim.token


def answering(writer: Journal) -> tuple[Job[Any], Callable[[MessageReceipt], bool]]:
    claim = claim_on(message())
    writer.write(HoldMessage(claim))
    return KeepReply(replace(claim, held=True), "{}"), lambda row: row.reply == "{}"


def dropping(writer: Journal) -> tuple[Job[Any], Callable[[MessageReceipt], bool]]:
    claim = claim_on(message())
    writer.write(HoldMessage(claim))
    return DropMessage(claim), lambda row: False


def creating(writer: Journal) -> tuple[Job[Any], Callable[[MessageReceipt], bool]]:
    job = new(writer, message())
    return job, lambda row: row.task_id == job.task_id


@pytest.mark.parametrize("took_place", [True, False])
@pytest.mark.parametrize("kind", [holding, taking_over, answering, dropping, creating])
def test_what_was_committed_is_not_done_again(
    kind: Callable[[Journal], tuple[Job[Any], Callable[[MessageReceipt], bool]]],
    took_place: bool,
    losses: Losses,
) -> None:
    with journal() as (writer, _):
        job, is_right = kind(writer)
        losses.append(took_place)
        assert writer.write(job) is not None
        assert not losses
    assert all(is_right(row) for row in MessageReceipt.objects.all())
    assert MessageReceipt.objects.count() == (kind is not dropping)


# -- what it costs


def test_agents_without_the_option_pay_nothing() -> None:
    with journal() as (writer, _):
        task = create(writer).task
        with transaction.atomic(), CaptureQueriesContext(connection) as seen:
            create(writer)
            writer.write(says(task, status(task, "WORKING")))
        assert len(seen) > 3
        assert not [query for query in seen.captured_queries if "messagereceipt" in query["sql"].lower()]
        said = message()
        with transaction.atomic(), CaptureQueriesContext(connection) as seen:
            writer.write(new(writer, said))
        assert len([query for query in seen.captured_queries if "messagereceipt" in query["sql"].lower()]) == 3


def test_the_order_of_members_does_not_matter() -> None:
    said = message(metadata={"a": 1, "b": {"c": 2, "d": 3}})
    turned = dict(reversed(list(said.items()))) | {"metadata": {"b": {"d": 3, "c": 2}, "a": 1}}
    assert claim_on(said).digest == claim_on(turned).digest
    assert claim_on(said).key != claim_on({**said, "taskId": "t"}).key
    assert claim_on(said).key != receipts.claim_of(said, agent="tested", owner="bob").key
