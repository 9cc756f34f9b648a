"""Rows that a long transaction of the site's holds, and webhooks that keep their places: nobody else waits for them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, transaction

from a2a_django import engine
from a2a_django.models import PushConfig, PushDelivery, Task
from tests.engine.kit import WAIT
from tests.push.kit import Told, at_rest, until
from tests.push.receiver import Receiver

pytestmark = [
    pytest.mark.usefixtures("sound_rows"),
    pytest.mark.skipif(connection.vendor == "sqlite", reason="the database locks no rows"),
]


@contextmanager
def holding(*work: Callable[[], Any]) -> Iterator[None]:
    """A transaction in another thread, which does ``work`` and is rolled back only at the end of the block."""
    reached, opened = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic():
                for each in work:
                    each()
                reached.set()
                opened.wait(WAIT * 2)
                transaction.set_rollback(True)
        finally:
            connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    assert reached.wait(WAIT)
    try:
        yield
    finally:
        opened.set()
        thread.join(WAIT)


def test_one_that_recovers_while_its_row_is_held_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_RETRY_SECONDS=1, PUSH_TIMEOUT_SECONDS=30)
    hook, other = receiver.hook(500, 1.0, 200), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: len(hook.posts) == 2)  # the second attempt is under way
    with holding(lambda: PushConfig.objects.select_for_update().get(pk=told.configs[0].pk)):
        until(lambda: hook.posts[1].status == 200)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]
    assert PushConfig.objects.get(pk=told.configs[0].pk).failures == 0


def test_a_task_that_is_about_to_be_deleted_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_TIMEOUT_SECONDS=30)
    hook, other = receiver.hook(1.0, 0.0), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: hook.posts)
    with holding(lambda: Task.objects.filter(pk=told.task.pk).delete()):
        until(lambda: hook.posts[0].status == 200)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]


def test_a_retried_delivery_whose_row_is_held_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_RETRY_SECONDS=1, PUSH_TIMEOUT_SECONDS=30)
    hook, other = receiver.hook(500, 1.0, 200), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: len(hook.posts) == 2)
    with holding(lambda: PushDelivery.objects.select_for_update().get()):
        until(lambda: hook.posts[1].status == 200)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]


def test_a_failure_whose_record_is_held_holds_up_nobody(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_RETRY_SECONDS=1, PUSH_TIMEOUT_SECONDS=30)
    hook, other = receiver.hook(500, 500, 200), receiver.hook()
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    until(lambda: PushDelivery.objects.exists())
    with holding(lambda: PushDelivery.objects.select_for_update().get()):
        until(lambda: len(hook.posts) == 2)
        time.sleep(0.3)
        free.say_all([str(i) for i in range(5)])
        until(lambda: len(other.posts) == 5)
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["a", "b"]


def test_nothing_is_sent_on_a_lease_that_could_not_be_made_longer(receiver: Receiver, quick: Any) -> None:
    quick(LEASE_SECONDS=4, PUSH_TIMEOUT_SECONDS=30)
    hook, other = receiver.hook(6.0, 200), receiver.hook(6.0, 200)
    told, free = Told(hook.url), Told(other.url)
    told.say_all(["a", "b"])
    free.say_all(["a", "b"])
    until(lambda: hook.posts and other.posts)
    with holding(lambda: PushConfig.objects.select_for_update().get(pk=told.configs[0].pk)):
        until(lambda: other.texts() == ["a", "b"], 30)  # longer than a lease, but that one was renewed
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
