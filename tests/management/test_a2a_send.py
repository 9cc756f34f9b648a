"""``manage.py a2a_send``: what the agent says is printed, and its end is the command's."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from a2a_django import Agent
from a2a_django.agents import TaskContext
from a2a_django.models import Task
from tests.bindings.conftest import register
from tests.engine.conftest import sound_rows

__all__ = ["register", "sound_rows"]

pytestmark = pytest.mark.django_db(transaction=True)


class Clerk(Agent):
    async def run(self, ctx: TaskContext) -> AsyncIterator[Any]:
        """Do what the text says."""
        match ctx.text:
            case "fail":
                raise RuntimeError
            case "ask":
                await ctx.input_required("Which one?")
            case "parts":
                yield {"n": len(ctx.data), "files": [part.filename for part in ctx.files]}
                yield b"abc"
            case text:
                await ctx.working("One moment")
                yield f"{ctx.user.get_username() or 'nobody'}: "
                yield text


def send(*args: str, **options: Any) -> str:
    out = StringIO()
    call_command("a2a_send", *args, stdout=out, **options)
    return out.getvalue()


@pytest.fixture(params=[True, False], ids=["streaming", "blocking"])
def clerk(register: Any, request: pytest.FixtureRequest) -> Agent:
    found: Agent = register(Clerk(streaming=request.param))
    return found


def test_what_the_agent_says(clerk: Agent) -> None:
    get_user_model().objects.create_user("alice")
    assert send("hello", "--user", "alice").splitlines()[-1] == "alice: hello"
    assert send("hello").splitlines()[-1] == "nobody: hello"
    assert {task.owner for task in Task.objects.all()} == {"", str(get_user_model().objects.get().pk)}


def test_a_question_and_its_answer(clerk: Agent) -> None:
    said = send("ask", "--agent", "clerk")
    task = Task.objects.get()
    assert said.splitlines() == ["Which one?", f"The agent waits for an answer: --task {task.pk}"]
    assert "nobody: that one" in send("that one", "--task", task.pk)


def test_parts_that_are_no_text(clerk: Agent, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    said = send("parts", data='{"a": 1}', files=[str(tmp_path / "a.txt")])
    assert '"n": 1' in said
    assert '"a.txt"' in said
    assert "3 bytes" in said


def test_events_as_json(clerk: Agent) -> None:
    events = [json.loads(line) for line in send("hello", "--json").splitlines()]
    assert "task" in events[0]
    last = events[-1].get("statusUpdate") or events[-1]["task"]
    assert last["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_task_that_does_not_end_well(clerk: Agent) -> None:
    with pytest.raises(CommandError, match="failed"):
        send("fail")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Say something"),
        (["hello", "--user", "nobody"], "no user"),
        (["hello", "--agent", "nobody"], "tenant"),
        (["hello", "--task", "nothing"], "not found|Task"),
        (["--data", "{"], "no JSON"),
        (["--file", "/does/not/exist"], "Cannot read"),
    ],
)
def test_what_is_refused(clerk: Agent, arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        send(*arguments)
