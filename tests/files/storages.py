"""A storage with the troubles that storages have: it fails, it is slow, it loses what it has."""

from __future__ import annotations

import threading
from typing import Any

from django.core.files.base import File
from django.core.files.storage import FileSystemStorage

from tests.engine.kit import WAIT


class Troubled(FileSystemStorage):
    """Does what the class attributes say; ``open_gate`` in a test's teardown."""

    failing: frozenset[str] = frozenset()
    gate: threading.Event | None = None
    reached = threading.Event()

    def _trouble(self, what: str) -> None:
        if what in self.failing:
            raise ConnectionError(f"The storage does not {what}")

    def _save(self, name: str, content: File[Any]) -> str:
        if self.gate is not None:
            self.reached.set()
            assert self.gate.wait(WAIT)
        if "save half" in self.failing:
            super()._save(name, content)
        self._trouble("save half")
        self._trouble("save")
        return super()._save(name, content)

    def _open(self, name: str, mode: str = "rb") -> File[Any]:
        self._trouble("open")
        return super()._open(name, mode)

    def delete(self, name: str) -> None:
        self._trouble("delete")
        if "forget to delete" not in self.failing:
            super().delete(name)
