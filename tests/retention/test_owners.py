"""``a2a_export`` and ``a2a_delete_owner``: everything of one owner, and nothing of anybody else."""

from __future__ import annotations

import builtins
import json
import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import ProtectedError
from django.db.models.signals import pre_delete
from pytest_django import Settings

from a2a_django import engine
from a2a_django.access import owner_at
from a2a_django.engine.jobs import Fenced
from a2a_django.engine.journal import Journal
from a2a_django.models import Message, Task, TaskTally
from a2a_django.protocol.errors import TaskNotFoundError
from a2a_django.retention import owners
from tests.engine.kit import WAIT
from tests.engine.writing import Threads, create, follow_up, says, status
from tests.retention.kit import made, nothing_left, read, with_webhook


def exported(owner: str, **options: Any) -> list[dict[str, Any]]:
    out = StringIO()
    call_command("a2a_export", owner, stdout=out, **options)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def deleted(owner: str, **options: Any) -> str:
    out = StringIO()
    call_command("a2a_delete_owner", owner, stdout=out, **{"yes": True, **options})
    return out.getvalue()


class TestExport:
    def test_all_that_there_is_and_nothing_of_others(self, writer: Journal) -> None:
        mine = [made(writer, "COMPLETED"), made(writer, agent="another"), with_webhook(writer, "FAILED", waiting=True)]
        for owner in ("bob", "Alice", "alice2", ""):
            made(writer, "COMPLETED", owner=owner)
        lines = exported("alice")
        of_type = {kind: [line for line in lines if line["type"] == kind] for kind in {line["type"] for line in lines}}
        assert {line["task"]["id"] for line in of_type["task"]} == {task.pk for task in mine}
        assert {line["owner"] for line in of_type["task"]} == {"alice"}
        for task in mine:
            whole = read(task)
            own = {
                kind: [line[kind] for line in some if line.get("taskId") == task.pk] for kind, some in of_type.items()
            }
            head = {key: value for key, value in whole.items() if key not in ("history", "artifacts")}
            assert [line["task"] for line in of_type["task"] if line["task"]["id"] == task.pk] == [head]
            assert own["message"] == whole.get("history", [])
            assert own["artifact"] == whole.get("artifacts", [])
            task.refresh_from_db()
            assert len(own["event"]) == task.last_seq
        assert [line["number"] for line in of_type["event"] if line["taskId"] == mine[0].pk] == [1, 2, 3, 4, 5, 6]
        assert [line["pushConfig"]["url"] for line in of_type["pushConfig"]] == ["https://hook.example/"]
        assert "secret-1" not in json.dumps(lines)

    def test_messages_that_the_history_does_not_show_and_pages(
        self, writer: Journal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(owners, "PAGE", 2)
        task = create(writer).task
        for number in range(4):
            writer.write(follow_up(writer, task, str(number)))
        Message.objects.filter(task=task, position=3).update(shown=False)
        messages = [line for line in exported("alice") if line["type"] == "message"]
        assert [(line["number"], line["inHistory"]) for line in messages] == [
            (1, True),
            (2, True),
            (3, False),
            (4, True),
            (5, True),
        ]

    def test_into_a_file_that_only_its_owner_reads(self, writer: Journal, tmp_path: Path) -> None:
        made(writer, "COMPLETED")
        file = tmp_path / "alice.jsonl"
        assert exported_to(file) == "10 lines written to alice.jsonl."
        assert [json.loads(line) for line in file.read_text().splitlines()] == exported("alice")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        with pytest.raises(CommandError, match="Cannot write"):
            exported_to(file)

    def test_of_an_owner_at_a_tenant(self, writer: Journal, settings: Settings) -> None:
        settings.A2A = {**settings.A2A, "TENANT_RESOLVER": "tests.retention.test_owners.resolver"}
        task = made(writer, "COMPLETED", owner=owner_at("acme", "alice"))
        made(writer, "COMPLETED", owner=owner_at("umbrella", "alice"))
        assert [line["task"]["id"] for line in exported("alice", tenant="acme") if line["type"] == "task"] == [task.pk]
        assert exported("alice") == []

    def test_an_owner_of_nothing_is_named(self) -> None:
        out, said = StringIO(), StringIO()
        call_command("a2a_export", "nobody", stdout=out, stderr=said)
        assert (out.getvalue(), said.getvalue()) == ("", "Nothing belongs to the owner 'nobody'.\n")

    def test_a_reader_may_leave_before_the_end(self) -> None:
        code = (
            "import django; django.setup()\n"
            "from a2a_django.management.commands.a2a_export import Command\n"
            "Command()._print('alice', iter(['{}' * 500] * 1000))\n"
        )
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
        with subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            assert process.stdout.readline() == "{}" * 500 + "\n"
            process.stdout.close()
            assert process.stderr.read() == ""
        assert process.returncode == 0


def exported_to(file: Path) -> str:
    out = StringIO()
    call_command("a2a_export", "alice", output=str(file), stdout=out)
    return out.getvalue().strip().replace(f"{file.parent}/", "")


def resolver(tenant: str) -> str:
    return "tested"


class TestDeletion:
    def test_everything_goes_and_all_others_stay(self, writer: Journal) -> None:
        mine = [
            made(writer, "COMPLETED"),
            made(writer, "REJECTED", agent="another"),
            with_webhook(writer, "FAILED", waiting=True),
        ]
        others = [made(writer, "COMPLETED", owner=owner) for owner in ("bob", "Alice", "alice2", "")]
        assert deleted("alice") == "3 tasks deleted.\n"
        assert nothing_left(*mine)
        assert not TaskTally.objects.filter(owner="alice").exists()
        assert all(read(task)["artifacts"] for task in others)
        assert TaskTally.objects.filter(owner="Alice").exists()
        assert deleted("alice") == "0 tasks deleted.\n"

    def test_who_has_none_may_have_been_named_wrongly(self) -> None:
        err = StringIO()
        assert deleted("alice", stderr=err) == "0 tasks deleted.\n"
        assert "alice has no tasks. By default the owner is the primary key" in err.getvalue()

    def test_tasks_that_have_not_ended_are_refused_or_cancelled(self, writer: Journal) -> None:
        ended, runs, waits = made(writer, "COMPLETED"), made(writer), made(writer)
        writer.write(says(waits, status(waits, "INPUT_REQUIRED")))
        with pytest.raises(CommandError, match="2 tasks have not ended"):
            deleted("alice")
        assert Task.objects.count() == 3
        assert deleted("alice", cancel=True) == "3 tasks deleted.\n"
        assert nothing_left(ended, runs, waits)
        with pytest.raises((Fenced, TaskNotFoundError)):
            writer.write(says(runs, status(runs, "COMPLETED")))

    def test_it_asks(self, writer: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
        task = made(writer, "COMPLETED")
        questions: list[str] = []

        def answer(said: str) -> None:
            monkeypatch.setattr(builtins, "input", lambda question: questions.append(question) or said)

        answer("y")
        with pytest.raises(CommandError, match="Nothing was deleted"):
            deleted("alice", yes=False)
        assert read(task)["artifacts"]
        answer("yes")
        assert deleted("alice", yes=False) == "1 tasks deleted.\n"
        assert "1 tasks of alice" in questions[0]

    def test_what_the_site_protects_is_named(self, writer: Journal) -> None:
        kept, goes = made(writer, "COMPLETED"), made(writer, "COMPLETED")

        def protect(instance: Task, **_: Any) -> None:
            if instance.pk == kept.pk:
                raise ProtectedError("kept", {instance})

        pre_delete.connect(protect, sender=Task)
        try:
            with pytest.raises(CommandError, match=kept.pk):
                deleted("alice")
        finally:
            pre_delete.disconnect(protect, sender=Task)
        assert nothing_left(goes)
        assert read(kept)["artifacts"]

    def test_while_the_owner_goes_on_calling(self, writer: Journal) -> None:
        for _ in range(20):
            made(writer, "COMPLETED")
        stop = threading.Event()

        def call() -> None:
            while not stop.is_set():
                task = create(writer).task
                with suppress(Fenced, TaskNotFoundError):
                    writer.write(says(task, status(task, "COMPLETED")))

        threads = Threads()
        threads.call(call)
        threads.call(lambda: [owners.delete("alice", cancel=True) for _ in range(3)])
        threads._threads[1].join(WAIT)
        stop.set()
        assert isinstance(threads.results()[1], list)
        assert deleted("alice", cancel=True).endswith("tasks deleted.\n")
        assert not Task.objects.exists()
        assert not TaskTally.objects.exists()

    def test_the_engine_is_stopped_afterwards(self, writer: Journal) -> None:
        made(writer)
        deleted("alice", cancel=True)
        assert engine._engine is None
