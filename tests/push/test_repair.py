"""What operators do about webhooks: disable, enable, send again."""

from __future__ import annotations

from typing import Any

import pytest

from a2a_django import engine
from a2a_django.models import PushConfig, PushDelivery, TaskEvent
from a2a_django.push import repair
from tests.push.kit import Told, at_rest, deliveries, until
from tests.push.receiver import Receiver

pytestmark = [pytest.mark.usefixtures("sound_rows")]


def test_a_disabled_webhook_gets_nothing_and_an_enabled_one_what_it_has_missed(receiver: Receiver, quick: Any) -> None:
    hook = receiver.hook()
    told = Told(hook.url)
    (config,) = told.configs
    told.say("a")
    until(lambda: at_rest(config) and hook.posts)
    assert repair.disable(config.pk)
    assert not repair.disable(config.pk)
    told.say_all(["b", "c"])
    row = PushConfig.objects.get()
    assert (row.due_at, row.disabled_reason) == (None, repair.BY_OPERATOR)
    assert hook.texts() == ["a"]
    assert repair.enable(config.pk)
    assert not repair.enable(config.pk)
    until(lambda: at_rest(config))
    assert hook.texts() == ["a", "b", "c"]  # without anything new that would have woken the sender
    row = PushConfig.objects.get()
    assert (row.disabled_at, row.disabled_reason, row.failures) == (None, "", 0)


def test_what_was_given_up_is_sent_again(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_MAX_ATTEMPTS=1)
    hook = receiver.hook(500, 500, 200)
    told = Told(hook.url)
    told.say_all(["a", "b", "c"])
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["c"]
    pks = repair.given_up([told.configs[0].pk])
    assert pks == [row.pk for row in deliveries(told.configs[0])]
    assert [row.seq for row in repair.send_again(pks)] == [1, 2]
    until(lambda: at_rest(told.configs[0]))
    assert hook.texts() == ["c", "a", "b"]
    assert repair.given_up([told.configs[0].pk]) == []
    assert repair.send_again(pks) == []  # they have arrived


def test_nothing_is_sent_again_to_a_disabled_webhook_or_without_its_event(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_MAX_ATTEMPTS=1)
    hook, gone = receiver.hook(500, 200), receiver.hook(410)
    told = Told(hook.url, gone.url)
    told.say_all(["a", "b"])
    until(lambda: at_rest(told.configs[0]) and PushConfig.objects.filter(disabled_at__isnull=False).exists())
    event = TaskEvent.objects.get(seq=1)
    event.delete()
    assert repair.send_again(PushDelivery.objects.values_list("pk", flat=True)) == []
    event.save(force_insert=True)
    assert all(row.dead_at for row in PushDelivery.objects.all())


def test_who_is_at_work_on_a_webhook_loses_it_so_that_nothing_is_forgotten(receiver: Receiver, quick: Any) -> None:
    quick(PUSH_MAX_ATTEMPTS=1, PUSH_TIMEOUT_SECONDS=30)
    hook = receiver.hook(500, 0.5, 200)
    told = Told(hook.url)
    told.say_all(["a", "b"])
    until(lambda: len(hook.posts) == 2)  # the second is under way, by a sender that has looked at the first already
    assert PushConfig.objects.get().lease_holder == engine.get().journal.holder
    assert [row.seq for row in repair.send_again(repair.given_up([told.configs[0].pk]))] == [1]
    until(lambda: at_rest(told.configs[0]))
    assert set(hook.texts()) == {"a", "b"}
