"""The README's quick start, run as it stands: its code blocks make a site, and the site answers."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from a2a_django import conf
from tests.live import ROOT, Site

README = (ROOT / "README.md").read_text()

#: What a site has around the README's lines. The dots in INSTALLED_APPS stand for the apps it has already.
SETTINGS = """\
{blocks}
at = INSTALLED_APPS.index(...)
INSTALLED_APPS[at:at + 1] = ["django.contrib.contenttypes", "django.contrib.auth"]
SECRET_KEY = "x" * 50
ALLOWED_HOSTS = ["127.0.0.1"]
ROOT_URLCONF = "urls"
ASGI_APPLICATION = "asgi.application"
USE_TZ = True
DATABASES = {{"default": {{
    "ENGINE": "django.db.backends.sqlite3", "NAME": "site.sqlite3", "OPTIONS": {{
        "transaction_mode": "IMMEDIATE", "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }},
}}}}
"""
MODELS = """\
from django.db import models

class Order(models.Model):
    number = models.CharField(max_length=20, unique=True)
    status = models.CharField(max_length=10, choices=[("shipped", "on its way")])
"""


def blocks(file: str) -> str:
    """Return the README's code blocks that begin with a comment naming the file, one after the other."""
    found = re.findall(rf"```python\n# {re.escape(file)}\n(.*?)```", README, flags=re.DOTALL)
    assert found, f"no block for {file}"
    return "\n".join(found)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site made of the README's blocks, served by ``runserver``."""
    root = tmp_path_factory.mktemp("readme")
    write(root / "settings.py", SETTINGS.format(blocks=blocks("settings.py")))
    write(root / "urls.py", "from django.urls import include, path\n" + blocks("urls.py"))
    write(root / "asgi.py", "from django.core.asgi import get_asgi_application\napplication = get_asgi_application()\n")
    write(root / "manage.py", (ROOT / "manage.py").read_text())
    write(root / "shop" / "__init__.py", "")
    write(root / "shop" / "models.py", MODELS)
    write(root / "shop" / "agents.py", blocks("shop/agents.py"))
    made = Site("settings", root, root=root, environment={"PYTHONPATH": str(ROOT)})
    made.manage("migrate", "--run-syncdb", "--verbosity", "0")
    order = "from shop.models import Order; Order.objects.create(number='1003', status='shipped')"
    made.manage("shell", "--command", order)
    with made.server("runserver") as server:
        yield server.url


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def call(method: str, text: str) -> dict[str, Any]:
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]}
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}


VERSION = {"A2A-Version": "1.0"}


def test_the_card_describes_the_agent(site: str) -> None:
    card = httpx.get(f"{site}/.well-known/agent-card.json").json()
    assert card["name"] == "Concierge"
    assert card["description"] == "Answers questions about orders."
    assert [skill["id"] for skill in card["skills"]] == ["order-status"]
    assert {interface["url"] for interface in card["supportedInterfaces"]} == {f"{site}/a2a/", f"{site}/a2a"}
    assert card["capabilities"]["streaming"] is True


def test_the_agent_answers(site: str) -> None:
    answer = httpx.post(f"{site}/a2a/", json=call("SendMessage", "1003"), headers=VERSION).json()
    task = answer["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    texts = [part["text"] for part in task["artifacts"][0]["parts"]]
    assert "".join(texts) == "Order 1003 is on its way"


def test_each_yield_is_a_chunk_of_one_artifact(site: str) -> None:
    chunks, states = [], []
    with httpx.stream("POST", f"{site}/a2a/", json=call("SendStreamingMessage", "1003"), headers=VERSION) as stream:
        for line in stream.iter_lines():
            if line.startswith("data:"):
                event = json.loads(line[5:])["result"]
                if "artifactUpdate" in event:
                    chunks.append(event["artifactUpdate"])
                if "statusUpdate" in event:
                    states.append(event["statusUpdate"]["status"]["state"])
    assert [chunk["artifact"]["parts"][0]["text"] for chunk in chunks] == ["Order 1003 is ", "on its way"]
    assert len({chunk["artifact"]["artifactId"] for chunk in chunks}) == 1
    assert states == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]


def test_an_exception_fails_the_task_and_tells_nothing(site: str) -> None:
    answer = httpx.post(f"{site}/a2a/", json=call("SendMessage", "no such order"), headers=VERSION).json()
    task = answer["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_FAILED"
    assert "Order" not in json.dumps(task["status"]["message"])


def test_the_table_of_settings_is_complete_and_right() -> None:
    table = (ROOT / "docs" / "reference" / "settings.md").read_text()
    rows = re.findall(r"^\| `([A-Z_0-9]+)` \| `(.+?)` \|", table, flags=re.MULTILINE)
    assert {key: ast.literal_eval(default) for key, default in rows} == dict(conf.DEFAULTS)


def test_the_two_commands_are_on_the_first_screen() -> None:
    first_screen = README.splitlines()[:20]
    assert any(line.startswith("make demo") for line in first_screen)
    assert any(line.startswith("make test") for line in first_screen)


def test_the_official_client_as_the_readme_calls_it(site: str, tmp_path: Path) -> None:
    write(tmp_path / "ask.py", blocks("ask.py"))
    done = subprocess.run(
        [sys.executable, "ask.py", site, "a-key", "1003"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "Order 1003 is " in done.stdout
    assert "TASK_STATE_COMPLETED" in done.stdout


def test_the_curl_line_of_the_readme(site: str) -> None:
    (body,) = re.findall(r"-d '(\{.*?\})'\n", README, flags=re.DOTALL)
    answer = httpx.post(f"{site}/a2a/", content=body, headers={"Content-Type": "application/json"})
    assert answer.headers["content-type"] == "text/event-stream"
    assert "Order 1003 is " in answer.text
