"""Agents and their tests as authors write them with types: no checker complains, and both find what is wrong."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SITE = HERE / "site"
RIGHT = ("hello.py", "hello_streaming.py", "everything.py", "tests_of_agents.py")
#: What is wrong in wrong.py, by line.
WRONG_LINES = {7, 12, 13}


def lines_of(name: str) -> int:
    """How many lines of a file are not empty."""
    return sum(bool(line.strip()) for line in (SITE / name).read_text().splitlines())


def test_how_short_they_are() -> None:
    assert lines_of("hello.py") == 4
    assert lines_of("hello_streaming.py") == 6


def mypy(*names: str, cache: Path) -> list[str]:
    """Return mypy's complaints, in strict mode and without any configuration."""
    config = cache / "mypy.ini"
    config.write_text("[mypy]\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", str(config), "--cache-dir", str(cache)]
    files = [str(SITE / name) for name in names]
    done = subprocess.run(
        [*command, "--no-error-summary", *files],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=SITE,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr, done.stderr
    return done.stdout.splitlines()


def test_mypy(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    found = mypy(*RIGHT, "wrong.py", cache=tmp_path)
    assert [line for line in found if "wrong.py" not in line] == []
    assert {int(line.split(":")[1]) for line in found} == WRONG_LINES


@pytest.fixture(scope="module")
def pyright() -> str:
    """Return the path of pyright, which is a package of npm."""
    npm = shutil.which("npm")
    if npm is None:
        if os.environ.get("CI"):
            pytest.fail("pyright needs node and npm")
        pytest.skip("pyright needs node and npm")
    command = HERE / "node_modules" / ".bin" / "pyright"
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]["pyright"]
    package = HERE / "node_modules" / "pyright" / "package.json"
    if not package.exists() or json.loads(package.read_text())["version"] != wanted:
        subprocess.run([npm, "ci"], cwd=HERE, capture_output=True, check=True)
    return str(command)


def test_pyright(pyright: str) -> None:
    """In strict mode: nothing that an author touches is of a type unknown."""
    pytest.importorskip("mypy")  # the stubs that come with it are what is looked at
    done = subprocess.run(
        [pyright, "-p", str(HERE), "--pythonpath", sys.executable, "--outputjson"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)["generalDiagnostics"]
    told = [(Path(each["file"]).name, each["range"]["start"]["line"] + 1, each["message"]) for each in found]
    assert [each for each in told if each[0] != "wrong.py"] == []
    assert {line for _, line, _ in told} == WRONG_LINES
