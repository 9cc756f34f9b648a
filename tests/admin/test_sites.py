"""Sites that are not like the one of the tests: without the admin, or with a transaction around every request."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from django.db import connections

from a2a_django.agents import registry
from a2a_django.models import Task
from tests.admin.kit import at, operator
from tests.admin.test_doing import parked, waiting_for
from tests.engine.kit import made_of
from tests.live import ROOT

BARE = """
import sys
from django.conf import settings
settings.configure(
    SECRET_KEY="x" * 60, USE_TZ=True, ROOT_URLCONF="a2a_django.urls", A2A={"BASE_URL": "https://e.example"},
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "rest_framework", "channels", "a2a_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
)
import django
django.setup()
from django.core.management import call_command
call_command("migrate", verbosity=0)
call_command("check")
from django.urls import get_resolver
assert get_resolver().url_patterns
found = [name for name in sys.modules if name.startswith("a2a_django.admin")]
assert not found, found
"""


def test_a_site_without_the_admin_lacks_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", BARE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("sound_rows")
def test_a_transaction_around_every_request_does_not_hold_up_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(ctx: Any) -> None:
        await ctx.complete("done")

    agent = made_of(run)
    monkeypatch.setitem(registry._agents, agent.slug, agent)
    monkeypatch.setitem(connections["default"].settings_dict, "ATOMIC_REQUESTS", True)
    client = operator("view_task", "answer_task", "cancel_task")
    task, other = parked(), parked()
    assert client.post(at("do", task.pk), {"do": "answer", "text": "go on"}).status_code == 302
    waiting_for(lambda: Task.objects.get(pk=task.pk).state == "TASK_STATE_COMPLETED")
    data = {"action": "cancel_selected", "_selected_action": [other.pk], "index": "0"}
    assert client.post(at("changelist"), data).status_code == 302
    assert Task.objects.get(pk=other.pk).state == "TASK_STATE_CANCELED"
