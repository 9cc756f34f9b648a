"""Whoever deletes the two folders of 0.3 deletes 0.3, and nothing else has to be changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import a2a_django

FOLDERS = ("protocol/v0_3", "bindings/v0_3")

#: A site without 0.3 that asks itself, and prints what it was answered.
SCRIPT = """
import json
import django
from django.conf import settings
settings.configure(
    SECRET_KEY="x" * 50,
    ALLOWED_HOSTS=["testserver"],
    ROOT_URLCONF="a2a_django.urls",
    INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes", "rest_framework", "a2a_django"],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "site.sqlite3"}},
    A2A={"AUTHENTICATION_CLASSES": [], "PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"]},
)
django.setup()
from django.core.management import call_command
from django.test import Client
from a2a_django import Agent, engine, register

class Echo(Agent):
    "Says it again."

    def run(self, ctx):
        return ctx.text

register(Echo)
call_command("migrate", verbosity=0)
call_command("check")
client = Client()

def call(method, params):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return json.loads(client.post("/a2a/", data=json.dumps(body), content_type="application/json").content)

new = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
old = {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}
found = {
    "new": call("SendMessage", {"message": new}),
    "old": call("message/send", {"message": old}),
    "card": json.loads(client.get("/.well-known/agent-card.json").content),
    "rest": client.post("/a2a/v1/message:send", data="{}", content_type="application/json").status_code,
}
import a2a_django.bindings.grpc.server
import a2a_django.push.older
engine.shutdown()
print(json.dumps(found))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A copy of the package without the folders."""
    package = Path(a2a_django.__file__).parent
    shutil.copytree(package, tmp_path / "a2a_django", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in FOLDERS:
        shutil.rmtree(tmp_path / "a2a_django" / folder)
    return tmp_path


def answers(site: Path, script: str = SCRIPT) -> dict[str, Any]:
    """Return what the script prints, run with the package in ``site``."""
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    command = [sys.executable, "-c", script]
    environment["PYTHONPATH"] = str(site)
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_without_the_folders_there_is_1_0_and_nothing_else(site: Path) -> None:
    found = answers(site)
    assert "error" not in found["new"], found["new"]
    assert found["new"]["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert found["old"]["error"]["code"] == -32601
    assert found["old"]["error"]["data"][0]["reason"] == "METHOD_NOT_FOUND"
    assert {one["protocolVersion"] for one in found["card"]["supportedInterfaces"]} == {"1.0"}
    assert "protocolVersion" not in found["card"]
    assert found["rest"] == 404
