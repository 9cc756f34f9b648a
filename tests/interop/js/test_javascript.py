"""Runs the checks of the JavaScript client in node, once over each binding; every check is a test here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.interop.live_site import Live

HERE = Path(__file__).resolve().parent
NODE = 20
RUN_SECONDS = 300

#: The names of the checks as the sources have them, so that they can be chosen with -k before anything runs.
CHECKS = [
    name
    for source in sorted(HERE.glob("*.checks.mjs"))
    for name in re.findall(r"^check\('([^']+)'", source.read_text(encoding="utf-8"), re.MULTILINE)
]

Report = dict[str, str | None]

over_each_binding = pytest.mark.parametrize(
    "binding", ["JSONRPC", "HTTP+JSON", "GRPC"], ids=["jsonrpc", "rest", "grpc"]
)


@pytest.fixture(scope="session")
def node() -> str:
    """Return the path of node, with what package-lock.json says installed. Fails without node or npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.fail(f"The JavaScript client needs node {NODE} or newer and npm")
    found = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(found.removeprefix("v").partition(".")[0]) < NODE:
        pytest.fail(f"The JavaScript client needs node {NODE} or newer; this is {found}")
    wanted: dict[str, str] = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    if any(installed(package) != version for package, version in wanted.items()):
        done = subprocess.run([npm, "ci"], cwd=HERE, capture_output=True, text=True, check=False, timeout=RUN_SECONDS)
        if done.returncode:
            pytest.fail(f"npm ci failed:\n{done.stdout}{done.stderr}")
    return node


def installed(package: str) -> str | None:
    """Return the version of a package, None for one that is not there."""
    path = HERE / "node_modules" / package / "package.json"
    return str(json.loads(path.read_text(encoding="utf-8"))["version"]) if path.exists() else None


@pytest.fixture(scope="session")
def reports(node: str, live: Live) -> Callable[[str], Report]:
    """Return a function that runs all checks over a binding, once, and gives each one's error, or None."""

    @cache
    def run(binding: str) -> Report:
        targets = {name: f"127.0.0.1:{process.port}" for name, process in live.grpc.items()}
        order = {"binding": binding, "urls": live.urls, "targets": targets, "keys": dict(live.keys)}
        done = subprocess.run(
            [node, "main.mjs"],
            cwd=HERE,
            input=json.dumps(order),
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_SECONDS,
        )
        results = [json.loads(line) for line in done.stdout.splitlines()]
        if done.returncode or not results:
            pytest.fail(f"node ended with {done.returncode} after {len(results)} checks:\n{done.stderr}")
        return {each["name"]: None if each["passed"] else each["error"] for each in results}

    return run


@over_each_binding
@pytest.mark.parametrize("name", CHECKS, ids=[name.replace(" ", "_") for name in CHECKS])
def test_javascript(reports: Callable[[str], Report], binding: str, name: str) -> None:
    report = reports(binding)
    assert name in report, "the check did not run"
    if (error := report[name]) is not None:
        pytest.fail(error, pytrace=False)


@over_each_binding
def test_every_check_is_a_test(reports: Callable[[str], Report], binding: str) -> None:
    assert set(reports(binding)) == set(CHECKS)
