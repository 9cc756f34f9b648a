"""`make demo` after its installation: what it prints works, and the order desk does what its card says."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.live import LiveError, Site, free_port

VERSION = {"A2A-Version": "1.0"}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    folder = tmp_path_factory.mktemp("demo")
    return Site("example_project.settings", folder, {"EXAMPLE_DATA_DIR": str(folder), "EXAMPLE_DATABASE_URL": ""})


@pytest.fixture(scope="module")
def printed(site: Site) -> str:
    """What preparedemo prints; {base} where the address of the site is."""
    return site.manage("preparedemo", "--base", "http://site.test", "--no-color")


@pytest.fixture(scope="module")
def base(site: Site, printed: str) -> Iterator[str]:
    with site.server("runserver") as server:
        yield server.url


#: Stands for curl in what is printed, so that the lines are run by a shell as they are pasted.
CURL = """\
#!{python}
import sys
import httpx
headers, body, url = {{}}, None, ""
arguments = iter(sys.argv[1:])
for word in arguments:
    if word == "-H":
        name, _, value = next(arguments).partition(": ")
        headers[name] = value
    elif word == "-d":
        body = next(arguments)
    elif word not in ("-s", "-sN"):
        url = word
answer = httpx.request("GET" if body is None else "POST", url, content=body, headers=headers, timeout=20)
sys.stdout.write(answer.text)
"""


def pasted(commands: str, base: str, folder: Path) -> str:
    """Return what the printed commands print."""
    curl = folder / "curl"
    curl.write_text(CURL.format(python=sys.executable))
    curl.chmod(0o755)
    paths = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e"],
        input=commands.replace("http://site.test", base),
        env={**os.environ, "PATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def send(base: str, text: str, **extra: Any) -> dict[str, Any]:
    message = {"messageId": f"m-{time.monotonic_ns()}", "role": "ROLE_USER", "parts": [{"text": text}], **extra}
    answer = httpx.post(f"{base}/a2a/message:send", json={"message": message}, headers=VERSION, timeout=20)
    assert answer.status_code == 200, answer.text
    task: dict[str, Any] = answer.json()["task"]
    return task


def text_of(task: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for artifact in task["artifacts"] for part in artifact["parts"])


def test_every_printed_line_works(printed: str, base: str, tmp_path: Path) -> None:
    __, *commands = re.split(r"^# .*\n", printed, flags=re.MULTILINE)
    answers = [pasted(lines, base, tmp_path) for lines in commands]
    card, question, stream, back, reply, cancel, tasks = answers
    assert json.loads(card)["name"] == "Order Desk"
    assert "Order 1003 of Chiara Lund is on its way." in text_of(json.loads(question)["result"]["task"])
    events = [json.loads(line[5:])["result"] for line in stream.splitlines() if line.startswith("data:")]
    assert len([event for event in events if "artifactUpdate" in event]) == 8
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    asked, told = json.loads(back)["task"], json.loads(reply)["task"]
    assert asked["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert told["id"] == asked["id"]
    assert told["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "Order 1001" in text_of(told)
    assert json.loads(cancel)["status"]["state"] == "TASK_STATE_CANCELED"
    assert [task["id"] for task in json.loads(tasks)["tasks"]] == [told["id"]]


def test_a_port_that_is_taken_is_named_before_anything_else(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(LiveError) as caught:
            site.manage("preparedemo", "--port", str(port), "--no-color")
    said = str(caught.value).partition(":\n")[2]
    assert (
        said == f"CommandError: Port {port} cannot be used: Address already in use. "
        "Try another one: make demo PORT=8123\n"
    )


@pytest.mark.parametrize("port", ["65536", "-1"])
def test_what_is_no_port_is_said(site: Site, port: str) -> None:
    with pytest.raises(LiveError, match=f"CommandError: Port {port} cannot be used: .*0-65535"):
        site.manage("preparedemo", f"--port={port}")


def test_a_port_that_is_free_is_used(site: Site, printed: str) -> None:
    port = free_port()
    shown = site.manage("preparedemo", "--port", str(port), "--no-color")
    hint = "  On another port: make demo PORT=8123\n"
    assert hint in shown
    assert shown.replace(hint, "").replace(f"http://127.0.0.1:{port}", "http://site.test") == printed


def test_the_printed_password_opens_the_admin(printed: str, base: str) -> None:
    found = re.search(r"user (\S+), password (\S+)", printed)
    assert found
    with httpx.Client(base_url=base, follow_redirects=True) as client:
        page = client.get("/admin/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="(.+?)"', page.text)
        assert token
        form = {"username": found[1], "password": found[2], "csrfmiddlewaretoken": token[1], "next": "/admin/"}
        assert "/admin/shop/order/" in client.post("/admin/login/", data=form).text


def test_a_second_preparation_keeps_password_and_data(site: Site, printed: str, base: str) -> None:
    again = site.manage("preparedemo", "--base", "http://site.test", "--no-color")
    assert again == printed


def test_the_front_page_lists_orders_and_leads_on(base: str) -> None:
    page = httpx.get(f"{base}/").text
    assert "Chiara Lund" in page
    for address in re.findall(r'href="(/.*?)"', page):
        assert httpx.get(base + address, follow_redirects=True).status_code == 200


def test_the_order_desk_asks_back_until_it_knows_the_order(base: str) -> None:
    task = send(base, "Where is my order?")
    assert task["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    again = send(base, "9999, I think", taskId=task["id"])
    assert again["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert "9999" in again["status"]["message"]["parts"][0]["text"]
    done = send(base, "Sorry: 1001", taskId=task["id"])
    assert done["status"]["state"] == "TASK_STATE_COMPLETED"
    assert "2 x Green cup" not in text_of(done)
    assert done["artifacts"][0]["parts"][-1]["data"]["number"] == 1001


def test_a_cancelled_stocktake_is_closed(site: Site, base: str) -> None:
    message = {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "stocktake, please"}]}
    body = {"message": message, "configuration": {"returnImmediately": True}}
    task = httpx.post(f"{base}/a2a/message:send", json=body, headers=VERSION).json()["task"]
    # The walk begins in the run, so it may start a moment later; wait for the first shelf.
    while "artifacts" not in (seen := httpx.get(f"{base}/a2a/tasks/{task['id']}", headers=VERSION).json()):
        assert seen["status"]["state"] in ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING")
        time.sleep(0.05)
    answer = httpx.post(f"{base}/a2a/tasks/{task['id']}:cancel", json={}, headers=VERSION)
    assert answer.json()["status"]["state"] == "TASK_STATE_CANCELED"
    shown = f"from example_project.shop.models import *; print(Stocktake.objects.get(task_id='{task['id']}').outcome)"
    deadline = time.monotonic() + 10
    while "cancelled" not in site.manage("shell", "--command", shown):
        assert time.monotonic() < deadline, "the cancel hook did not close the stocktake"
