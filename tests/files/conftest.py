"""A site with a storage for large parts, and a look at what is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django.models import StoredFile
from tests.bindings.conftest import carrier, register
from tests.bindings.doors import door, serve
from tests.engine.conftest import sound_rows
from tests.files.storages import Troubled
from tests.push.conftest import quick, receiver
from tests.retention.conftest import writer

__all__ = ["carrier", "door", "quick", "receiver", "register", "serve", "sound_rows", "writer"]

#: More bytes are large.
LARGE = 1000


class Folder:
    """The folder of the storage."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def contents(self) -> dict[str, bytes]:
        """The files by their names."""
        return {str(each.relative_to(self.path)): each.read_bytes() for each in self.path.rglob("*") if each.is_file()}

    def check(self) -> None:
        """The rows and the files are the same."""
        rows = {row.name: row.size for row in StoredFile.objects.all()}
        assert {name: len(data) for name, data in self.contents().items()} == rows


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Folder:
    """The site's storage for large parts."""
    found = Folder(tmp_path / "files")
    settings.STORAGES = {
        **settings.STORAGES,
        "large": {"BACKEND": "tests.files.storages.Troubled", "OPTIONS": {"location": str(found.path)}},
        "memory": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    }
    settings.A2A = {
        **settings.A2A,
        "BASE_URL": "http://testserver",
        "FILE_STORAGE": "large",
        "FILE_MIN_BYTES": LARGE,
    }
    return found


@pytest.fixture
def change(settings: Settings) -> Callable[..., None]:
    """Changes settings of A2A."""

    def change(**values: Any) -> None:
        settings.A2A = {**settings.A2A, **values}

    return change


@pytest.fixture
def trouble(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Has the storage fail, until it is called without words."""

    def trouble(*what: str) -> None:
        monkeypatch.setattr(Troubled, "failing", frozenset(what))

    yield trouble
    trouble()
