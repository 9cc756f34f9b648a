"""Files go with their tasks, whatever happens to the storage or to the process meanwhile."""

from __future__ import annotations

import base64
import datetime as dt
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from a2a_django.engine.journal import Journal
from a2a_django.files import markers, store
from a2a_django.models import StoredFile, Task
from a2a_django.protocol.states import TERMINAL
from a2a_django.retention import owners, regular
from a2a_django.retention.prune import Ages, Pruned, Pruning
from tests.engine.kit import WAIT
from tests.engine.writing import chunk, create, says, status
from tests.files.conftest import Folder
from tests.files.kit import DATA
from tests.files.storages import Troubled
from tests.push.kit import until

pytestmark = pytest.mark.usefixtures("sound_rows")

DAY = dt.timedelta(days=1)


def kept(writer: Journal, *, owner: str = "alice", ended: bool = True, filename: str = "f") -> StoredFile:
    """A file of a task that has ended."""
    task = create(writer, owner=owner).task
    marker = store.put(DATA, filename=filename, media_type="text/plain")
    writer.write(says(task, replace(chunk(task, "t"), files=(marker.file_id,))))
    if ended:
        writer.write(says(task, status(task, "COMPLETED")))
    return StoredFile.objects.get(pk=marker.file_id)


def prune(days: float = 2) -> Pruned:
    """A round some days from now."""
    return Pruning(Ages(dict.fromkeys(TERMINAL, DAY)), now=timezone.now() + days * DAY, rest=0).run()


def later(monkeypatch: pytest.MonkeyPatch, **delta: float) -> None:
    """Go on at another time."""
    now = timezone.now() + dt.timedelta(**delta)
    monkeypatch.setattr(store.timezone, "now", lambda: now)


def test_a_file_goes_with_its_task_and_no_other_does(writer: Journal, folder: Folder) -> None:
    gone, stays = kept(writer), kept(writer, ended=False)
    looked = Pruning(Ages(dict.fromkeys(TERMINAL, DAY)), now=timezone.now() + 2 * DAY).look()
    assert looked.files == 1
    assert prune().files == 1
    assert not StoredFile.objects.filter(pk=gone.pk).exists()
    assert list(folder.contents()) == [stays.name]
    assert prune().files == 0
    folder.check()


def test_whoever_deletes_the_row_of_the_task(writer: Journal, folder: Folder) -> None:
    file = kept(writer)
    Task.objects.filter(pk=file.task_id).delete()
    file.refresh_from_db()
    assert (file.task_id, file.due_at) == (None, None)
    assert list(folder.contents()) == [file.name]
    assert (store.waiting(), store.due()) == (1, 1)
    assert prune().files == 1
    assert (store.waiting(), folder.contents()) == (0, {})


