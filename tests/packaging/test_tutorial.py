"""docs/tutorial.md, line by line, in an empty folder: the wheel, what it needs, ``startproject``, a streaming agent."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live import CARD_PATH, ROOT, LiveProcess, answers, free_port
from tests.packaging.conftest import Built
from tests.push.kit import until

TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
BLOCKS = re.findall(r"```(sh|python)\n(.*?)```", TUTORIAL, flags=re.DOTALL)
FILE = re.compile(r"# (\S+\.py)( \(instead of what is there\))?\n")


class Reader:
    """Somebody who follows the tutorial: one terminal for the server, one for everything else."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder, self.wheel, self.port = folder, wheel, free_port()
        self.outputs: list[tuple[str, str]] = []
        self.server: LiveProcess | None = None

    def follow(self) -> None:
        """Do what each block says."""
        for kind, text in BLOCKS:
            text = text.replace("8000", str(self.port))
            if kind == "python":
                self.write(text)
            elif "runserver" in text:
                self.serve(text)
            else:
                self.run(text)

    def write(self, text: str) -> None:
        """Put a block into the file that its first line names: at the end, or instead of what is there."""
        found = FILE.match(text)
        assert found, text
        path = self.folder / found[1]
        replaces = found[2] or found[1].endswith("agents.py") or not path.exists()
        starts = self.starts()
        path.write_text(("" if replaces else path.read_text()) + text[found.end() :])
        if self.server is not None and found[2]:
            until(lambda: self.starts() > starts and self.server is not None and answers(self.server.url + CARD_PATH))

    def output_of(self, word: str) -> str:
        """What the block printed that has a word."""
        (found,) = (output for text, output in self.outputs if word in text)
        return found

    def run(self, text: str) -> str:
        """Run a block of shell lines, of which every one has to succeed, and return what they print."""
        text = text.replace("pip install a2a-django", f"pip install -q {self.wheel}").replace("curl ", "curl --fail ")
        activate = "" if "-m venv" in text else ". .venv/bin/activate\n"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", activate + text],
            cwd=self.folder,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        self.outputs.append((text, done.stdout))
        return done.stdout

    def serve(self, text: str) -> None:
        """Start the server, as it is on a developer's machine: it notices changes."""
        self.server = LiveProcess(
            ["bash", "-c", f". .venv/bin/activate\nexec {text.strip()}"],
            cwd=self.folder,
            environment={**self.environment(), "PYTHONUNBUFFERED": "1"},
            log=self.folder / "server.log",
            port=self.port,
        )
        self.server.start()

    def starts(self) -> int:
        """How often the server has started."""
        return self.server.log.read_text().count("Quit the server with") if self.server is not None else 0

    def environment(self) -> dict[str, str]:
        """What a newcomer's terminal has, and nothing of this test's."""
        kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "HOME", "LANG", "SSL_"))}
        return {**kept, "PATH": os.environ["PATH"]}


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, built: Built) -> Iterator[Reader]:
    """The reader, at the end of the tutorial."""
    made = Reader(tmp_path_factory.mktemp("newcomer"), built.wheel)
    try:
        made.follow()
        yield made
    finally:
        if made.server is not None:
            made.server.kill()


def test_the_card_and_the_first_answer(reader: Reader) -> None:
    card, answer = (json.loads(text) for text in cut(reader.output_of("SendMessage")))
    assert card["name"] == "Greeter"
    task = answer["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED"
    assert task["artifacts"][0]["parts"] == [{"text": "Hello, world!"}]


def test_the_stream(reader: Reader) -> None:
    frames = re.findall(r"^data: (.*)$", reader.output_of("SendStreamingMessage"), flags=re.MULTILINE)
    events = [json.loads(frame)["result"] for frame in frames]
    chunks = [event["artifactUpdate"] for event in events if "artifactUpdate" in event]
    assert [chunk["artifact"]["parts"][0]["text"] for chunk in chunks] == ["Hello, ", "world", "!"]
    assert events[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_the_official_client(reader: Reader) -> None:
    printed = reader.output_of("ask.py")
    assert 'text: "world"' in printed
    assert "TASK_STATE_COMPLETED" in printed


def test_nothing_is_wrong_with_the_site(reader: Reader) -> None:
    assert "no issues" in reader.run("python manage.py check")


def test_only_what_the_package_asks_for_was_there(reader: Reader) -> None:
    """The server came up without any extra."""
    listed = {line.partition("==")[0] for line in reader.run("pip freeze").splitlines()}
    assert "djangorestframework" in listed
    assert not listed & {"channels-redis", "redis", "psycopg", "grpcio-health-checking", "uvicorn", "pytest", "celery"}


def cut(text: str) -> tuple[str, str]:
    """Cut two JSON documents that stand one after the other."""
    __, end = json.JSONDecoder().raw_decode(text)
    return text[:end], text[end:]
