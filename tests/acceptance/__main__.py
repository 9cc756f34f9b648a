"""``python -m tests.acceptance [--server daphne] [--database sqlite] [pytest arguments]``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.acceptance import deselected
from tests.acceptance.servers import running
from tests.live import ROOT, LiveError, LiveProcess


def main() -> int:
    """Start the servers, run the suite, return pytest's exit code (70 when a server misbehaved)."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance", description=main.__doc__)
    parser.add_argument("--server", choices=["daphne", "uvicorn", "hypercorn", "granian"], default="daphne")
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument(
        "--blackbox",
        type=Path,
        default=Path(os.environ.get("A2A_BLACKBOX", ROOT.parent / "shared" / "blackbox")),
        help="folder of the suite (also: A2A_BLACKBOX)",
    )
    parser.add_argument("--all", action="store_true", help="also the cases of features that are not there yet")
    options, rest = parser.parse_known_args()
    if not (options.blackbox / "kit.py").is_file():
        parser.error(f"no black-box suite in {options.blackbox}")
    with tempfile.TemporaryDirectory(prefix="a2a-acceptance-") as folder:
        try:
            return run(options, Path(folder), rest)
        except LiveError as error:
            print(error, file=sys.stderr)
            return 70


def run(options: argparse.Namespace, folder: Path, rest: list[str]) -> int:
    with running(options.server, options.database, folder) as (servers, keys):
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-rs",
            "-p",
            "no:django",
            "-p",
            "no:asyncio",
            str(options.blackbox),
        ]
        if not options.all:
            command += ["-m", " and ".join(f"not {mark}" for mark in deselected.MARKS)]
            command += [f"--deselect={case}" for case in deselected.cases(options.server)]
        command += rest
        print(f"== acceptance: {options.server}, {options.database}", flush=True)
        found = environment(servers, keys, options.database, folder)
        code = subprocess.run(command, cwd=options.blackbox.parent, env=found, check=False).returncode
        if code:
            for server in servers.values():
                print(server.tail(), file=sys.stderr)
        return code


def environment(servers: dict[str, LiveProcess], keys: dict[str, str], database: str, folder: Path) -> dict[str, str]:
    """Return the variables by which the suite finds the servers and the users."""
    found = {
        "A2A_CARD_URL": f"{servers['main'].url}/.well-known/agent-card.json",
        "A2A_AUTH_ALICE": f"Bearer {keys['alice']}",
        "A2A_AUTH_BOB": f"Bearer {keys['bob']}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name, prefix in (("main", "A2A_"), ("plain", "A2A_PLAIN_"), ("strict", "A2A_STRICT_")):
        found[f"{prefix}JSONRPC_URL"] = f"{servers[name].url}/a2a/"
        found[f"{prefix}REST_URL"] = f"{servers[name].url}/a2a"
    if database == "sqlite":
        found["A2A_SQLITE_PATH"] = str(folder / "main.sqlite3")
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return {**inherited, **found}


if __name__ == "__main__":
    sys.exit(main())
