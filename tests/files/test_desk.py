"""Stored parts on the pages of operators."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.http import Http404

from a2a_django.admin import files
from a2a_django.admin.parts import Room, shown
from a2a_django.engine.journal import Journal
from a2a_django.files import parts
from a2a_django.models import StoredFile
from tests.engine.writing import create, says
from tests.files.conftest import Folder
from tests.files.kit import DATA, part_chunk, raw

pytestmark = pytest.mark.usefixtures("sound_rows")


def test_a_stored_part_is_a_file_and_nobody_sees_its_secret(writer: Journal, folder: Folder) -> None:
    task = create(writer).task
    change = parts.change_stored(part_chunk(task, raw(DATA, filename="report.pdf", mediaType="application/pdf")))
    writer.write(says(task, change))
    file = StoredFile.objects.get()
    task.refresh_from_db()
    event = json.loads(files.wire_of(task, "event", 1))
    (part,) = shown(event["artifactUpdate"]["artifact"]["parts"], Room(task.pk), 1)
    assert (part.kind, part.name, part.size, part.href, part.text) == ("file", "report.pdf", len(DATA), "", "")
    download = files.part(task, "event", 1, 0)
    assert download.content == DATA
    assert "report.pdf" in download.headers["Content-Disposition"]
    for page in (files.whole(task), files.artifact(task, 1)):
        assert f"a2a-file:{file.pk}" in page.content.decode()
        assert file.secret not in page.content.decode()
    assert file.secret not in files.shown_wire(task, "event", 1)
    (folder.path / file.name).unlink()
    with pytest.raises(Http404):
        files.part(task, "event", 1, 0)


def test_the_sizes_of_many_files_cost_one_query(
    writer: Journal, folder: Folder, django_assert_num_queries: Callable[[int], AbstractContextManager[Any]]
) -> None:
    task = create(writer).task
    for n in range(5):
        change = parts.change_stored(part_chunk(task, raw(DATA + str(n).encode())))
        writer.write(says(task, change))
    events = [json.loads(files.wire_of(task, "event", n)) for n in range(1, 6)]
    room = Room(task.pk)
    with django_assert_num_queries(1):
        found = [shown(event["artifactUpdate"]["artifact"]["parts"], room, 1)[0] for event in events]
    assert [part.size for part in found] == [len(DATA) + 1] * 5