@pytest.mark.parametrize("what", ["delete", "forget to delete"])
def test_a_storage_that_does_not_remove_it_is_asked_again(
    writer: Journal, folder: Folder, trouble: Callable[..., None], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    file = kept(writer)
    trouble(what)
    done = prune()
    assert (done.files, done.stuck, sum(done.tasks.values())) == (0, 1, 1)
    file.refresh_from_db()
    assert (file.task_id, file.removals) == (None, 1)
    assert ("The storage does not delete" if what == "delete" else "still has it") in file.last_error
    trouble()
    assert prune().files == 0, "not at once"
    out = StringIO()
    call_command("a2a_prune", stdout=out, days=1)
    assert "1 files could not be removed" in out.getvalue()
    later(monkeypatch, minutes=3)
    assert prune().files == 1
    assert folder.contents() == {}
    folder.check()


def test_pauses_grow_up_to_hours(writer: Journal, folder: Folder, trouble: Callable[..., None]) -> None:
    file = kept(writer)
    Task.objects.all().delete()
    trouble("delete")
    pauses = []
    for _ in range(15):
        StoredFile.objects.update(due_at=None)
        before = timezone.now()
        assert store.remove_some(10) == (0, 1)
        file.refresh_from_db()
        assert file.due_at is not None
        pauses.append(round((file.due_at - before).total_seconds() / 60))
    assert pauses[:4] == [1, 2, 4, 8]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 6 * 60


def test_a_storage_that_is_gone_from_the_settings(writer: Journal, folder: Folder, settings: Settings) -> None:
    file = kept(writer)
    Task.objects.all().delete()
    settings.STORAGES = {name: value for name, value in settings.STORAGES.items() if name != "large"}
    assert store.remove_some(10) == (0, 1)
    file.refresh_from_db()
    assert "InvalidStorageError" in file.last_error


def test_bytes_that_are_gone_already(writer: Journal, folder: Folder, change: Callable[..., None]) -> None:
    file = kept(writer)
    (folder.path / file.name).unlink()
    change(FILE_STORAGE="memory")
    other = kept(writer)
    store.storages["memory"].delete(other.name)
    Task.objects.all().delete()
    assert store.remove_some(10) == (2, 0)
    assert not StoredFile.objects.exists()


def test_what_never_came_into_a_task_goes_after_a_day(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, writer: Journal
) -> None:
    store.put(DATA)
    assert prune().files == 0
    later(monkeypatch, hours=23)
    assert prune().files == 0
    later(monkeypatch, hours=25)
    assert prune().files == 1
    assert folder.contents() == {}


def test_a_process_that_dies_while_it_removes(writer: Journal, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(writer)
    Task.objects.all().delete()

    class Killed(BaseException):
        pass

    def delete(self: Troubled, name: str) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Troubled, "delete", delete)
        with pytest.raises(Killed):
            store.remove_some(10)
    assert store.remove_some(10) == (0, 0)
    later(monkeypatch, minutes=2)
    assert store.remove_some(10) == (1, 0)


def test_two_at_once_remove_it_once(writer: Journal, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {kept(writer).name for _ in range(5)}
    Task.objects.all().delete()
    removed: list[str] = []
    real, both = Troubled.delete, threading.Barrier(2)

    def delete(self: Troubled, name: str) -> None:
        removed.append(name)
        real(self, name)

    monkeypatch.setattr(Troubled, "delete", delete)
    done: list[tuple[int, int]] = []

    def work() -> None:
        try:
            both.wait(WAIT)
            done.append(store.remove_some(10))
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(removed) == sorted(names)
    assert sum(count for count, _ in done) == 5
    assert folder.contents() == {}


def test_a_file_that_comes_into_a_task_is_not_discarded(writer: Journal, folder: Folder) -> None:
    file = kept(writer)
    store.discard([file.pk])
    assert StoredFile.objects.filter(pk=file.pk, task=file.task_id).exists()
    folder.check()


def test_everything_of_one_owner(writer: Journal, folder: Folder, trouble: Callable[..., None]) -> None:
    file, other = kept(writer, filename="report.txt"), kept(writer, owner="bob")
    lines = [json.loads(line) for line in owners.export("alice")]
    (told,) = [line["file"] for line in lines if line["type"] == "file"]
    assert told == {
        "id": str(file.pk),
        "storage": "large",
        "name": file.name,
        "size": len(DATA),
        "sha256": file.sha256,
        "mediaType": "text/plain",
        "filename": "report.txt",
    }
    out = StringIO()
    call_command("a2a_export", "alice", "--with-files", stdout=out)
    (whole,) = [line for line in map(json.loads, out.getvalue().splitlines()) if line["type"] == "file"]
    assert base64.b64decode(whole["file"]["raw"]) == DATA
    assert whole["taskId"] == file.task_id
    trouble("delete")
    errors = StringIO()
    call_command("a2a_delete_owner", "alice", "--yes", stdout=StringIO(), stderr=errors)
    assert "1 files could not be removed" in errors.getvalue()
    trouble()
    StoredFile.objects.filter(pk=file.pk).update(due_at=timezone.now())
    call_command("a2a_delete_owner", "alice", "--yes", stdout=StringIO())
    assert list(folder.contents()) == [other.name]


def test_exports_do_not_have_the_secrets(folder: Folder) -> None:
    marker = store.put(DATA)
    text = f'{{"parts":[{{"url":"{marker}"}}]}}'
    assert markers.without_secrets(text) == f'{{"parts":[{{"url":"a2a-file:{marker.file_id}"}}]}}'
    assert markers.of(str(marker)) == marker


def test_a_worker_removes_files_also_where_tasks_stay_for_ever(
    writer: Journal, folder: Folder, change: Callable[..., None]
) -> None:
    kept(writer)
    Task.objects.all().delete()
    stop = threading.Event()
    thread = regular.begin(stop)
    assert thread is not None
    try:
        until(lambda: not folder.contents() and not StoredFile.objects.exists())
    finally:
        stop.set()
        thread.join(WAIT)
    call_command("a2a_prune", stdout=StringIO())
    change(FILE_STORAGE=None)
    assert regular.begin(stop) is None
    with pytest.raises(CommandError):
        call_command("a2a_prune")
