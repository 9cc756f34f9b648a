"""The wheel has all that a site needs and nothing else; the sdist has what it takes to work on the package."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

from tests.live import ROOT
from tests.packaging.conftest import Built

#: What a site needs besides modules.
KINDS = {".py", ".pyi", ".typed", ".html", ".txt", ".css", ".js", ".svg", ".po", ".mo"}


def tree(folder: Path) -> set[str]:
    """The files of the package that git knows."""
    listed = subprocess.run(["git", "ls-files", "a2a_django"], cwd=folder, check=True, capture_output=True, text=True)
    return set(listed.stdout.split())


def test_the_wheel_is_the_package_and_nothing_else(built: Built) -> None:
    names = set(zipfile.ZipFile(built.wheel).namelist())
    inside = {name for name in names if ".dist-info/" not in name}
    assert inside == tree(ROOT)
    assert {Path(name).suffix for name in inside} <= KINDS
    assert {"a2a_django/py.typed", "a2a_django/migrations/0001_initial.py"} <= inside
    for kind in ("templates", "static", "locale", "management/commands"):
        assert any(name.startswith(f"a2a_django/{kind}/") for name in inside), kind


def test_the_sdist_has_sources_tests_and_documentation(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert tree(ROOT) <= names
    for needed in ("tests/conftest.py", "docs/index.md", "proto/a2a.proto", "manage.py", "LICENSE", "CHANGELOG.md"):
        assert needed in names, needed
    assert not [name for name in names if name.startswith((".ci", "benchmarks", ".git/", "build", "dist"))]


def test_both_are_small(built: Built) -> None:
    assert built.wheel.stat().st_size < 1_000_000
    assert built.sdist.stat().st_size < 2_000_000


def test_an_index_would_take_them(built: Built) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", built.wheel, built.sdist], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
