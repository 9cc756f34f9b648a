"""E070, W071, W072, E073, W074."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from a2a_django.checks import files

CHECKS = (files.check_storage, files.check_site_address, files.check_link_holders)


def said() -> list[str]:
    return [str(found.id).removeprefix("a2a_django.") for check in CHECKS for found in check(None)]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ({}, []),
        ({"FILE_STORAGE": "own"}, []),
        ({"FILE_STORAGE": "unknown"}, ["E070"]),
        ({"FILE_STORAGE": "memory"}, ["W071"]),
        ({"FILE_STORAGE": "default"}, ["W072"]),
        ({"FILE_STORAGE": "below"}, ["W072"]),
        ({"FILE_STORAGE": "own", "BASE_URL": None}, ["E073"]),
        ({"FILE_STORAGE": "own", "FILE_URL_AUTH": False}, ["W074"]),
        ({"FILE_STORAGE": None, "BASE_URL": None, "FILE_URL_AUTH": False}, []),
        ({"FILE_STORAGE": 7, "BASE_URL": None}, []),
    ],
)
def test_what_is_said(settings: Settings, tmp_path: Path, options: dict[str, Any], ids: list[str]) -> None:
    backend = "django.core.files.storage.FileSystemStorage"
    settings.MEDIA_ROOT = str(tmp_path / "media")
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": backend},
        "own": {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path / "own")}},
        "below": {"BACKEND": backend, "OPTIONS": {"location": str(tmp_path / "media" / "a2a")}},
        "memory": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    }
    settings.A2A = {"BASE_URL": "https://site.example", **options}
    assert said() == ids
