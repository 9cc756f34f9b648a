"""``python -m tests.acceptance [--server daphne] [--database sqlite] [--cluster [--redis]] [pytest arguments]``."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.acceptance import deselected
from tests.acceptance.restarts import Restarts
from tests.acceptance.servers import Plan, Running, running
from tests.live import ROOT, LiveError


def main() -> int:
    """Start the servers, run the suite, return pytest's exit code (70 when a server misbehaved)."""
    parser = argparse.ArgumentParser(prog="python -m tests.acceptance", description=main.__doc__)
    parser.add_argument("--server", choices=["daphne", "uvicorn", "hypercorn", "granian"], default="daphne")
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument(
        "--cluster",
        action="store_true",
        help="two ASGI processes and a gRPC process on one database; runs the gRPC and cluster cases",
    )
    parser.add_argument(
        "--redis",
        nargs="?",
        default="",
        const=os.environ.get("A2A_TEST_REDIS_URL", "redis://127.0.0.1:6379/0"),
        metavar="URL",
        help="let the processes ring each other through this Redis (address also: A2A_TEST_REDIS_URL)",
    )
    parser.add_argument(
        "--workers",
        nargs="?",
        default="",
        const=os.environ.get("A2A_TEST_REDIS_URL", "redis://127.0.0.1:6379/0"),
        metavar="URL",
        help="have the agents run on workers of Celery with this Redis (address also: A2A_TEST_REDIS_URL)",
    )
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
            plan = Plan(options.server, options.database, options.cluster, options.redis, options.workers)
            return run(plan, options.blackbox, Path(folder), rest, everything=options.all)
        except LiveError as error:
            print(error, file=sys.stderr)
            return 70


def run(plan: Plan, blackbox: Path, folder: Path, rest: list[str], *, everything: bool) -> int:
    with running(plan, folder) as servers, Restarts(servers.asgi["main"], folder / "restart") as restarts:
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
            str(blackbox),
        ]
        if not everything:
            command += ["-m", deselected.marks(plan.cluster)]
            command += [f"--deselect={case}" for case in deselected.cases(plan.server)]
        command += rest
        print(f"== acceptance: {plan}", flush=True)
        found = environment(servers, plan, folder) | {"A2A_SERVER_RESTART": restarts.command}
        code = subprocess.run(command, cwd=blackbox.parent, env=found, check=False).returncode
        if code:
            for log in servers.logs():
                print(log, file=sys.stderr)
        return code


def environment(servers: Running, plan: Plan, folder: Path) -> dict[str, str]:
    """Return the variables by which the suite finds the servers and the users."""
    found = {
        "A2A_CARD_URL": f"{servers.asgi['main'].url}/.well-known/agent-card.json",
        "A2A_CARD_JWKS": f"{servers.asgi['main'].url}/a2a/jwks.json",
        "A2A_AUTH_ALICE": f"Bearer {servers.keys['alice']}",
        "A2A_AUTH_BOB": f"Bearer {servers.keys['bob']}",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name, prefix in (("main", "A2A_"), ("plain", "A2A_PLAIN_"), ("strict", "A2A_STRICT_")):
        found[f"{prefix}JSONRPC_URL"] = f"{servers.asgi[name].url}/a2a/"
        found[f"{prefix}REST_URL"] = f"{servers.asgi[name].url}/a2a"
        if name in servers.grpc:
            found[f"{prefix}GRPC_TARGET"] = f"127.0.0.1:{servers.grpc[name].port}"
    if servers.second is not None:
        found["A2A_SECOND_JSONRPC_URL"] = f"{servers.second.url}/a2a/"
    if plan.database == "sqlite":
        found["A2A_SQLITE_PATH"] = str(folder / "main.sqlite3")
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return {**inherited, **found}


if __name__ == "__main__":
    sys.exit(main())
