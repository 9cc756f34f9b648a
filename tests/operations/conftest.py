"""Every test here leaves rows for which the invariants hold."""

from __future__ import annotations

from tests.engine.conftest import sound_rows

__all__ = ["sound_rows"]
