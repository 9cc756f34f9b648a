"""docs/tutorial-dialect.md with a real curl against the running example site, line by line (facts 10.1)."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live import ROOT, Site

DOCUMENT = (ROOT / "docs" / "tutorial-dialect.md").read_text()
SECONDS = 20


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("tutorial")
    site = Site("example_project.settings", folder, {"EXAMPLE_DATA_DIR": str(folder), "EXAMPLE_DATABASE_URL": ""})
    site.manage("preparedemo", "--no-color")
    with site.server("runserver") as server:
        yield server.url


@pytest.fixture(scope="module")
def lines() -> dict[str, str]:
    """The commands by what stands above them."""
    (block,) = re.findall(r"```sh\n(.*?)```", DOCUMENT, flags=re.DOTALL)
    found = [part.partition("\n") for part in block.split("\n\n")]
    return {title.removeprefix("# "): command for title, __, command in found}


Curl = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def curl(base: str) -> Iterator[Curl]:
    """Return the function that starts a command of the document with the real curl."""
    assert shutil.which("curl"), "this test needs curl"
    running: list[subprocess.Popen[str]] = []

    def start(command: str) -> subprocess.Popen[str]:
        # No webhook is called in this test: the address is one that the guard lets through without asking anybody.
        command = command.replace("hooks.example", "93.184.215.14").replace(
            "curl ", f"curl -sS --fail-with-body --max-time {SECONDS} ", 1
        )
        made = subprocess.Popen(
            ["sh", "-c", command],
            env={"BASE": base, "PATH": "/usr/local/bin:/usr/bin:/bin"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(made)
        return made

    yield start
    for each in running:
        if each.poll() is None:
            each.kill()
        each.communicate()


def output(started: subprocess.Popen[str]) -> str:
    out, problem = started.communicate(timeout=SECONDS)
    assert started.returncode == 0, f"{out}{problem}"
    return out


def result(started: subprocess.Popen[str]) -> Any:
    return json.loads(output(started))["result"]


def waiting(curl: Curl, look: str, state: str) -> Any:
    deadline = time.monotonic() + SECONDS
    while (task := result(curl(look)))["status"]["state"] != state:
        assert time.monotonic() < deadline, task
        time.sleep(0.05)
    return task


def test_every_line_works(curl: Curl, lines: dict[str, str], tmp_path: Path) -> None:
    card, start, look, messages, push, follow, go_on, cancel = lines.values()
    assert json.loads(output(curl(card)))["name"] == "Order Desk"
    task = result(curl(start))
    assert task["status"]["state"] == "submitted"

    def about(command: str) -> str:
        assert "TASK" in command
        return command.replace("TASK", task["id"])

    asked = waiting(curl, about(look), "input-required")
    assert asked["history"][0]["role"] == "user"
    said = result(curl(about(messages)))
    assert [(each["role"], len(each["parts"])) for each in said] == [("user", 1), ("agent", 1)]
    assert said[0]["parts"][0]["text"] == "Where is my order?"
    registered = result(curl(about(push)))
    assert registered["taskId"] == task["id"]
    assert registered["pushNotificationConfig"]["url"].startswith("https://")
    stream = curl(about(follow))
    assert stream.stdout is not None
    assert stream.stdout.readline().startswith("id: ")  # it follows before the reply is sent
    assert stream.stdout.readline() == "event: task_update\n"
    assert result(curl(about(go_on)))["id"] == task["id"]
    rest = stream.stdout.read()
    assert stream.wait(SECONDS) == 0
    datas = [json.loads(line.removeprefix("data: ")) for line in rest.splitlines() if line.startswith("data: ")]
    assert (datas[0]["state"], datas[-1]["state"]) == ("input-required", "completed")
    told = "".join(part.get("text", "") for data in datas for part in data.get("message", {"parts": []})["parts"])
    assert "Order 1003 of Chiara Lund is on its way." in told
    assert [each["role"] for each in result(curl(about(messages)))][:3] == ["user", "agent", "user"]
    task = result(curl(start))
    waiting(curl, about(look), "input-required")
    assert result(curl(about(cancel)))["status"]["state"] == "canceled"


def test_the_addresses_of_the_card(curl: Curl) -> None:
    names = ("agent-card", "agent.json", "agent-card.json")
    cards = {output(curl(f"curl $BASE/.well-known/{name}")) for name in names}
    assert len(cards) == 1


def test_a_call_that_is_wrong_is_an_error_with_status_200(curl: Curl) -> None:
    body = '{"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {"taskId": "nobody-has-this-id"}}'
    answer = json.loads(output(curl(f"curl -X POST $BASE -H 'Content-Type: application/json' -d '{body}'")))
    assert answer["error"]["code"] == -32001
