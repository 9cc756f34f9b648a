"""Leases are renewed together, and none waits for another."""

from __future__ import annotations

import datetime as dt

import pytest
from django.db import connection
from django.utils import timezone

from a2a_django.engine import receipts
from a2a_django.engine.leases import renew
from a2a_django.engine.receipt_jobs import HoldMessage
from a2a_django.models import MessageReceipt, Task
from tests.engine.conftest import sound_rows
from tests.engine.kit import message
from tests.engine.writing import journal
from tests.push.kit import Told, holding

__all__ = ["sound_rows"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def locked_rows(db: None) -> None:
    """Skip the test where transactions lock no rows. MySQL and MariaDB have to be asked, which only tests may do."""
    if not connection.features.has_select_for_update_skip_locked:
        pytest.skip("the database locks no rows")


@pytest.mark.usefixtures("locked_rows")
def test_a_row_that_somebody_holds_does_not_keep_other_leases_from_being_renewed() -> None:
    held, free = Told(), Told()
    past = timezone.now() - dt.timedelta(seconds=5)
    ids = [told.task.pk for told in (held, free)]
    Task.objects.filter(pk__in=ids).update(lease_expires_at=past)
    attempts = dict.fromkeys(ids, 1)
    with holding(lambda: Task.objects.select_for_update().get(pk=held.task.pk)):
        assert renew(attempts, held.journal.holder) == []
        assert Task.objects.get(pk=free.task.pk).lease_expires_at > past
        assert Task.objects.get(pk=held.task.pk).lease_expires_at == past
    assert renew(attempts, held.journal.holder) == []
    assert Task.objects.get(pk=held.task.pk).lease_expires_at > past


def test_what_another_attempt_has_is_told() -> None:
    mine, lost = Told(), Told()
    Task.objects.filter(pk=lost.task.pk).update(attempt=2)
    assert renew({mine.task.pk: 1, lost.task.pk: 1}, mine.journal.holder) == [lost.task.pk]


@pytest.mark.usefixtures("locked_rows")
def test_a_message_that_somebody_holds_does_not_keep_other_leases_from_being_renewed() -> None:
    claims = {name: receipts.claim_of(message(name), agent="tested", owner="alice") for name in ("held", "free")}
    past = timezone.now() - dt.timedelta(seconds=5)
    with journal() as (writer, _):
        for claim in claims.values():
            assert writer.write(HoldMessage(claim))
    MessageReceipt.objects.update(lease_expires_at=past)

    def lease(name: str) -> dt.datetime | None:
        return MessageReceipt.objects.get(pk=claims[name].key).lease_expires_at

    with holding(lambda: MessageReceipt.objects.select_for_update().get(pk=claims["held"].key)):
        assert receipts.renew(claims) == []
        assert (lease("held"), lease("free")) != (past, past)
        assert lease("held") == past
    assert receipts.renew(claims) == []
    assert lease("held") != past
