"""What the database itself refuses."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.db import DataError, IntegrityError, models, transaction
from django.utils import timezone

from a2a_django.models import Artifact, Message, PushConfig, PushDelivery, Task, TaskEvent, TaskTally
from a2a_django.models.fields import key_of
from a2a_django.protocol import wire
from a2a_django.protocol.states import TERMINAL, TaskState

pytestmark = pytest.mark.django_db


def task(**values: Any) -> Task:
    now = wire.now()
    given = {"context_id": "c", "context_key": key_of("c"), "agent": "a", "status_timestamp": now, "created_at": now}
    return Task.objects.create(**{**given, **values})


def message(of: Task, position: int) -> Message:
    return Message.objects.create(
        task=of, position=position, message_id="m", role="ROLE_USER", wire="{}", created_at=wire.now()
    )


def event(of: Task, seq: int, kind: str = "status") -> TaskEvent:
    return TaskEvent.objects.create(task=of, seq=seq, kind=kind, wire="{}", created_at=wire.now())


def artifact(of: Task, position: int, artifact_id: str) -> Artifact:
    return Artifact.objects.create(
        task=of, position=position, artifact_id=artifact_id, artifact_key=key_of(artifact_id), head="{}", base_seq=1
    )


def tally(**values: Any) -> TaskTally:
    return TaskTally.objects.create(**{"agent": "a", "owner": "o", "state": "TASK_STATE_FAILED", "shard": 1, **values})


def config(of: Task, config_id: str) -> PushConfig:
    return PushConfig.objects.create(task=of, config_id=config_id, config_key=key_of(config_id), created_at=wire.now())


def refused(make: Any) -> None:
    with pytest.raises((IntegrityError, DataError)), transaction.atomic():
        make()


def test_a_task_is_in_a_known_state() -> None:
    refused(lambda: task(state="TASK_STATE_SLEEPING"))
    refused(lambda: task(state="TASK_STATE_UNSPECIFIED"))
    refused(lambda: task(state=""))
    for state in TaskState:
        task(state=state.value)


def test_a_lease_is_whole_or_not_there() -> None:
    later = timezone.now() + dt.timedelta(minutes=1)
    refused(lambda: task(lease_holder="somebody"))
    refused(lambda: task(lease_expires_at=later))
    task(lease_holder="somebody", lease_expires_at=later)


@pytest.mark.parametrize("state", sorted(TERMINAL))
def test_what_has_ended_is_run_by_nobody(state: str) -> None:
    refused(lambda: task(state=state, lease_holder="somebody", lease_expires_at=timezone.now()))


def test_numbers_are_unique_in_their_task() -> None:
    one, two = task(), task()
    for make in (message, event):
        make(one, 1)
        make(two, 1)
        refused(lambda make=make: make(one, 1))
    artifact(one, 1, "x")
    artifact(two, 1, "x")
    refused(lambda: artifact(one, 1, "y"))
    refused(lambda: artifact(one, 2, "x"))
    artifact(one, 2, "X")


def test_numbers_are_not_negative() -> None:
    one = task()
    refused(lambda: event(one, -1))
    refused(lambda: Task.objects.filter(pk=one.pk).update(last_seq=-1))


def test_an_event_is_of_a_known_kind() -> None:
    refused(lambda: event(task(), 1, "rumour"))


def test_there_is_one_tally_of_a_kind_and_it_may_be_negative() -> None:
    tally(count=-3)
    refused(tally)
    tally(shard=2)
    tally(owner="O")


def test_webhooks_and_deliveries_are_unique() -> None:
    one = task()
    first = config(one, "x")
    refused(lambda: config(one, "x"))
    config(one, "X")
    PushDelivery.objects.create(config=first, seq=1, created_at=wire.now())
    refused(lambda: PushDelivery.objects.create(config=first, seq=1, created_at=wire.now()))


def test_what_belongs_to_a_task_goes_with_it() -> None:
    one = task()
    message(one, 1), event(one, 1), artifact(one, 1, "x")
    PushDelivery.objects.create(config=config(one, "x"), seq=1, created_at=wire.now())
    one.delete()
    kinds: list[type[models.Model]] = [Task, Message, TaskEvent, Artifact, PushConfig, PushDelivery]
    assert [kind for kind in kinds if kind._default_manager.exists()] == []


def test_rows_say_what_they_are() -> None:
    one = task()
    assert str(one) == one.pk
    assert not one.is_terminal
    assert str(event(one, 7)) == f"{one.pk} #7"
    assert str(message(one, 1)) == "m"
    assert str(artifact(one, 1, "x")) == "x"
    assert "TASK_STATE_FAILED" in str(tally())
    assert one.get_state_display() == "submitted"


def test_a_long_owner_or_agent_fits_the_indexes() -> None:
    one = task(owner="o" * 190, agent="a" * 100, tenant="t" * 190, user="u" * 190, context_id="c" * 100_000)
    assert Task.objects.visible_to(agent="a" * 100, owner="o" * 190).get() == one
