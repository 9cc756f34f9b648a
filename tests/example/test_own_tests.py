"""The example site's own tests, by Django's runner."""

from __future__ import annotations

from pathlib import Path

from tests.live import Site


def test_they_pass(tmp_path: Path) -> None:
    site = Site("example_project.settings", tmp_path, {"EXAMPLE_DATA_DIR": str(tmp_path), "EXAMPLE_DATABASE_URL": ""})
    site.manage("test", "example_project", "--verbosity", "0")
