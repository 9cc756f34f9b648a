"""Webhooks and deliveries in the admin: no secrets, and what operators may do."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from a2a_django import engine
from a2a_django.models import PushConfig, PushDelivery
from tests.admin.kit import operator
from tests.push.kit import Told, config

pytestmark = pytest.mark.django_db(transaction=True)

CONFIGS, DELIVERIES = "/admin/a2a_django/pushconfig/", "/admin/a2a_django/pushdelivery/"
SECRETS = ("s3cret-token", "s3cret-credentials", "s3cret-path", "s3cret-query")
EVIL = "<script>alert(1)</script>\u202e"


@pytest.fixture
def told() -> Told:
    """A task with a webhook that got nothing of it yet, and one delivery given up; nobody sends."""
    engine.get().sender.active = False
    made = Told()
    template = config("https://hooks.example:8443/s3cret-path?key=s3cret-query", "hook-1", token="s3cret-token")
    template.secrets = {"token": "s3cret-token", "credentials": "s3cret-credentials"}
    made.configs = [made.put(template)]
    made.say_all(["a", "b", "c"])
    PushDelivery.objects.create(
        config=made.configs[0], seq=1, attempts=12, last_error=EVIL, dead_at=timezone.now(), created_at=timezone.now()
    )
    return made


def test_pages_show_hosts_and_no_secret(told: Told) -> None:
    client = operator(superuser=True)
    (row,) = told.configs
    delivery = PushDelivery.objects.get()
    for address in (CONFIGS, f"{CONFIGS}{row.pk}/change/", DELIVERIES, f"{DELIVERIES}{delivery.pk}/change/"):
        page = client.get(address).content.decode()
        assert "https://hooks.example:8443" in page
        assert not any(secret in page for secret in (*SECRETS, row.sealed))
        assert "<script>alert" not in page
        assert "&lt;script&gt;" in page
    page = client.get(f"{CONFIGS}{row.pk}/change/").content.decode()
    assert "set (not shown)" in page
    assert f'href="/admin/a2a_django/task/{row.task_id}/change/"' in page


@pytest.mark.parametrize("term", ["task", "hook-1", "hooks.example:8443"])
def test_webhooks_are_found(told: Told, term: str) -> None:
    client = operator(superuser=True)
    term = told.task.pk if term == "task" else term
    for address in (CONFIGS, DELIVERIES):
        assert "hooks.example" in client.get(address, {"q": term}).content.decode()
        assert (
            "hooks.example" not in client.get(address, {"q": f"{term}x"}).content.decode().partition("result_list")[2]
        )
        assert client.get(address, {"q": f"{term}\0x"}).status_code == 200


def test_states_are_filtered(told: Told) -> None:
    client = operator(superuser=True)
    for state, there in {"due": True, "failing": False, "disabled": False, "rest": False, "odd": True}.items():
        assert ("hooks.example" in client.get(CONFIGS, {"state": state}).content.decode()) is there
    for state, there in {"waiting": False, "dead": True, "delivered": False}.items():
        assert ("hooks.example" in client.get(DELIVERIES, {"state": state}).content.decode()) is there


ACTIONS = {
    "disable": lambda config, delivery: (f"{CONFIGS}{config}/disable/", {}),
    "again": lambda config, delivery: (f"{CONFIGS}{config}/again/", {}),
    "again one": lambda config, delivery: (f"{DELIVERIES}{delivery}/again/", {}),
    "disable selected": lambda config, delivery: (CONFIGS, {"action": "disable_selected", "_selected_action": config}),
    "again selected": lambda config, delivery: (CONFIGS, {"action": "send_again_selected", "_selected_action": config}),
    "deliveries": lambda config, delivery: (
        DELIVERIES,
        {"action": "send_again_selected", "_selected_action": delivery},
    ),
}


@pytest.mark.parametrize("action", ACTIONS)
def test_actions_need_the_permission_and_are_noted(told: Told, action: str) -> None:
    (row,) = told.configs
    address, sent = ACTIONS[action](row.pk, PushDelivery.objects.get().pk)
    viewer = operator("view_pushconfig", "view_pushdelivery", name="viewer")
    before = list(PushConfig.objects.values()), list(PushDelivery.objects.values())
    viewer.post(address, sent)
    assert (list(PushConfig.objects.values()), list(PushDelivery.objects.values())) == before
    if not sent:
        assert viewer.post(address).status_code == 403
        assert operator(superuser=True, name="root").get(address).status_code == 405
    client = operator("change_pushconfig", "change_pushdelivery")
    assert client.post(address, sent, follow=True).status_code == 200
    row.refresh_from_db()
    if "disable" in action:
        assert (row.disabled_reason, row.due_at) == ("Disabled by an operator.", None)
        assert LogEntry.objects.get().change_message == "Disabled."
    else:
        assert PushDelivery.objects.get().dead_at is None
        assert LogEntry.objects.get().change_message == "Sent again."


def test_a_disabled_webhook_is_enabled_and_gets_what_it_missed(told: Told) -> None:
    (row,) = told.configs
    client = operator(superuser=True)
    client.post(f"{CONFIGS}{row.pk}/disable/")
    told.say("later")
    page = client.post(f"{CONFIGS}{row.pk}/again/", follow=True).content.decode()
    assert "1 was left" in page
    assert "Enable" in client.get(f"{CONFIGS}{row.pk}/change/").content.decode()
    selected = {"action": "enable_selected", "_selected_action": row.pk}
    assert "1 webhook was enabled." in client.post(CONFIGS, selected, follow=True).content.decode()
    assert "0 webhooks were enabled." in client.post(f"{CONFIGS}{row.pk}/enable/", follow=True).content.decode()
    row.refresh_from_db()
    told.task.refresh_from_db()
    assert row.disabled_at is None
    assert row.queued_seq == told.task.last_seq
    assert client.post(f"{CONFIGS}999999/enable/").status_code == 404


def test_rows_are_not_edited_made_or_deleted(told: Told) -> None:
    client = operator(superuser=True)
    (row,) = told.configs
    for address in (CONFIGS, DELIVERIES):
        assert client.get(f"{address}add/").status_code == 403
        assert client.post(f"{address}{row.pk}/delete/", {"post": "yes"}).status_code in {403, 302}
    client.post(f"{CONFIGS}{row.pk}/change/", {"url": "https://evil.example"})
    assert PushConfig.objects.get().url == row.url


def test_lists_cost_the_same_however_long_they_are(
    told: Told, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client = operator(superuser=True)
    for number in range(60):
        row = told.put(config(f"https://host-{number}.example/x", f"hook-{number}x"))
        PushDelivery.objects.create(config=row, seq=1, attempts=1, last_error="500", created_at=timezone.now())
    for address in (CONFIGS, DELIVERIES, f"{CONFIGS}{told.configs[0].pk}/change/"):
        with django_assert_max_num_queries(10):
            assert client.get(address).status_code == 200
