"""Rows that a long transaction of the site's holds, and webhooks that keep their places: nobody else waits for them."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from a2a_django import engine
from a2a_django.engine import clock
from a2a_django.models import PushConfig, PushDelivery, Task
from tests.push import kit
from tests.push.kit import Told, at_rest, holding
from tests.push.receiver import Gate, Receiver

pytestmark = [
    pytest.mark.usefixtures("sound_rows"),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="the database locks no rows"),
]

#: A machine that is busy with something else is no failure.
WAIT = 60


def until(condition: Callable[[], Any]) -> Any:
    """Wait for a condition, also on a busy machine."""
    return kit.until(condition, WAIT)


def test_one_that_recovers_while_its_row_is_held_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_RETRY_SECONDS=1, PUSH_TIMEOUT_SECONDS=30)
    gate = Gate()
    hook, other = receiver.hook(500, gate, 200), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: len(hook.posts) == 2)  # the second attempt is under way
    with holding(lambda: PushConfig.objects.select_for_update().get(pk=told.configs[0].pk)):
        gate.open()
        until(lambda: hook.posts[1].status == 200)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]
    assert PushConfig.objects.get(pk=told.configs[0].pk).failures == 0


def test_a_task_that_is_about_to_be_deleted_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_TIMEOUT_SECONDS=30)
    gate = Gate()
    hook, other = receiver.hook(gate, 200), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: hook.posts)
    with holding(lambda: Task.objects.filter(pk=told.task.pk).delete()):
        gate.open()
        until(lambda: hook.posts[0].status == 200)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]


def test_a_retried_delivery_whose_row_is_held_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_RETRY_SECONDS=1, PUSH_TIMEOUT_SECONDS=30)
    gate = Gate()
    hook, other = receiver.hook(500, gate, 200), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: len(hook.posts) == 2)
    with holding(lambda: PushDelivery.objects.select_for_update().get()):
        gate.open()
        until(lambda: hook.posts[1].status == 200)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]


def test_a_failure_whose_record_is_held_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_RETRY_SECONDS=1, PUSH_TIMEOUT_SECONDS=30)
    gate = Gate(500)
    hook, other = receiver.hook(500, gate, 200), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: len(hook.posts) == 2)
    with holding(lambda: PushDelivery.objects.select_for_update().get()):
        gate.open()
        until(lambda: hook.posts[1].status == 500)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]


def lease_of(told: Told) -> dt.datetime:
    """When the lease of its first webhook expires; long ago when there is none."""
    found = PushConfig.objects.get(pk=told.configs[0].pk).lease_expires_at
    return found or dt.datetime.min.replace(tzinfo=dt.UTC)


def test_nothing_is_sent_on_a_lease_that_could_not_be_made_longer(receiver: Receiver, quick: Any) -> None:
    quick(LEASE_SECONDS=4, PUSH_TIMEOUT_SECONDS=30)
    gate = Gate()
    hook, other = receiver.hook(gate, 200), receiver.hook(gate, 200)
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    free.say_all(["a", "b"])
    until(lambda: hook.posts and other.posts)
    with holding(lambda: PushConfig.objects.select_for_update().get(pk=told.configs[0].pk)):
        until(lambda: lease_of(told) < clock.read("default") < lease_of(free))
        gate.open()
        # That one's lease was renewed; if the machine was too slow for it, the event is sent twice.
        until(lambda: list(dict.fromkeys(other.texts())) == ["a", "b"])
        until(lambda: hook.texts() == ["a"])
        time.sleep(0.5)
        assert len(hook.posts) == 1
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]


def test_rows_that_are_held_take_no_places_of_their_host(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_HOST_CONCURRENCY=2)
    hooks, other = [receiver.hook() for _ in range(6)], receiver.hook()
    engine.get().sender.active = False
    told, free = Told(*(hook.url for hook in hooks)), Told(other.url)
    told.say("a")
    free.say("a")
    with holding(lambda: list(PushConfig.objects.select_for_update().filter(task_id=told.task.pk))):
        engine.get().sender.active = True
        engine.get().sender.wake()
        until(lambda: other.posts)
        assert not any(hook.posts for hook in hooks)
    until(lambda: all(hook.texts() == ["a"] for hook in hooks))
