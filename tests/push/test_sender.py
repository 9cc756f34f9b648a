"""The sender: everything arrives, in order, at least once; nobody waits for anybody else."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
import random
import time
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from a2a_django import engine, signals
from a2a_django.engine import Engine, bridge, database
from a2a_django.engine.jobs import CreateTask, Incoming
from a2a_django.models import PushConfig, PushCursor, PushDelivery, Task, TaskEvent
from a2a_django.models.fields import key_of, uuid7
from a2a_django.push import sender as push_sender
from a2a_django.push import statements
from a2a_django.push.sender import pause_after
from tests.engine.kit import WAIT, message
from tests.engine.writing import chunk, says
from tests.push.kit import Told, at_rest, config, deliveries, until
from tests.push.receiver import Receiver, receiving

pytestmark = [pytest.mark.usefixtures("sound_rows"), pytest.mark.spec("4.3.3")]


def test_every_event_arrives_once_and_in_order(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook()
    told = Told(hook.url, scheme="Bearer", credentials="secret", token="t-1")
    told.move("WORKING")
    told.say_all([f"c{i}" for i in range(20)])
    told.move("COMPLETED")
    until(lambda: at_rest(told.configs[0]))
    events = TaskEvent.objects.filter(task=told.task).order_by("seq")
    assert [post.body.decode() for post in hook.posts] == [event.wire for event in events]
    assert hook.states() == ["WORKING", "COMPLETED"]
    assert hook.most_active == 1
    for post in hook.posts:
        assert post.headers["Content-Type"] == "application/a2a+json"
        assert post.headers["Authorization"] == "Bearer secret"
        assert post.headers["X-A2A-Notification-Token"] == post.headers["A2A-Notification-Token"] == "t-1"
        assert post.headers["A2A-Version"] == "1.0"
    assert deliveries(told.configs[0]) == []  # only what failed has a row
    assert PushCursor.objects.get().sent_seq == 22


def test_a_scheme_without_credentials_sends_no_authorization(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_MEDIA_TYPE="application/json")
    hook = receiver.hook()
    told = Told(hook.url, scheme="Bearer")
    told.move("WORKING")
    until(lambda: hook.posts)
    assert "Authorization" not in hook.posts[0].headers
    assert "X-A2A-Notification-Token" not in hook.posts[0].headers
    assert hook.posts[0].headers["Content-Type"] == "application/json"


def test_what_fails_is_sent_again_before_anything_newer(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook(500, 503, 200, 404, (302, {"Location": "/elsewhere"}), 200)
    told = Told(hook.url)
    told.say_all(["a", "b", "c", "d"])
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b", "c", "d"]
    bodies = [post.json["artifactUpdate"]["artifact"]["parts"][0]["text"] for post in hook.posts]
    assert bodies == ["a", "a", "a", "b", "b", "b", "c", "d"]
    rows = deliveries(told.configs[0])
    assert [(row.seq, row.attempts, row.last_error) for row in rows] == [(1, 3, ""), (2, 3, "")]
    assert all(row.delivered_at and not row.dead_at for row in rows)
    assert PushConfig.objects.get().failures == 0


def test_events_before_a_config_are_not_for_it(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook()
    told = Told()
    told.say("before")
    made = told.put(config(hook.url))
    told.say("after")
    until(lambda: at_rest(made) and hook.posts)
    assert hook.texts() == ["after"]


def test_a_host_that_hangs_delays_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_CONCURRENCY=6, PUSH_HOST_CONCURRENCY=2, PUSH_TIMEOUT_SECONDS=30)
    with receiving() as other:
        stuck = [other.hook(30.0) for _ in range(20)]
        slow = Told(*(hook.url for hook in stuck))
        slow.move("WORKING")
        until(lambda: sum(hook.active for hook in stuck) == 2)
        hooks = [receiver.hook() for _ in range(5)]
        told = Told(*(hook.url for hook in hooks))
        told.say_all([str(i) for i in range(10)])
        until(lambda: all(len(hook.posts) == 10 for hook in hooks))
        assert sum(hook.active for hook in stuck) == 2
        engine.shutdown()


def test_connections_are_closed_although_a_delivery_does_not_end(receiver: Receiver, quick: Any) -> None:
    """The loop cancels what is left on it more than once, and with it the sender, which waits for its deliveries."""
    hook = receiver.hook()
    told = Told(hook.url)
    told.say("first")
    until(lambda: at_rest(told.configs[0]) and hook.posts)
    sender = engine.get().sender
    sessions = list(sender._transport._sessions.values())
    assert len(sessions) == 1

    async def deaf() -> None:
        for _ in range(3):
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)

    async def put() -> None:
        sender._carriers[0] = asyncio.get_running_loop().create_task(deaf())

    asyncio.run_coroutine_threadsafe(put(), bridge.background_loop()).result(WAIT)
    engine.shutdown()
    assert [session.closed for session in sessions] == [True]
    assert not PushConfig.objects.exclude(lease_holder="").exists()


@pytest.mark.parametrize(("places", "of_one_host"), [(4, 100), (100, 4)], ids=["of all", "of their host"])
def test_webhooks_that_fail_leave_places_for_those_that_do_not(
    receiver: Receiver, quick: Any, places: int, of_one_host: int
) -> None:
    """Many receivers may live behind one name, and some of them hang."""
    quick(
        PUSH_CONCURRENCY=places,
        PUSH_HOST_CONCURRENCY=of_one_host,
        PUSH_TIMEOUT_SECONDS=30,
        PUSH_RETRY_SECONDS=0.01,
    )
    stuck = [receiver.hook(500, 30.0) for _ in range(10)]
    slow = Told(*(hook.url for hook in stuck))
    slow.move("WORKING")
    until(lambda: sum(len(hook.posts) == 2 for hook in stuck) == 2)
    hook = receiver.hook()
    told = Told(hook.url)
    told.say_all([str(i) for i in range(10)])
    until(lambda: len(hook.posts) == 10)
    assert sum(hook.active for hook in stuck) <= 2
    engine.shutdown()


def test_webhooks_that_are_slow_for_ever_give_their_places_up(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_CONCURRENCY=2, PUSH_TIMEOUT_SECONDS=30)
    slow = [receiver.hook(0.6) for _ in range(2)]
    busy = [Told(hook.url) for hook in slow]
    texts = [str(i) for i in range(8)]
    for one in busy:
        one.say_all(texts)
    until(lambda: all(hook.active for hook in slow))
    hook = receiver.hook()
    told = Told(hook.url)
    told.say("a")
    until(lambda: hook.texts() == ["a"])
    assert not any(hook.texts() == texts for hook in slow)
    until(lambda: all(at_rest(one.configs[0]) for one in busy))
    assert all(hook.texts() == texts for hook in slow)
    assert all(hook.most_active == 1 for hook in slow)


def test_gone_ends_it(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook(410)
    heard: list[dict[str, Any]] = []

    def hear(**kwargs: Any) -> None:
        heard.append(kwargs)

    signals.push_failed.connect(hear)
    try:
        told = Told(hook.url)
        told.say_all(["a", "b", "c"])
        until(lambda: PushConfig.objects.get().disabled_at)
        told.say("d")
        until(lambda: heard)
    finally:
        signals.push_failed.disconnect(hear)
    row = PushConfig.objects.get()
    assert "410" in row.disabled_reason
    assert row.due_at is None
    assert len(hook.posts) == 1
    assert [bool(one.dead_at) for one in deliveries(row)] == [True]
    assert "410" in deliveries(row)[0].last_error
    assert heard[0]["disabled"] is True
    assert heard[0]["task_id"] == told.task.pk


def test_too_many_failures_in_a_row_disable_it(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_DISABLE_AFTER=4, PUSH_MAX_ATTEMPTS=100)
    hook = receiver.hook(500)
    told = Told(hook.url)
    told.say_all(["a", "b"])
    row = until(lambda: PushConfig.objects.filter(disabled_at__isnull=False).first())
    assert "500" in row.disabled_reason
    assert len(hook.posts) == 4
    assert all(one.dead_at for one in deliveries(row))


def test_a_delivery_that_was_given_up_makes_room_for_the_next(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_MAX_ATTEMPTS=3)
    hook = receiver.hook(500, 500, 500, 200)
    told = Told(hook.url)
    told.say_all(["a", "b"])
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["b"]
    (first,) = deliveries(told.configs[0])
    assert first.dead_at
    assert first.attempts == 3
    assert "500" in first.last_error


def test_what_was_given_up_can_be_sent_again(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_MAX_ATTEMPTS=1)
    hook = receiver.hook(500, 200)
    told = Told(hook.url)
    told.say_all(["a", "b", "c"])
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["b", "c"]
    PushDelivery.objects.update(dead_at=None)
    PushConfig.objects.update(due_at=timezone.now())
    engine.get().sender.wake()
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["b", "c", "a"]
    told.say("d")
    until(lambda: hook.texts()[-1] == "d")


def test_an_old_delivery_is_given_up_when_it_fails(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_MAX_AGE_SECONDS=3600)
    hook = receiver.hook(500, 200)
    engine.get().sender.active = False
    told = Told(hook.url)
    told.say("a")
    TaskEvent.objects.update(created_at=timezone.now() - dt.timedelta(hours=2))
    told.say("b")
    engine.get().sender.active = True
    engine.get().sender.wake()
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["b"]
    assert deliveries(told.configs[0])[0].attempts == 1


def test_what_the_webhook_asks_for_is_waited(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook((503, {"Retry-After": "100"}), 200)
    told = Told(hook.url)
    told.say("a")
    row = until(lambda: PushConfig.objects.filter(failures=1).first())
    assert (row.due_at - timezone.now()).total_seconds() > 60
    assert len(hook.posts) == 1


def test_pauses_grow_and_have_an_end(settings: Any) -> None:
    settings.A2A = {"PUSH_RETRY_SECONDS": 1, "PUSH_MAX_RETRY_SECONDS": 60}
    assert 0.8 <= pause_after(1, None) <= 1.2
    assert 6.4 <= pause_after(4, None) <= 9.6
    assert pause_after(500, None) <= 72
    assert pause_after(1, 30.0) == 30
    assert pause_after(1, 1e9) == 60


def test_after_a_deletion_at_most_one_more_comes(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook(0.02)
    told = Told(hook.url)
    told.say_all([str(i) for i in range(100)])
    until(lambda: len(hook.posts) > 5)
    told.delete(told.configs[0])
    known = len(hook.posts)
    told.say("later")
    time.sleep(0.3)
    assert len(hook.posts) <= known + 1
    assert not PushCursor.objects.exists()
    told.delete(told.configs[0])


def test_another_config_with_the_same_id_takes_its_place(receiver: Receiver, quick: Any) -> None:
    old, new = receiver.hook(0.05), receiver.hook()
    told = Told()
    first = told.put(config(old.url, "one"))
    told.say_all([str(i) for i in range(20)])
    until(lambda: len(old.posts) > 3)
    second = told.put(config(new.url, "one"))
    assert second.pk == first.pk
    until(lambda: at_rest(second))
    known = len(old.posts)
    assert {*old.texts(), *new.texts()} == {str(i) for i in range(20)}
    assert new.texts() == [str(i) for i in range(20)][-len(new.texts()) :]
    told.say("last")
    until(lambda: new.texts()[-1] == "last")
    assert len(old.posts) == known


def test_another_config_with_the_same_id_does_not_wait_for_the_old_one(receiver: Receiver, quick: Any) -> None:
    old, new = receiver.hook((503, {"Retry-After": "1000"})), receiver.hook()
    told = Told()
    told.put(config(old.url, "one"))
    told.say("a")
    until(lambda: PushConfig.objects.filter(failures=1).exists())
    told.put(config(new.url, "one"))
    until(lambda: new.texts() == ["a"])


def test_a_disabled_config_that_is_put_again_works_again(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook(410, 200)
    told = Told()
    told.put(config(hook.url, "one"))
    told.say("a")
    until(lambda: PushConfig.objects.get().disabled_at)
    told.put(config(hook.url, "one"))
    told.say("b")
    until(lambda: hook.texts() == ["b"])


def test_what_is_rolled_back_is_not_sent(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook()
    told = Told(hook.url)
    with transaction.atomic():
        told.say("never")
        transaction.set_rollback(True)
    with transaction.atomic():
        told.say("sent")
        assert not hook.posts
    until(lambda: hook.texts() == ["sent"])


def test_secrets_that_cannot_be_read_are_no_reason_to_send_without(
    receiver: Receiver, quick: Any, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    quick(ENCRYPTION_KEYS=["a passphrase that is long enough for this 1"])
    hook = receiver.hook()
    told = Told(hook.url, token="tok-123")
    quick(ENCRYPTION_KEYS=["a passphrase that is long enough for this 2"])
    with caplog.at_level(logging.ERROR, "a2a_django.push"):
        told.say("a")
        until(lambda: deliveries(told.configs[0]))
    assert not hook.posts
    assert "tok-123" not in caplog.text
    assert PushConfig.objects.get().failures == 0
    quick(ENCRYPTION_KEYS=["a passphrase that is long enough for this 1"])
    until(lambda: hook.texts() == ["a"])


@pytest.mark.parametrize("error", [InterfaceError, OperationalError])
def test_a_database_that_is_away_does_not_end_the_sender(
    receiver: Receiver, quick: Any, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    claim, tries = statements.claim, []

    def away(*args: Any) -> statements.Claimed:
        tries.append(args)
        if len(tries) < 3:
            raise error("the connection is closed")
        return claim(*args)

    monkeypatch.setattr(statements, "claim", away)
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0)
    monkeypatch.setattr(push_sender, "RETRY_SECONDS", 0.02)
    hook = receiver.hook()
    Told(hook.url).say("a")
    until(lambda: hook.texts() == ["a"])
    assert len(tries) >= 3


def test_a_sender_that_dies_is_replaced(receiver: Receiver, quick: Any) -> None:
    quick(LEASE_SECONDS=1)
    hook = receiver.hook()
    engine.get().sender.active = False
    told = Told(hook.url)
    told.say_all(["a", "b"])
    later = timezone.now() + dt.timedelta(seconds=0.5)
    PushConfig.objects.update(lease_holder="somebody who died", lease_expires_at=later)
    engine.get().sender.active = True
    engine.get().sender.wake()
    until(lambda: hook.texts() == ["a", "b"])
    assert timezone.now() >= later


def test_a_machine_whose_clock_is_ahead_takes_nothing_from_others(
    receiver: Receiver, quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick(LEASE_SECONDS=30)
    engine.get().sender.active = False
    told = Told(receiver.hook().url)
    told.say("a")
    wanted = statements.Wanted(10, 10, 10, frozenset(), Counter())
    assert [row.pk for row in statements.claim("at work", wanted).configs] == [told.configs[0].pk]

    hour = dt.timedelta(hours=1)
    monkeypatch.setattr(timezone, "now", lambda: dt.datetime.now(dt.UTC) + hour)
    claimed = statements.claim("ahead", wanted)
    assert claimed.configs == []
    assert claimed.pause is not None
    assert 0 < claimed.pause <= 30
    statements.write("at work", statements.Round(renew=True))
    expires = PushConfig.objects.get().lease_expires_at
    assert expires is not None
    assert expires < dt.datetime.now(dt.UTC) + dt.timedelta(seconds=31)
    statements.give_back("at work")
    assert [row.pk for row in statements.claim("ahead", wanted).configs] == [told.configs[0].pk]


def test_several_senders_share_the_work_and_keep_the_order(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_HOST_CONCURRENCY=3)
    others = [Engine(), Engine()]
    hooks = [receiver.hook() for _ in range(8)]
    told = [Told(hook.url) for hook in hooks]
    texts = [str(i) for i in range(30)]
    try:
        for text in texts:
            for one in told:
                one.say(text)
            for other in others:
                other.sender.wake()
        until(lambda: all(at_rest(one.configs[0]) for one in told))
    finally:
        for other in others:
            other.sender.stop()
            other.watch.stop()
            other.journal.close()
    assert all(hook.texts() == texts for hook in hooks)
    assert all(hook.most_active == 1 for hook in hooks)


def test_one_that_ends_while_the_database_is_away_says_so_and_ends(
    receiver: Receiver, quick: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(holder: str) -> None:
        raise OperationalError("server closed the connection unexpectedly")

    hook = receiver.hook()
    told = Told(hook.url)
    told.say("a")
    until(lambda: at_rest(told.configs[0]))
    sender = engine.get().sender
    task = sender._task
    assert task is not None
    monkeypatch.setattr(statements, "give_back", away)
    monkeypatch.setattr(database, "PATIENCE_SECONDS", 0.0)
    sender.stop()
    until(task.done)
    assert task.cancelled()
    assert "their leases run out" in caplog.text


@pytest.mark.parametrize("seed", range(4))
def test_no_event_is_forgotten_when_it_comes_while_a_config_is_given_back(
    receiver: Receiver, quick: Any, seed: int
) -> None:
    rng = random.Random(seed)
    hook = receiver.hook()
    told = Told(hook.url)
    for i in range(60):
        told.say(str(i))
        time.sleep(rng.random() * 0.02)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == [str(i) for i in range(60)]


def test_a_large_event_arrives_whole(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_TIMEOUT_SECONDS=15)
    hook = receiver.hook()
    told = Told(hook.url)
    told.say_all(["x" * 3_000_000, "y" * 3_000_000, "end"])
    until(lambda: at_rest(told.configs[0]))
    assert [len(text) for text in hook.texts()] == [3_000_000, 3_000_000, 3]


async def test_what_is_about_to_be_sent_is_waited_for(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_TIMEOUT_SECONDS=30)
    sender = engine.get().sender
    hook, stuck = receiver.hook(0.1), receiver.hook(30.0)
    told = await asyncio.to_thread(Told, hook.url)
    await asyncio.to_thread(told.move, "COMPLETED")
    await sender.settled(told.task.pk, 10)
    assert hook.states() == ["COMPLETED"]
    slow = await asyncio.to_thread(Told, stuck.url)
    await asyncio.to_thread(slow.move, "COMPLETED")
    start = time.monotonic()
    await sender.settled(slow.task.pk, 0.2)
    assert time.monotonic() - start >= 0.2
    await sender.settled("no task", 10)


def test_the_trace_of_the_run_goes_along(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook()
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    told = Told()
    task = Task(id=uuid7(), context_id="c", context_key=key_of("c"), agent="tested", owner="alice")
    incoming = Incoming(message(), {"traceparent": trace}, config(hook.url))
    made = told.journal.write(CreateTask(task, incoming, told.journal.holder)).task
    told.journal.write(says(made, chunk(made, "x")))
    until(lambda: hook.posts)
    assert hook.posts[0].headers["traceparent"] == trace
    assert json.loads(hook.posts[0].body)["artifactUpdate"]["taskId"] == made.pk
