"""``manage.py a2a_rotate_keys``."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from a2a_django.management.commands import a2a_rotate_keys
from a2a_django.models import PushConfig, Task

pytestmark = pytest.mark.django_db

A, B, C = (Fernet.generate_key().decode() for _ in range(3))


def keys(settings: Settings, *given: str) -> None:
    settings.A2A = {"ENCRYPTION_KEYS": list(given)}


def config(number: int, secrets: dict[str, str]) -> PushConfig:
    now = timezone.now()
    task = Task.objects.create(context_id="c", agent="a", owner="o", status_timestamp=now, created_at=now)
    row = PushConfig(task=task, config_id=f"c{number}", config_key="k", url="https://x.example/", created_at=now)
    row.secrets = secrets
    row.save()
    return row


def run(**options: Any) -> str:
    out = StringIO()
    call_command("a2a_rotate_keys", stdout=out, **options)
    return out.getvalue()


def secrets() -> list[dict[str, str]]:
    return [row.secrets for row in PushConfig.objects.order_by("pk")]


@pytest.mark.parametrize("batch", [1, 2, 500])
def test_all_rows_are_sealed_under_the_first_key(settings: Settings, batch: int) -> None:
    keys(settings, A)
    wanted = [{"token": f"t{number}"} if number % 3 else {} for number in range(7)]
    for number, each in enumerate(wanted):
        config(number, each)
    keys(settings, B, A)
    config(7, {"token": "t7"})
    wanted.append({"token": "t7"})
    assert run(batch=batch).startswith("4 sealed anew, 1 were")
    keys(settings, B)
    assert secrets() == wanted
    assert run(batch=batch).startswith("0 sealed anew, 5 were")


def test_the_key_may_come_in_the_place_of_secret_key(settings: Settings) -> None:
    keys(settings)
    config(1, {"token": "t"})
    keys(settings, A)
    assert run().startswith("1 sealed anew")
    settings.SECRET_KEY = "another one"
    assert secrets() == [{"token": "t"}]


def test_what_cannot_be_unsealed_is_named_and_the_rest_is_done(settings: Settings) -> None:
    keys(settings, C)
    lost = config(1, {"token": "lost"})
    plain = config(2, {"token": "t"})
    PushConfig.objects.filter(pk=plain.pk).update(sealed="pl4in")
    keys(settings, A)
    config(3, {"token": "kept"})
    keys(settings, B, A)
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("a2a_rotate_keys", stdout=out)
    assert caught.value.returncode == 1
    said = str(caught.value)
    assert f"2 cannot be unsealed with any of the site's keys: push configurations {lost.pk}, {plain.pk}." in said
    assert 'A2A["ENCRYPTION_KEYS"]' in said
    assert "pl4in" not in said
    assert out.getvalue().startswith("1 sealed anew, 0 were")
    keys(settings, B, C)
    assert PushConfig.objects.get(config_id="c3").secrets == {"token": "kept"}
    assert PushConfig.objects.get(pk=lost.pk).secrets == {"token": "lost"}  # its key has come back


def test_secrets_that_change_meanwhile_stay_changed(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    keys(settings, A)
    row = config(1, {"token": "old"})
    keys(settings, B, A)

    def changed(sealed: str) -> str | None:
        row.secrets = {"token": "new"}
        row.save()
        return reseal(sealed)

    reseal = a2a_rotate_keys.reseal
    monkeypatch.setattr(a2a_rotate_keys, "reseal", changed)
    assert run().startswith("0 sealed anew")
    assert secrets() == [{"token": "new"}]


def test_a_batch_has_to_be_one() -> None:
    with pytest.raises(CommandError, match="above 0"):
        run(batch=0)
